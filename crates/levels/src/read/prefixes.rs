//! What names of topics and groups start with.

use std::collections::HashSet;

use super::check::Checker;
use super::file::{GROUP_PREFIX, TOPIC_PREFIX};
use crate::MAX_TOPIC_NAME;
use crate::delay::shorten;
use crate::name::is_topic_text;
use crate::target::INTERNAL_PREFIX;
use crate::yaml::Node;

/// The prefixes of a tree, for checks of other parts. What is wrong with them is another check's to say.
pub(super) struct Prefixes {
    pub(super) topic: String,
    pub(super) group: String,
    pub(super) siblings: Vec<String>,
}

impl Prefixes {
    pub(super) fn of(root: &Node) -> Prefixes {
        let legal = |node: &Node| node.scalar().filter(|text| is_prefix(text)).map(str::to_owned);
        let one = |key, default: &str| root.get(key).and_then(legal).unwrap_or_else(|| default.to_owned());
        let siblings = root.get("siblingPrefixes").map(Node::items).unwrap_or_default();
        Prefixes {
            topic: one("topicPrefix", TOPIC_PREFIX),
            group: one("groupPrefix", GROUP_PREFIX),
            siblings: siblings.iter().filter_map(legal).collect(),
        }
    }

    /// The prefix that makes every name with this beginning no target, whatever the list says.
    pub(super) fn never_allowed(&self, beginning: &str) -> Option<&str> {
        [self.topic.as_str(), INTERNAL_PREFIX]
            .into_iter()
            .chain(self.siblings.iter().map(String::as_str))
            .find(|prefix| beginning.starts_with(prefix))
    }

    /// The prefix of a sibling that extends this fleet's own so far that this topic looks like one of the sibling's.
    pub(super) fn sibling_of(&self, topic: &str) -> Option<&str> {
        let is_theirs = |sibling: &&str| sibling.len() > self.topic.len() && topic.starts_with(sibling);
        self.siblings.iter().map(String::as_str).find(is_theirs)
    }
}

impl Checker {
    pub(super) fn prefix(&mut self, path: &str, node: &Node) {
        let Some(text) = self.text(path, node) else {
            return;
        };
        if !is_prefix(text) {
            let message = format!(
                "not a prefix: {:?}; use letters, digits, '.', '_' and '-', at least one, not starting with __, \
                 such as delay-",
                shorten(text)
            );
            self.fault(path, node, message);
        }
    }

    pub(super) fn siblings(&mut self, path: &str, node: &Node) {
        let mut seen = HashSet::new();
        for (path, item) in self.list(path, node) {
            self.prefix(&path, item);
            let Some(prefix) = item.scalar().filter(|text| is_prefix(text)) else {
                continue;
            };
            if prefix == self.prefixes.topic {
                self.fault(&path, item, format!("{prefix:?} is this fleet's own topicPrefix; name only other fleets"));
            } else if !seen.insert(prefix) {
                self.fault(&path, item, format!("{prefix:?} is listed twice; remove one"));
            }
        }
    }
}

fn is_prefix(text: &str) -> bool {
    (1..MAX_TOPIC_NAME).contains(&text.len()) && is_topic_text(text) && !text.starts_with(INTERNAL_PREFIX)
}
