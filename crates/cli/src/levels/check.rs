//! Whether the file is valid.

use crate::args::{Format, Shared};
use crate::exit::{Failure, Verdict};
use crate::output::Output;
use dwell_levels::{Fault, LevelTable, LoadError};
use serde::Serialize;

/// What a valid table holds.
#[derive(Serialize)]
struct Counts {
    ok: bool,
    levels: usize,
    active: usize,
    draining: usize,
    targets: usize,
    groups: usize,
}

/// An invalid file, for programs. People read the same on stderr.
#[derive(Serialize)]
struct Invalid {
    ok: bool,
    faults: Vec<Place>,
}

#[derive(Serialize)]
struct Place {
    file: String,
    line: usize,
    column: usize,
    path: String,
    message: String,
}

pub(super) fn run(shared: &Shared, output: &mut Output) -> Result<Verdict, Failure> {
    match LevelTable::load(&shared.levels) {
        Ok(table) => tell_counts(shared, &counts(&table), output)?,
        Err(error) => {
            if let (LoadError::Invalid(faults), Format::Json | Format::Jsonl) = (&error, output.format()) {
                let file = shared.levels.display().to_string();
                let faults = faults.iter().map(|fault| place(&file, fault)).collect();
                output.object(&Invalid { ok: false, faults })?;
                output.finish()?;
            }
            return Err(Failure::usage(error));
        }
    }
    Ok(Verdict::Fine)
}

fn tell_counts(shared: &Shared, counts: &Counts, output: &mut Output) -> Result<(), Failure> {
    if output.format() != Format::Table {
        return Ok(output.object(counts)?);
    }
    let Counts { levels, active, draining, targets, groups, .. } = counts;
    let file = shared.levels.display();
    Ok(output.line(&format!(
        "{file}: ok: {levels} levels ({active} active, {draining} draining), {targets} target patterns, {groups} groups"
    ))?)
}

fn counts(table: &LevelTable) -> Counts {
    let levels = table.levels().len();
    let active = table.active().count();
    Counts {
        ok: true,
        levels,
        active,
        draining: levels - active,
        targets: table.targets().len(),
        groups: table.groups().len(),
    }
}

fn place(file: &str, fault: &Fault) -> Place {
    Place {
        file: file.to_owned(),
        line: fault.line,
        column: fault.column,
        path: fault.path.clone(),
        message: fault.message.clone(),
    }
}
