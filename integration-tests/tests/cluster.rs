//! Three brokers: leaders move while clocks differ.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::audit::{Arrivals, asked, assert_each_once, on_level};
use dwell_integration_tests::load::batch;
use dwell_integration_tests::own_cluster::OwnCluster;
use dwell_integration_tests::{Fleet, Producer, fleet};
use dwell_kafka::clock::wall_ms;
use dwell_kafka::producer::Written;
use dwell_levels::Delay;
use dwell_levels::topics::{TopicKind, TopicSpec, level_spec};
use dwell_testkit::checker::{Sent, SourceRecord, judge};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
/// Broker 3's clock is ahead by so much.
const AHEAD: i64 = 5;

/// A topic with append times that only some brokers have.
fn place(cluster: &OwnCluster, name: &str, partitions: u32, replicas: &[i32], config: &[(&str, &str)]) {
    let mut all = vec![("message.timestamp.type".to_owned(), "LogAppendTime".to_owned())];
    all.extend(config.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    let spec = TopicSpec {
        name: name.to_owned(),
        kind: TopicKind::Clock,
        partitions,
        replication_factor: i16::try_from(replicas.len()).unwrap(),
        retention_needed: Delay::ZERO,
        config: all,
    };
    cluster.create(&spec, replicas);
}

/// The topic of a level, with its leaders where the first of these brokers is.
fn place_level(cluster: &OwnCluster, fleet: &Fleet, level: &str, replicas: &[i32]) {
    cluster.create(&level_spec(&fleet.table, fleet.table.get(level).unwrap()), replicas);
}

/// A record on the level, and how far ahead the clock was that stamped it.
struct Stamped {
    sent: Sent,
    ahead_ms: i64,
}

/// Load of which it is known by which clock each record was stamped.
struct WatchedLoad {
    enough: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Stamped>>,
}

impl WatchedLoad {
    fn start(fleet: &Fleet, level: &str, target: &str) -> WatchedLoad {
        let enough = Arc::new(AtomicBool::new(false));
        let (settings, topic, target) = (fleet.settings.clone(), fleet.level_topic(level), target.to_owned());
        let stop = enough.clone();
        let thread = std::thread::spawn(move || {
            let mut producer = Producer::connect(&settings);
            let mut all = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let begin = wall_ms();
                let written = producer.send(&topic, &batch(&target, all.len()));
                let interval = begin..=wall_ms();
                let sent = asked(&topic, &target, 0, &written);
                all.extend(
                    sent.into_iter().zip(written).map(|(sent, w)| Stamped { sent, ahead_ms: ahead(&w, &interval) }),
                );
                std::thread::sleep(Duration::from_millis(50));
            }
            all
        });
        WatchedLoad { enough, thread }
    }

    fn finish(self) -> Vec<Stamped> {
        self.enough.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// All brokers are on this host: a stamp after the acknowledgement is one of the clock that is ahead.
fn ahead(written: &Written, interval: &std::ops::RangeInclusive<i64>) -> i64 {
    let took = interval.end() - interval.start();
    assert!(took < AHEAD * 1000, "no telling which clock stamped what took {took} ms");
    if written.append_ms.unwrap() > *interval.end() { AHEAD * 1000 } else { 0 }
}

/// What waited on a level, with the time of a right clock.
fn by_a_right_clock(fleet: &Fleet, level: &str, stamped: &[Stamped]) -> Vec<SourceRecord> {
    let ahead: HashMap<&str, i64> = stamped.iter().map(|s| (s.sent.id.as_str(), s.ahead_ms)).collect();
    let mut all = on_level(fleet, level);
    for source in &mut all {
        source.append_ms -= ahead.get(source.id.as_str()).copied().unwrap_or_default();
    }
    all
}

/// How often append times go back along a partition.
fn steps_back(mut source: Vec<SourceRecord>) -> usize {
    source.sort_by_key(|s| (s.partition, s.offset));
    let back = |pair: &&[SourceRecord]| {
        pair[0].partition == pair[1].partition && pair[1].append_ms < pair[0].append_ms - AHEAD * 500
    };
    source.windows(2).filter(back).count()
}

#[test]
fn append_times_go_back_with_a_new_leader_and_the_backlog_comes_due_together() {
    fleet::brokers();
    let cluster = OwnCluster::with_wrong_clock(AHEAD);
    let fleet = Fleet::on(cluster.address(), "{3s: {replicationFactor: 3}}", "");
    place_level(&cluster, &fleet, "3s", &[3, 1, 2]);
    fleet.create_topics();
    let (topic, target) = (fleet.level_topic("3s"), fleet.target_name("orders"));
    // Its leaders have right clocks, so its append times can be believed.
    place(&cluster, &target, 4, &[1, 2], &[]);
    let mut roller = fleet.roller(&["3s"]);

    let load = WatchedLoad::start(&fleet, "3s", &target);
    std::thread::sleep(Duration::from_secs(4));
    cluster.move_leaders(&topic, 4, &[1, 2, 3]);
    std::thread::sleep(Duration::from_secs(2));
    cluster.move_leaders(&topic, 4, &[3, 2, 1]);
    std::thread::sleep(Duration::from_secs(4));
    cluster.broker(3).stop();
    cluster.await_leader(&topic, 2);
    std::thread::sleep(Duration::from_secs(2));
    let stamped = load.finish();
    cluster.broker(3).restart();

    let mut arrivals = Arrivals::at(&fleet, &target);
    arrivals.until(stamped.len(), PATIENCE);
    assert!(roller.stop(PATIENCE).success());
    arrivals.look();
    assert!(steps_back(on_level(&fleet, "3s")) >= 4, "append times went back in each partition");
    let source = by_a_right_clock(&fleet, "3s", &stamped);
    let sent = |which: fn(&Stamped) -> bool| stamped.iter().filter(|s| which(s)).map(|s| s.sent.clone()).collect();
    let all: Vec<Sent> = sent(|_| true);
    let verdict = judge(&all, &source, &arrivals.all);
    eprintln!("{verdict}");
    assert_each_once(&verdict);
    // Waiting until the slow clocks have caught up would make each of the first and many of those behind them 5 s late.
    assert!(verdict.lateness.p90_ms < 3500, "those behind did not wait for the clock to be caught up: {verdict}");
    let fast: Vec<Sent> = sent(|s| s.ahead_ms > 0);
    assert!(fast.len() > all.len() / 4, "{} of {} were stamped by the clock that is ahead", fast.len(), all.len());
    let ids: std::collections::HashSet<&str> = fast.iter().map(|s| s.id.as_str()).collect();
    let arrived: Vec<_> = arrivals.all.iter().filter(|d| ids.contains(d.id.as_str())).cloned().collect();
    let verdict = judge(&fast, &source, &arrived);
    eprintln!("stamped by the clock that is ahead:\n{verdict}");
    assert!(verdict.lateness.p50_ms < 3000, "{verdict}");
    assert!(roller.log().contains("the broker's clock was ahead"), "it is told");
    assert_eq!(fleet.parked(), []);
}
