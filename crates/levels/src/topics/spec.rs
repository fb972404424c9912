//! The topics of a table, as they are created.

use crate::{Delay, Level, LevelName, LevelTable};

/// The largest record batch a topic takes unless told otherwise, in bytes.
pub const DEFAULT_RECORD_LIMIT: u64 = 1_048_588;
/// How much larger a parked record may be than the record itself: the headers that say why and from where.
pub const PARKED_HEADROOM: u64 = 65_536;

/// Level topics are kept at least this long, so that what was released can still be looked at.
const LEAST_RETENTION: Delay = Delay::from_millis(7 * 86_400_000);
const CLOCK_RETENTION: Delay = Delay::from_millis(3_600_000);

/// What a topic is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicKind {
    /// Records wait here.
    Level(LevelName),
    /// Records that cannot be delivered.
    Parked,
    /// Rollers learn the brokers' time here.
    Clock,
}

/// A topic that must exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSpec {
    /// The topic.
    pub name: String,
    /// What it is for.
    pub kind: TopicKind,
    /// How many partitions it has at least.
    pub partitions: u32,
    /// Replicas; -1 = what the broker gives by default.
    pub replication_factor: i16,
    /// The shortest retention that loses nothing. What is set on creation may be longer.
    pub retention_needed: Delay,
    /// What is set on creation, in this order.
    pub config: Vec<(String, String)>,
}

impl TopicSpec {
    /// What is set on creation for this key.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.config.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// Every topic the table needs: its levels in order, the parked topic, the clock topic.
#[must_use]
pub fn wanted(table: &LevelTable) -> Vec<TopicSpec> {
    let mut specs: Vec<_> = table.levels().iter().map(|level| level_spec(table, level)).collect();
    specs.push(parked_spec(table, DEFAULT_RECORD_LIMIT));
    specs.push(clock_spec(table));
    specs
}

/// The topic of one level.
#[must_use]
pub fn level_spec(table: &LevelTable, level: &Level) -> TopicSpec {
    let needed = level.retention_needed();
    TopicSpec {
        name: table.topic_of(level),
        kind: TopicKind::Level(level.name.clone()),
        partitions: level.partitions,
        replication_factor: level.replication_factor,
        retention_needed: needed,
        config: settings(needed.max(LEAST_RETENTION), level.replication_factor),
    }
}

/// The topic of parked records, for level topics that take records of up to `record_limit` bytes
/// ([`DEFAULT_RECORD_LIMIT`] unless a level topic was changed).
#[must_use]
pub fn parked_spec(table: &LevelTable, record_limit: u64) -> TopicSpec {
    let replication_factor = table.default_replication_factor();
    let retention = table.parked().retention;
    let mut config = settings(retention, replication_factor);
    let limit = record_limit.saturating_add(PARKED_HEADROOM);
    config.push(("max.message.bytes".to_owned(), limit.to_string()));
    TopicSpec {
        name: table.parked_topic(),
        kind: TopicKind::Parked,
        partitions: table.parked().partitions,
        replication_factor,
        retention_needed: retention,
        config,
    }
}

/// As many partitions as a level, so that their leaders are on as many brokers and each broker's time can be asked.
fn clock_spec(table: &LevelTable) -> TopicSpec {
    let replication_factor = table.default_replication_factor();
    TopicSpec {
        name: table.clock_topic(),
        kind: TopicKind::Clock,
        partitions: table.default_partitions(),
        replication_factor,
        retention_needed: CLOCK_RETENTION,
        config: settings(CLOCK_RETENTION, replication_factor),
    }
}

fn settings(retention: Delay, replication_factor: i16) -> Vec<(String, String)> {
    let mut settings = vec![
        ("cleanup.policy", "delete".to_owned()),
        ("message.timestamp.type", "LogAppendTime".to_owned()),
        ("retention.ms", retention.as_millis().to_string()),
        ("retention.bytes", "-1".to_owned()),
    ];
    // With the broker's default the number of replicas is not known here, and 2 of 1 would refuse every record.
    if replication_factor >= 3 {
        settings.push(("min.insync.replicas", "2".to_owned()));
    }
    if replication_factor != 1 {
        settings.push(("unclean.leader.election.enable", "false".to_owned()));
    }
    settings.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
