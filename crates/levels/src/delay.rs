//! Lengths of time as the level table writes them: whole numbers with a unit, counted in milliseconds.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Units from the longest to the shortest.
const UNITS: [&str; 5] = ["d", "h", "m", "s", "ms"];
/// Digits of [`Delay::MAX`] in milliseconds. A longer number is too long in any unit, and one this short cannot
/// overflow while it is worked out.
const LONGEST_NUMBER: usize = 12;
const DAY: u64 = 86_400_000;

/// A length of time in whole milliseconds.
///
/// Written as whole numbers with the units `d`, `h`, `m`, `s` and `ms`, each at most once and the longest first:
/// `45m`, `1h30m`, `1500ms`. Spaces between the parts are allowed. Months and years have no fixed length and
/// fractions hide what is meant, so neither is read.
///
/// ```
/// use dwell_levels::Delay;
///
/// let delay: Delay = "1h 30m".parse()?;
/// assert_eq!(delay.as_millis(), 5_400_000);
/// assert_eq!(delay.to_string(), "1h30m");
/// # Ok::<(), dwell_levels::DelayError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Delay(u64);

/// Why a text is not a [`Delay`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DelayError {
    /// The text is not a list of whole numbers with known units.
    #[error("not a duration: {asked:?}; write a whole number with ms, s, m, h or d, such as 5s or 1h30m")]
    Malformed {
        /// The text, shortened where it is long.
        asked: String,
    },
    /// A unit was repeated, or a shorter unit came before a longer one.
    #[error("units out of order in {asked:?}; write each unit once, the longest first, such as 1d12h or 1h30m")]
    Order {
        /// The text, shortened where it is long.
        asked: String,
    },
    /// The length is beyond [`Delay::MAX`].
    #[error("{asked:?} is too long; the longest duration is 3650d (10 years)")]
    TooLong {
        /// The text, shortened where it is long.
        asked: String,
    },
}

impl Delay {
    /// No time at all.
    pub const ZERO: Delay = Delay(0);
    /// The longest length that [`Delay::parse`] reads: 3650 days.
    pub const MAX: Delay = Delay(3_650 * DAY);

    /// A delay of so many milliseconds. Not bounded by [`Delay::MAX`]; only texts are.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Delay {
        Delay(millis)
    }

    /// The length in milliseconds.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The length in seconds, for metrics and people.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }

    /// Whether this is no time at all.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, or the largest representable delay where it would overflow.
    #[must_use]
    pub const fn saturating_add(self, other: Delay) -> Delay {
        Delay(self.0.saturating_add(other.0))
    }

    /// Reads a duration such as `45m` or `1h30m`; a bare `0` is zero.
    ///
    /// # Errors
    /// [`DelayError`] if the text has another shape, repeats or disorders units, or exceeds [`Delay::MAX`].
    pub fn parse(text: &str) -> Result<Delay, DelayError> {
        let bare = text.trim_matches(' ');
        if bare != "0" {
            check_parts(bare, text)?;
        }
        humantime::parse_duration(bare)
            .ok()
            .and_then(|length| u64::try_from(length.as_millis()).ok())
            .filter(|millis| *millis <= Delay::MAX.0)
            .map(Delay)
            .ok_or_else(|| DelayError::TooLong { asked: shorten(text) })
    }
}

/// What is read here is stricter than what humantime reads: no fractions, no long or ambiguous units, one order.
fn check_parts(bare: &str, text: &str) -> Result<(), DelayError> {
    let malformed = || DelayError::Malformed { asked: shorten(text) };
    if bare.is_empty() {
        return Err(malformed());
    }
    let (mut rest, mut next_unit) = (bare, 0);
    while !rest.is_empty() {
        let (number, unit, tail) = split_part(rest).ok_or_else(malformed)?;
        let index = UNITS.iter().position(|name| *name == unit).ok_or_else(malformed)?;
        if index < next_unit {
            return Err(DelayError::Order { asked: shorten(text) });
        }
        if number.trim_start_matches('0').len() > LONGEST_NUMBER {
            return Err(DelayError::TooLong { asked: shorten(text) });
        }
        next_unit = index + 1;
        rest = tail.trim_start_matches(' ');
    }
    Ok(())
}

