//! The plain copy: what anybody would write to move records from one topic to another with rdkafka.
//!
//! It knows no due time, no header, no order of acknowledgements: one thread reads, hands each record with its key,
//! value and headers to a producer, and lets the client commit once a second what was read. That is less than a roller
//! has to do (which commits only what was acknowledged), so the comparison is on the copy's side. Allocator and client
//! settings are the roller's.

use crate::same_settings;
use anyhow::{Context, Result};
use clap::Args;
use dwell_kafka::ClientSettings;
use rdkafka::Message;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::BorrowedMessage;
use rdkafka::producer::{BaseProducer, BaseRecord};
use std::time::Duration;

/// What to copy.
#[derive(Debug, Clone, Args)]
pub(crate) struct CopyArgs {
    #[arg(long)]
    from: String,
    #[arg(long)]
    to: String,
    #[arg(long)]
    group: String,
    #[arg(long)]
    linger_ms: u32,
}

/// Reports are taken from the producer after so many records.
const BURST: u32 = 256;

/// Copies until the process is ended.
pub(crate) fn run(brokers: &str, args: &CopyArgs) -> Result<()> {
    let settings = ClientSettings::plain(brokers)?;
    let mut config = same_settings::consumer(&settings, &args.group);
    config.set("enable.auto.offset.store", "true").set("enable.auto.commit", "true");
    config.set("auto.commit.interval.ms", "1000");
    let consumer: BaseConsumer = config.create()?;
    let producer: BaseProducer = same_settings::producer(&settings, args.linger_ms).create()?;
    consumer.subscribe(&[&args.from])?;
    let mut since_poll = 0;
    loop {
        // The producer sends by itself; while nothing comes, there is nothing to do.
        match consumer.poll(Duration::from_millis(20)) {
            Some(message) => {
                forward(&producer, &args.to, &message?)?;
                since_poll += 1;
            }
            None => since_poll = BURST,
        }
        if since_poll >= BURST {
            producer.poll(Duration::ZERO);
            since_poll = 0;
        }
    }
}

fn forward(producer: &BaseProducer, to: &str, message: &BorrowedMessage<'_>) -> Result<()> {
    let mut record: BaseRecord<'_, [u8], [u8]> = BaseRecord::to(to);
    if let Some(key) = message.key() {
        record = record.key(key);
    }
    if let Some(payload) = message.payload() {
        record = record.payload(payload);
    }
    if let Some(headers) = message.headers() {
        record = record.headers(headers.detach());
    }
    loop {
        match producer.send(record) {
            Ok(()) => return Ok(()),
            Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back)) => {
                producer.poll(Duration::from_millis(1));
                record = back;
            }
            Err((error, _)) => return Err(error).context("produce a copy"),
        }
    }
}
