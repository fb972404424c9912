//! Judges a run by what was asked and by what lies in the topics afterwards.
//!
//! Nothing of the roller's own word is believed: source records and deliveries are read from their topics, with the
//! brokers' append times (LogAppendTime on both sides). [`judge`] is a plain function over three lists.
//!
//! ```
//! use dwell_testkit::checker::{Delivered, Sent, SourceRecord, judge};
//!
//! let sent = [Sent { level: Some("5s".into()), ..Sent::new("a", "orders", 5_000) }];
//! let source = [SourceRecord {
//!     id: "a".into(), topic: "delay-5s".into(), partition: 0, offset: 0, append_ms: 1_000, delay_ms: 5_000,
//! }];
//! let delivered = [Delivered {
//!     id: "a".into(), topic: "orders".into(), partition: 0, offset: 0, append_ms: 6_002,
//!     due_header_ms: Some(6_000), key: None, payload_hash: 0,
//! }];
//! let verdict = judge(&sent, &source, &delivered);
//! assert!(verdict.is_clean());
//! assert_eq!(verdict.lateness.max_ms, 2);
//! ```

mod judge;
mod lateness;
mod order;
mod show;
#[cfg(test)]
mod tests;

pub use judge::judge;
pub use lateness::{Lateness, LevelLateness};

/// What a producer asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sent {
    /// The record's `dwell-id`.
    pub id: String,
    /// Where it shall arrive.
    pub target: String,
    /// The requested delay in ms, counted from the append on the first level; zero where the level alone decides.
    pub asked_ms: i64,
    /// The requested time, epoch ms, for records with `dwell-deliver-at`.
    pub deliver_at_ms: Option<i64>,
    /// The level to list its lateness under; without it, the level of its first source record.
    pub level: Option<String>,
    /// What its value must hash to on arrival, if that is to be checked.
    pub payload_hash: Option<u64>,
}

impl Sent {
    /// A record for `target`, `asked_ms` after its append.
    pub fn new(id: impl Into<String>, target: impl Into<String>, asked_ms: i64) -> Sent {
        Sent { id: id.into(), target: target.into(), asked_ms, ..Sent::default() }
    }
}

/// A record as it lies on a level topic. One id has several where it took several hops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRecord {
    /// Its `dwell-id`.
    pub id: String,
    /// The level topic.
    pub topic: String,
    /// The partition.
    pub partition: i32,
    /// The offset.
    pub offset: i64,
    /// The broker's append time, epoch ms.
    pub append_ms: i64,
    /// The delay of the level.
    pub delay_ms: i64,
}

/// A record as it lies on a target topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// Its `dwell-id`.
    pub id: String,
    /// The topic.
    pub topic: String,
    /// The partition.
    pub partition: i32,
    /// The offset.
    pub offset: i64,
    /// The broker's append time, epoch ms.
    pub append_ms: i64,
    /// Its `dwell-due`, if it has one. Only tells which of several source records this is a copy of.
    pub due_header_ms: Option<i64>,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// A hash of its value.
    pub payload_hash: u64,
}

/// A delivery before its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Early {
    /// Its `dwell-id`.
    pub id: String,
    /// When it was due, epoch ms.
    pub due_ms: i64,
    /// When the target's leader appended it, epoch ms.
    pub append_ms: i64,
}

/// Something at a target that should not be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unexpected {
    /// Its `dwell-id`.
    pub id: String,
    /// Where it lies, as `topic-partition@offset`.
    pub place: String,
    /// What is wrong with it.
    pub flaw: Flaw,
}

/// What is wrong with a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flaw {
    /// No such id was sent.
    NeverSent,
    /// It was sent to another target.
    WrongTopic,
    /// Its value is not the one that was sent.
    Changed,
    /// No source record with its id was found, so nothing says when it was due.
    NoSource,
}

/// Two records of one key whose first deliveries changed places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swapped {
    /// The one that was earlier on the level and later at the target.
    pub first: String,
    /// The other.
    pub second: String,
}

/// The judgement of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// Distinct ids sent.
    pub sent: usize,
    /// Distinct ids that arrived at their targets.
    pub released: usize,
    /// Deliveries beyond the first of their id.
    pub duplicates: usize,
    /// Deliveries before their time.
    pub early: Vec<Early>,
    /// Ids that did not arrive.
    pub lost: Vec<String>,
    /// Deliveries that should not be there.
    pub unexpected: Vec<Unexpected>,
    /// First deliveries of one key and one level partition out of order.
    pub out_of_order: Vec<Swapped>,
    /// Lateness of all first deliveries: append at the target − due.
    pub lateness: Lateness,
    /// The same by level, the shortest first.
    pub levels: Vec<LevelLateness>,
}

impl Verdict {
    /// Nothing lost, early, unexpected or out of order. Duplicates are allowed: crashes make them.
    pub fn is_clean(&self) -> bool {
        self.lost.is_empty() && self.early.is_empty() && self.unexpected.is_empty() && self.out_of_order.is_empty()
    }
}
