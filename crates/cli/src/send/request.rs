//! From the user's words to the router's.

use super::draft::{Draft, When};
use super::when::At;
use crate::exit::Failure;
use dwell_kafka::clock::wall_ms;
use dwell_levels::LevelTable;
use dwell_router::{Delayed, route};
use std::time::Duration;

/// Stands for the ids that are made later.
const SOME_ID: &str = "id";

/// The records, each one found to be routable. The mistakes of all of them otherwise: then none is sent.
pub(super) fn checked(table: &LevelTable, drafts: Vec<Draft>) -> Result<Vec<Delayed>, Failure> {
    let several = drafts.len() > 1;
    let records: Vec<Delayed> = drafts.into_iter().map(request).collect();
    let now = wall_ms();
    let mut mistakes: Vec<String> = (1..)
        .zip(&records)
        .filter_map(|(number, record)| {
            let mistake = route(table, record, now, SOME_ID).err()?;
            Some(match several {
                true => format!("record {number}: {mistake}"),
                false => mistake.to_string(),
            })
        })
        .collect();
    if mistakes.is_empty() {
        return Ok(records);
    }
    mistakes.push("nothing was sent".to_owned());
    Err(Failure::usage_list(mistakes))
}

fn request(draft: Draft) -> Delayed {
    let mut record = Delayed::to(draft.to).payload(draft.payload);
    record = match draft.when {
        When::In(delay) => record.after(Duration::from_millis(delay.as_millis())),
        When::At(At(ms)) => record.at(ms),
    };
    if let Some(key) = draft.key {
        record = record.key(key);
    }
    for (name, value) in draft.headers {
        record = record.header(name, value);
    }
    if let Some(record_type) = draft.record_type {
        record = record.record_type(record_type);
    }
    if let Some(rounding) = draft.rounding {
        record = record.rounding(rounding);
    }
    if let Some(id) = draft.id {
        record = record.id(id);
    }
    record
}
