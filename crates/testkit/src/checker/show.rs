//! The verdict as a small table for people.

use super::{Lateness, Verdict};
use std::fmt::{self, Debug, Display, Formatter};

/// So many examples of each failure are shown.
const EXAMPLES: usize = 5;

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "sent {}  released {}  lost {}  early {}  duplicates {}  unexpected {}  out of order {}",
            self.sent,
            self.released,
            self.lost.len(),
            self.early.len(),
            self.duplicates,
            self.unexpected.len(),
            self.out_of_order.len(),
        )?;
        writeln!(
            f,
            "{:<16} {:>9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
            "lateness, ms", "count", "min", "p50", "p90", "p99", "p99.9", "max"
        )?;
        for level in &self.levels {
            row(f, &level.level, &level.lateness)?;
        }
        row(f, "all", &self.lateness)?;
        examples(f, "lost", &self.lost)?;
        examples(f, "early", &self.early)?;
        examples(f, "unexpected", &self.unexpected)?;
        examples(f, "out of order", &self.out_of_order)
    }
}

fn row(f: &mut Formatter<'_>, name: &str, l: &Lateness) -> fmt::Result {
    writeln!(
        f,
        "{name:<16} {:>9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
        l.count, l.min_ms, l.p50_ms, l.p90_ms, l.p99_ms, l.p999_ms, l.max_ms
    )
}

fn examples(f: &mut Formatter<'_>, what: &str, list: &[impl Debug]) -> fmt::Result {
    for item in list.iter().take(EXAMPLES) {
        writeln!(f, "{what}: {item:?}")?;
    }
    match list.len().checked_sub(EXAMPLES) {
        Some(more @ 1..) => writeln!(f, "{what}: and {more} more"),
        _ => Ok(()),
    }
}
