//! When this roller first saw a partition's end offset beyond a record.
//!
//! A record cannot have been appended after it was seen. If its append time says otherwise, the broker's clock
//! was ahead when it stamped the record, and the time of the sighting takes its place: the partition is not
//! blocked for the size of the jump, and the backlog behind the record comes due together. Sightings are kept
//! on the process's monotonic clock, which no step of a broker's clock can move.

use crate::offset::{NextOffset, Offset};
use crate::time::Mono;
use std::collections::VecDeque;
use std::time::Duration;

/// More sightings than this are thinned; see [`Sightings::saw`].
const KEPT: usize = 64;

/// The ends of one partition that were seen, oldest first, both columns rising.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sightings {
    seen: VecDeque<(NextOffset, Mono)>,
    spacing: Duration,
}

impl Sightings {
    /// `spacing` is the least time between two sightings that are kept apart. A record is never attributed to
    /// an earlier sighting than its own, so a wide spacing makes records later, by at most itself, and never
    /// early; it only matters where a broker's clock has jumped.
    pub(crate) fn with_spacing(spacing: Duration) -> Sightings {
        Sightings { seen: VecDeque::new(), spacing }
    }

    /// Notes that the partition's end was seen at `end`.
    pub(crate) fn saw(&mut self, end: NextOffset, now: Mono) {
        if self.seen.back().is_some_and(|&(last, _)| end <= last) {
            return;
        }
        // Measured from the entry before the newest, or a newest one that keeps moving would never end.
        let before = self.seen.len().checked_sub(2).and_then(|i| self.seen.get(i)).copied();
        if let (Some((_, at)), Some(back)) = (before, self.seen.back_mut())
            && now.since(at) < self.spacing
        {
            // Raising only the end of the newest entry would date its new records too early; moving its time
            // as well dates all of them safely.
            *back = (end, now.max(back.1));
            return;
        }
        if self.seen.len() == KEPT {
            // Dropping an entry attributes its records to the next, later one.
            self.seen.remove(KEPT / 2);
        }
        let floor = self.seen.back().map_or(now, |&(_, at)| at.max(now));
        self.seen.push_back((end, floor));
    }

    /// The first time at which the end was seen beyond `record`, and forgets what lies before it.
    pub(crate) fn known(&mut self, record: Offset) -> Option<Mono> {
        while let Some(&(end, _)) = self.seen.front() {
            if end.is_beyond(record) {
                break;
            }
            self.seen.pop_front();
        }
        self.seen.front().map(|&(_, at)| at)
    }

    /// Starts anew: the partition's offsets have gone back.
    pub(crate) fn clear(&mut self) {
        self.seen.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn t(ms: u64) -> Mono {
        Mono::from_micros(ms * 1000)
    }

    #[test]
    fn a_record_is_known_from_the_first_end_beyond_it() {
        let mut s = Sightings::with_spacing(Duration::ZERO);
        s.saw(NextOffset::new(10), t(100));
        s.saw(NextOffset::new(20), t(200));
        assert_eq!(s.known(Offset::new(9)), Some(t(100)));
        assert_eq!(s.known(Offset::new(10)), Some(t(200)));
        assert_eq!(s.known(Offset::new(20)), None);
    }

    proptest! {
        /// Against the full history: never earlier than the true first sighting, and bounded in size.
        #[test]
        fn thinning_never_dates_a_record_too_early(steps in prop::collection::vec((0i64..5, 0u64..50), 1..400), spacing in 0u64..200) {
            let mut s = Sightings::with_spacing(Duration::from_millis(spacing));
            let mut all = Vec::new();
            let (mut end, mut now) = (0, 0u64);
            for (by, dt) in steps {
                end += by;
                now += dt;
                s.saw(NextOffset::new(end), t(now));
                all.push((end, t(now)));
                prop_assert!(s.seen.len() <= KEPT);
            }
            for o in 0..end {
                let truth = all.iter().find(|(e, _)| *e > o).map(|&(_, at)| at);
                let got = s.known(Offset::new(o));
                prop_assert!(got.is_some() && got >= truth, "{o}: {got:?} < {truth:?}");
                if all.len() <= KEPT {
                    let late = truth.zip(got).map(|(a, b)| b.since(a)).unwrap_or_default();
                    prop_assert!(late <= Duration::from_millis(spacing), "{o}: {late:?}");
                }
            }
        }
    }
}
