//! From the command line to running levels, and back to an exit code.

use crate::args::{Args, LogFormat, flags};
use crate::environment::with_environment;
use crate::level_loop::End;
use crate::start::{self, Setup};
use crate::stop::{Ended, Stop};
use crate::{http, metrics};
use anyhow::Context;
use clap::Parser;
use dwell_kafka::{ClientSettings, settings};
use dwell_levels::{Delivery, Level, LevelTable};
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use tracing_subscriber::EnvFilter;

const USAGE: u8 = 2;

pub(crate) fn main() -> ExitCode {
    let setup = match configure() {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    match run(setup) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Everything that can be wrong without asking Kafka, reported together.
fn configure() -> Result<Setup, ExitCode> {
    let argv = arguments()
        .and_then(|argv| with_environment(argv, &flags(), environment(), &|p| settings::read_file(p)))
        .map_err(|wrong| refuse(&wrong))?;
    let args = Args::try_parse_from(argv).map_err(|e| {
        let code = if e.use_stderr() { USAGE } else { 0 };
        let _ = e.print();
        ExitCode::from(code)
    })?;
    log(args.log_format);
    let mut wrong = Vec::new();
    let client = ClientSettings::resolve(&args.brokers, &args.properties, environment(), &|p| settings::read_file(p))
        .map_err(|errors| wrong.extend(errors.iter().map(ToString::to_string)));
    let table = LevelTable::load(&args.levels).map_err(|e| wrong.push(e.to_string()));
    let levels = table.as_ref().ok().map(|t| pick(t, &args).map_err(|e| wrong.extend(e)));
    match (client, table, levels) {
        (Ok(client), Ok(table), Some(Ok(levels))) => Ok(Setup { args, client, table: Arc::new(table), levels }),
        _ => Err(refuse(&wrong)),
    }
}

fn arguments() -> Result<Vec<String>, Vec<String>> {
    let text = |arg: std::ffi::OsString| arg.into_string().map_err(|arg| vec![format!("{arg:?} is not UTF-8")]);
    std::env::args_os().map(text).collect()
}

/// The variables whose name and value are text; others cannot be Dwell's.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn pick(table: &LevelTable, args: &Args) -> Result<Vec<Level>, Vec<String>> {
    let mut wrong = Vec::new();
    let mut levels: Vec<Level> = if args.all { table.levels().to_vec() } else { Vec::new() };
    for name in &args.level {
        match table.get(name) {
            Some(level) if levels.iter().any(|l| l.name == level.name) => wrong.push(format!("--level {name} twice")),
            Some(level) => levels.push(level.clone()),
            None => {
                let known: Vec<_> = table.levels().iter().map(|l| l.name.as_str()).collect();
                wrong.push(format!("--level {name}: not in {}; it has {}", args.levels.display(), known.join(" ")));
            }
        }
    }
    for level in levels.iter().filter(|l| l.delivery == Delivery::ExactlyOnce) {
        // To release at least once where the file promises more would be found out too late.
        wrong.push(format!("level {}: delivery: exactly-once is not available; use at-least-once", level.name));
    }
    for level in levels.iter().filter(|l| l.trim) {
        tracing::warn!(
            level = level.name.as_str(),
            "trim: true has no effect yet; released records stay until retention"
        );
    }
    if wrong.is_empty() { Ok(levels) } else { Err(wrong) }
}

fn refuse(wrong: &[String]) -> ExitCode {
    for line in wrong {
        eprintln!("dwell-roller: {line}");
    }
    ExitCode::from(USAGE)
}

fn log(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => builder.with_target(false).with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => builder.json().init(),
    }
}

fn run(setup: Setup) -> anyhow::Result<()> {
    let metrics = metrics::install()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("start the HTTP runtime")?;
    let listen = setup.args.listen;
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind(listen))
        .with_context(|| format!("listen on {listen}; choose another address with --listen"))?;
    tracing::info!("probes and metrics on http://{}", listener.local_addr()?);
    let stop = Stop::new(&setup.args);
    stop.on_signals(&runtime)?;
    let fleet = start::all(&setup, &stop)?;
    runtime.spawn(http::serve(listener, fleet.healths.clone(), metrics));
    let ended = stop.wait_for(fleet.threads);
    match ended {
        Ended::AsAsked => Ok(()),
        Ended::Failed(level, End::Failed(text)) => anyhow::bail!("level {level}: {text}"),
        Ended::Failed(level, End::Stopped) => anyhow::bail!("level {level} stopped unasked"),
        Ended::Panicked(level) => anyhow::bail!("the loop of level {level} panicked"),
    }
}
