//! How late single records are on the shortest level, by the brokers' append times alone.

use crate::appends::by_number;
use crate::cluster::Cluster;
use crate::fill::{Filler, Shape};
use crate::fleet::Fleet;
use crate::process::Process;
use crate::report::{Figure, Goal, Panel};
use crate::scale::Scale;
use crate::statistics::{median, quantile};
use anyhow::Result;
use std::time::Duration;

const PARTITIONS: u32 = 4;
const DELAY_MS: i64 = 1000;
const SHAPE: Shape = Shape { bytes: 200 };
const RATES: [u64; 3] = [300, 5_000, 50_000];
const PATIENCE: Duration = Duration::from_secs(60);

/// The roller, and the copy with each linger that could be its best.
const SIDES: [Side; 3] = [Side::Roller, Side::Copy { linger_ms: 0 }, Side::Copy { linger_ms: 1 }];

#[derive(Clone, Copy)]
enum Side {
    Roller,
    Copy { linger_ms: u32 },
}

/// One run's lateness in milliseconds.
struct Late {
    p50: f64,
    p99: f64,
    most: f64,
}

/// Measures all rates.
pub(crate) fn measure(cluster: &Cluster, scale: &Scale) -> Result<Figure> {
    let mut figure = Figure {
        name: "lateness",
        title: "Lateness on the 1s level".to_owned(),
        how: how(),
        panels: Vec::new(),
        goals: Vec::new(),
    };
    let length = scale.size(Duration::from_secs(8), Duration::from_secs(2));
    for rate in RATES {
        let runs = Runs { cluster, rate, length }.rounds(scale.rounds(5))?;
        describe(rate, &runs, &mut figure);
    }
    Ok(figure)
}

fn how() -> Vec<String> {
    vec![
        format!("{} B, {PARTITIONS} partitions, records sent evenly to a running roller or copy.", SHAPE.bytes),
        "Lateness of the roller: target's append − source's append − 1 s. Of the copy: target's append − source's."
            .to_owned(),
        "Rounds go through all sides in turn; the first second of each run is not counted.".to_owned(),
        "Appends are stamped in whole milliseconds, one stamp for each batch.".to_owned(),
    ]
}

struct Runs<'a> {
    cluster: &'a Cluster,
    rate: u64,
    length: Duration,
}

impl Runs<'_> {
    /// For each side its runs.
    fn rounds(&self, rounds: u32) -> Result<Vec<Vec<Late>>> {
        let mut runs: Vec<Vec<Late>> = SIDES.iter().map(|_| Vec::new()).collect();
        for round in 0..rounds {
            for turn in 0..SIDES.len() {
                // Each side comes first, second and third.
                let side = (turn + round as usize) % SIDES.len();
                let late = self.run(SIDES[side])?;
                eprintln!("  {}/s {} {round}: p50 {} ms, p99 {} ms", self.rate, SIDES[side].name(), late.p50, late.p99);
                runs[side].push(late);
            }
        }
        Ok(runs)
    }

    fn run(&self, side: Side) -> Result<Late> {
        let fleet = Fleet::create(self.cluster, &["1s"], PARTITIONS)?;
        let (source, target) = (fleet.level_topic("1s")?, fleet.target("target"));
        self.cluster.create(&target, PARTITIONS)?;
        let filler = Filler::connect(&self.cluster.settings, &source, &target, SHAPE)?;
        let (mut process, delay_ms) = match side {
            Side::Roller => (fleet.roller("0", &["1s"], &[])?, DELAY_MS),
            Side::Copy { linger_ms } => (fleet.copy("0", &source, &target, linger_ms)?, 0),
        };
        let count = self.send(&filler, &mut process, &target)?;
        process.kill()?;
        let sent = by_number(self.cluster, &source, count)?;
        let came = by_number(self.cluster, &target, count)?;
        self.cluster.admin.delete_topic(&source)?;
        self.cluster.admin.delete_topic(&target)?;
        let skipped = usize::try_from(1 + self.rate)?.min(sent.len() / 2);
        let late: Vec<f64> = sent.iter().zip(came).skip(skipped).map(|(s, c)| (c - s - delay_ms) as f64).collect();
        Ok(Late { p50: quantile(&late, 0.5), p99: quantile(&late, 0.99), most: quantile(&late, 1.0) })
    }

    /// One record shows that everything is up, then they come evenly. Returns how many there were.
    fn send(&self, filler: &Filler, process: &mut Process, target: &str) -> Result<u64> {
        filler.burst(1)?;
        self.cluster.await_count(target, 1, PATIENCE)?;
        let count = filler.steady(1, self.rate, self.length)?;
        let waited = self.cluster.await_count(target, count, PATIENCE);
        process.check_alive()?;
        waited?;
        Ok(count)
    }
}

impl Side {
    fn name(self) -> String {
        match self {
            Side::Roller => "roller".to_owned(),
            Side::Copy { linger_ms } => format!("copy, linger {linger_ms} ms"),
        }
    }
}

fn describe(rate: u64, runs: &[Vec<Late>], figure: &mut Figure) {
    let of = |side: usize, value: fn(&Late) -> f64| runs[side].iter().map(value).collect::<Vec<_>>();
    let mut panel = |name: &str, value: fn(&Late) -> f64| {
        let rows = SIDES.iter().enumerate();
        let panel = rows.fold(Panel::new(format!("{rate}/s: {name}"), "ms"), |p, (i, s)| p.row(s.name(), of(i, value)));
        figure.panels.push(panel);
    };
    panel("p50", |l| l.p50);
    panel("p99", |l| l.p99);
    panel("largest", |l| l.most);
    for (name, value, allowed) in
        [("p50", (|l| l.p50) as fn(&Late) -> f64, 1.0), ("p99", (|l| l.p99) as fn(&Late) -> f64, 5.0)]
    {
        let best = (1..SIDES.len()).map(|side| median(&of(side, value))).fold(f64::INFINITY, f64::min);
        let what = format!("{rate}/s: {name} of the roller − of the copy's best linger, ms");
        figure.goals.push(Goal::at_most(what, allowed, median(&of(0, value)) - best));
    }
}
