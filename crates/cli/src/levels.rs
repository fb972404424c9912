//! `dwell levels`: the table itself, without a broker.

mod check;
mod plan;
mod show;

use crate::args::Shared;
use crate::exit::{Failure, Verdict};
use crate::output::Output;
use clap::Subcommand;
use dwell_levels::{Delay, Rounding};

/// What to do with the table.
#[derive(Debug, Subcommand)]
pub(crate) enum LevelsCommand {
    /// Is the file valid? Names every fault with its line and column
    Check,
    /// The levels with their topics and consumer groups
    Show,
    /// The levels a delay would pass, and how late that makes it
    Plan {
        /// The delay, such as 45m or 1h30m
        delay: Delay,
        /// One longer hop or several exact ones, instead of what the file says
        #[arg(long, value_name = "up|exact")]
        rounding: Option<Rounding>,
    },
}

pub(crate) fn run(command: &LevelsCommand, shared: &Shared, output: &mut Output) -> Result<Verdict, Failure> {
    match command {
        LevelsCommand::Check => check::run(shared, output),
        LevelsCommand::Show => show::run(&shared.table()?, output),
        LevelsCommand::Plan { delay, rounding } => plan::run(&shared.table()?, *delay, *rounding, output),
    }
}
