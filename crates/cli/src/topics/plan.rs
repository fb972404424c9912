//! What `apply` would do.

use super::change::{Change, Described, changes};
use super::survey;
use crate::exit::{Failure, Verdict, tell};
use crate::output::{Output, Row};
use dwell_kafka::Admin;
use dwell_levels::LevelTable;

impl Row for Described {
    const HEAD: &'static [&'static str] = &["TOPIC", "ACTION", "DETAILS"];

    fn cells(&self) -> Vec<String> {
        vec![self.topic.clone(), self.action.to_owned(), self.details()]
    }
}

pub(super) fn run(admin: &Admin, table: &LevelTable, output: &mut Output) -> Result<Verdict, Failure> {
    let changes = changes(survey::findings(admin, table).map_err(Failure::kafka)?);
    let rows: Vec<Described> = changes.iter().map(Change::describe).collect();
    output.rows("changes", &rows)?;
    if changes.is_empty() {
        tell("nothing to do: the topics are as the table wants them");
        return Ok(Verdict::Fine);
    }
    tell(format_args!("{} changes; do them with: dwell topics apply --execute", changes.len()));
    Ok(Verdict::Findings)
}
