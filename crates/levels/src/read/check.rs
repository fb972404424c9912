//! The checking pass: every fault is collected, none ends it early. It builds nothing.

use super::prefixes::Prefixes;
use crate::yaml::Node;
use crate::{Fault, Rounding};

/// How the value of a key is checked. A null counts as absent and is not checked.
pub(super) type Check = fn(&mut Checker, &str, &Node);
/// The keys that a map may have.
pub(super) type Known = [(&'static str, Check)];

const TABLE: &Known = &[
    ("topicPrefix", Checker::prefix),
    ("siblingPrefixes", Checker::siblings),
    ("groupPrefix", Checker::prefix),
    ("targets", Checker::targets),
    ("rounding", Checker::word::<Rounding>),
    ("maxDelay", Checker::duration),
    ("levelDefaults", Checker::level_defaults),
    ("levels", Checker::levels),
    ("parked", Checker::parked),
    ("groups", Checker::groups),
];
const REQUIRED: [(&str, &str); 2] = [
    ("targets", "no targets; list the topics that records may be released to, such as [orders]"),
    ("levels", "no levels; add at least one, such as levels: {5s: {}}"),
];
const PARKED: &Known = &[("partitions", Checker::partitions), ("retention", Checker::duration)];

/// Collects what is wrong.
pub(super) struct Checker {
    pub(super) faults: Vec<Fault>,
    pub(super) prefixes: Prefixes,
}

impl Checker {
    /// Everything that is wrong with a tree.
    pub(super) fn faults_of(root: &Node) -> Vec<Fault> {
        let mut checker = Checker { faults: Vec::new(), prefixes: Prefixes::of(root) };
        checker.fields("", root, TABLE);
        for (key, message) in REQUIRED {
            if root.is_map() && root.get(key).is_none() {
                checker.fault(key, root, message);
            }
        }
        checker.faults
    }

    /// Notes a fault at a node.
    pub(super) fn fault(&mut self, path: &str, node: &Node, message: impl Into<String>) {
        self.faults.push(node.fault(path, message.into()));
    }

    fn parked(&mut self, path: &str, node: &Node) {
        self.fields(path, node, PARKED);
    }
}
