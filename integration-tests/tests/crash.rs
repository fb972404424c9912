//! `kill -9` at moments nobody chose: nothing is lost, nothing early, and what is repeated is bounded.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::audit::{Arrivals, asked, assert_on_time, source_offset};
use dwell_integration_tests::chance::chance;
use dwell_integration_tests::load::batch;
use dwell_integration_tests::{Fleet, Roller, rec};
use dwell_kafka::Lookup;
use dwell_testkit::checker::Sent;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(90);
/// Released or under way, and not committed: what one partition repeats after a crash, at most.
const UNCOMMITTED: i64 = 10_000;

fn static_member(fleet: &Fleet, level: &str, more: &[&str]) -> Roller {
    let args: Vec<&str> = ["--instance-id", "one"].iter().chain(more).copied().collect();
    fleet.roller_unready(&[level], &args)
}

fn appended(lookup: &Lookup, topic: &str) -> u64 {
    lookup.end_offsets(topic, &[0]).unwrap()[0].1.unsigned_abs()
}

#[test]
fn killed_again_and_again_while_draining_it_loses_nothing_and_repeats_a_bounded_number() {
    const RECORDS: usize = 50_000;
    const KILLS: usize = 10;
    let fleet = Fleet::new("{1s: {partitions: 2}}", "");
    let target = fleet.target("orders", 1);
    let mut sent = Vec::new();
    send(&fleet, &target, RECORDS, &mut sent);

    let lookup = Lookup::open(&fleet.settings, "test", Duration::from_secs(10)).unwrap();
    let committed = || fleet.committed("1s").values().flatten().sum::<i64>().unsigned_abs() as usize;
    for kill in 1..=KILLS {
        let left = sent.len() - committed();
        send(&fleet, &target, RECORDS.saturating_sub(left), &mut sent);
        let mut roller = static_member(&fleet, "1s", &[]);
        if kill % 3 == 0 {
            // While it starts, joins, or has just begun.
            std::thread::sleep(Duration::from_millis(chance(&format!("kill {kill} after so many ms"), 0..700)));
        } else {
            let goal = appended(&lookup, &target) + chance(&format!("kill {kill} after so many copies"), 1..30_000);
            let begin = Instant::now();
            // Without a rest in between: thousands of copies go by in it.
            while appended(&lookup, &target) < goal {
                assert!(begin.elapsed() < PATIENCE, "the roller releases");
            }
        }
        roller.kill();
    }
    assert!(committed() < sent.len(), "the last kill was not in the middle");
    let mut roller = static_member(&fleet, "1s", &[]);
    let mut arrivals = Arrivals::at(&fleet, &target);
    arrivals.until(sent.len(), PATIENCE);
    assert!(roller.stop(PATIENCE).success());
    let verdict = arrivals.judge(&fleet, &["1s"], &sent);
    eprintln!("{verdict}");
    assert!(verdict.is_clean(), "{verdict}");
    for partition in 0..2 {
        assert_repeats_bounded(&arrivals, partition, KILLS);
    }
}

/// So many more, to the hundred, to the level of a second.
fn send(fleet: &Fleet, target: &str, count: usize, sent: &mut Vec<Sent>) {
    let from = sent.len();
    let records: Vec<_> = (from..from + count).step_by(100).flat_map(|from| batch(target, from)).collect();
    let topic = fleet.level_topic("1s");
    sent.extend(asked(&topic, target, 0, &fleet.producer().send(&topic, &records)));
}

/// Into one partition: what comes from one of the level's steps back where the roller was started anew, and the step's
/// size is what that crash repeated.
fn assert_repeats_bounded(arrivals: &Arrivals, partition: i32, kills: usize) {
    let mut offsets: Vec<_> = arrivals
        .all
        .iter()
        .filter(|d| source_partition(&d.id) == partition)
        .map(|d| (d.offset, source_offset(&d.id)))
        .collect();
    offsets.sort_unstable();
    let steps = offsets.windows(2).map(|pair| pair[1].1 - pair[0].1).filter(|step| *step != 1);
    let repeats: Vec<i64> = steps.map(|step| 1 - step).collect();
    eprintln!("partition {partition}, repeated after each crash: {repeats:?}");
    assert!(repeats.len() <= kills, "only a crash repeats: {repeats:?}");
    assert!(repeats.iter().all(|n| (0..=UNCOMMITTED).contains(n)), "{repeats:?}");
}

