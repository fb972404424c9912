//! Maps: known keys, unknown keys with the one that was meant, keys written twice.

use std::collections::HashSet;

use super::check::{Checker, Known};
use crate::delay::shorten;
use crate::fault::MAX_FAULTS;
use crate::yaml::{Kind, Node};

/// One entry of a map.
pub(super) struct Entry<'n> {
    /// The keys that lead here.
    pub(super) path: String,
    pub(super) key: &'n str,
    pub(super) key_node: &'n Node,
    pub(super) value: &'n Node,
}

fn join(path: &str, key: &str) -> String {
    let key = shorten(key);
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

impl Checker {
    /// The entries of a map, each key once. A null is an empty map.
    pub(super) fn entries<'n>(&mut self, path: &str, node: &'n Node) -> Vec<Entry<'n>> {
        let pairs = match &node.kind {
            Kind::Map(pairs) => pairs,
            _ if node.is_null() => return Vec::new(),
            other => {
                self.fault(path, node, format!("expected a map of keys and values, found {}", describe(other)));
                return Vec::new();
            }
        };
        let mut seen = HashSet::new();
        let mut entries = Vec::new();
        for (key_node, value) in pairs {
            let Some(key) = self.text(path, key_node) else {
                continue;
            };
            let path = join(path, key);
            if seen.insert(key) {
                entries.push(Entry { path, key, key_node, value });
            } else {
                self.fault(&path, key_node, "this key is written twice; remove one");
            }
        }
        entries
    }

    /// Checks a map that may only have the `known` keys.
    pub(super) fn fields(&mut self, path: &str, node: &Node, known: &Known) {
        for entry in self.entries(path, node) {
            match known.iter().find(|(key, _)| *key == entry.key) {
                Some(_) if entry.value.is_null() => {}
                Some((_, check)) => check(self, &entry.path, entry.value),
                None => {
                    let message = self.unknown(entry.key, known);
                    self.fault(&entry.path, entry.key_node, message);
                }
            }
        }
    }

    /// Guesses what was meant, but only as long as anyone will read it: guessing costs more than reading.
    fn unknown(&self, key: &str, known: &Known) -> String {
        let known: Vec<&str> = known.iter().map(|(key, _)| *key).collect();
        let guess = if self.faults.len() < MAX_FAULTS { nearest(key, &known) } else { None };
        match guess {
            Some(meant) => format!("unknown key; did you mean {meant}?"),
            None => format!("unknown key; allowed are {}", known.join(", ")),
        }
    }
}

/// What a node is, in words for a message.
pub(super) fn describe(kind: &Kind) -> String {
    match kind {
        Kind::Plain(text) if text.is_empty() => "nothing".to_owned(),
        Kind::Plain(text) | Kind::Quoted(text) => format!("{:?}", shorten(text)),
        Kind::List(_) => "a list".to_owned(),
        Kind::Map(_) => "a map".to_owned(),
        Kind::Unsupported(what) => {
            format!("{what}, which a level table does not use; write the value itself")
        }
    }
}

/// The known key that is at most two edits away.
fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    const LONGEST: usize = 64;
    if key.len() > LONGEST {
        return None;
    }
    let distance = |name: &&str| edits(&key.to_lowercase(), &name.to_lowercase());
    let best = known.iter().copied().min_by_key(distance)?;
    (distance(&best) <= 2.min(best.len() / 2)).then_some(best)
}

/// Levenshtein's distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for ((right, above), diagonal) in b.iter().zip(row.iter().skip(1)).zip(&row) {
            let beside = next.last().copied().unwrap_or_default();
            next.push((diagonal + usize::from(left != *right)).min(above + 1).min(beside + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, distance) in [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("trim", "tirm", 2)] {
            assert_eq!(edits(a, b), distance, "{a} {b}");
        }
        assert_eq!(nearest("max_delay", &["maxDelay", "levels"]), Some("maxDelay"));
        assert_eq!(nearest("colour", &["maxDelay", "levels"]), None);
    }
}
