//! The whole way of a delay through the table, if no time passed between the hops.

use crate::plan::EXACT_SLACK_MS;
use crate::{Delay, Level, LevelTable, Rounding};

/// The hops of a delay at zero transit time.
///
/// Kept as runs of one level, so that even ten years on a one-second level take no room; [`Path::hops`] unrolls them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<'t> {
    asked: Delay,
    runs: Vec<(&'t Level, u64)>,
    late_ms: u64,
}

impl<'t> Path<'t> {
    /// The delay that was asked for.
    #[must_use]
    pub fn asked(&self) -> Delay {
        self.asked
    }

    /// The levels in the order of the hops; none if the record goes straight to its target. Lazy: see
    /// [`Path::hop_count`] before collecting.
    pub fn hops(&self) -> impl Iterator<Item = &'t Level> + '_ {
        self.runs.iter().flat_map(|(level, times)| (0..*times).map(move |_| *level))
    }

    /// The level the record is first sent to; nothing if it goes straight to its target.
    #[must_use]
    pub fn first(&self) -> Option<&'t Level> {
        self.runs.first().map(|(level, _)| *level)
    }

    /// How many hops there are. More than [`LevelTable::max_hops`] and a roller would park the record on its way.
    #[must_use]
    pub fn hop_count(&self) -> u64 {
        self.runs.iter().fold(0, |sum, (_, times)| sum.saturating_add(*times))
    }

    /// How much longer than asked the hops take together. Never less than zero: nothing is early.
    #[must_use]
    pub fn late_ms(&self) -> u64 {
        self.late_ms
    }

    /// Adds a run, joined to the last one where the level is the same.
    fn push(&mut self, level: &'t Level, times: u64) {
        match self.runs.last_mut() {
            Some((last, count)) if last.name == level.name => *count = count.saturating_add(times),
            _ => self.runs.push((level, times)),
        }
    }
}

impl LevelTable {
    /// The hops that [`LevelTable::plan`] gives for this delay when every hop takes exactly its level's delay.
    #[must_use]
    pub fn path(&self, asked: Delay, rounding: Rounding) -> Path<'_> {
        let mut path = Path { asked, runs: Vec::new(), late_ms: 0 };
        let mut remaining = asked.as_millis();
        while remaining > 0 {
            let level = self.level_for(remaining, rounding);
            let times = self.repeats(remaining, level, rounding);
            path.push(level, times);
            let waited = level.delay.as_millis().saturating_mul(times);
            path.late_ms = waited.saturating_sub(remaining);
            remaining = remaining.saturating_sub(waited);
        }
        path
    }

    /// An exact path with about as many hops as any delay within the limit has: from the smallest level up, each as
    /// often as it fits before the next larger one would be chosen instead.
    pub(crate) fn longest_exact_path(&self) -> Path<'_> {
        let mut asked = 0;
        let mut active = self.active().map(|level| level.delay.as_millis().max(1)).peekable();
        while let Some(delay) = active.next() {
            let below_next = active.peek().map(|next| next.saturating_sub(EXACT_SLACK_MS + 1));
            let limit = self.max_delay().as_millis().min(below_next.unwrap_or(u64::MAX));
            // The smallest level also serves what is shorter than itself.
            let step = if asked == 0 { 1 } else { delay };
            asked += limit.saturating_sub(asked) / step * step;
        }
        self.path(Delay::from_millis(asked), Rounding::Exact)
    }

    /// How often in a row the plan gives this level, which is its choice for `remaining`. At least once.
    fn repeats(&self, remaining: u64, level: &Level, rounding: Rounding) -> u64 {
        let delay = level.delay.as_millis().max(1);
        let times = match rounding {
            // Only the longest level is shorter than what remains, and so repeats.
            Rounding::Up => remaining / delay,
            // Until the time is up, or the level no longer fits what remains.
            Rounding::Exact => remaining.div_ceil(delay).min(remaining.saturating_add(EXACT_SLACK_MS) / delay),
        };
        times.max(1)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn table(delays: &BTreeSet<u64>, max: u64) -> LevelTable {
        let levels: Vec<String> = delays.iter().map(|delay| format!("{delay}ms: ")).collect();
        LevelTable::parse(&format!("targets: [a]\nmaxDelay: {max}ms\nlevels: {{{}}}", levels.join(", "))).unwrap()
    }

    proptest! {
        #[test]
        fn no_exact_path_is_much_longer_than_the_longest(
            delays in prop::collection::btree_set(1_u64..5_000, 1..6),
            max in 1_u64..20_000,
        ) {
            let table = table(&delays, max);
            let longest = table.longest_exact_path();
            prop_assert!(longest.asked().as_millis() <= max);
            for asked in 0..=max {
                let hops = table.path(Delay::from_millis(asked), Rounding::Exact).hop_count();
                prop_assert!(hops < longest.hop_count() + delays.len() as u64, "{} takes {}", asked, hops);
            }
        }
    }
}
