//! A seeded simulation of brokers, producers, consumer groups and rollers, in virtual time.
//!
//! Each roller runs the real [`Core`](dwell_roller_core::Core) and the real clock
//! [`Estimate`](dwell_roller_core::Estimate). Around them the seed draws: brokers with clocks that are off, drift
//! and step; leaders that move; outages of everything or of one target; a target that comes into being late or
//! never; crashes, rebalances, members that lose a partition and hear of it late; acknowledgements that are lost or
//! late; records with bad headers, bad targets and too much body; records without append time.
//!
//! The model knows what the core cannot: true time, and what really lies in every log. After the trouble time runs
//! on, and then nothing may be lost, early, out of order, committed past a gap, repeated without a reason, or stuck.
//!
//! Same seed, same run, to the microsecond.

mod cluster;
mod faults;
mod group;
mod perform;
mod producer;
mod rng;
mod shell;
mod verdict;
mod world;

use world::World;

/// Whether to keep every line of what happened, or only their hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trace {
    /// All lines.
    Kept,
    /// None.
    Dropped,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// What it was drawn from.
    pub seed: u64,
    /// What went against the promises; empty is good.
    pub flaws: Vec<String>,
    /// A hash of everything that happened.
    pub hash: u64,
    /// Everything that happened, if it was kept.
    pub trace: Vec<String>,
    /// Which troubles the run had.
    pub weather: String,
    /// Records sent to levels.
    pub sent: usize,
    /// Of those, how many reached their target.
    pub delivered: usize,
    /// How many were parked.
    pub parked: usize,
    /// Copies at targets beyond the first.
    pub repeated: usize,
}

/// Runs one seed to its end.
pub fn run(seed: u64, trace: Trace) -> Outcome {
    let table = match World::table() {
        Ok(table) => table,
        Err(faults) => return Outcome { seed, flaws: vec![faults.to_string()], ..Outcome::default() },
    };
    let mut world = World::new(seed, table);
    world.keep_trace = trace == Trace::Kept;
    world.run();
    // Of a run that was broken off there is nothing more to say.
    let ended = if world.flaws.is_empty() { world.conclude() } else { (0, 0, 0) };
    let (delivered, parked, repeated) = ended;
    Outcome {
        seed,
        weather: format!("{:?}", world.weather),
        sent: world.orders.len(),
        flaws: world.flaws,
        hash: world.hash,
        trace: world.trace,
        delivered,
        parked,
        repeated,
    }
}
