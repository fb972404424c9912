//! `make demo`: a fleet of rollers on a real broker does the main job while a live table shows it, and a checker that
//! reads the topics itself says whether anything was early, lost or double.

mod fleet;
mod observe;
mod programs;
mod table;
mod traffic;

use anyhow::{Context, Result, bail};
use clap::Parser;
use fleet::Fleet;
use observe::Observer;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use traffic::Traffic;

/// Runs the main job on the cluster at $BROKERS. Exit code 0 only if nothing was early, lost or double.
#[derive(Debug, Parser)]
#[command(name = "dwell-demo", version)]
struct Args {
    /// Kafka's bootstrap servers.
    #[arg(long, env = "BROKERS", value_name = "HOST:PORT,…")]
    brokers: String,
    /// How many records to send.
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    records: u32,
    /// Leave the fleet running afterwards, to try `dwell send` and kcat by hand; ends with Enter or Ctrl-C.
    #[arg(long)]
    keep: bool,
}

/// Sending takes this long, so that every level has something to show.
const SENDING: Duration = Duration::from_secs(10);
/// After the last record is due, how late one may be before it counts as lost.
const PATIENCE: Duration = Duration::from_secs(12);

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("dwell-demo: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<bool> {
    let mut fleet = Fleet::prepare(&args.brokers)?;
    fleet.start()?;
    let traffic = Traffic::start(&fleet, args.records, SENDING)?;
    let mut observer = Observer::open(&fleet)?;
    watch(&mut fleet, &mut observer, &traffic)?;
    let sent = traffic.finish()?;
    observer.read()?;
    let verdict = observer.judge(&sent);
    println!("\n{verdict}");
    println!(
        "{} records were asked for 45 minutes and wait in {}, on purpose.",
        sent.far.len(),
        fleet.table.topic_of(fleet.table.get("1h").context("the table has 1h")?)
    );
    let good = verdict.is_clean() && verdict.duplicates == 0;
    println!("{}", if good { "early 0, lost 0, duplicates 0: as promised." } else { "NOT as promised." });
    if args.keep {
        keep(&fleet)?;
    }
    fleet.stop()?;
    Ok(good)
}

/// Shows the live table until everything that is due during the demo has arrived, or is overdue beyond patience.
fn watch(fleet: &mut Fleet, observer: &mut Observer, traffic: &Traffic) -> Result<()> {
    let mut screen = table::Screen::default();
    let begin = Instant::now();
    let end = SENDING + Duration::from_secs(30) + PATIENCE;
    loop {
        observer.read()?;
        fleet.check_alive()?;
        screen.show(&observer.levels(), traffic.progress(), begin.elapsed());
        if traffic.is_finished() && observer.outstanding() == 0 {
            return Ok(());
        }
        if begin.elapsed() > end {
            eprintln!("not everything has arrived in time");
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

fn keep(fleet: &Fleet) -> Result<()> {
    println!("\nThe fleet keeps running. Try, in another terminal:");
    for line in fleet.hints()? {
        println!("  {line}");
    }
    print!("Enter ends it. ");
    std::io::stdout().flush()?;
    let mut line = String::new();
    if std::io::stdin().read_line(&mut line)? == 0 {
        // No terminal: until the process is ended.
        loop {
            std::thread::sleep(Duration::from_secs(3600));
        }
    }
    if line.len() > 1000 {
        bail!("that is not Enter");
    }
    Ok(())
}
