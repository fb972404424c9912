//! Brokers with clocks of their own, and topics with leaders that move.

use dwell_roller_core::Stamp;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The epoch at true time zero, µs.
pub(super) const EPOCH_US: i64 = 1_700_000_000_000_000;
pub(super) const BROKERS: usize = 3;
pub(super) const PARTITIONS: usize = 2;

pub(super) type Headers = Vec<(Vec<u8>, Option<Vec<u8>>)>;

#[derive(Debug, Default)]
pub(super) struct Clock {
    pub(super) offset_us: i64,
    pub(super) drift_ppm: i64,
}

impl Clock {
    /// What it shows at true time `t`, µs since the epoch.
    pub(super) fn at(&self, t: u64) -> i64 {
        EPOCH_US + t as i64 + self.offset_us + t as i64 * self.drift_ppm / 1_000_000
    }
}

#[derive(Debug)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) key: usize,
    pub(super) big: bool,
    pub(super) headers: Headers,
    pub(super) stamp: Stamp,
    /// By the leader's clock, whatever the stamp says.
    pub(super) append_ms: i64,
    pub(super) true_us: u64,
}

#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) leader: usize,
    pub(super) log: Vec<Rc<Record>>,
}

#[derive(Debug, Default)]
pub(super) struct Topic {
    pub(super) parts: Vec<Part>,
    pub(super) exists: bool,
    pub(super) takes_big: bool,
    pub(super) create_time: bool,
    pub(super) blocked_until: u64,
}

/// Topic, partition, offset.
pub(super) type Spot = (String, usize, i64);

#[derive(Debug, Default)]
pub(super) struct Cluster {
    pub(super) clocks: [Clock; BROKERS],
    pub(super) topics: BTreeMap<String, Topic>,
    pub(super) outage_until: u64,
    /// Steps of clocks: when, and how far.
    pub(super) steps: Vec<(u64, u64)>,
    /// Records of levels of which some copy was written.
    pub(super) copied: BTreeSet<Spot>,
}

impl Cluster {
    pub(super) fn add(&mut self, name: &str, parts: usize, leaders: impl FnMut() -> usize) {
        let mut leaders = leaders;
        let parts = (0..parts).map(|_| Part { leader: leaders(), log: Vec::new() }).collect();
        self.topics.insert(name.to_owned(), Topic { parts, exists: true, ..Topic::default() });
    }

    pub(super) fn is_up(&self, topic: &str, t: u64) -> bool {
        t >= self.outage_until && self.topics.get(topic).is_none_or(|topic| t >= topic.blocked_until)
    }

    pub(super) fn exists(&self, topic: &str) -> bool {
        self.topics.get(topic).is_some_and(|t| t.exists)
    }

    /// Writes a record; `meta` is its id, key and size.
    pub(super) fn append(&mut self, t: u64, name: &str, part: usize, meta: (&str, usize, bool), headers: Headers) {
        let Some(topic) = self.topics.get_mut(name) else { return };
        let Some(p) = topic.parts.get_mut(part) else { return };
        let append_ms = self.clocks[p.leader].at(t).div_euclid(1000);
        let stamp = if topic.create_time { Stamp::Other } else { Stamp::Append(append_ms) };
        let (id, key, big) = (meta.0.to_owned(), meta.1, meta.2);
        p.log.push(Rc::new(Record { id, key, big, headers, stamp, append_ms, true_us: t }));
    }

    pub(super) fn part(&self, topic: &str, part: usize) -> Option<&Part> {
        self.topics.get(topic)?.parts.get(part)
    }

    pub(super) fn end(&self, topic: &str, part: usize) -> i64 {
        self.part(topic, part).map_or(0, |p| p.log.len() as i64)
    }

    /// How far clocks stepped between two moments, µs in all.
    pub(super) fn stepped(&self, from: u64, to: u64) -> u64 {
        // A step is unknown to a roller until its next sample.
        let since = from.saturating_sub(5_000_000);
        self.steps.iter().filter(|(at, _)| (since..=to).contains(at)).map(|(_, by)| by).sum()
    }
}
