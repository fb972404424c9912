//! What is to be sent, where to and when.

use dwell_levels::Rounding;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::route::Headers;

/// A record to be delivered later.
///
/// It needs a target and a time, [`Delayed::after`] or [`Delayed::at`]; whichever is said last counts. Nothing is
/// checked before it is routed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delayed {
    pub(crate) target: String,
    pub(crate) ask: Option<Ask>,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) payload: Option<Vec<u8>>,
    pub(crate) headers: Headers,
    pub(crate) id: Option<String>,
    pub(crate) record_type: Option<String>,
    pub(crate) rounding: Option<Rounding>,
}

/// When, as it was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    After(Duration),
    At(Moment),
}

/// A point in time, from a [`SystemTime`] or from milliseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    epoch_ms: i64,
}

impl Moment {
    /// Milliseconds since the epoch. A time that does not fit counts as the last that does, which no table allows.
    #[must_use]
    pub fn epoch_ms(self) -> i64 {
        self.epoch_ms
    }
}

impl From<i64> for Moment {
    fn from(epoch_ms: i64) -> Moment {
        Moment { epoch_ms }
    }
}

/// Rounded up to the millisecond, so that nothing is early.
impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Moment {
        let epoch_ms = match time.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(ceil_ms(since)).unwrap_or(i64::MAX),
            // Whole milliseconds towards zero are rounded up here.
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
        };
        Moment { epoch_ms }
    }
}

/// Whole milliseconds that are not shorter.
pub(crate) fn ceil_ms(duration: Duration) -> u128 {
    duration.as_nanos().div_ceil(1_000_000)
}

impl Delayed {
    /// A record for this topic, with null key, null value and no headers yet.
    #[must_use]
    pub fn to(target: impl Into<String>) -> Delayed {
        Delayed {
            target: target.into(),
            ask: None,
            key: None,
            payload: None,
            headers: Headers::new(),
            id: None,
            record_type: None,
            rounding: None,
        }
    }

    /// Deliver this long after the brokers have taken the record. Counted by the brokers' clock alone, and rounded up
    /// to the millisecond. Zero sends it to the target at once.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Delayed {
        self.ask = Some(Ask::After(delay));
        self
    }

    /// Deliver at this time: a [`SystemTime`] or milliseconds since the epoch. A time that has passed sends it to the
    /// target at once.
    #[must_use]
    pub fn at(mut self, time: impl Into<Moment>) -> Delayed {
        self.ask = Some(Ask::At(time.into()));
        self
    }

    /// The key. The same key reaches the same partition of the target as from a Java client.
    #[must_use]
    pub fn key(mut self, key: impl Into<Vec<u8>>) -> Delayed {
        self.key = Some(key.into());
        self
    }

    /// The value. Without one the record is a tombstone.
    #[must_use]
    pub fn payload(mut self, payload: impl Into<Vec<u8>>) -> Delayed {
        self.payload = Some(payload.into());
        self
    }

    /// Adds a header. All headers reach the target in order, those of the same name too; names that start with
    /// `dwell-` are refused.
    #[must_use]
    pub fn header(mut self, name: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Delayed {
        self.headers.push((name.into(), Some(value.into())));
        self
    }

    /// Adds a header whose value is null.
    #[must_use]
    pub fn null_header(mut self, name: impl Into<Vec<u8>>) -> Delayed {
        self.headers.push((name.into(), None));
        self
    }

    /// A unique id of 1 to 256 bytes. Without one the router makes one. A record that is sent again keeps its id, so
    /// that consumers can tell a duplicate.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Delayed {
        self.id = Some(id.into());
        self
    }

    /// A business type of 1 to 128 bytes, for search and statistics.
    #[must_use]
    pub fn record_type(mut self, record_type: impl Into<String>) -> Delayed {
        self.record_type = Some(record_type.into());
        self
    }

    /// How to fit the delay to the levels, where it shall differ from the table's own way.
    #[must_use]
    pub fn rounding(mut self, rounding: Rounding) -> Delayed {
        self.rounding = Some(rounding);
        self
    }
}
