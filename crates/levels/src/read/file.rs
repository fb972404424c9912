//! The data of the file, as serde takes it. What is absent or null has its default here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::table::Parts;
use crate::{Delay, Delivery, Glob, Group, Level, LevelName, LevelState, LevelTable, Parked, PollInterval, Rounding};

pub(super) const TOPIC_PREFIX: &str = "delay-";
pub(super) const GROUP_PREFIX: &str = "dwell-roller-";
const DAY: u64 = 86_400_000;
const MAX_DELAY: Delay = Delay::from_millis(40 * DAY);
const PARKED: Parked = Parked { partitions: 1, retention: Delay::from_millis(30 * DAY) };
const RETRY_PARTITIONS: u32 = 6;
const DLQ_RETENTION: Delay = Delay::from_millis(14 * DAY);
const LEVEL: Shared = Shared {
    partitions: 6,
    replication_factor: -1,
    outage_budget: Delay::from_millis(7 * DAY),
    poll_interval: PollInterval::Auto,
    delivery: Delivery::AtLeastOnce,
    trim: false,
};

/// The whole file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct File {
    topic_prefix: Option<String>,
    sibling_prefixes: Option<Vec<String>>,
    group_prefix: Option<String>,
    targets: Vec<Glob>,
    rounding: Option<Rounding>,
    max_delay: Option<Delay>,
    level_defaults: Option<LevelFields>,
    levels: BTreeMap<LevelName, Option<LevelFields>>,
    parked: Option<ParkedFields>,
    groups: Option<BTreeMap<String, Option<GroupFields>>>,
}

/// A level, or what holds for all of them.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LevelFields {
    delay: Option<Delay>,
    state: Option<LevelState>,
    partitions: Option<u32>,
    replication_factor: Option<i16>,
    outage_budget: Option<Delay>,
    poll_interval: Option<PollInterval>,
    delivery: Option<Delivery>,
    trim: Option<bool>,
    /// Belongs to whoever deploys the rollers.
    #[serde(default, rename = "deploy")]
    _deploy: IgnoredAny,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ParkedFields {
    partitions: Option<u32>,
    retention: Option<Delay>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GroupFields {
    topics: Option<Vec<String>>,
    retry_partitions: Option<u32>,
    dlq_retention: Option<Delay>,
    critical: Option<bool>,
}

/// What levels and their defaults have in common, nothing left open.
struct Shared {
    partitions: u32,
    replication_factor: i16,
    outage_budget: Delay,
    poll_interval: PollInterval,
    delivery: Delivery,
    trim: bool,
}

impl File {
    /// The table; nothing if a level has no delay or none is active, which the checks have ruled out.
    pub(super) fn into_table(self) -> Option<LevelTable> {
        let defaults = self.level_defaults.unwrap_or_default().over(&LEVEL);
        let levels = self.levels.into_iter().map(|(name, fields)| fields.unwrap_or_default().level(name, &defaults));
        let groups = self.groups.unwrap_or_default().into_iter();
        LevelTable::from_parts(Parts {
            topic_prefix: self.topic_prefix.unwrap_or_else(|| TOPIC_PREFIX.to_owned()),
            sibling_prefixes: self.sibling_prefixes.unwrap_or_default(),
            group_prefix: self.group_prefix.unwrap_or_else(|| GROUP_PREFIX.to_owned()),
            targets: self.targets,
            rounding: self.rounding.unwrap_or_default(),
            max_delay: self.max_delay.unwrap_or(MAX_DELAY),
            default_partitions: defaults.partitions,
            default_replication_factor: defaults.replication_factor,
            levels: levels.collect::<Option<_>>()?,
            parked: self.parked.unwrap_or_default().parked(),
            groups: groups.map(|(name, fields)| (name, fields.unwrap_or_default().group())).collect(),
        })
    }
}

impl LevelFields {
    fn over(&self, base: &Shared) -> Shared {
        Shared {
            partitions: self.partitions.unwrap_or(base.partitions),
            replication_factor: self.replication_factor.unwrap_or(base.replication_factor),
            outage_budget: self.outage_budget.unwrap_or(base.outage_budget),
            poll_interval: self.poll_interval.unwrap_or(base.poll_interval),
            delivery: self.delivery.unwrap_or(base.delivery),
            trim: self.trim.unwrap_or(base.trim),
        }
    }

    /// Without a delay of its own, a level's name is its delay.
    fn level(&self, name: LevelName, defaults: &Shared) -> Option<Level> {
        let Shared { partitions, replication_factor, outage_budget, poll_interval, delivery, trim } =
            self.over(defaults);
        let delay = self.delay.or_else(|| name.as_str().parse().ok())?;
        let state = self.state.unwrap_or_default();
        Some(Level { name, delay, state, partitions, replication_factor, outage_budget, poll_interval, delivery, trim })
    }
}

impl ParkedFields {
    fn parked(&self) -> Parked {
        Parked {
            partitions: self.partitions.unwrap_or(PARKED.partitions),
            retention: self.retention.unwrap_or(PARKED.retention),
        }
    }
}

impl GroupFields {
    fn group(self) -> Group {
        Group {
            topics: self.topics.unwrap_or_default(),
            retry_partitions: self.retry_partitions.unwrap_or(RETRY_PARTITIONS),
            dlq_retention: self.dlq_retention.unwrap_or(DLQ_RETENTION),
            critical: self.critical.unwrap_or_default(),
        }
    }
}
