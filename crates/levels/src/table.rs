//! The checked table and what can be read from it.

use std::collections::BTreeMap;

use crate::{Delay, Glob, Group, Level, Parked, Rounding};

/// Records whose target is unwell wait at least this long before the next attempt.
const SET_ASIDE: Delay = Delay::from_millis(30_000);
/// Hops beyond what the longest delay needs: for exact rounding, for targets tried again, for tables that change.
const SPARE_HOPS: u64 = 64;

/// A checked table of delay levels. At least one level is active, and no two levels have the same delay.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelTable {
    pub(crate) parts: Parts,
    longest: usize,
    shortest: usize,
}

/// What the file says, checked part by part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts {
    pub(crate) topic_prefix: String,
    pub(crate) sibling_prefixes: Vec<String>,
    pub(crate) group_prefix: String,
    pub(crate) targets: Vec<Glob>,
    pub(crate) rounding: Rounding,
    pub(crate) max_delay: Delay,
    pub(crate) default_partitions: u32,
    pub(crate) default_replication_factor: i16,
    pub(crate) levels: Vec<Level>,
    pub(crate) parked: Parked,
    pub(crate) groups: BTreeMap<String, Group>,
}

impl LevelTable {
    /// Sorts the levels; nothing if none of them is active.
    pub(crate) fn from_parts(mut parts: Parts) -> Option<LevelTable> {
        parts.levels.sort_by_key(|level| level.delay);
        let shortest = parts.levels.iter().position(Level::is_active)?;
        let longest = parts.levels.iter().rposition(Level::is_active)?;
        Some(LevelTable { parts, longest, shortest })
    }

    /// All levels, draining ones included, the shortest delay first.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.parts.levels
    }

    /// The active levels, the shortest delay first.
    pub fn active(&self) -> impl DoubleEndedIterator<Item = &Level> {
        self.parts.levels.iter().filter(|level| level.is_active())
    }

    /// The level of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Level> {
        self.parts.levels.iter().find(|level| level.name.as_str() == name)
    }

    /// The active level with the longest delay.
    #[must_use]
    #[allow(clippy::indexing_slicing)] // found by position when the table was made, and never changed since
    pub fn longest_active(&self) -> &Level {
        &self.parts.levels[self.longest]
    }

    /// The active level with the shortest delay.
    #[must_use]
    #[allow(clippy::indexing_slicing)] // as above
    pub fn shortest_active(&self) -> &Level {
        &self.parts.levels[self.shortest]
    }

    /// Where a record waits while its target is unwell: the smallest active level of at least 30 s, else the longest.
    #[must_use]
    pub fn set_aside_level(&self) -> &Level {
        self.active().find(|level| level.delay >= SET_ASIDE).unwrap_or(self.longest_active())
    }

    /// The level's topic.
    #[must_use]
    pub fn topic_of(&self, level: &Level) -> String {
        format!("{}{}", self.parts.topic_prefix, level.name)
    }

    /// The consumer group of the level's rollers.
    #[must_use]
    pub fn group_of(&self, level: &Level) -> String {
        format!("{}{}", self.parts.group_prefix, level.name)
    }

    /// The topic of records that cannot be delivered.
    #[must_use]
    pub fn parked_topic(&self) -> String {
        format!("{}parked", self.parts.topic_prefix)
    }

    /// The topic through which rollers learn the brokers' time.
    #[must_use]
    pub fn clock_topic(&self) -> String {
        format!("{}clock", self.parts.topic_prefix)
    }

    /// What the names of this fleet's topics start with.
    #[must_use]
    pub fn topic_prefix(&self) -> &str {
        &self.parts.topic_prefix
    }

    /// What the names of other fleets' topics start with.
    #[must_use]
    pub fn sibling_prefixes(&self) -> &[String] {
        &self.parts.sibling_prefixes
    }

    /// What the names of the rollers' consumer groups start with.
    #[must_use]
    pub fn group_prefix(&self) -> &str {
        &self.parts.group_prefix
    }

    /// The topics that records may be released to.
    #[must_use]
    pub fn targets(&self) -> &[Glob] {
        &self.parts.targets
    }

    /// The longest delay that may be asked for.
    #[must_use]
    pub fn max_delay(&self) -> Delay {
        self.parts.max_delay
    }

    /// The rounding of records that ask for none.
    #[must_use]
    pub fn rounding(&self) -> Rounding {
        self.parts.rounding
    }

    /// A record that passed more levels than this goes round in circles: twice the hops of the longest delay on the
    /// longest level, and 64.
    #[must_use]
    pub fn max_hops(&self) -> u32 {
        let longest = self.longest_active().delay.as_millis().max(1);
        let hops = self.parts.max_delay.as_millis().saturating_mul(2) / longest;
        u32::try_from(hops.saturating_add(SPARE_HOPS)).unwrap_or(u32::MAX)
    }

    /// The topic of records that cannot be delivered, as declared.
    #[must_use]
    pub fn parked(&self) -> &Parked {
        &self.parts.parked
    }

    /// The owners of retry topics and dead letters, by group.
    #[must_use]
    pub fn groups(&self) -> &BTreeMap<String, Group> {
        &self.parts.groups
    }

    /// Replicas of topics that belong to no level; -1 = what the broker gives by default.
    #[must_use]
    pub fn default_replication_factor(&self) -> i16 {
        self.parts.default_replication_factor
    }

    /// Partitions of a level that says nothing else, and of the clock topic.
    #[must_use]
    pub fn default_partitions(&self) -> u32 {
        self.parts.default_partitions
    }

    /// The prefixes of this fleet and its siblings.
    pub(crate) fn fleet_prefixes(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.parts.topic_prefix.as_str()).chain(self.parts.sibling_prefixes.iter().map(String::as_str))
    }
}
