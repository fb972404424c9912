//! A point in time, as it is written on the command line.

use std::str::FromStr;

/// A point in time in epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At(pub(crate) i64);

/// Why a text is no point in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoTime(String);

impl std::fmt::Display for NoTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let NoTime(asked) = self;
        write!(
            f,
            "not a time: {asked:?}; write it with its offset, as 2030-01-31T12:00:00Z or 2030-01-31T12:00:00+01:00, \
             or in epoch milliseconds"
        )
    }
}

impl std::error::Error for NoTime {}

impl FromStr for At {
    type Err = NoTime;

    fn from_str(text: &str) -> Result<At, NoTime> {
        if let Ok(ms) = text.parse() {
            return Ok(At(ms));
        }
        let read: Result<jiff::Timestamp, _> = text.parse();
        read.map(|at| At(at.as_millisecond())).map_err(|_| NoTime(text.to_owned()))
    }
}

/// Epoch milliseconds for people, in UTC.
pub(crate) fn shown(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(at) => format!("{at:.3}"),
        Err(_) => ms.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_offset_or_in_milliseconds() {
        for (text, ms) in [
            ("2030-01-31T12:00:00Z", 1_896_091_200_000),
            ("2030-01-31T13:00:00+01:00", 1_896_091_200_000),
            ("2030-01-31T12:00:00.250Z", 1_896_091_200_250),
            ("1896091200000", 1_896_091_200_000),
            ("0", 0),
            ("-1", -1),
        ] {
            assert_eq!(text.parse(), Ok(At(ms)), "{text}");
        }
        assert_eq!(shown(1_896_091_200_250), "2030-01-31T12:00:00.250Z");
    }

    #[test]
    fn a_time_without_offset_or_sense_is_refused() {
        for text in ["", "tomorrow", "12:00", "2030-01-31", "2030-01-31T12:00:00", "2030-02-31T12:00:00Z", "1e3"] {
            assert!(text.parse::<At>().is_err(), "{text}");
        }
    }
}
