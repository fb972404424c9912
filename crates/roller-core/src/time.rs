//! The two clocks of a roller: the brokers' (for due times) and the process's own (for deadlines).

use dwell_levels::Delay;
use std::time::Duration;

/// A moment on the brokers' clock, in microseconds since the Unix epoch.
///
/// Due times live on this clock and on no other: a host whose own clock is wrong releases nothing early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrokerTime(i64);

impl BrokerTime {
    /// Before every due time: what a roller believes the time to be until it has measured it.
    pub const UNKNOWN_EARLIEST: BrokerTime = BrokerTime(i64::MIN / 4);
    /// After every append time, the other end of knowing nothing.
    pub const UNKNOWN_LATEST: BrokerTime = BrokerTime(i64::MAX / 4);

    /// A broker's timestamp, which counts whole milliseconds.
    pub const fn from_millis(ms: i64) -> BrokerTime {
        BrokerTime(ms.saturating_mul(1000))
    }

    /// From microseconds since the epoch.
    pub const fn from_micros(us: i64) -> BrokerTime {
        BrokerTime(us)
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The first whole millisecond that is not before this moment.
    pub const fn ceil_millis(self) -> i64 {
        let floor = self.0.div_euclid(1000);
        if self.0.rem_euclid(1000) == 0 { floor } else { floor + 1 }
    }

    /// The whole millisecond this moment lies in, as a broker would stamp it.
    pub const fn floor_millis(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// This moment plus a delay, saturating.
    pub fn plus(self, delay: Delay) -> BrokerTime {
        let us = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX).saturating_mul(1000);
        BrokerTime(self.0.saturating_add(us))
    }

    /// Time from `self` until `later`; zero if `later` is not later.
    pub fn until(self, later: BrokerTime) -> Duration {
        let us = later.0.saturating_sub(self.0);
        Duration::from_micros(u64::try_from(us).unwrap_or(0))
    }
}

/// A moment on the process's monotonic clock, in microseconds from an arbitrary start. Never steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Mono(u64);

impl Mono {
    /// From microseconds.
    pub const fn from_micros(us: u64) -> Mono {
        Mono(us)
    }

    /// Microseconds from the start.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// This moment plus a duration, saturating.
    pub fn plus(self, d: Duration) -> Mono {
        Mono(self.0.saturating_add(u64::try_from(d.as_micros()).unwrap_or(u64::MAX)))
    }

    /// Time since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Mono) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// What a roller knows of the time at one instant.
///
/// The brokers' clocks lie somewhere in `earliest ..= latest`. A record is released only when even the
/// earliest possible time has passed its due time; a sighting counts from the latest possible time. Both
/// errors are on the side of "late".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The process's own clock.
    pub mono: Mono,
    /// No broker's clock is behind this.
    pub earliest: BrokerTime,
    /// No broker's clock is ahead of this.
    pub latest: BrokerTime,
}

impl Reading {
    /// A reading before the first measurement: nothing is due.
    pub const fn unmeasured(mono: Mono) -> Reading {
        Reading { mono, earliest: BrokerTime::UNKNOWN_EARLIEST, latest: BrokerTime::UNKNOWN_LATEST }
    }

    /// Whether the brokers' time is known at all.
    pub fn is_measured(&self) -> bool {
        self.latest < BrokerTime::UNKNOWN_LATEST
    }

    /// A reading without uncertainty, for tests.
    pub const fn exact(mono: Mono, now: BrokerTime) -> Reading {
        Reading { mono, earliest: now, latest: now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_to_milliseconds_never_goes_back() {
        for (us, ceil, floor) in [(0, 0, 0), (1, 1, 0), (999, 1, 0), (1000, 1, 1), (-1, 0, -1), (-1000, -1, -1)] {
            assert_eq!(BrokerTime::from_micros(us).ceil_millis(), ceil, "{us}");
            assert_eq!(BrokerTime::from_micros(us).floor_millis(), floor, "{us}");
        }
    }

    #[test]
    fn an_unmeasured_clock_makes_nothing_due() {
        let due = BrokerTime::from_millis(0);
        assert!(Reading::unmeasured(Mono::default()).earliest < due);
        assert!(BrokerTime::UNKNOWN_EARLIEST.plus(Delay::from_millis(u64::MAX)) > BrokerTime::UNKNOWN_EARLIEST);
    }
}
