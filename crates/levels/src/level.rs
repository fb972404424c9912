//! What the table says about one level, about parked records and about the owners of dead letters.

use crate::{Delay, Delivery, LevelName, LevelState, PollInterval};

/// One delay level: a topic in which every record waits equally long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// The level's name, the end of its topic's name.
    pub name: LevelName,
    /// How long a record waits here, counted from the broker's append.
    pub delay: Delay,
    /// Whether new records are sent here.
    pub state: LevelState,
    /// Partitions of the topic.
    pub partitions: u32,
    /// Replicas of each partition; -1 = what the broker gives by default.
    pub replication_factor: i16,
    /// How long all rollers may be down before a waiting record could expire.
    pub outage_budget: Delay,
    /// How often a quiet partition is looked at.
    pub poll_interval: PollInterval,
    /// What is promised across crashes.
    pub delivery: Delivery,
    /// Whether released records are deleted at once instead of by retention.
    pub trim: bool,
}

impl Level {
    /// The poll interval in effect, with `auto` worked out.
    #[must_use]
    pub fn poll_every(&self) -> Delay {
        self.poll_interval.resolve(self.delay)
    }

    /// Whether new records are sent here.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state == LevelState::Active
    }

    /// The shortest retention that loses no waiting record: the delay and the outage budget.
    #[must_use]
    pub fn retention_needed(&self) -> Delay {
        self.delay.saturating_add(self.outage_budget)
    }
}

/// The topic of records that cannot be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parked {
    /// Partitions of the topic.
    pub partitions: u32,
    /// How long parked records are kept.
    pub retention: Delay,
}

/// A consumer group that owns a retry topic and dead letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The business topics the group reads.
    pub topics: Vec<String>,
    /// Partitions of the retry topic.
    pub retry_partitions: u32,
    /// How long dead letters are kept.
    pub dlq_retention: Delay,
    /// Whether a dead letter of this group should wake someone.
    pub critical: bool,
}
