//! Maps: known keys, unknown keys with the one that was meant, keys written twice.

use std::collections::HashSet;

use super::Reader;
use crate::delay::shorten;
use crate::fault::MAX_FAULTS;
use crate::yaml::{Kind, Node};

/// The entries of a map whose keys are known.
pub(super) struct Fields<'n> {
    path: String,
    entries: Vec<(&'n str, &'n Node)>,
}

impl<'n> Fields<'n> {
    /// The value of a key; nothing if it is absent or null.
    pub(super) fn get(&self, key: &str) -> Option<&'n Node> {
        let (_, node) = self.entries.iter().find(|(name, _)| *name == key)?;
        (!node.is_null()).then_some(*node)
    }

    /// The path of a key of this map.
    pub(super) fn path_of(&self, key: &str) -> String {
        join(&self.path, key)
    }
}

/// One entry of a map with free keys.
pub(super) struct Entry<'n> {
    pub(super) path: String,
    pub(super) key: &'n str,
    pub(super) key_node: &'n Node,
    pub(super) value: &'n Node,
}

pub(super) fn join(path: &str, key: &str) -> String {
    let key = shorten(key);
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

impl Reader {
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

    /// The fields of a map that may only have the `known` keys; nothing if it is no map.
    pub(super) fn fields<'n>(&mut self, path: &str, node: &'n Node, known: &[&str]) -> Option<Fields<'n>> {
        let is_map = matches!(node.kind, Kind::Map(_)) || node.is_null();
        let mut entries = Vec::new();
        for entry in self.entries(path, node) {
            if known.contains(&entry.key) {
                entries.push((entry.key, entry.value));
            } else {
                let message = self.unknown(entry.key, known);
                self.fault(&entry.path, entry.key_node, message);
            }
        }
        is_map.then(|| Fields { path: path.to_owned(), entries })
    }

    /// Guesses what was meant, but only as long as anyone will read it: guessing costs more than reading.
    fn unknown(&self, key: &str, known: &[&str]) -> String {
        let guess = if self.faults.len() < MAX_FAULTS { nearest(key, known) } else { None };
        match guess {
            Some(meant) => format!("unknown key; did you mean {meant}?"),
            None => format!("unknown key; allowed are {}", known.join(", ")),
        }
    }

    /// The fields of a map under a key; nothing if the key is absent.
    pub(super) fn section<'n>(&mut self, fields: &Fields<'n>, key: &str, known: &[&str]) -> Option<Fields<'n>> {
        let node = fields.get(key)?;
        self.fields(&fields.path_of(key), node, known)
    }

    /// The value of a key, read by `read`; the default if it is absent or wrong.
    pub(super) fn field<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        default: T,
        read: impl FnOnce(&mut Reader, &str, &Node) -> Option<T>,
    ) -> T {
        let Some(node) = fields.get(key) else {
            return default;
        };
        read(self, &fields.path_of(key), node).unwrap_or(default)
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
