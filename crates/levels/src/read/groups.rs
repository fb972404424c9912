//! The owners of retry topics and dead letters.

use super::check::{Checker, Known};
use super::fields::Entry;
use crate::delay::shorten;
use crate::yaml::Node;
use crate::{MAX_TOPIC_NAME, check_topic_name};

const GROUP: &Known = &[
    ("topics", Checker::topics),
    ("retryPartitions", Checker::partitions),
    ("dlqRetention", Checker::duration),
    ("critical", Checker::truth),
];
/// The longest ending that a group's name gets.
const LONGEST_ENDING: &str = ".dlq.marks";

impl Checker {
    pub(super) fn groups(&mut self, path: &str, node: &Node) {
        for entry in self.entries(path, node) {
            self.group_name(&entry);
            self.fields(&entry.path, entry.value, GROUP);
        }
    }

    /// The group's topics must have legal names, and its retry topic must be one that a record can be released to.
    fn group_name(&mut self, entry: &Entry<'_>) {
        let longest = MAX_TOPIC_NAME - LONGEST_ENDING.len();
        if entry.key.is_empty() || check_topic_name(&format!("{}{LONGEST_ENDING}", entry.key)).is_err() {
            let shown = shorten(entry.key);
            let message = format!(
                "not a group that topics can be named after: {shown:?}; use letters, digits, '.', '_' and '-', \
                 1 to {longest} of them"
            );
            self.fault(&entry.path, entry.key_node, message);
        } else if let Some(prefix) = self.prefixes.never_allowed(&format!("{}.retry", entry.key)) {
            let message =
                format!("its retry topic would start with {prefix:?}, which is never a target; rename the group");
            self.fault(&entry.path, entry.key_node, message);
        }
    }

    fn topics(&mut self, path: &str, node: &Node) {
        for (path, item) in self.list(path, node) {
            if let Some(Err(error)) = self.text(&path, item).map(check_topic_name) {
                self.fault(&path, item, error.to_string());
            }
        }
    }
}
