//! The words of the table that have a fixed set of values.

use std::fmt;
use std::str::FromStr;

use crate::delay::{Delay, DelayError, shorten};

/// A text that is none of the words it may be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a {what}: {asked:?}; write {allowed}")]
pub struct WordError {
    what: &'static str,
    asked: String,
    allowed: &'static str,
}

impl WordError {
    pub(crate) fn new(what: &'static str, asked: &str, allowed: &'static str) -> WordError {
        WordError { what, asked: shorten(asked), allowed }
    }
}

/// How a delay that no single level matches is brought onto the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// One hop to the smallest level that is not shorter.
    #[default]
    Up,
    /// Several hops, so that the record is late by at most the smallest level, or by half a second where that is
    /// shorter: `max(smallest level, 500 ms)`, the time between the hops aside.
    Exact,
}

impl Rounding {
    /// The word in the table and in the `dwell-rounding` header.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Rounding::Up => "up",
            Rounding::Exact => "exact",
        }
    }
}

impl FromStr for Rounding {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Rounding, WordError> {
        match text {
            "up" => Ok(Rounding::Up),
            "exact" => Ok(Rounding::Exact),
            _ => Err(WordError::new("rounding", text, "up or exact")),
        }
    }
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whether new records may be sent to a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LevelState {
    /// Chosen for new records.
    #[default]
    Active,
    /// Never chosen; its roller still releases what waits, so that the level can be retired.
    Draining,
}

impl LevelState {
    /// The word in the table.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LevelState::Active => "active",
            LevelState::Draining => "draining",
        }
    }
}

impl FromStr for LevelState {
    type Err = WordError;

    fn from_str(text: &str) -> Result<LevelState, WordError> {
        match text {
            "active" => Ok(LevelState::Active),
            "draining" => Ok(LevelState::Draining),
            _ => Err(WordError::new("level state", text, "active or draining")),
        }
    }
}

impl fmt::Display for LevelState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a level promises across crashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// No record is lost; a crash may release some twice, with the same id.
    #[default]
    AtLeastOnce,
    /// Release and offset are one transaction, at the price of some latency. Covers one hop on one cluster.
    ExactlyOnce,
}

impl Delivery {
    /// The words in the table.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Delivery::AtLeastOnce => "at-least-once",
            Delivery::ExactlyOnce => "exactly-once",
        }
    }
}

impl FromStr for Delivery {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Delivery, WordError> {
        match text {
            "at-least-once" => Ok(Delivery::AtLeastOnce),
            "exactly-once" => Ok(Delivery::ExactlyOnce),
            _ => Err(WordError::new("delivery", text, "at-least-once or exactly-once")),
        }
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How often a partition with nothing about to happen is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PollInterval {
    /// Half the level's delay, at most five minutes.
    #[default]
    Auto,
    /// As given.
    Every(Delay),
}

impl PollInterval {
    const AUTO_MAX: u64 = 5 * 60_000;

    /// The interval for a level of this delay; at least a millisecond.
    #[must_use]
    pub fn resolve(self, delay: Delay) -> Delay {
        let millis = match self {
            PollInterval::Auto => (delay.as_millis() / 2).min(Self::AUTO_MAX),
            PollInterval::Every(interval) => interval.as_millis(),
        };
        Delay::from_millis(millis.max(1))
    }
}

impl FromStr for PollInterval {
    type Err = DelayError;

    fn from_str(text: &str) -> Result<PollInterval, DelayError> {
        match text {
            "auto" => Ok(PollInterval::Auto),
            _ => Delay::parse(text).map(PollInterval::Every),
        }
    }
}

impl fmt::Display for PollInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PollInterval::Auto => f.pad("auto"),
            PollInterval::Every(interval) => interval.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn words_read_back() {
        for word in ["up", "exact"] {
            assert_eq!(word.parse::<Rounding>().unwrap().as_str(), word);
        }
        for word in ["active", "draining"] {
            assert_eq!(word.parse::<LevelState>().unwrap().as_str(), word);
        }
        for word in ["at-least-once", "exactly-once"] {
            assert_eq!(word.parse::<Delivery>().unwrap().as_str(), word);
        }
        let refused = "Up".parse::<Rounding>().unwrap_err().to_string();
        assert_eq!(refused, r#"not a rounding: "Up"; write up or exact"#);
    }

    #[test]
    fn auto_is_half_the_delay_up_to_five_minutes() {
        for (delay, interval) in [(1, 1), (1_000, 500), (60_000, 30_000), (600_000, 300_000), (7_200_000, 300_000)] {
            let resolved = PollInterval::Auto.resolve(Delay::from_millis(delay));
            assert_eq!(resolved.as_millis(), interval);
        }
        let every = PollInterval::Every(Delay::from_millis(7_000));
        assert_eq!(every.resolve(Delay::from_millis(1_000)).as_millis(), 7_000);
    }
}