/// `30m rest` as (`30`, `m`, ` rest`).
fn split_part(text: &str) -> Option<(&str, &str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, tail) = text.split_at(digits);
    let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
    let (unit, tail) = tail.split_at(letters);
    (!number.is_empty()).then_some((number, unit, tail))
}

/// Keeps error texts readable whatever was written.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 64;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain(['…']).collect()
}

impl FromStr for Delay {
    type Err = DelayError;

    fn from_str(text: &str) -> Result<Delay, DelayError> {
        Delay::parse(text)
    }
}

/// The units in turn, such as `45m`, `1h30m` or `1m30s`; below a minute a broken second is shown in milliseconds only,
/// such as `1500ms`. [`Delay::parse`] reads every form back exactly, up to [`Delay::MAX`].
impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self.0 {
            0 => "0s".to_owned(),
            millis if millis < 60_000 && !millis.is_multiple_of(1_000) => format!("{millis}ms"),
            millis => units_in_turn(millis),
        })
    }
}

/// Days are counted here: beyond a month humantime speaks of months and years, which have no fixed length.
fn units_in_turn(millis: u64) -> String {
    let (days, rest) = (millis / DAY, millis % DAY);
    let rest = match rest {
        0 => String::new(),
        rest => humantime::format_duration(Duration::from_millis(rest)).to_string().replace(' ', ""),
    };
    if days == 0 { rest } else { format!("{days}d{rest}") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn reads_whole_numbers_with_units() {
        for (text, millis) in [
            ("5s", 5_000),
            ("5000ms", 5_000),
            ("1500ms", 1_500),
            ("45m", 2_700_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            (" 2h ", 7_200_000),
            ("1d1h1m1s1ms", 90_061_001),
            ("0s", 0),
            ("0", 0),
            ("0000000000000000000005s", 5_000),
            ("315360000000ms", Delay::MAX.as_millis()),
            ("3650d", Delay::MAX.as_millis()),
        ] {
            assert_eq!(Delay::parse(text), Ok(Delay::from_millis(millis)), "{text:?}");
        }
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "", " ", "5", "s", "5x", "5M", "1.5h", "-5s", "+5s", "5 s", "5us", "1w", "1y", "2months", "5s,", "½h",
            "5s\t1ms", "5S", "٣s", "1h-30m",
        ] {
            assert!(matches!(Delay::parse(text), Err(DelayError::Malformed { .. })), "{text:?}");
        }
        for text in ["1m1h", "5s5s", "1ms1s"] {
            assert!(matches!(Delay::parse(text), Err(DelayError::Order { .. })), "{text:?}");
        }
        for text in ["3651d", "3650d1ms", "99999999999999999999999d", "18446744073709551615s1000ms", "1000000000000ms"]
        {
            assert!(matches!(Delay::parse(text), Err(DelayError::TooLong { .. })), "{text:?}");
        }
    }

    #[test]
    fn shows_the_shortest_exact_form() {
        for (millis, text) in [
            (0, "0s"),
            (1, "1ms"),
            (1_500, "1500ms"),
            (5_000, "5s"),
            (90_000, "1m30s"),
            (2_700_000, "45m"),
            (5_400_000, "1h30m"),
            (7_200_000, "2h"),
            (7_201_000, "2h1s"),
            (90_061_001, "1d1h1m1s1ms"),
            (86_400_000, "1d"),
            (400 * 86_400_000 + 60_000, "400d1m"),
        ] {
            assert_eq!(Delay::from_millis(millis).to_string(), text);
        }
    }
}
