//! How long the loop may rest when nothing is due: a moment after work, longer the longer there is none.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(1);
/// While copies are under way their reports are fetched at least this often.
const IN_FLIGHT: Duration = Duration::from_millis(20);

/// Doubles from a millisecond while there is nothing to do.
#[derive(Debug, Default)]
pub(crate) struct Rest(Duration);

impl Rest {
    /// The next rest, given whether the turn before found work and whether reports are expected.
    pub(crate) fn next(&mut self, busy: bool, in_flight: bool) -> Duration {
        self.0 = if busy { Duration::ZERO } else { (self.0 * 2).clamp(FIRST, Duration::from_secs(1)) };
        if in_flight { self.0.min(IN_FLIGHT) } else { self.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_longer_and_longer_and_starts_anew_after_work() {
        let mut rest = Rest::default();
        assert_eq!(rest.next(true, false), Duration::ZERO);
        let ms: Vec<u128> = (0..12).map(|_| rest.next(false, false).as_millis()).collect();
        assert_eq!(ms[..4], [1, 2, 4, 8]);
        assert_eq!(ms[11], 1000);
        assert_eq!(rest.next(false, true), IN_FLIGHT);
        assert_eq!(rest.next(true, true), Duration::ZERO);
    }
}
