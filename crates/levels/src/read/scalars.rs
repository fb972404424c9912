//! Single values, each with the type it must have.

use std::fmt::Display;
use std::str::FromStr;

use super::check::Checker;
use super::fields::describe;
use crate::Delay;
use crate::delay::shorten;
use crate::yaml::{Kind, Node};

/// More partitions than any broker carries for one topic.
const MAX_PARTITIONS: i64 = 10_000;

impl Checker {
    /// Text. Unquoted text that other YAML readers take for a number or a truth value must be quoted.
    pub(super) fn text<'n>(&mut self, path: &str, node: &'n Node) -> Option<&'n str> {
        match &node.kind {
            Kind::Plain(text) if text.is_empty() => {
                self.expected(path, node, "text");
                None
            }
            Kind::Plain(text) if is_ambiguous(text) => {
                let shown = shorten(text);
                self.fault(
                    path,
                    node,
                    format!("{shown} is read as a number, a truth value or null; quote it: \"{shown}\""),
                );
                None
            }
            _ => self.scalar(path, node, "text"),
        }
    }

    /// A duration above zero.
    pub(super) fn duration(&mut self, path: &str, node: &Node) {
        let text = self.scalar(path, node, "a duration such as 5s");
        if let Some(Err(message)) = text.map(above_zero) {
            self.fault(path, node, message);
        }
    }

    /// `auto` or a duration above zero.
    pub(super) fn poll_interval(&mut self, path: &str, node: &Node) {
        match self.scalar(path, node, "auto or a duration such as 30s") {
            Some("auto") | None => {}
            Some(_) => self.duration(path, node),
        }
    }

    /// A number of partitions.
    pub(super) fn partitions(&mut self, path: &str, node: &Node) {
        self.number(path, node, "a whole number from 1 to 10000", |n| (1..=MAX_PARTITIONS).contains(&n));
    }

    /// A replication factor; -1 leaves it to the broker.
    pub(super) fn replication_factor(&mut self, path: &str, node: &Node) {
        let allowed = "a whole number from 1 to 32767, or -1 for the broker's default";
        self.number(path, node, allowed, |n| n == -1 || (1..=i64::from(i16::MAX)).contains(&n));
    }

    /// `true` or `false`.
    pub(super) fn truth(&mut self, path: &str, node: &Node) {
        match &node.kind {
            Kind::Plain(text) if text == "true" || text == "false" => {}
            _ => self.expected(path, node, "true or false"),
        }
    }

    /// One of a few words.
    pub(super) fn word<T: FromStr<Err: Display>>(&mut self, path: &str, node: &Node) {
        if let Some(Err(error)) = self.scalar(path, node, "a word").map(str::parse::<T>) {
            self.fault(path, node, error.to_string());
        }
    }

    /// What others look into.
    pub(super) fn anything(&mut self, _: &str, _: &Node) {}

    /// The items of a list, each with its path.
    pub(super) fn list<'n>(&mut self, path: &str, node: &'n Node) -> Vec<(String, &'n Node)> {
        match &node.kind {
            Kind::List(items) => items.iter().enumerate().map(|(i, item)| (format!("{path}.{i}"), item)).collect(),
            _ => {
                self.expected(path, node, "a list such as [a, b]");
                Vec::new()
            }
        }
    }

    fn scalar<'n>(&mut self, path: &str, node: &'n Node, expected: &str) -> Option<&'n str> {
        if node.scalar().is_none() {
            self.expected(path, node, expected);
        }
        node.scalar()
    }

    fn number(&mut self, path: &str, node: &Node, allowed: &str, is_allowed: impl Fn(i64) -> bool) {
        match &node.kind {
            Kind::Plain(text) if decimal(text).is_some_and(is_allowed) => {}
            _ => self.expected(path, node, allowed),
        }
    }

    fn expected(&mut self, path: &str, node: &Node, expected: &str) {
        self.fault(path, node, format!("expected {expected}, found {}", describe(&node.kind)));
    }
}

/// A duration that is not zero, or what is wrong with it.
pub(super) fn above_zero(text: &str) -> Result<Delay, String> {
    match Delay::parse(text) {
        Ok(Delay::ZERO) => Err(format!("{text:?} is no time at all; write a duration above zero, such as 5s")),
        Ok(delay) => Ok(delay),
        Err(error) => Err(error.to_string()),
    }
}

/// Decimal without leading zeros: `010` is eight to some readers and ten to others.
fn decimal(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// Whether some YAML reader, of version 1.1 or 1.2, takes this unquoted text for something other than text.
fn is_ambiguous(text: &str) -> bool {
    const WORDS: [&str; 10] = ["", "~", "null", "true", "false", "yes", "no", "on", "off", "y"];
    let lower = text.to_ascii_lowercase();
    let numeric = lower.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    let bare = lower.replace('_', "");
    WORDS.contains(&lower.as_str())
        || lower == "n"
        || (numeric && (bare.parse::<f64>().is_ok() || is_based(&bare) || matches!(bare.as_str(), ".inf" | ".nan")))
}

/// `0x1f`, `0o17`, `0b11`.
fn is_based(text: &str) -> bool {
    let digits = |prefix, radix| {
        text.strip_prefix(prefix).is_some_and(|rest: &str| !rest.is_empty() && rest.chars().all(|c| c.is_digit(radix)))
    };
    digits("0x", 16) || digits("0o", 8) || digits("0b", 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_texts() {
        for text in
            ["", "~", "null", "True", "YES", "off", "n", "12", "-1", "1_000", "1e3", "0x1f", ".5", "1.5", ".inf"]
        {
            assert!(is_ambiguous(text), "{text:?}");
        }
        for text in ["5s", "1h", "orders", "payments.eu", "1s.retry", "0xyz", "infinity", "nano", "-"] {
            assert!(!is_ambiguous(text), "{text:?}");
        }
    }

    #[test]
    fn plain_decimals_only() {
        assert_eq!(decimal("12"), Some(12));
        assert_eq!(decimal("-1"), Some(-1));
        for text in ["", "+1", "010", "1.0", "0x1", "1_0", "99999999999999999999"] {
            assert_eq!(decimal(text), None, "{text:?}");
        }
    }
}
