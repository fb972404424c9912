//! Patterns for target topics: whole names in which only `*` is special.

use std::fmt;
use std::str::FromStr;

use crate::delay::shorten;
use crate::name::{MAX_TOPIC_NAME, is_topic_text};

/// A pattern for topic names. `*` stands for any run of characters, an empty one included; the whole name must match.
///
/// ```
/// use dwell_levels::Glob;
///
/// let retries = Glob::new("*.retry")?;
/// assert!(retries.matches("billing.retry"));
/// assert!(!retries.matches("billing.retry.old"));
/// # Ok::<(), dwell_levels::GlobError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

/// Why a text is not a [`Glob`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a target pattern: {asked:?}; write a topic name of letters, digits, '.', '_' and '-', \
     at most 249 long, in which * stands for anything"
)]
pub struct GlobError {
    asked: String,
}

impl Glob {
    /// Checks and keeps a pattern.
    ///
    /// # Errors
    /// [`GlobError`] if the pattern is empty, too long, or has characters that no topic name has.
    pub fn new(pattern: &str) -> Result<Glob, GlobError> {
        let legal = (1..=MAX_TOPIC_NAME).contains(&pattern.len()) && pattern.split('*').all(is_topic_text);
        if legal && pattern != "." && pattern != ".." {
            Ok(Glob(pattern.to_owned()))
        } else {
            Err(GlobError { asked: shorten(pattern) })
        }
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What every matching name starts with.
    #[must_use]
    pub fn literal_prefix(&self) -> &str {
        self.0.split('*').next().unwrap_or_default()
    }

    /// Whether the whole name matches.
    ///
    /// The pieces between the stars are looked for from left to right and never taken back, so the work is bounded by
    /// the product of two short lengths, whatever the pattern.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let Some((head, tail)) = self.0.split_once('*') else {
            return self.0 == name;
        };
        let (middle, last) = tail.rsplit_once('*').unwrap_or(("", tail));
        name.strip_prefix(head).and_then(|rest| rest.strip_suffix(last)).is_some_and(|rest| in_order(middle, rest))
    }
}

/// Whether the pieces between stars occur in the text, in order and without overlap.
fn in_order(pieces: &str, text: &str) -> bool {
    let mut rest = text;
    for piece in pieces.split('*') {
        match rest.find(piece).and_then(|at| rest.get(at + piece.len()..)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    true
}

impl FromStr for Glob {
    type Err = GlobError;

    fn from_str(pattern: &str) -> Result<Glob, GlobError> {
        Glob::new(pattern)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    /// The definition, with all its backtracking.
    fn naive(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), None) => naive(rest, name),
            (Some((b'*', rest)), Some((_, tail))) => naive(rest, name) || naive(pattern, tail),
            (Some((p, rest)), Some((n, tail))) => p == n && naive(rest, tail),
            _ => false,
        }
    }

    #[test]
    fn matches_whole_names_only() {
        for (pattern, name, expected) in [
            ("orders", "orders", true),
            ("orders", "orders2", false),
            ("payments.*", "payments.", true),
            ("payments.*", "payments.eu", true),
            ("payments.*", "paymentsxeu", false),
            ("*.retry", "a.retry", true),
            ("*.retry", "a.retry.x", false),
            ("*", "anything", true),
            ("ab*ba", "aba", false),
            ("a*b*c", "a-b-b-c", true),
        ] {
            assert_eq!(Glob::new(pattern).unwrap().matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn refuses_what_no_topic_could_match() {
        for pattern in ["", "a b", "a/b", "a?", "[ab]", ".", "..", &"a".repeat(250)] {
            assert!(Glob::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_hostile_pattern_costs_nothing() {
        let pattern = Glob::new(&format!("{}b", "a*".repeat(120))).unwrap();
        assert!(!pattern.matches(&"a".repeat(249)));
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(pattern in "[ab*]{1,9}", name in "[ab]{0,9}") {
            let expected = naive(pattern.as_bytes(), name.as_bytes());
            prop_assert_eq!(Glob::new(&pattern).unwrap().matches(&name), expected);
        }
    }
}
