//! `dwell topics`: the topics of the table, on the cluster.

mod apply;
mod change;
mod check;
mod plan;
mod survey;

use crate::args::Shared;
use crate::exit::{Failure, Verdict};
use crate::output::Output;
use clap::{Args, Subcommand};

/// What to do with the topics.
#[derive(Debug, Subcommand)]
pub(crate) enum TopicsCommand {
    /// What `apply` would do; exit code 3 if there is anything
    Plan,
    /// Creates what is missing, puts settings right and adds partitions. Deletes nothing and changes no other setting
    Apply(Consent),
    /// What is wrong, why it matters and what puts it right; changes nothing; exit code 3 on findings
    Check,
}

/// Whether a command that changes something may do so.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Consent {
    /// Really do it; without this flag it is only shown
    #[arg(long)]
    pub(crate) execute: bool,
}

pub(crate) fn run(command: &TopicsCommand, shared: &Shared, output: &mut Output) -> Result<Verdict, Failure> {
    let table = shared.table()?;
    let admin = shared.admin()?;
    match command {
        TopicsCommand::Plan => plan::run(&admin, &table, output),
        TopicsCommand::Apply(consent) => apply::run(&admin, &table, *consent, output),
        TopicsCommand::Check => {
            let brokers = shared.brokers.as_deref().unwrap_or_default();
            check::run(&admin, &table, brokers, output)
        }
    }
}
