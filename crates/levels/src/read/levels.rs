//! The levels themselves, and what holds for those that say nothing.

use super::Reader;
use super::fields::{Entry, Fields};
use crate::yaml::Node;
use crate::{Delay, Delivery, Level, LevelName, LevelState, PollInterval};

const DEFAULT_KEYS: &[&str] =
    &["partitions", "replicationFactor", "outageBudget", "pollInterval", "delivery", "trim", "deploy"];
const LEVEL_KEYS: &[&str] = &[
    "delay",
    "state",
    "partitions",
    "replicationFactor",
    "outageBudget",
    "pollInterval",
    "delivery",
    "trim",
    "deploy",
];

/// What a level is like where it does not say so itself.
pub(super) struct Defaults {
    pub(super) partitions: u32,
    pub(super) replication_factor: i16,
    outage_budget: Delay,
    poll_interval: PollInterval,
    delivery: Delivery,
    trim: bool,
}

impl Default for Defaults {
    fn default() -> Defaults {
        Defaults {
            partitions: 6,
            replication_factor: -1,
            outage_budget: Delay::from_millis(7 * 86_400_000),
            poll_interval: PollInterval::Auto,
            delivery: Delivery::AtLeastOnce,
            trim: false,
        }
    }
}

impl Reader {
    pub(super) fn level_defaults(&mut self, fields: &Fields<'_>) -> Defaults {
        match self.section(fields, "levelDefaults", DEFAULT_KEYS) {
            Some(fields) => self.shared_fields(&fields, &Defaults::default()),
            None => Defaults::default(),
        }
    }

    /// The fields that a level and the defaults have in common. `deploy` is not looked into.
    fn shared_fields(&mut self, fields: &Fields<'_>, base: &Defaults) -> Defaults {
        Defaults {
            partitions: self.field(fields, "partitions", base.partitions, Reader::partitions),
            replication_factor: self.field(
                fields,
                "replicationFactor",
                base.replication_factor,
                Reader::replication_factor,
            ),
            outage_budget: self.field(fields, "outageBudget", base.outage_budget, Reader::duration),
            poll_interval: self.field(fields, "pollInterval", base.poll_interval, Reader::poll_interval),
            delivery: self.field(fields, "delivery", base.delivery, Reader::word),
            trim: self.field(fields, "trim", base.trim, Reader::truth),
        }
    }

    /// Every level that could be read, with the node of its name.
    pub(super) fn levels<'n>(
        &mut self,
        root: &'n Node,
        fields: &Fields<'n>,
        defaults: &Defaults,
    ) -> Vec<(Level, &'n Node)> {
        let Some(node) = fields.get("levels") else {
            self.fault("levels", root, "no levels; add at least one, such as levels: {5s: {}}");
            return Vec::new();
        };
        let before = self.faults.len();
        let entries = self.entries("levels", node);
        let levels: Vec<_> = entries.iter().filter_map(|entry| self.level(entry, defaults)).collect();
        let none_active = !levels.iter().any(|(level, _)| level.is_active());
        if none_active && self.faults.len() == before {
            self.fault("levels", node, "no level is active; add one such as 5s: {}, or set one back to state: active");
        }
        levels
    }

    fn level<'n>(&mut self, entry: &Entry<'n>, defaults: &Defaults) -> Option<(Level, &'n Node)> {
        let name = match LevelName::new(entry.key) {
            Ok(name) => Some(name),
            Err(error) => {
                self.fault(&entry.path, entry.key_node, error.to_string());
                None
            }
        };
        let fields = self.fields(&entry.path, entry.value, LEVEL_KEYS)?;
        let shared = self.shared_fields(&fields, defaults);
        let state = self.field(&fields, "state", LevelState::Active, Reader::word);
        let delay = match fields.get("delay") {
            Some(node) => self.duration(&fields.path_of("delay"), node),
            None => self.delay_of_name(entry),
        };
        let level = Level {
            name: name?,
            delay: delay?,
            state,
            partitions: shared.partitions,
            replication_factor: shared.replication_factor,
            outage_budget: shared.outage_budget,
            poll_interval: shared.poll_interval,
            delivery: shared.delivery,
            trim: shared.trim,
        };
        Some((level, entry.key_node))
    }

    fn delay_of_name(&mut self, entry: &Entry<'_>) -> Option<Delay> {
        match Delay::parse(entry.key) {
            Ok(delay) if !delay.is_zero() => Some(delay),
            Ok(_) => {
                self.fault(
                    &entry.path,
                    entry.key_node,
                    "a level of no time at all; write a duration above zero, such as 5s",
                );
                None
            }
            Err(error) => {
                let message = format!("{error}; or keep the name and add delay: under it");
                self.fault(&entry.path, entry.key_node, message);
                None
            }
        }
    }
}
