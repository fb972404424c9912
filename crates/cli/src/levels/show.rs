//! The levels of a table.

use crate::exit::{Failure, Verdict};
use crate::output::{Output, Row};
use dwell_levels::topics::level_spec;
use dwell_levels::{Delay, Level, LevelTable};
use serde::Serialize;

#[derive(Serialize)]
struct Shown {
    level: String,
    delay_ms: u64,
    state: &'static str,
    topic: String,
    group: String,
    partitions: u32,
    /// -1 = what the broker gives by default.
    replication_factor: i16,
    /// What is set when the topic is created.
    retention_ms: u64,
    poll_ms: u64,
    delivery: &'static str,
    trim: bool,
}

impl Row for Shown {
    const HEAD: &'static [&'static str] = &["LEVEL", "DELAY", "STATE", "TOPIC", "GROUP", "PARTITIONS", "RETENTION"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.level.clone(),
            Delay::from_millis(self.delay_ms).to_string(),
            self.state.to_owned(),
            self.topic.clone(),
            self.group.clone(),
            self.partitions.to_string(),
            Delay::from_millis(self.retention_ms).to_string(),
        ]
    }
}

pub(super) fn run(table: &LevelTable, output: &mut Output) -> Result<Verdict, Failure> {
    let rows: Vec<Shown> = table.levels().iter().map(|level| shown(table, level)).collect();
    output.rows("levels", &rows)?;
    Ok(Verdict::Fine)
}

fn shown(table: &LevelTable, level: &Level) -> Shown {
    let needed = level.retention_needed().as_millis();
    let spec = level_spec(table, level);
    let retention = spec.setting("retention.ms").and_then(|ms| ms.parse().ok());
    Shown {
        level: level.name.to_string(),
        delay_ms: level.delay.as_millis(),
        state: level.state.as_str(),
        topic: spec.name.clone(),
        group: table.group_of(level),
        partitions: level.partitions,
        replication_factor: level.replication_factor,
        retention_ms: retention.unwrap_or(needed),
        poll_ms: level.poll_every().as_millis(),
        delivery: level.delivery.as_str(),
        trim: level.trim,
    }
}
