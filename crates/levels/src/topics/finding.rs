//! What a broker described, and how it differs from what must be.

use std::collections::BTreeMap;

use super::Fix;

/// A topic as the broker described it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundTopic {
    /// Partitions.
    pub partitions: u32,
    /// Replicas of each partition; the fewest, where they differ.
    pub replication_factor: u16,
    /// The settings in effect, defaults included. A missing one counts as Kafka's default.
    pub config: BTreeMap<String, String>,
}

impl FoundTopic {
    /// The largest record batch the topic takes, where the broker described it.
    #[must_use]
    pub fn record_limit(&self) -> Option<u64> {
        self.config.get("max.message.bytes")?.parse().ok()
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing has to change.
    Warn,
    /// Other than the table says, without danger for waiting records.
    Drift,
    /// The topic does not exist.
    Missing,
    /// Waiting records could be lost or released early: a roller must not roll.
    Loss,
}

/// One difference between a topic and what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The topic.
    pub topic: String,
    /// How much it matters.
    pub severity: Severity,
    /// The setting; `topic`, `partitions` or `replication.factor` where it is none.
    pub key: String,
    /// What the broker has.
    pub found: String,
    /// What is wanted.
    pub wanted: String,
    /// What could happen.
    pub why: String,
    /// What puts it right.
    pub fix: Fix,
}
