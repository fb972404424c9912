//! What is to be done to a topic.

use dwell_levels::topics::{Finding, Fix, Severity, TopicSpec};
use serde::Serialize;
use std::collections::BTreeMap;

/// Names and new values.
type Settings = Vec<(String, String)>;

/// One change of one topic, with the reasons for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) topic: String,
    pub(super) action: Action,
    pub(super) why: Vec<String>,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Create(TopicSpec),
    Alter(Settings),
    AddPartitions(u32),
    /// Only a person can do or decide it.
    ByHand(String),
}

/// A change as it is printed.
#[derive(Debug, Serialize)]
pub(super) struct Described {
    pub(super) topic: String,
    pub(super) action: &'static str,
    pub(super) partitions: Option<u32>,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) by_hand: Option<String>,
    pub(super) why: Vec<String>,
}

/// The changes that findings call for: one for all settings of a topic. What is only worth knowing calls for none.
pub(super) fn changes(findings: Vec<Finding>) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for finding in findings.into_iter().filter(|f| f.severity != Severity::Warn) {
        let (topic, why, action) = (finding.topic, finding.why, action(finding.fix));
        if let Action::Alter(set) = &action
            && let Some((settings, reasons)) = settings_of(&mut changes, &topic)
        {
            settings.extend(set.iter().cloned());
            reasons.push(why);
        } else {
            changes.push(Change { topic, action, why: vec![why] });
        }
    }
    changes
}

/// The change of this topic's settings, if there is one already.
fn settings_of<'c>(changes: &'c mut [Change], topic: &str) -> Option<(&'c mut Settings, &'c mut Vec<String>)> {
    changes.iter_mut().find_map(|change| match &mut change.action {
        Action::Alter(set) if change.topic == topic => Some((set, &mut change.why)),
        _ => None,
    })
}

fn action(fix: Fix) -> Action {
    match fix {
        Fix::Create(spec) => Action::Create(spec),
        Fix::Alter { set, .. } => Action::Alter(set),
        Fix::AddPartitions { to, .. } => Action::AddPartitions(to),
        Fix::Manual(text) => Action::ByHand(text),
    }
}

impl Change {
    pub(super) fn describe(&self) -> Described {
        let (action, partitions, settings, by_hand) = match &self.action {
            Action::Create(spec) => ("create", Some(spec.partitions), spec.config.as_slice(), None),
            Action::Alter(set) => ("alter", None, set.as_slice(), None),
            Action::AddPartitions(to) => ("add-partitions", Some(*to), [].as_slice(), None),
            Action::ByHand(text) => ("by-hand", None, [].as_slice(), Some(text.clone())),
        };
        Described {
            topic: self.topic.clone(),
            action,
            partitions,
            settings: settings.iter().cloned().collect(),
            by_hand,
            why: self.why.clone(),
        }
    }
}

impl Described {
    /// What is done, in one cell.
    pub(super) fn details(&self) -> String {
        let partitions = self.partitions.map(|count| format!("partitions={count}"));
        let settings = self.settings.iter().map(|(key, value)| format!("{key}={value}"));
        let parts: Vec<String> = partitions.into_iter().chain(settings).chain(self.by_hand.clone()).collect();
        parts.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(topic: &str, severity: Severity, fix: Fix) -> Finding {
        Finding {
            topic: topic.to_owned(),
            severity,
            key: "k".to_owned(),
            found: "f".to_owned(),
            wanted: "w".to_owned(),
            why: "because".to_owned(),
            fix,
        }
    }

    fn alter(topic: &str, key: &str) -> Finding {
        let set = vec![(key.to_owned(), "1".to_owned())];
        finding(topic, Severity::Loss, Fix::Alter { topic: topic.to_owned(), set })
    }

    #[test]
    fn the_settings_of_a_topic_are_one_change() {
        let grow = Fix::AddPartitions { topic: "a".to_owned(), to: 6 };
        let changes =
            changes(vec![alter("a", "x"), finding("a", Severity::Drift, grow), alter("b", "x"), alter("a", "y")]);
        let shown: Vec<(String, String)> =
            changes.iter().map(|change| (change.topic.clone(), change.describe().details())).collect();
        let expected = [("a", "x=1 y=1"), ("a", "partitions=6"), ("b", "x=1")];
        assert_eq!(shown, expected.map(|(t, d)| (t.to_owned(), d.to_owned())));
    }

    #[test]
    fn what_is_only_worth_knowing_calls_for_nothing() {
        let warning = finding("a", Severity::Warn, Fix::Manual("more replicas".to_owned()));
        assert!(changes(vec![warning]).is_empty());
    }
}
