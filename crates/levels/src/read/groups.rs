//! The owners of retry topics and dead letters.

use std::collections::BTreeMap;

use super::Reader;
use super::fields::{Entry, Fields};
use super::targets::never_allowed;
use crate::delay::shorten;
use crate::yaml::Node;
use crate::{Delay, Group, MAX_TOPIC_NAME, check_topic_name};

const GROUP_KEYS: &[&str] = &["topics", "retryPartitions", "dlqRetention", "critical"];
const RETRY_PARTITIONS: u32 = 6;
const DLQ_RETENTION: Delay = Delay::from_millis(14 * 86_400_000);
/// The longest ending that a group's name gets.
const LONGEST_ENDING: &str = ".dlq.marks";

impl Reader {
    pub(super) fn groups(&mut self, fields: &Fields<'_>, own: &str, siblings: &[String]) -> BTreeMap<String, Group> {
        let Some(node) = fields.get("groups") else {
            return BTreeMap::new();
        };
        let entries = self.entries("groups", node);
        entries.iter().filter_map(|entry| self.group(entry, own, siblings)).collect()
    }

    fn group(&mut self, entry: &Entry<'_>, own: &str, siblings: &[String]) -> Option<(String, Group)> {
        self.group_name(entry, own, siblings);
        let fields = self.fields(&entry.path, entry.value, GROUP_KEYS)?;
        let topics = match fields.get("topics") {
            Some(node) => self.topics(&fields.path_of("topics"), node),
            None => Vec::new(),
        };
        let group = Group {
            topics,
            retry_partitions: self.field(&fields, "retryPartitions", RETRY_PARTITIONS, Reader::partitions),
            dlq_retention: self.field(&fields, "dlqRetention", DLQ_RETENTION, Reader::duration),
            critical: self.field(&fields, "critical", false, Reader::truth),
        };
        Some((entry.key.to_owned(), group))
    }

    /// The group's topics must have legal names, and its retry topic must be one that a record can be released to.
    fn group_name(&mut self, entry: &Entry<'_>, own: &str, siblings: &[String]) {
        let longest = MAX_TOPIC_NAME - LONGEST_ENDING.len();
        if entry.key.is_empty() || check_topic_name(&format!("{}{LONGEST_ENDING}", entry.key)).is_err() {
            let shown = shorten(entry.key);
            let message = format!(
                "not a group that topics can be named after: {shown:?}; use letters, digits, '.', '_' and '-', \
                 1 to {longest} of them"
            );
            self.fault(&entry.path, entry.key_node, message);
        } else if let Some(prefix) = never_allowed(&format!("{}.retry", entry.key), own, siblings) {
            let message =
                format!("its retry topic would start with {prefix:?}, which is never a target; rename the group");
            self.fault(&entry.path, entry.key_node, message);
        }
    }

    fn topics(&mut self, path: &str, node: &Node) -> Vec<String> {
        let mut topics = Vec::new();
        for (path, item) in self.list(path, node) {
            let Some(topic) = self.text(&path, item) else {
                continue;
            };
            match check_topic_name(topic) {
                Ok(()) => topics.push(topic.to_owned()),
                Err(error) => self.fault(&path, item, error.to_string()),
            }
        }
        topics
    }
}
