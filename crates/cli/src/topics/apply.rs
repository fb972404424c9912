//! Putting the topics right. Nothing is ever deleted, and no setting is changed that the table does not speak of.

use super::Consent;
use super::change::{Action, Change, Described, changes};
use super::survey;
use crate::exit::{Failure, Verdict, tell};
use crate::output::{Output, Row};
use dwell_kafka::{Admin, Creation, KafkaFailure};
use dwell_levels::LevelTable;
use serde::Serialize;

/// A change and what became of it.
#[derive(Serialize)]
struct Step {
    #[serde(flatten)]
    change: Described,
    result: Outcome,
    error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    /// Not done, because `--execute` was not given.
    DryRun,
    Done,
    /// Somebody else created it meanwhile.
    AlreadyThere,
    /// Waits for a person.
    ByHand,
    Failed,
}

impl Outcome {
    fn shown(self) -> &'static str {
        match self {
            Outcome::DryRun => "dry run",
            Outcome::Done => "done",
            Outcome::AlreadyThere => "already there",
            Outcome::ByHand => "by hand",
            Outcome::Failed => "failed",
        }
    }
}

impl Row for Step {
    const HEAD: &'static [&'static str] = &["TOPIC", "ACTION", "RESULT", "DETAILS"];

    fn cells(&self) -> Vec<String> {
        let details = self.error.clone().unwrap_or_else(|| self.change.details());
        let Described { topic, action, .. } = &self.change;
        vec![topic.clone(), (*action).to_owned(), self.result.shown().to_owned(), details]
    }
}

pub(super) fn run(
    admin: &Admin,
    table: &LevelTable,
    consent: Consent,
    output: &mut Output,
) -> Result<Verdict, Failure> {
    let planned = changes(survey::findings(admin, table).map_err(Failure::kafka)?);
    let steps = if consent.execute {
        execute(admin, table, planned)
    } else {
        planned.iter().map(|change| step(change, Outcome::DryRun, None)).collect()
    };
    output.rows("changes", &steps)?;
    Ok(conclude(&steps))
}

/// Creates first. A new topic can need a setting that depends on what the broker gave it, such as
/// min.insync.replicas with the broker's default of three replicas: such topics are looked at once more.
fn execute(admin: &Admin, table: &LevelTable, planned: Vec<Change>) -> Vec<Step> {
    let mut steps = perform(admin, &planned);
    let new = |topic: &str| planned.iter().any(|c| c.topic == topic && matches!(c.action, Action::Create(_)));
    if planned.iter().any(|change| new(&change.topic)) {
        match survey::findings(admin, table) {
            Ok(findings) => {
                let settings = |c: &Change| new(&c.topic) && !matches!(c.action, Action::Create(_));
                let rest: Vec<Change> = changes(findings).into_iter().filter(settings).collect();
                steps.extend(perform(admin, &rest));
            }
            Err(failure) => {
                tell(format_args!("the new topics could not be checked: {failure}; run dwell topics check"))
            }
        }
    }
    steps
}

fn perform(admin: &Admin, changes: &[Change]) -> Vec<Step> {
    let specs: Vec<_> = changes
        .iter()
        .filter_map(|change| match &change.action {
            Action::Create(spec) => Some(spec.clone()),
            _ => None,
        })
        .collect();
    let mut created = if specs.is_empty() { Vec::new() } else { admin.create(&specs) };
    let mut of = |topic: &str| {
        let at = created.iter().position(|(name, _)| name == topic)?;
        Some(created.swap_remove(at).1)
    };
    changes.iter().map(|change| perform_one(admin, change, &mut of)).collect()
}

fn perform_one(
    admin: &Admin,
    change: &Change,
    created: &mut impl FnMut(&str) -> Option<Result<Creation, KafkaFailure>>,
) -> Step {
    let done = |()| Outcome::Done;
    let result = match &change.action {
        Action::Create(_) => created(&change.topic).unwrap_or(Ok(Creation::Created)).map(|creation| match creation {
            Creation::Created => Outcome::Done,
            Creation::AlreadyThere => Outcome::AlreadyThere,
        }),
        Action::Alter(set) => admin.alter(&change.topic, set).map(done),
        Action::AddPartitions(to) => admin.add_partitions(&change.topic, *to).map(done),
        Action::ByHand(_) => Ok(Outcome::ByHand),
    };
    match result {
        Ok(outcome) => step(change, outcome, None),
        Err(failure) => step(change, Outcome::Failed, Some(failure.to_string())),
    }
}

fn step(change: &Change, result: Outcome, error: Option<String>) -> Step {
    Step { change: change.describe(), result, error }
}

/// What remains to be said, and how it ended.
fn conclude(steps: &[Step]) -> Verdict {
    let count = |outcome: Outcome| steps.iter().filter(|step| step.result == outcome).count();
    let (failed, by_hand) = (count(Outcome::Failed), count(Outcome::ByHand));
    if steps.is_empty() {
        tell("nothing to do: the topics are as the table wants them");
    }
    if count(Outcome::DryRun) > 0 {
        tell("dry run: nothing was changed; add --execute to do it");
    }
    if failed > 0 {
        tell(format_args!("{failed} of {} changes failed; the others are done", steps.len()));
    }
    if by_hand > 0 {
        tell(format_args!("{by_hand} findings are left that only a person can settle"));
    }
    match failed + by_hand {
        0 => Verdict::Fine,
        _ => Verdict::Partly,
    }
}
