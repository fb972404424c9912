//! One target that acknowledges slowly, while other targets and other levels are served.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::audit::{Arrivals, assert_each_once};
use dwell_integration_tests::load::Load;
use dwell_integration_tests::own_cluster::{Broker, OwnCluster};
use dwell_integration_tests::{Fleet, fleet};
use dwell_kafka::clock::wall_ms;
use dwell_levels::topics::{DEFAULT_RECORD_LIMIT, level_spec, parked_spec};
use dwell_testkit::checker::Delivered;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// A broker that answers twice a second.
struct Sluggish {
    enough: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Sluggish {
    fn make(broker: Broker) -> Sluggish {
        let enough = Arc::new(AtomicBool::new(false));
        let stop = enough.clone();
        let thread = std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                broker.freeze();
                std::thread::sleep(Duration::from_millis(500));
                broker.thaw();
            }
        });
        Sluggish { enough, thread }
    }

    fn end(self) {
        self.enough.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

/// Lateness of what was due in a period, sorted.
fn lateness(arrived: &[Delivered], due: &Range<i64>) -> Vec<i64> {
    let late = |d: &Delivered| d.due_header_ms.filter(|at| due.contains(at)).map(|at| d.append_ms - at);
    let mut all: Vec<i64> = arrived.iter().filter_map(late).collect();
    all.sort_unstable();
    all
}

fn quantile(sorted: &[i64], q: f64) -> i64 {
    sorted[((sorted.len() - 1) as f64 * q) as usize]
}

fn shown(what: &str, sorted: &[i64]) {
    let q = [0.5, 0.9, 0.99, 1.0].map(|q| quantile(sorted, q));
    eprintln!("{what}: {} records late by p50 {} p90 {} p99 {} max {} ms", sorted.len(), q[0], q[1], q[2], q[3]);
}

#[test]
fn a_target_on_a_slow_broker_makes_no_other_target_and_no_other_level_late() {
    fleet::brokers();
    let cluster = OwnCluster::start();
    let fleet = Fleet::on(&cluster.address_of(&[1, 2]), "{1s: {}, 2s: {}}", "");
    for level in ["1s", "2s"] {
        cluster.create(&level_spec(&fleet.table, fleet.table.get(level).unwrap()), &[1]);
    }
    cluster.create(&parked_spec(&fleet.table, DEFAULT_RECORD_LIMIT), &[2]);
    fleet.create_topics();
    let well = cluster.target(fleet.target_name("well"), 2, &[2], &[]);
    let slow = cluster.target(fleet.target_name("slow"), 2, &[3], &[]);
    let other = cluster.target(fleet.target_name("other"), 2, &[2], &[]);
    let mut roller = fleet.roller(&["1s", "2s"]);
    // The same keys for both: each partition of the level has records for each target.
    let load = |level, target: &String| Load::start(&fleet, level, target, Duration::from_millis(200));
    let loads = [load("1s", &well), load("1s", &slow), load("2s", &other)];

    std::thread::sleep(Duration::from_secs(4));
    let before = wall_ms()..wall_ms() + 6_000;
    std::thread::sleep(Duration::from_secs(7));
    let sluggish = Sluggish::make(cluster.broker(3));
    let during = wall_ms() + 1_000..wall_ms() + 15_000;
    std::thread::sleep(Duration::from_secs(15));
    sluggish.end();
    let sent = loads.map(Load::finish);

    for ((level, target), sent) in [("1s", &well), ("1s", &slow), ("2s", &other)].into_iter().zip(&sent) {
        let mut arrivals = Arrivals::at(&fleet, target);
        arrivals.until(sent.len(), PATIENCE);
        assert_each_once(&arrivals.judge(&fleet, &[level], sent));
        let [calm, hurt] = [&before, &during].map(|period| lateness(&arrivals.all, period));
        shown(&format!("{target} before"), &calm);
        shown(&format!("{target} during"), &hurt);
        if target == &slow {
            assert!(quantile(&hurt, 0.5) > 200, "it is slow indeed");
        } else {
            assert!(quantile(&hurt, 0.99) < 250, "less than half a second: {target} does not wait for the slow one");
        }
    }
    assert!(roller.stop(PATIENCE).success());
    assert_eq!(fleet.parked(), []);
    assert!(!roller.log().contains("set aside"), "slow is not silent: {}", roller.log());
}
