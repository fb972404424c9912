//! The list of allowed targets.

use super::Reader;
use super::fields::Fields;
use crate::Glob;
use crate::target::INTERNAL_PREFIX;
use crate::yaml::Node;

impl Reader {
    pub(super) fn targets(&mut self, root: &Node, fields: &Fields<'_>, own: &str, siblings: &[String]) -> Vec<Glob> {
        let Some(node) = fields.get("targets") else {
            self.fault(
                "targets",
                root,
                "no targets; list the topics that records may be released to, such as [orders]",
            );
            return Vec::new();
        };
        let before = self.faults.len();
        let items = self.list("targets", node);
        let globs: Vec<Glob> = items.iter().filter_map(|(path, item)| self.target(path, item, own, siblings)).collect();
        if globs.is_empty() && self.faults.len() == before {
            self.fault("targets", node, "the list is empty; name the topics that records may be released to");
        }
        globs
    }

    fn target(&mut self, path: &str, node: &Node, own: &str, siblings: &[String]) -> Option<Glob> {
        let glob = match Glob::new(self.text(path, node)?) {
            Ok(glob) => glob,
            Err(error) => {
                self.fault(path, node, error.to_string());
                return None;
            }
        };
        if let Some(prefix) = never_allowed(glob.literal_prefix(), own, siblings) {
            let message =
                format!("{:?} can match nothing: names that start with {prefix:?} are never targets", glob.as_str());
            self.fault(path, node, message);
            return None;
        }
        Some(glob)
    }
}

/// The prefix that makes every name with this beginning no target, whatever the list says.
pub(super) fn never_allowed<'p>(beginning: &str, own: &'p str, siblings: &'p [String]) -> Option<&'p str> {
    [own, INTERNAL_PREFIX]
        .into_iter()
        .chain(siblings.iter().map(String::as_str))
        .find(|prefix| beginning.starts_with(prefix))
}
