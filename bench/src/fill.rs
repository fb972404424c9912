//! Records to be measured with.
//!
//! Value: 8 bytes with the record's number, big endian, then text in which about half the bytes are random, so that
//! compression finds what it finds in business events. Key: 8 random-looking hex digits. Headers: `dwell-target`,
//! `dwell-id` as the router writes it, and one of the user's own.

use crate::same_settings;
use anyhow::{Context, Result, ensure};
use dwell_kafka::ClientSettings;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::time::{Duration, Instant};

/// Short enough that records sent evenly arrive evenly.
const LINGER_MS: u32 = 1;

/// A kind of record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Bytes of the value, at least 8.
    pub(crate) bytes: usize,
}

/// Writes records of one shape for one target.
pub(crate) struct Filler {
    producer: BaseProducer,
    topic: String,
    target: String,
    text: Vec<u8>,
    shape: Shape,
}

impl Filler {
    pub(crate) fn connect(settings: &ClientSettings, topic: &str, target: &str, shape: Shape) -> Result<Filler> {
        let producer = same_settings::producer(settings, LINGER_MS).create()?;
        let text = text(shape.bytes + (64 << 10));
        Ok(Filler { producer, topic: topic.to_owned(), target: target.to_owned(), text, shape })
    }

    /// As many records as the broker takes, as fast as it takes them; all acknowledged when this returns.
    pub(crate) fn burst(&self, count: u64) -> Result<()> {
        for number in 0..count {
            self.send(number)?;
            if number % 1024 == 0 {
                self.producer.poll(Duration::ZERO);
            }
        }
        self.finish()
    }

    /// Evenly `per_second` for so long, in steps of a millisecond, numbered from `first`; all are acknowledged when this
    /// returns. Returns the number after the last.
    pub(crate) fn steady(&self, first: u64, per_second: u64, length: Duration) -> Result<u64> {
        let begin = Instant::now();
        let mut next = first;
        while begin.elapsed() < length {
            let owed = first + u64::try_from(begin.elapsed().as_micros())? * per_second / 1_000_000;
            ensure!(owed < next + per_second, "this machine cannot produce {per_second} records a second");
            while next < owed {
                self.send(next)?;
                next += 1;
            }
            self.producer.poll(Duration::ZERO);
            std::thread::sleep(Duration::from_millis(1));
        }
        self.finish()?;
        Ok(next)
    }

    fn send(&self, number: u64) -> Result<()> {
        let mixed = mix(number);
        let key = format!("{:08x}", mixed & 0xffff_ffff);
        let id = format!("{mixed:016x}-7b60-4c57-9e5c-{number:012x}");
        let mut value = Vec::with_capacity(self.shape.bytes);
        value.extend_from_slice(&number.to_be_bytes());
        let at = usize::try_from(mixed % (64 << 10))?;
        value.extend_from_slice(&self.text[at..at + self.shape.bytes - 8]);
        let headers = OwnedHeaders::new_with_capacity(3)
            .insert(Header { key: "dwell-target", value: Some(&self.target) })
            .insert(Header { key: "dwell-id", value: Some(&id) })
            .insert(Header {
                key: "traceparent",
                value: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            });
        let mut record = BaseRecord::to(&self.topic).key(&key).payload(&value).headers(headers);
        loop {
            match self.producer.send(record) {
                Ok(()) => return Ok(()),
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back)) => {
                    self.producer.poll(Duration::from_millis(5));
                    record = back;
                }
                Err((error, _)) => return Err(error).context("fill a topic"),
            }
        }
    }

    fn finish(&self) -> Result<()> {
        self.producer.flush(Duration::from_secs(120)).context("fill a topic")
    }
}

/// Spreads consecutive numbers over all bits (the finalizer of splitmix64).
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn text(bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 64);
    for field in 0u64.. {
        if text.len() >= bytes {
            break;
        }
        text.extend_from_slice(format!("\"orderField\":\"{:016x}\",", mix(field ^ 0xd1b5)).as_bytes());
    }
    text
}
