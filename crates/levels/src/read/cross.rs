//! What no part of the table can see alone.

use std::collections::HashMap;

use super::Reader;
use crate::table::Parts;
use crate::yaml::Node;
use crate::{Delay, Level, MAX_TOPIC_NAME};

impl Reader {
    pub(super) fn cross_check(&mut self, parts: &Parts, found: &[(Level, &Node)]) {
        let mut by_delay: HashMap<Delay, &Level> = HashMap::new();
        for (level, node) in found {
            let path = format!("levels.{}", level.name);
            self.names_fit(parts, level, node, &path);
            match by_delay.get(&level.delay) {
                Some(other) => {
                    let message = format!("the same delay as level {}: {}; remove one", other.name, level.delay);
                    self.fault(&path, node, message);
                }
                None => {
                    by_delay.insert(level.delay, level);
                }
            }
        }
    }

    fn names_fit(&mut self, parts: &Parts, level: &Level, node: &Node, path: &str) {
        let name = level.name.as_str();
        for (what, prefix) in [("topicPrefix", &parts.topic_prefix), ("groupPrefix", &parts.group_prefix)] {
            let length = prefix.len() + name.len();
            if length > MAX_TOPIC_NAME {
                let message = format!("{what} and name are {length} bytes together; shorten one, {MAX_TOPIC_NAME} fit");
                self.fault(path, node, message);
            }
        }
        let topic = format!("{}{name}", parts.topic_prefix);
        if let Some(sibling) = parts.sibling_prefixes.iter().find(|sibling| is_their_own(sibling, parts, &topic)) {
            let message = format!("its topic {topic:?} starts with the sibling prefix {sibling:?}; rename the level");
            self.fault(path, node, message);
        }
    }
}

/// Whether a topic of this fleet looks like one of a sibling whose prefix extends this fleet's own.
fn is_their_own(sibling: &str, parts: &Parts, topic: &str) -> bool {
    sibling.len() > parts.topic_prefix.len() && topic.starts_with(sibling)
}
