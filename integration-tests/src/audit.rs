//! The checker on a fleet's topics: what was asked, what lay on the levels, what arrived.

use crate::Fleet;
use crate::within;
use dwell_kafka::producer::Written;
use dwell_kafka::reader::{Reader, WholeRecord};
use dwell_testkit::checker::{Delivered, Sent, SourceRecord, Verdict, judge};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// What the first roller calls a record that was sent without a `dwell-id`.
fn given_id(topic: &str, partition: i32, offset: i64, append_ms: i64) -> String {
    format!("{topic}-{partition}-{offset}-{append_ms}")
}

/// What was asked for by sending to a level without an id: to wait there, and longer where `asked_ms` says so.
pub fn asked(topic: &str, target: &str, asked_ms: i64, written: &[Written]) -> Vec<Sent> {
    let one = |w: &Written| Sent::new(given_id(topic, w.partition, w.offset, w.append_ms.unwrap()), target, asked_ms);
    written.iter().map(one).collect()
}

/// The place on its level that a record's given id names.
pub fn source_offset(id: &str) -> i64 {
    id.rsplit('-').nth(1).unwrap().parse().unwrap()
}

/// What arrives at one target.
pub struct Arrivals {
    target: String,
    reader: Reader,
    pub all: Vec<Delivered>,
    ids: HashSet<String>,
}

impl Arrivals {
    pub fn at(fleet: &Fleet, target: &str) -> Arrivals {
        let reader = Reader::open(&fleet.settings, target).unwrap();
        Arrivals { target: target.to_owned(), reader, all: Vec::new(), ids: HashSet::new() }
    }

    /// Reads what is new; returns how many different records have arrived.
    pub fn look(&mut self) -> usize {
        for r in self.reader.read_to_end(PATIENCE).unwrap() {
            let d = delivered(&self.target, &r);
            self.ids.insert(d.id.clone());
            self.all.push(d);
        }
        self.ids.len()
    }

    /// Looks until so many different records have arrived.
    pub fn until(&mut self, count: usize, patience: Duration) {
        let what = format!("{count} different records at {}", self.target);
        within(patience, &what, || (self.look() >= count).then_some(()));
    }

    /// Looks once more and judges. Call it when the rollers are gone: only then no further copy can come.
    pub fn judge(&mut self, fleet: &Fleet, levels: &[&str], sent: &[Sent]) -> Verdict {
        self.look();
        let source: Vec<_> = levels.iter().flat_map(|level| on_level(fleet, level)).collect();
        judge(sent, &source, &self.all)
    }
}

fn delivered(topic: &str, r: &WholeRecord) -> Delivered {
    let mut hash = DefaultHasher::new();
    r.payload.hash(&mut hash);
    Delivered {
        id: r.header("dwell-id").unwrap_or("without an id").to_owned(),
        topic: topic.to_owned(),
        partition: r.partition,
        offset: r.offset,
        append_ms: r.timestamp_ms,
        due_header_ms: r.header("dwell-due").and_then(|due| due.parse().ok()),
        key: r.key.clone(),
        payload_hash: hash.finish(),
    }
}

/// Everything that waited or waits on a level.
pub fn on_level(fleet: &Fleet, level: &str) -> Vec<SourceRecord> {
    let (topic, delay_ms) = (fleet.level_topic(level), fleet.delay_ms(level));
    let one = |r: WholeRecord| SourceRecord {
        id: r.header("dwell-id").map_or_else(|| given_id(&topic, r.partition, r.offset, r.timestamp_ms), str::to_owned),
        topic: topic.clone(),
        partition: r.partition,
        offset: r.offset,
        append_ms: r.timestamp_ms,
        delay_ms,
    };
    fleet.read(&topic).into_iter().map(one).collect()
}

/// Nothing lost, early, out of order or unexpected, nothing twice.
pub fn assert_each_once(verdict: &Verdict) {
    assert!(verdict.is_clean() && verdict.duplicates == 0, "{verdict}");
}

/// First deliveries at most this late.
pub fn assert_on_time(verdict: &Verdict, limit: Duration) {
    assert!(u128::try_from(verdict.lateness.max_ms).is_ok_and(|ms| ms <= limit.as_millis()), "{verdict}");
}
