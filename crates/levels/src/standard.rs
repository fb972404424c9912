//! The table that most fleets start with.

use crate::{Faults, LevelTable};

/// The levels of the standard table.
const LEVELS: &str = "1s: , 5s: , 10s: , 30s: , 1m: , 2m: , 3m: , 4m: , 5m: , 6m: , 7m: , 8m: , 9m: , 10m: , 20m: , \
                      30m: , 1h: , 2h: ";

impl LevelTable {
    /// The standard table of 18 levels from 1s to 2h, everything else as by default, with these allowed targets.
    ///
    /// # Errors
    /// [`Faults`] if there is no target or one is not a legal pattern. Their places are in no file.
    pub fn standard(targets: &[&str]) -> Result<LevelTable, Faults> {
        // Legal patterns need no escapes, so that Rust's quotes and brackets are YAML's.
        LevelTable::parse(&format!("targets: {targets:?}\nlevels: {{{LEVELS}}}"))
            .map_err(|faults| faults.named("standard table"))
    }
}
