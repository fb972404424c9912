//! A foreign producer: plain records with any headers, no router.

use dwell_kafka::ClientSettings;
use dwell_kafka::producer::{HeaderList, Linger, Outbox, Outgoing, Report, Written};
use dwell_roller_core::Failure;
use dwell_wire::HeaderSink;
use std::time::{Duration, Instant};

/// A record to be produced.
#[derive(Clone, Default)]
pub struct Rec {
    pub key: Option<Vec<u8>>,
    pub payload: Option<Vec<u8>>,
    pub headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    pub timestamp_ms: i64,
}

/// A record for `target` with this key and payload.
pub fn rec(target: &str, key: &str, payload: &str) -> Rec {
    Rec { key: Some(key.into()), payload: Some(payload.into()), ..Rec::default() }.with("dwell-target", target)
}

impl Rec {
    pub fn with(self, name: &str, value: &str) -> Rec {
        self.raw(name.as_bytes(), Some(value.as_bytes()))
    }

    pub fn raw(mut self, name: &[u8], value: Option<&[u8]>) -> Rec {
        self.headers.push((name.to_vec(), value.map(<[u8]>::to_vec)));
        self
    }
}

/// Produces and waits for the acknowledgements.
pub struct Producer {
    outbox: Outbox,
}

impl Producer {
    pub fn connect(settings: &ClientSettings) -> Producer {
        Producer { outbox: Outbox::connect(settings, "test-producer", Linger(Duration::ZERO), 10_000).unwrap() }
    }

    /// Sends all, in order; panics if one is not written. Returns where each went.
    pub fn send(&mut self, topic: &str, records: &[Rec]) -> Vec<Written> {
        let results = self.try_send(topic, records);
        results.into_iter().enumerate().map(|(i, r)| r.unwrap_or_else(|e| panic!("record {i}: {e:?}"))).collect()
    }

    pub fn try_send(&mut self, topic: &str, records: &[Rec]) -> Vec<Result<Written, Failure>> {
        let mut results: Vec<Option<Result<Written, Failure>>> = vec![None; records.len()];
        let mut reports = Vec::new();
        for (i, r) in records.iter().enumerate() {
            loop {
                match self.outbox.send(outgoing(topic, r, i as u64)) {
                    Ok(()) => break,
                    Err(Failure::Refused) => self.outbox.wait(Duration::from_millis(1), &mut reports),
                    Err(failure) => {
                        results[i] = Some(Err(failure));
                        break;
                    }
                }
            }
        }
        let begin = Instant::now();
        loop {
            self.outbox.wait(Duration::from_millis(5), &mut reports);
            for Report { opaque, result, .. } in reports.drain(..) {
                results[usize::try_from(opaque).unwrap()] = Some(result);
            }
            if results.iter().all(Option::is_some) {
                return results.into_iter().flatten().collect();
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "not acknowledged");
        }
    }
}

fn outgoing<'a>(topic: &'a str, r: &'a Rec, opaque: u64) -> Outgoing<'a> {
    let mut headers = HeaderList::with_room(r.headers.len());
    for (name, value) in &r.headers {
        headers.put(name, value.as_deref());
    }
    Outgoing {
        topic,
        key: r.key.as_deref(),
        payload: r.payload.as_deref(),
        headers,
        timestamp_ms: r.timestamp_ms,
        opaque,
    }
}
