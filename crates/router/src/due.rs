//! When a record will be released.

use dwell_levels::{Delay, Level, LevelTable, Rounding};
use dwell_wire::When;

/// When a record that `level` took at `append_ms` reaches its target, with no time lost between hops.
pub(crate) fn due_ms(table: &LevelTable, level: &Level, when: When, rounding: Rounding, append_ms: i64) -> i64 {
    let due = append_ms.saturating_add(signed(level.delay.as_millis()));
    let remaining = match when {
        When::ByLevel => 0,
        When::After(delay) => signed(delay.as_millis()).saturating_sub(signed(level.delay.as_millis())),
        When::At(at) => at.saturating_sub(due),
    };
    match u64::try_from(remaining) {
        Ok(more) if more > 0 => {
            let late = table.path(Delay::from_millis(more), rounding).late_ms();
            due.saturating_add(remaining).saturating_add(signed(late))
        }
        _ => due,
    }
}

fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}
