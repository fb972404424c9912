//! How fast records leave that are all due at once.

use crate::appends::first_and_last;
use crate::cluster::Cluster;
use crate::fill::{Filler, Shape};
use crate::fleet::Fleet;
use crate::process::Process;
use crate::report::{Figure, Goal, Panel};
use crate::scale::Scale;
use crate::statistics::{median, ratios};
use anyhow::Result;
use std::time::Duration;

const PARTITIONS: u32 = 4;
/// Longer than any drain takes that goes on at all.
const PATIENCE: Duration = Duration::from_secs(300);
const GOAL: f64 = 0.95;

/// Measures all sizes.
pub(crate) fn measure(cluster: &Cluster, scale: &Scale) -> Result<Figure> {
    let sizes: [(usize, &str, u64); 3] =
        [(200, "200 B", 1_000_000), (20, "20 B", 1_000_000), (10_240, "10 KiB", 100_000)];
    let mut figure = Figure {
        name: "drain",
        title: "Draining records due at once".to_owned(),
        how: how(),
        panels: Vec::new(),
        goals: Vec::new(),
    };
    for (bytes, name, count) in sizes {
        let count = scale.size(count, count / 50);
        let drains = Drains { cluster, count, shape: Shape { bytes } }.rounds(scale.rounds(7))?;
        drains.describe(&format!("{count} × {name}"), &mut figure);
    }
    Ok(figure)
}

fn how() -> Vec<String> {
    vec![
        format!("Level 1s, {PARTITIONS} partitions, filled and overdue before a process starts; three headers each."),
        "Time is the target's own: from the append of its first record to the append of its last.".to_owned(),
        "Rounds alternate, who begins changes each time, the first pair only warms the broker up.".to_owned(),
        "CPU is that of the roller's or the copy's process; the broker runs on the same cores.".to_owned(),
    ]
}

struct Drains<'a> {
    cluster: &'a Cluster,
    count: u64,
    shape: Shape,
}

#[derive(Clone, Copy)]
enum Side {
    Roller,
    Copy,
}

/// One drain.
struct Drain {
    per_second: f64,
    /// From the start of the process to the last append.
    whole_s: f64,
    cpu_us: f64,
}

#[derive(Default)]
struct Both {
    roller: Vec<Drain>,
    copy: Vec<Drain>,
}

impl Drains<'_> {
    fn rounds(&self, rounds: u32) -> Result<Both> {
        let fleet = Fleet::create(self.cluster, &["1s"], PARTITIONS)?;
        let target = fleet.target("target");
        let source = fleet.level_topic("1s")?;
        Filler::connect(&self.cluster.settings, &source, &target, self.shape)?.burst(self.count)?;
        std::thread::sleep(Duration::from_secs(1));
        let mut both = Both::default();
        for round in 0..=rounds {
            let order = if round % 2 == 0 { [Side::Roller, Side::Copy] } else { [Side::Copy, Side::Roller] };
            for side in order {
                let drain = self.drain(&fleet, side, round, &source, &target)?;
                // The first pair warms the broker up.
                if round > 0 {
                    both.side(side).push(drain);
                }
            }
        }
        self.cluster.admin.delete_topic(&source)?;
        self.cluster.admin.delete_topic(&target)?;
        Ok(both)
    }

    fn drain(&self, fleet: &Fleet, side: Side, round: u32, source: &str, target: &str) -> Result<Drain> {
        self.cluster.recreate(target, PARTITIONS)?;
        let process = match side {
            Side::Roller => fleet.roller(&round.to_string(), &["1s"], &[])?,
            Side::Copy => fleet.copy(&round.to_string(), source, target, 1)?,
        };
        let drain = self.watch(process, target)?;
        eprintln!("  {} {round}: {:.0} records/s", side.name(), drain.per_second);
        Ok(drain)
    }

    fn watch(&self, mut process: Process, target: &str) -> Result<Drain> {
        let waited = self.cluster.await_count(target, self.count, PATIENCE);
        process.check_alive()?;
        waited?;
        let cpu = process.cpu()?;
        let started_ms = process.started_ms;
        process.kill()?;
        let (first, last) = first_and_last(self.cluster, target)?;
        let count = self.count as f64;
        Ok(Drain {
            per_second: count * 1e3 / (last - first).max(1) as f64,
            whole_s: (last - started_ms) as f64 / 1e3,
            cpu_us: cpu.as_secs_f64() * 1e6 / count,
        })
    }
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Roller => "roller",
            Side::Copy => "copy",
        }
    }
}

impl Both {
    fn side(&mut self, side: Side) -> &mut Vec<Drain> {
        match side {
            Side::Roller => &mut self.roller,
            Side::Copy => &mut self.copy,
        }
    }

    fn describe(&self, what: &str, figure: &mut Figure) {
        let of = |side: &[Drain], value: fn(&Drain) -> f64| side.iter().map(value).collect::<Vec<_>>();
        let panel = |title: &str, unit, value: fn(&Drain) -> f64| {
            Panel::new(format!("{what}: {title}"), unit)
                .row("roller", of(&self.roller, value))
                .row("copy", of(&self.copy, value))
        };
        let rates = ratios(&of(&self.roller, |d| d.per_second), &of(&self.copy, |d| d.per_second));
        figure.goals.push(Goal::at_least(format!("{what}: roller / copy, median of the rounds"), GOAL, median(&rates)));
        figure.panels.push(panel("first to last append", "records/s", |d| d.per_second));
        figure.panels.push(Panel::new(format!("{what}: speed"), "ratio").row("roller / copy", rates));
        figure.panels.push(panel("CPU", "µs per record", |d| d.cpu_us));
        figure.panels.push(panel("start of the process to the last append", "s", |d| d.whole_s));
    }
}
