//! `make bench`: the product's figures on a real broker, each next to a plain consume → produce copy in interleaved
//! rounds. docs/benchmarks.md says what they mean.
//!
//! Results go to `bench/out` as text, JSON and SVG. A missed goal is reported, not an error.

mod appends;
mod cluster;
mod copy;
mod drain;
mod fill;
mod fleet;
mod lateness;
mod machine;
mod process;
mod report;
mod same_settings;
mod scale;
mod statistics;

use anyhow::Result;
use clap::{Parser, Subcommand};
use cluster::Cluster;
use machine::Machine;
use report::Figure;
use scale::Scale;
use std::path::PathBuf;
use std::process::ExitCode;

// The roller's own allocator: librdkafka's malloc is half of a copy's cost.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Measures the programs next to this one on the cluster at $BROKERS. DWELL_BENCH_QUICK=1 only tries everything out.
#[derive(Debug, Parser)]
#[command(name = "dwell-bench", version)]
struct Args {
    #[command(subcommand)]
    what: What,
    /// Kafka's bootstrap servers.
    #[arg(long, env = "BROKERS", value_name = "HOST:PORT,…", global = true, default_value = "127.0.0.1:9092")]
    brokers: String,
    /// Where results are written.
    #[arg(long, value_name = "DIR", global = true, default_value = "bench/out")]
    out: PathBuf,
    /// Rounds of each comparison, in place of the usual number.
    #[arg(long, global = true, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// All figures in turn.
    All,
    /// Records due at once: how fast a roller releases them.
    Drain,
    /// How late single records are on the 1s level, at three rates.
    Lateness,
    /// The plain copy itself; the comparisons start it.
    #[command(hide = true)]
    Copy(copy::CopyArgs),
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dwell-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    if let What::Copy(copy) = &args.what {
        return copy::run(&args.brokers, copy);
    }
    let scale = Scale::from_environment(args.rounds);
    let machine = Machine::look();
    let cluster = Cluster::connect(&args.brokers)?;
    for measure in figures(&args.what) {
        let figure = measure(&cluster, &scale)?;
        report::write(&figure, &machine, &scale, &args.out)?;
    }
    Ok(())
}

type Measure = fn(&Cluster, &Scale) -> Result<Figure>;

fn figures(what: &What) -> Vec<Measure> {
    match what {
        What::All => vec![drain::measure, lateness::measure],
        What::Drain => vec![drain::measure],
        What::Lateness => vec![lateness::measure],
        What::Copy(_) => vec![],
    }
}
