//! What a record on a level asks for.

use dwell_levels::{Delay, Rounding};

/// The control headers of a record, read and checked; it borrows from the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control<'a> {
    /// The topic to release to: a legal name, which the allow-list may still refuse.
    pub target: &'a str,
    /// The id, if the record has one yet.
    pub id: Option<&'a str>,
    /// The delay asked for, counted from the append on the first level.
    pub delay: Option<Delay>,
    /// The time asked for, epoch milliseconds. It wins over `delay`: it is what the first roller of a longer path
    /// writes.
    pub deliver_at: Option<i64>,
    /// How the delay is fitted to the levels, if the record says so.
    pub rounding: Option<Rounding>,
    /// The business type.
    pub record_type: Option<&'a str>,
    /// The producer's time, epoch milliseconds.
    pub sent_at: Option<i64>,
    /// The path so far.
    pub trail: Option<&'a str>,
    /// The levels passed so far; a number beyond `u32` counts as its largest.
    pub hops: u32,
    /// How often the record was set aside; a number beyond `u32` counts as its largest.
    pub target_waits: u32,
}

/// When the record shall be delivered, epoch milliseconds: `dwell-deliver-at`, or else the append on the first level
/// plus `dwell-delay`. This is what a hop writes. `None` where the level topic was the only delay asked for.
pub fn requested_at_ms(c: &Control<'_>, append_ms: i64) -> Option<i64> {
    c.deliver_at.or_else(|| c.delay.map(|delay| append_ms.saturating_add(signed_ms(delay))))
}

fn signed_ms(delay: Delay) -> i64 {
    i64::try_from(delay.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(delay: Option<u64>, deliver_at: Option<i64>) -> Control<'static> {
        Control {
            target: "orders",
            id: None,
            delay: delay.map(Delay::from_millis),
            deliver_at,
            rounding: None,
            record_type: None,
            sent_at: None,
            trail: None,
            hops: 0,
            target_waits: 0,
        }
    }

    #[test]
    fn the_requested_time_is_the_given_one_or_counted_from_the_append() {
        assert_eq!(requested_at_ms(&control(None, None), 10), None);
        assert_eq!(requested_at_ms(&control(Some(5), None), 10), Some(15));
        assert_eq!(requested_at_ms(&control(Some(5), Some(99)), 10), Some(99));
        assert_eq!(requested_at_ms(&control(Some(u64::MAX), None), 10), Some(i64::MAX));
    }
}
