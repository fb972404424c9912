//! The way of a delay through the table.

use crate::args::Format;
use crate::exit::{Failure, Verdict};
use crate::output::Output;
use dwell_levels::{Delay, LevelTable, Path, Rounding};
use serde::{Serialize, Serializer};

/// Hops at zero transit time. Other programs read this: names and order are part of the contract.
#[derive(Serialize)]
struct Planned<'t> {
    asked_ms: u64,
    #[serde(serialize_with = "names")]
    hops: &'t Path<'t>,
    topic: Option<String>,
    late_ms: u64,
}

/// One name at a time: ten years on a one-second level are many.
fn names<S: Serializer>(path: &&Path<'_>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(path.hops().map(|level| level.name.as_str()))
}

pub(super) fn run(
    table: &LevelTable,
    asked: Delay,
    rounding: Option<Rounding>,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    if asked > table.max_delay() {
        return Err(Failure::usage_text(format_args!(
            "{asked} is longer than the table allows; ask for at most {}, or raise maxDelay",
            table.max_delay()
        )));
    }
    let path = table.path(asked, rounding.unwrap_or(table.rounding()));
    let topic = path.first().map(|level| table.topic_of(level));
    if output.format() == Format::Table {
        output.line(&sentence(&path, topic.as_deref()))?;
    } else {
        output.object(&Planned { asked_ms: asked.as_millis(), late_ms: path.late_ms(), topic, hops: &path })?;
    }
    Ok(Verdict::Fine)
}

fn sentence(path: &Path<'_>, topic: Option<&str>) -> String {
    let asked = path.asked();
    let Some(topic) = topic else {
        return format!("{asked}: straight to the target");
    };
    let late = match path.late_ms() {
        0 => "on time".to_owned(),
        late => format!("{} late", Delay::from_millis(late)),
    };
    format!("{asked}: {}, {late}; send to {topic}", runs(path).join(", "))
}

/// The hops with repetitions counted: `2h × 12, 1h`.
fn runs(path: &Path<'_>) -> Vec<String> {
    let mut runs: Vec<(&str, u64)> = Vec::new();
    for level in path.hops() {
        match runs.last_mut() {
            Some((name, times)) if *name == level.name.as_str() => *times += 1,
            _ => runs.push((level.name.as_str(), 1)),
        }
    }
    let shown = |(name, times): (&str, u64)| match times {
        1 => name.to_owned(),
        _ => format!("{name} × {times}"),
    };
    runs.into_iter().map(shown).collect()
}
