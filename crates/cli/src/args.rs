//! What can be written on the command line.

use crate::levels::LevelsCommand;
use crate::send::SendArgs;
use crate::topics::TopicsCommand;
use clap::{Args, Parser, Subcommand, ValueEnum};
use dwell_kafka::settings::read_file;
use dwell_kafka::{Admin, ClientSettings};
use dwell_levels::{Delay, LevelTable};
use std::path::PathBuf;
use std::time::Duration;

use crate::environment;
use crate::exit::Failure;

/// Delayed records on Kafka: the table of levels, its topics, and sending.
///
/// Exit codes: 0 ok, 1 failed or partly failed, 2 usage or configuration, 3 a check found something.
#[derive(Debug, Parser)]
#[command(name = "dwell", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) shared: Shared,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The table of delay levels: is it valid, what does it say, which way would a delay take
    #[command(subcommand)]
    Levels(LevelsCommand),
    /// The topics of the table: what is missing or wrong, and put it right
    #[command(subcommand)]
    Topics(TopicsCommand),
    /// Sends records with a delay
    Send(SendArgs),
}

/// What every command understands.
#[derive(Debug, Args)]
pub(crate) struct Shared {
    /// The table of levels
    #[arg(long, value_name = "FILE", env = "DWELL_LEVELS", default_value = "levels.yaml", global = true)]
    pub(crate) levels: PathBuf,
    /// Brokers to ask first, as host:port, several separated by commas
    #[arg(short, long, value_name = "BROKERS", env = "DWELL_BROKERS", global = true)]
    pub(crate) brokers: Option<String>,
    /// A property of the Kafka client, by librdkafka's name; DWELL_KAFKA_<KEY, dots as _> does the same
    #[arg(short = 'X', value_name = "KEY=VALUE", global = true)]
    pub(crate) properties: Vec<String>,
    /// How data is printed
    #[arg(short, long, value_name = "FORMAT", env = "DWELL_OUTPUT", default_value = "table", global = true)]
    pub(crate) output: Format,
    /// How long each request to the brokers may take
    #[arg(long, value_name = "DURATION", env = "DWELL_TIMEOUT", default_value = "15s", global = true)]
    pub(crate) timeout: Delay,
    /// Show the Kafka client's own log on stderr
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// One JSON document
    Json,
    /// One JSON object per line
    Jsonl,
}

impl Shared {
    /// The table of the file.
    pub(crate) fn table(&self) -> Result<LevelTable, Failure> {
        LevelTable::load(&self.levels).map_err(Failure::usage)
    }

    /// Brokers and client properties, every mistake at once.
    pub(crate) fn settings(&self) -> Result<ClientSettings, Failure> {
        let Some(brokers) = &self.brokers else {
            return Err(Failure::usage_text(
                "no brokers: this command talks to Kafka; add --brokers host:port or set DWELL_BROKERS",
            ));
        };
        ClientSettings::resolve(brokers, &self.properties, environment::text(), &read_file).map_err(Failure::usage_list)
    }

    /// How long a request may take.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout.as_millis().max(1))
    }

    /// A handle for the administration of topics, connected.
    pub(crate) fn admin(&self) -> Result<Admin, Failure> {
        let settings = self.settings()?;
        Admin::with_timeout(&settings, self.timeout()).map_err(Failure::kafka)
    }
}
