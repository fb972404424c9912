//! The one rule of the table: where a record goes next.

use crate::{Level, LevelTable, Rounding};

/// How much shorter than a level the remaining time may be for `exact` to still choose that level. Time spent between
/// two hops would otherwise add a hop through smaller levels for a few milliseconds.
pub(crate) const EXACT_SLACK_MS: u64 = 500;

/// Where a record goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<'t> {
    /// Nothing remains to wait: to its target.
    Target,
    /// On to this level, which is always an active one.
    Level(&'t Level),
}

impl LevelTable {
    /// Where a record goes that has `remaining_ms` left to wait.
    ///
    /// Nothing left: the target. More than the longest active level: that level. Otherwise `up` gives the smallest
    /// active level that is not shorter; `exact` the largest that is at most half a second longer, or the smallest
    /// level of all. Asking again after every hop never releases early, because only "nothing left" means the target.
    #[must_use]
    pub fn plan(&self, remaining_ms: i64, rounding: Rounding) -> Next<'_> {
        match u64::try_from(remaining_ms) {
            Ok(0) | Err(_) => Next::Target,
            Ok(remaining) => Next::Level(self.level_for(remaining, rounding)),
        }
    }

    /// The level for a remaining time above zero. Beyond the longest, both roundings come out at the longest.
    pub(crate) fn level_for(&self, remaining: u64, rounding: Rounding) -> &Level {
        let longest = self.longest_active();
        match rounding {
            Rounding::Up => self.active().find(|level| level.delay.as_millis() >= remaining).unwrap_or(longest),
            Rounding::Exact => {
                let reach = remaining.saturating_add(EXACT_SLACK_MS);
                let fits = |level: &&Level| level.delay.as_millis() <= reach;
                self.active().rfind(fits).unwrap_or(self.shortest_active())
            }
        }
    }
}
