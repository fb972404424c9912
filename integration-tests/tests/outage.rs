//! The broker is away, killed or frozen: what waits is released once it is back, nothing is parked, a stop is bounded.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::audit::{Arrivals, assert_each_once, assert_on_time, source_offset};
use dwell_integration_tests::load::Load;
use dwell_integration_tests::own_broker::OwnBroker;
use dwell_integration_tests::{Fleet, Roller, fleet, roller, within};
use dwell_testkit::checker::{Sent, Verdict};
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

const AWAY: Duration = Duration::from_secs(20);
/// A target alone is given up sooner than the outage ends: that it was everybody must make the difference.
const SOON_SILENT: [&str; 2] = ["--target-silence", "15s"];
const PATIENCE: Duration = Duration::from_secs(60);
/// The watchdog ends a process 15 s after the signal, see docs/guarantees.md; the rest is for a busy machine.
const BOUND: Duration = Duration::from_secs(25);
/// From the broker's return to the last late record: clients connect again, and the group waits for the sessions of
/// members that are gone.
const BACK: Duration = Duration::from_secs(40);

/// A level under load, with a target of its own.
struct Line {
    level: &'static str,
    target: String,
    load: Load,
    /// What the group had before the outage, by partition.
    committed: BTreeMap<i32, Option<i64>>,
}

impl Line {
    /// Starts the load; returns once the roller releases and commits.
    fn start(fleet: &Fleet, level: &'static str, roller: &Roller) -> Line {
        let target = fleet.target(level, 4);
        let load = Load::start(fleet, level, &target, Duration::from_millis(100));
        releases_more(roller);
        Line { level, target, load, committed: BTreeMap::new() }
    }

    /// To be called right before the outage.
    fn note_committed(&mut self, fleet: &Fleet) {
        self.committed = fleet.committed(self.level);
        assert!(self.committed.values().any(|next| next.is_some_and(|n| n > 0)), "{:?}", self.committed);
    }

    /// Ends the load and waits for what is under way.
    fn finish(self, fleet: &Fleet) -> Outcome {
        let sent = self.load.finish();
        let mut arrivals = Arrivals::at(fleet, &self.target);
        arrivals.until(sent.len(), PATIENCE);
        Outcome { level: self.level, arrivals, sent, committed: self.committed }
    }
}

struct Outcome {
    level: &'static str,
    arrivals: Arrivals,
    sent: Vec<Sent>,
    committed: BTreeMap<i32, Option<i64>>,
}

impl Outcome {
    /// Call it when the rollers are gone: everything arrived, in order, not early, and only what was not committed
    /// when the outage began came twice.
    fn judge(mut self, fleet: &Fleet, outage: Duration) -> Verdict {
        let verdict = self.arrivals.judge(fleet, &[self.level], &self.sent);
        eprintln!("{}: {verdict}", self.level);
        assert!(verdict.is_clean(), "{verdict}");
        assert_on_time(&verdict, outage + BACK);
        let mut seen = HashSet::new();
        for copy in self.arrivals.all.iter().filter(|copy| !seen.insert(&copy.id)) {
            let next = self.committed[&source_partition(&copy.id)];
            assert!(next.is_none_or(|next| source_offset(&copy.id) >= next), "{} was committed: {next:?}", copy.id);
        }
        verdict
    }
}

/// The partition of its level that a record's given id names.
fn source_partition(id: &str) -> i32 {
    id.rsplit('-').nth(2).unwrap().parse().unwrap()
}

fn released(roller: &Roller) -> f64 {
    roller.metric("dwell_roller_released_total", "delivered")
}

fn releases_more(roller: &Roller) {
    let before = released(roller);
    within(PATIENCE, "it releases", || (released(roller) > before + 1000.0).then_some(()));
}

/// Told once, in words an operator understands, and no flood besides.
fn told_once(roller: &Roller) {
    let log = roller.log();
    for words in ["no broker has answered for", "a broker answers again after"] {
        assert_eq!(log.matches(words).count(), 1, "{words}: {log}");
    }
    assert!(log.lines().count() < 100, "{log}");
}

