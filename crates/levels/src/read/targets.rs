//! The list of allowed targets.

use super::check::Checker;
use crate::Glob;
use crate::yaml::Node;

impl Checker {
    pub(super) fn targets(&mut self, path: &str, node: &Node) {
        let before = self.faults.len();
        let items = self.list(path, node);
        for (path, item) in &items {
            self.target(path, item);
        }
        if items.is_empty() && self.faults.len() == before {
            self.fault(path, node, "the list is empty; name the topics that records may be released to");
        }
    }

    fn target(&mut self, path: &str, node: &Node) {
        let Some(text) = self.text(path, node) else {
            return;
        };
        match Glob::new(text) {
            Ok(glob) => {
                if let Some(prefix) = self.prefixes.never_allowed(glob.literal_prefix()) {
                    let message =
                        format!("{text:?} can match nothing: names that start with {prefix:?} are never targets");
                    self.fault(path, node, message);
                }
            }
            Err(error) => self.fault(path, node, error.to_string()),
        }
    }
}
