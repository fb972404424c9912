//! Names: of levels, and of topics as the broker allows them.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::delay::shorten;

/// The longest topic name a broker accepts, in bytes.
pub const MAX_TOPIC_NAME: usize = 249;
/// The longest level name: it becomes part of resource names, which are DNS labels.
const MAX_LEVEL_NAME: usize = 63;
/// Names that belong to the fleet's own helper topics.
const RESERVED: [&str; 2] = ["parked", "clock"];

/// The name of a level, such as `5s`: the end of its topic's name.
///
/// Lower-case letters, digits and inner hyphens, at most 63 bytes, neither `parked` nor `clock`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LevelName(Arc<str>);

/// Why a text is not a [`LevelName`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Wrong characters or length.
    #[error(
        "not a level name: {asked:?}; use lower-case letters, digits and inner hyphens, 1 to 63 of them, such as 5s"
    )]
    Malformed {
        /// The text, shortened where it is long.
        asked: String,
    },
    /// The name of one of the fleet's own helper topics.
    #[error("a level may not be called {asked:?}: the fleet has a topic of that name itself; choose another name")]
    Reserved {
        /// The name.
        asked: String,
    },
}

impl LevelName {
    /// Checks and keeps a level's name.
    ///
    /// # Errors
    /// [`NameError`] if the name has other characters, is empty or too long, or is reserved.
    pub fn new(name: &str) -> Result<LevelName, NameError> {
        if !is_level_name(name) {
            return Err(NameError::Malformed { asked: shorten(name) });
        }
        if RESERVED.contains(&name) {
            return Err(NameError::Reserved { asked: name.to_owned() });
        }
        Ok(LevelName(name.into()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_level_name(name: &str) -> bool {
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=MAX_LEVEL_NAME).contains(&name.len())
        && name.bytes().all(legal)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

impl fmt::Display for LevelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for LevelName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<LevelName, NameError> {
        LevelName::new(name)
    }
}

impl AsRef<str> for LevelName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for LevelName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Why a text is not a topic name the broker would accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a legal topic name: {asked:?}; use letters, digits, '.', '_' and '-', 1 to 249 of them, but not . or ..")]
pub struct TopicNameError {
    asked: String,
}

/// Whether a broker would accept this topic name.
///
/// # Errors
/// [`TopicNameError`] if it would not.
pub fn check_topic_name(name: &str) -> Result<(), TopicNameError> {
    let legal = is_topic_text(name) && (1..=MAX_TOPIC_NAME).contains(&name.len()) && name != "." && name != "..";
    if legal { Ok(()) } else { Err(TopicNameError { asked: shorten(name) }) }
}

/// Whether only characters of topic names occur; the length is not looked at.
pub(crate) fn is_topic_text(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_names() {
        let longest = "a".repeat(63);
        for name in ["5s", "a", "7", "slow-lane", longest.as_str()] {
            assert!(LevelName::new(name).is_ok(), "{name}");
        }
        for name in ["", "-", "-a", "a-", "5S", "a_b", "a.b", "a b", "é", &"a".repeat(64)] {
            assert!(matches!(LevelName::new(name), Err(NameError::Malformed { .. })), "{name}");
        }
        for name in ["parked", "clock"] {
            assert!(matches!(LevelName::new(name), Err(NameError::Reserved { .. })), "{name}");
        }
    }

    #[test]
    fn topic_names() {
        let longest = "a".repeat(249);
        for name in ["orders", "A.b_c-9", "...", longest.as_str()] {
            assert!(check_topic_name(name).is_ok(), "{name}");
        }
        for name in ["", ".", "..", "a b", "a/b", "ü", "a\n", &"a".repeat(250)] {
            assert!(check_topic_name(name).is_err(), "{name}");
        }
    }
}