fn not_set_aside(roller: &Roller) {
    assert_eq!(roller.metric("dwell_roller_set_aside_total", ""), 0.0, "{}", roller.log());
}

fn lives(roller: &Roller) {
    assert_eq!(roller.get("/livez").0, 200, "an outage is no reason to restart it: {}", roller.log());
}

#[test]
fn a_broker_that_was_killed_and_comes_back_finds_everything_waiting() {
    fleet::brokers();
    let broker = OwnBroker::start();
    let fleet = Fleet::on(broker.address(), "{1s: {}, 2s: {}}", "");
    fleet.create_topics();
    let (mut stays, mut goes) = (fleet.roller_unready(&["1s"], &SOON_SILENT), fleet.roller(&["2s"]));
    stays.wait_ready();
    let mut lines = [Line::start(&fleet, "1s", &stays), Line::start(&fleet, "2s", &goes)];
    lines.iter_mut().for_each(|line| line.note_committed(&fleet));

    broker.kill();
    let begin = Instant::now();
    goes.signal("TERM");
    roller::code(goes.wait(BOUND));
    eprintln!("stopped without a broker after {:?}", begin.elapsed());
    // The next one finds nobody: it lives, is not ready, and waits.
    let mut comes = fleet.roller_unready(&["2s"], &[]);
    while begin.elapsed() < AWAY {
        std::thread::sleep(Duration::from_millis(500));
        lives(&stays);
    }
    lives(&comes);
    assert_ne!(comes.get("/readyz").0, 200, "{}", comes.log());
    broker.restart();
    let outage = begin.elapsed();

    comes.wait_ready();
    releases_more(&stays);
    let outcomes = lines.map(|line| line.finish(&fleet));
    not_set_aside(&stays);
    assert_eq!(roller::code(stays.stop(BOUND)), Some(0));
    told_once(&stays);
    assert_eq!(roller::code(comes.stop(BOUND)), Some(0));
    for outcome in outcomes {
        outcome.judge(&fleet, outage);
    }
    assert_eq!(fleet.parked().len(), 0, "an outage is no reason to park");
}

#[test]
fn a_broker_that_was_frozen_finds_everything_waiting() {
    fleet::brokers();
    let broker = OwnBroker::start();
    let fleet = Fleet::on(broker.address(), "{1s: {}, 2s: {}}", "");
    fleet.create_topics();
    // The freeze is longer than the session of the one, and shorter than that of the other.
    let mut loses = fleet.roller_unready(&["1s"], &SOON_SILENT);
    let patient = [&SOON_SILENT[..], &["-X", "session.timeout.ms=60000"]].concat();
    let mut keeps = fleet.roller_unready(&["2s"], &patient);
    loses.wait_ready();
    keeps.wait_ready();
    let mut lines = [Line::start(&fleet, "1s", &loses), Line::start(&fleet, "2s", &keeps)];
    lines.iter_mut().for_each(|line| line.note_committed(&fleet));

    let begin = Instant::now();
    broker.freeze();
    std::thread::sleep(AWAY);
    lives(&loses);
    lives(&keeps);
    broker.thaw();
    let outage = begin.elapsed();

    releases_more(&loses);
    releases_more(&keeps);
    let outcomes = lines.map(|line| line.finish(&fleet));
    for roller in [&mut loses, &mut keeps] {
        not_set_aside(roller);
        assert_eq!(roller::code(roller.stop(BOUND)), Some(0));
        told_once(roller);
    }
    assert!(loses.log().contains("lost"), "longer than its session: {}", loses.log());
    assert!(!keeps.log().contains("lost"), "shorter than its session: {}", keeps.log());
    let [_, kept] = outcomes.map(|outcome| outcome.judge(&fleet, outage));
    assert_each_once(&kept);
    assert_eq!(fleet.parked().len(), 0, "an outage is no reason to park");
}
