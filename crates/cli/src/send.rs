//! `dwell send`: records with a delay, from the command line.

mod deliver;
mod draft;
mod input;
mod lines;
mod request;
mod when;

use crate::args::Shared;
use crate::exit::{Failure, Verdict};
use crate::output::Output;
use clap::{ArgGroup, Args};
use dwell_levels::{Delay, Rounding};
use std::path::PathBuf;
use when::At;

/// What is sent. Sending is an explicit act: it needs no `--execute`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("when").args(["in", "at"]))]
pub(crate) struct SendArgs {
    /// The topic the record is released to
    #[arg(long, value_name = "TOPIC", required_unless_present = "jsonl")]
    pub(crate) to: Option<String>,
    /// Released after this long, such as 45m; 0 goes straight to the target
    #[arg(long = "in", id = "in", value_name = "DURATION", required_unless_present_any = ["at", "jsonl"])]
    pub(crate) after: Option<Delay>,
    /// Released at this time, as 2030-01-31T12:00:00+01:00 or in epoch milliseconds; a past one goes straight to the
    /// target
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) at: Option<At>,
    /// The record's key; without it the record has none
    #[arg(long, value_name = "TEXT")]
    pub(crate) key: Option<String>,
    /// A header of your own; may be repeated
    #[arg(long = "header", value_name = "KEY=VALUE", value_parser = input::header)]
    pub(crate) headers: Vec<(String, String)>,
    /// The business type, for search and statistics
    #[arg(long = "type", value_name = "TEXT")]
    pub(crate) record_type: Option<String>,
    /// One longer hop or several exact ones, instead of what the table says
    #[arg(long, value_name = "up|exact")]
    pub(crate) rounding: Option<Rounding>,
    /// The record's id; without it one is made
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// So many records instead of one, each with an id of its own
    #[arg(long, value_name = "COUNT", default_value_t = 1, conflicts_with_all = ["id", "jsonl"],
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) repeat: u32,
    /// The input is one JSON object per record and line: {"to", "in" or "at", "key", "payload", "headers", "type",
    /// "rounding", "id"}; what a line leaves out comes from the flags
    #[arg(long, conflicts_with_all = ["payload", "id"])]
    pub(crate) jsonl: bool,
    /// Read the payload from this file
    #[arg(long, value_name = "FILE", conflicts_with = "payload")]
    pub(crate) file: Option<PathBuf>,
    /// The payload; without it and --file it is read from stdin
    pub(crate) payload: Option<String>,
}

pub(crate) fn run(args: &SendArgs, shared: &Shared, output: &mut Output) -> Result<Verdict, Failure> {
    let table = shared.table()?;
    let settings = shared.settings()?;
    let records = request::checked(&table, draft::drafts(args)?)?;
    let router = deliver::connect(table, settings, shared.timeout())?;
    deliver::all(&router, records, output)
}
