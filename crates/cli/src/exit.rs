//! How the program ends.

use dwell_kafka::{KafkaFailure, Trouble};
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// How a command that did its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing to complain about.
    Fine,
    /// Some of it failed; what did is in the data.
    Partly,
    /// A check found something.
    Findings,
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line, the environment or a file is wrong: somebody has to change it.
    Usage(anyhow::Error),
    /// It was tried and failed.
    Failed(anyhow::Error),
    /// Nobody reads the data any more, as in `dwell … | head`.
    NoReader,
}

impl Failure {
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Failure {
        Failure::Usage(error.into())
    }

    pub(crate) fn usage_text(text: impl Display) -> Failure {
        Failure::Usage(anyhow::anyhow!("{text}"))
    }

    /// Several mistakes, one per line.
    pub(crate) fn usage_list<E: Display>(errors: impl IntoIterator<Item = E>) -> Failure {
        let lines: Vec<String> = errors.into_iter().map(|e| e.to_string()).collect();
        Failure::usage_text(lines.join("\n"))
    }

    pub(crate) fn failed(error: impl Into<anyhow::Error>) -> Failure {
        Failure::Failed(error.into())
    }

    /// A request that failed; wrong client settings are a matter of configuration.
    pub(crate) fn kafka(failure: KafkaFailure) -> Failure {
        match failure.trouble() {
            Trouble::Settings => Failure::usage(failure),
            _ => Failure::failed(failure),
        }
    }
}

impl From<io::Error> for Failure {
    /// An error while writing data.
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::NoReader,
            _ => Failure::failed(anyhow::Error::new(error).context("cannot write the data")),
        }
    }
}

/// Says why on stderr, and turns the end into the exit code.
pub(crate) fn code(end: Result<Verdict, Failure>) -> ExitCode {
    match end {
        Ok(Verdict::Fine) | Err(Failure::NoReader) => ExitCode::SUCCESS,
        Ok(Verdict::Partly) => ExitCode::from(1),
        Ok(Verdict::Findings) => ExitCode::from(3),
        Err(Failure::Failed(error)) => {
            tell(format_args!("dwell: {error:#}"));
            ExitCode::from(1)
        }
        Err(Failure::Usage(error)) => {
            tell(format_args!("{error:#}"));
            ExitCode::from(2)
        }
    }
}

/// A line on stderr. That nobody reads it is no reason to fail.
pub(crate) fn tell(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
