//! What is wrong with the topics, why it matters and what puts it right.

use super::survey;
use crate::args::Format;
use crate::exit::{Failure, Verdict, tell};
use crate::output::{Output, Row};
use dwell_kafka::Admin;
use dwell_levels::LevelTable;
use dwell_levels::topics::{Finding, Severity};
use serde::Serialize;

/// A finding as it is printed.
#[derive(Serialize)]
struct Wrong {
    topic: String,
    severity: &'static str,
    key: String,
    found: String,
    wanted: String,
    why: String,
    fix: String,
}

impl Row for Wrong {
    const HEAD: &'static [&'static str] = &["TOPIC", "SEVERITY", "WHAT", "FOUND", "WANTED", "WHY"];

    fn cells(&self) -> Vec<String> {
        let Wrong { topic, severity, key, found, wanted, why, .. } = self;
        vec![topic.clone(), (*severity).to_owned(), key.clone(), found.clone(), wanted.clone(), why.clone()]
    }
}

pub(super) fn run(admin: &Admin, table: &LevelTable, brokers: &str, output: &mut Output) -> Result<Verdict, Failure> {
    let findings = survey::findings(admin, table).map_err(Failure::kafka)?;
    let rows: Vec<Wrong> = findings.iter().map(|finding| wrong(finding, brokers)).collect();
    output.rows("findings", &rows)?;
    if output.format() == Format::Table && !rows.is_empty() {
        output.line("\nWhat puts it right (dwell topics apply --execute does all that is a command):")?;
        rows.iter().try_for_each(|row| output.line(&row.fix))?;
    }
    Ok(conclude(&findings))
}

/// A warning alone is no drift: nothing has to change.
fn conclude(findings: &[Finding]) -> Verdict {
    let drift = findings.iter().filter(|finding| finding.severity != Severity::Warn).count();
    let warnings = findings.len() - drift;
    match drift {
        0 => tell(format_args!("ok: the topics are as the table wants them ({warnings} warnings)")),
        _ => tell(format_args!("{drift} findings, {warnings} warnings")),
    }
    if drift == 0 { Verdict::Fine } else { Verdict::Findings }
}

fn wrong(finding: &Finding, brokers: &str) -> Wrong {
    Wrong {
        topic: finding.topic.clone(),
        severity: severity(finding.severity),
        key: finding.key.clone(),
        found: finding.found.clone(),
        wanted: finding.wanted.clone(),
        why: finding.why.clone(),
        fix: finding.fix.command(brokers),
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Warn => "warning",
        Severity::Drift => "drift",
        Severity::Missing => "missing",
        Severity::Loss => "loss",
    }
}
