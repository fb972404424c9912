//! The levels themselves, and what holds for those that say nothing.

use std::collections::HashMap;

use super::check::{Checker, Known};
use super::fields::Entry;
use super::scalars::above_zero;
use crate::yaml::Node;
use crate::{Delay, Delivery, LevelName, LevelState, MAX_TOPIC_NAME};

const LEVEL: &Known = &[
    ("delay", Checker::duration),
    ("state", Checker::word::<LevelState>),
    ("partitions", Checker::partitions),
    ("replicationFactor", Checker::replication_factor),
    ("outageBudget", Checker::duration),
    ("pollInterval", Checker::poll_interval),
    ("delivery", Checker::word::<Delivery>),
    ("trim", Checker::truth),
    ("deploy", Checker::anything),
];
/// What a level has to itself comes first.
const DEFAULTS: &Known = LEVEL.split_at(2).1;

impl Checker {
    pub(super) fn level_defaults(&mut self, path: &str, node: &Node) {
        self.fields(path, node, DEFAULTS);
    }

    pub(super) fn levels(&mut self, path: &str, node: &Node) {
        let before = self.faults.len();
        let mut by_delay: HashMap<Delay, &str> = HashMap::new();
        let mut any_active = false;
        for entry in self.entries(path, node) {
            any_active |= entry.value.get("state").and_then(Node::scalar) != Some(LevelState::Draining.as_str());
            let Some(delay) = self.level(&entry) else {
                continue;
            };
            self.names_fit(&entry);
            let first = *by_delay.entry(delay).or_insert(entry.key);
            if first != entry.key {
                let message = format!("the same delay as level {first}: {delay}; remove one");
                self.fault(&entry.path, entry.key_node, message);
            }
        }
        if !any_active && self.faults.len() == before {
            self.fault(path, node, "no level is active; add one such as 5s: {}, or set one back to state: active");
        }
    }

    /// The level's delay, if that and its name are right.
    fn level(&mut self, entry: &Entry<'_>) -> Option<Delay> {
        let name = LevelName::new(entry.key);
        if let Err(error) = &name {
            self.fault(&entry.path, entry.key_node, error.to_string());
        }
        self.fields(&entry.path, entry.value, LEVEL);
        let delay = match entry.value.get("delay") {
            Some(node) => above_zero(node.scalar()?).ok(),
            None => self.delay_of_name(entry),
        };
        name.ok().and(delay)
    }

    fn delay_of_name(&mut self, entry: &Entry<'_>) -> Option<Delay> {
        above_zero(entry.key)
            .map_err(|error| {
                let message = format!("{error}; or keep the name and add delay: under it");
                self.fault(&entry.path, entry.key_node, message);
            })
            .ok()
    }

    fn names_fit(&mut self, entry: &Entry<'_>) {
        for (what, prefix) in [("topicPrefix", self.prefixes.topic.len()), ("groupPrefix", self.prefixes.group.len())] {
            let length = prefix + entry.key.len();
            if length > MAX_TOPIC_NAME {
                let message = format!("{what} and name are {length} bytes together; shorten one, {MAX_TOPIC_NAME} fit");
                self.fault(&entry.path, entry.key_node, message);
            }
        }
        let topic = format!("{}{}", self.prefixes.topic, entry.key);
        if let Some(sibling) = self.prefixes.sibling_of(&topic) {
            let message = format!("its topic {topic:?} starts with the sibling prefix {sibling:?}; rename the level");
            self.fault(&entry.path, entry.key_node, message);
        }
    }
}
