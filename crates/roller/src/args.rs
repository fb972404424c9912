//! The command line of `dwell-roller`.

use crate::environment::{Flag, Takes};
use clap::{ArgAction, CommandFactory, Parser, ValueEnum};
use dwell_levels::Delay;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Forwards the records of delay levels to their targets, each the moment it is due.
#[derive(Debug, Parser)]
#[command(name = "dwell-roller", version, after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The table of levels.
    #[arg(long, value_name = "FILE", default_value = "levels.yaml")]
    pub(crate) levels: PathBuf,
    /// A level to roll; may be repeated. One process per level is usual.
    #[arg(long, value_name = "LEVEL", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) level: Vec<String>,
    /// Roll every level of the table in this process.
    #[arg(long)]
    pub(crate) all: bool,
    /// Kafka's bootstrap servers.
    #[arg(long, short = 'b', value_name = "HOST:PORT,…")]
    pub(crate) brokers: String,
    /// A setting of the Kafka clients; may be repeated. Secrets belong in the environment or in files.
    #[arg(short = 'X', value_name = "KEY=VALUE", action = ArgAction::Append)]
    pub(crate) properties: Vec<String>,
    /// Where /livez, /readyz and /metrics are served.
    #[arg(long, value_name = "ADDR", default_value = "0.0.0.0:9464")]
    pub(crate) listen: SocketAddr,
    /// How to write the log.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
    /// Makes the group member static: back in a tenth of a second after a crash, slower to scale down.
    #[arg(long, value_name = "ID")]
    pub(crate) instance_id: Option<String>,
    /// What to do with partitions that have no committed offset but hold records overdue by more than an hour:
    /// release them all, or go on with what is not yet due.
    #[arg(long, value_enum, value_name = "WHERE")]
    pub(crate) start_from: Option<StartFrom>,
    /// A target that acknowledges nothing for this long, while others do, has its records set aside.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub(crate) target_silence: Delay,
    /// How often a record is set aside because of its target, before it is parked.
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) target_waits: u32,
    /// On a stop, how long acknowledgements of copies under way are waited for.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration)]
    pub(crate) stop_after: Delay,
}

const AFTER_HELP: &str = "Every flag can be set as DWELL_<FLAG> (lists comma-separated), every client setting as \
DWELL_KAFKA_<KEY with _ for .>, each also with _FILE to read it from a file. SIGTERM and SIGINT end the process \
with 0 once what is under way is acknowledged and committed; it waits for no due time. \
Exit codes: 0 ended as asked, 1 failed, 2 usage or configuration.";

/// Text for people, JSON for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Where partitions start that have no committed offset but long overdue records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StartFrom {
    /// With the first record there is: everything overdue is released.
    Earliest,
    /// With the first record not yet due: everything overdue is skipped.
    Now,
}

fn duration(text: &str) -> Result<Delay, String> {
    Delay::parse(text).map_err(|e| e.to_string())
}

/// The long flags that may come from the environment.
pub(crate) fn flags() -> Vec<Flag> {
    Args::command()
        .get_arguments()
        .filter_map(|arg| {
            let name = arg.get_long().filter(|n| !matches!(*n, "help" | "version"))?;
            let takes = match name {
                "all" => Takes::Nothing,
                "level" => Takes::Many,
                _ => Takes::One,
            };
            Some((name.to_owned(), takes))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
        assert!(flags().iter().any(|(f, t)| f == "level" && *t == Takes::Many));
        assert!(!flags().iter().any(|(f, _)| f == "help"));
    }

    #[test]
    fn a_level_or_all_is_needed() {
        assert!(Args::try_parse_from(["dwell-roller", "--brokers", "b:1"]).is_err());
        assert!(Args::try_parse_from(["dwell-roller", "--brokers", "b:1", "--all"]).is_ok());
        assert!(Args::try_parse_from(["dwell-roller", "-b", "b:1", "--level", "5s", "--all"]).is_err());
    }
}