/// The partition of its level that a record's given id names.
fn source_partition(id: &str) -> i32 {
    id.rsplit('-').nth(2).unwrap().parse().unwrap()
}

#[test]
fn at_no_moment_is_more_committed_than_the_target_has() {
    const RECORDS: u64 = 60_000;
    let fleet = Fleet::new("{1s: {partitions: 1}}", "");
    let (topic, target) = (fleet.level_topic("1s"), fleet.target("orders", 1));
    let records: Vec<_> = (0..RECORDS as usize).step_by(100).flat_map(|from| batch(&target, from)).collect();
    fleet.producer().send(&topic, &records);
    let lookup = Lookup::open(&fleet.settings, "test", Duration::from_secs(10)).unwrap();
    let group = fleet.table.group_of(fleet.table.get("1s").unwrap());
    let _roller = static_member(&fleet, "1s", &[]);
    let (begin, mut middle) = (Instant::now(), 0);
    loop {
        // In this order: what the target gets in between can only make the look milder.
        let committed = lookup.committed(&group, &topic, &[0]).unwrap()[0].1.map_or(0, i64::unsigned_abs);
        let released = appended(&lookup, &target);
        assert!(committed <= released, "{committed} committed, {released} released: a crash now loses records");
        if committed == RECORDS {
            break;
        }
        middle += usize::from(committed > 0);
        assert!(begin.elapsed() < PATIENCE, "{committed} of {RECORDS} committed");
    }
    assert!(middle > 5, "looked {middle} times in the middle: too few to say anything");
}

#[test]
fn heads_that_wait_through_crashes_are_on_time_and_not_early() {
    let fleet = Fleet::new("{15s: {}}", "");
    let (topic, target) = (fleet.level_topic("15s"), fleet.target("orders", 2));
    let mut roller = static_member(&fleet, "15s", &[]);
    roller.wait_ready();
    let records: Vec<_> = (0..400).step_by(100).flat_map(|from| batch(&target, from)).collect();
    let sent = asked(&topic, &target, 0, &fleet.producer().send(&topic, &records));
    for kill in 1..=3 {
        std::thread::sleep(Duration::from_millis(chance(&format!("kill {kill} after so many ms"), 100..2000)));
        roller.kill();
        roller = static_member(&fleet, "15s", &[]);
    }
    let mut arrivals = Arrivals::at(&fleet, &target);
    arrivals.until(400, PATIENCE);
    assert!(roller.stop(PATIENCE).success());
    let verdict = arrivals.judge(&fleet, &["15s"], &sent);
    assert!(verdict.is_clean() && verdict.duplicates == 0, "nothing was released before the kills: {verdict}");
    assert_on_time(&verdict, Duration::from_secs(8));
}

#[test]
fn a_static_member_is_back_long_before_its_session_would_end() {
    let fleet = Fleet::new("{1s: {}}", "");
    let (topic, target) = (fleet.level_topic("1s"), fleet.target("orders", 1));
    let session = Duration::from_secs(120);
    let more = ["-X", "session.timeout.ms=120000", "-X", "max.poll.interval.ms=120000"];
    let mut roller = static_member(&fleet, "1s", &more);
    roller.wait_ready();
    roller.kill();
    fleet.producer().send(&topic, &[rec(&target, "k", "left alone")]);
    let begin = Instant::now();
    let _roller = static_member(&fleet, "1s", &more);
    fleet.read_until(&target, 1, PATIENCE);
    eprintln!("back, and the record released, after {:?}", begin.elapsed());
    assert!(begin.elapsed() < session / 4, "{:?}", begin.elapsed());
}
