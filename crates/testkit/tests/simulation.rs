//! Hundreds of seeded runs. A failing seed alone, with its trace:
//! `DWELL_SEED=<seed> cargo test -p dwell-testkit --test simulation -- --nocapture`
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_testkit::sim::{Outcome, Trace, run};

const SEEDS: u64 = 600;

fn told(outcome: &Outcome) -> String {
    format!(
        "seed {}: {:#?}\n{}\nreplay: DWELL_SEED={} cargo test -p dwell-testkit --test simulation -- --nocapture",
        outcome.seed, outcome.flaws, outcome.weather, outcome.seed
    )
}

#[test]
fn nothing_is_lost_early_disordered_or_stuck() {
    if let Ok(seed) = std::env::var("DWELL_SEED") {
        let outcome = run(seed.parse().expect("DWELL_SEED is a number"), Trace::Kept);
        outcome.trace.iter().for_each(|line| println!("{line}"));
        assert!(outcome.flaws.is_empty(), "{}", told(&outcome));
        return;
    }
    let seeds = std::env::var("DWELL_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(SEEDS);
    let outcomes: Vec<Outcome> = (0..seeds).map(|seed| run(seed, Trace::Dropped)).collect();
    let bad: Vec<_> = outcomes.iter().filter(|o| !o.flaws.is_empty()).collect();
    let all: Vec<_> = bad.iter().map(|o| o.seed).collect();
    assert!(bad.is_empty(), "{} of {seeds} seeds failed: {all:?}\n{}", bad.len(), told(bad[0]));
    let sum = |of: fn(&Outcome) -> usize| outcomes.iter().map(of).sum::<usize>();
    let (sent, delivered) = (sum(|o| o.sent), sum(|o| o.delivered));
    let (parked, repeated) = (sum(|o| o.parked), sum(|o| o.repeated));
    println!("{seeds} seeds: sent {sent}, delivered {delivered}, parked {parked}, repeated {repeated}");
    // The runs must see what they are there for.
    assert!(delivered > sent / 2 && parked > 0 && repeated > 0);
}

#[test]
fn the_same_seed_is_the_same_run() {
    for seed in 0..8 {
        let (a, b) = (run(seed, Trace::Dropped), run(seed, Trace::Kept));
        assert_eq!((a.hash, a.flaws), (b.hash, b.flaws), "seed {seed}");
        assert_ne!(a.hash, run(seed + 1, Trace::Dropped).hash);
    }
}
