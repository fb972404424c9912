//! The table that most fleets start with.

use crate::read::read_table;
use crate::yaml::{Kind, Node};
use crate::{Faults, LevelTable};

/// The delays of the standard table.
const LEVELS: [&str; 18] =
    ["1s", "5s", "10s", "30s", "1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "10m", "20m", "30m", "1h", "2h"];

impl LevelTable {
    /// The standard table of 18 levels from 1s to 2h, everything else as by default, with these allowed targets.
    ///
    /// # Errors
    /// [`Faults`] if there is no target or one is not a legal pattern. They name no place, as there is no file.
    pub fn standard(targets: &[&str]) -> Result<LevelTable, Faults> {
        let targets = targets.iter().map(|target| quoted(target)).collect();
        let levels = LEVELS.iter().map(|name| (quoted(name), null())).collect();
        let root = Kind::Map(vec![
            (quoted("targets"), Node::made(Kind::List(targets))),
            (quoted("levels"), Node::made(Kind::Map(levels))),
        ]);
        read_table(&Node::made(root)).map_err(|faults| faults.named("standard table"))
    }
}

fn quoted(text: &str) -> Node {
    Node::made(Kind::Quoted(text.to_owned()))
}

fn null() -> Node {
    Node::made(Kind::Plain(String::new()))
}
