//! `dwell`: the command line of a fleet of delay levels.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 ok, 1 failed or partly failed, 2 usage or
//! configuration, 3 a check found something.

mod args;
mod environment;
mod exit;
mod levels;
mod output;
mod send;
mod topics;

use args::{Cli, Command};
use clap::Parser;
use exit::{Failure, Verdict};
use output::Output;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    exit::code(run(cli))
}

fn run(cli: Cli) -> Result<Verdict, Failure> {
    environment::refuse_unknown(std::env::vars_os().map(|(name, _)| name))?;
    output::log_to_stderr(cli.shared.verbose);
    let mut output = Output::to_stdout(cli.shared.output);
    let verdict = match &cli.command {
        Command::Levels(command) => levels::run(command, &cli.shared, &mut output),
        Command::Topics(command) => topics::run(command, &cli.shared, &mut output),
        Command::Send(args) => send::run(args, &cli.shared, &mut output),
    }?;
    output.finish()?;
    Ok(verdict)
}
