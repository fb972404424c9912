//! Measures a broker's clock from produce round trips.
//!
//! A sample is a record sent at `sent`, acknowledged at `acked` (both on the process's monotonic clock) and
//! stamped by the broker with a whole millisecond in between. So the broker's clock minus ours lies within
//! `stamp − acked ..= stamp + 1 ms − sent`. NTP takes the middle of that interval; a roller keeps the whole
//! interval, because a record must not be early even where the request took longer than the answer. Samples
//! are intersected, so the fastest round trip counts, and the interval widens with age for the drift between
//! two clocks. A sample that contradicts the interval means that a clock has stepped: measuring starts anew.

use crate::time::{BrokerTime, Mono, Reading};

/// Two clocks drift apart by up to this much: a clock that NTP is slewing runs 500 µs off each second.
const DRIFT_PER_MILLION: i64 = 500;
/// Contradictions up to this size are timer noise, not a step.
const NOISE_US: i64 = 200;

/// One round trip to a broker that stamps with its own clock.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// When the request was handed to the client.
    pub sent: Mono,
    /// When the acknowledgement came back.
    pub acked: Mono,
    /// The broker's append time, epoch milliseconds.
    pub stamp_ms: i64,
}

/// What a sample did to an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    /// The first sample.
    First,
    /// In line with what was known.
    Narrowed,
    /// The broker's clock moved against ours by about this many microseconds.
    Stepped(i64),
}

/// The offset of one broker's clock against the process's monotonic clock, as an interval.
#[derive(Debug, Clone, Copy, Default)]
pub struct Estimate {
    known: Option<Interval>,
}

#[derive(Debug, Clone, Copy)]
struct Interval {
    low: i64,
    high: i64,
    at: Mono,
}

impl Interval {
    fn aged(self, now: Mono) -> Interval {
        let age = i64::try_from(now.since(self.at).as_micros()).unwrap_or(i64::MAX);
        // Rounded up, or many samples in quick succession would count no drift at all.
        let drift = age / 1_000_000 * DRIFT_PER_MILLION + age % 1_000_000 * DRIFT_PER_MILLION / 1_000_000 + 1;
        Interval { low: self.low.saturating_sub(drift), high: self.high.saturating_add(drift), at: now }
    }

    fn middle(self) -> i64 {
        self.low + (self.high - self.low) / 2
    }
}

impl Estimate {
    /// Takes a sample in.
    pub fn add(&mut self, s: Sample) -> Measured {
        let fresh = Interval {
            low: BrokerTime::from_millis(s.stamp_ms).as_micros().saturating_sub(micros(s.acked)),
            high: BrokerTime::from_millis(s.stamp_ms.saturating_add(1)).as_micros().saturating_sub(micros(s.sent)),
            at: s.acked,
        };
        let Some(old) = self.known else {
            self.known = Some(fresh);
            return Measured::First;
        };
        let old = old.aged(s.acked);
        if fresh.low > old.high + NOISE_US || fresh.high < old.low - NOISE_US {
            self.known = Some(fresh);
            return Measured::Stepped(fresh.middle() - old.middle());
        }
        let low = old.low.max(fresh.low);
        let high = old.high.min(fresh.high);
        // Within the noise the edges may have crossed: keep the earlier one low, so that nothing is early.
        self.known = Some(Interval { low: low.min(high), high: high.max(low), at: s.acked });
        Measured::Narrowed
    }

    /// The brokers' time now, if it was ever measured.
    pub fn read(&self, now: Mono) -> Option<(BrokerTime, BrokerTime)> {
        let i = self.known?.aged(now);
        let at = |offset: i64| BrokerTime::from_micros(micros(now).saturating_add(offset));
        Some((at(i.low), at(i.high)))
    }
}

/// Combines several brokers: the slowest one's earliest and the fastest one's latest time.
pub fn read_all<'a>(estimates: impl IntoIterator<Item = &'a Estimate>, now: Mono) -> Reading {
    let mut reading = None::<Reading>;
    for (earliest, latest) in estimates.into_iter().filter_map(|e| e.read(now)) {
        let r = reading.get_or_insert(Reading { mono: now, earliest, latest });
        r.earliest = r.earliest.min(earliest);
        r.latest = r.latest.max(latest);
    }
    reading.unwrap_or(Reading::unmeasured(now))
}

fn micros(m: Mono) -> i64 {
    i64::try_from(m.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EPOCH_US: i64 = 1_700_000_000_000_000;

    fn sample(sent: u64, stamped: u64, acked: u64, offset: i64) -> Sample {
        let stamp_ms = (stamped as i64 + offset).div_euclid(1000);
        Sample { sent: Mono::from_micros(sent), acked: Mono::from_micros(acked), stamp_ms }
    }

    proptest! {
        /// Whatever the round trips look like, the true time lies between earliest and latest.
        #[test]
        fn the_truth_lies_within(trips in prop::collection::vec((0u64..2_000_000, 0u64..50_000, 0u64..50_000), 1..40), offset in -10_000_000i64..10_000_000) {
            let offset = EPOCH_US + offset;
            let mut e = Estimate::default();
            let mut now = 0;
            for (pause, there, back) in trips {
                let sent = now + pause;
                e.add(sample(sent, sent + there, sent + there + back, offset));
                now = sent + there + back;
                let (earliest, latest) = e.read(Mono::from_micros(now)).unwrap();
                let truth = BrokerTime::from_micros(now as i64 + offset);
                prop_assert!(earliest <= truth && truth <= latest, "{earliest:?} {truth:?} {latest:?}");
            }
        }
    }

    #[test]
    fn a_quick_round_trip_after_a_slow_one_narrows() {
        let mut e = Estimate::default();
        assert_eq!(e.add(sample(0, 400_000, 500_000, EPOCH_US)), Measured::First);
        assert_eq!(e.add(sample(600_000, 600_400, 600_800, EPOCH_US)), Measured::Narrowed);
        let (a, b) = e.read(Mono::from_micros(600_800)).unwrap();
        assert!(a.until(b).as_micros() < 3_000);
    }

    #[test]
    fn a_step_is_seen_and_followed_both_ways() {
        for step in [-5_000_000i64, 5_000_000] {
            let mut e = Estimate::default();
            e.add(sample(0, 300, 600, EPOCH_US));
            let m = e.add(sample(1_000_000, 1_000_300, 1_000_600, EPOCH_US + step));
            assert!(matches!(m, Measured::Stepped(by) if (by - step).abs() < 3_000), "{m:?}");
            let (a, b) = e.read(Mono::from_micros(1_000_600)).unwrap();
            let truth = BrokerTime::from_micros(1_000_600 + EPOCH_US + step);
            assert!(a <= truth && truth <= b);
        }
    }

    #[test]
    fn the_slowest_and_the_fastest_broker_bound_the_reading() {
        let (mut slow, mut fast) = (Estimate::default(), Estimate::default());
        slow.add(sample(0, 300, 600, EPOCH_US));
        fast.add(sample(0, 300, 600, EPOCH_US + 5_000_000));
        let r = read_all([&slow, &fast, &Estimate::default()], Mono::from_micros(600));
        assert!(r.earliest <= BrokerTime::from_micros(EPOCH_US + 600));
        assert!(r.latest >= BrokerTime::from_micros(EPOCH_US + 5_000_600));
    }
}
