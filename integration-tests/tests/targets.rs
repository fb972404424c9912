//! Targets that come late, go away, come again, or take a record to the last byte and not one more.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::produce::{Producer, Rec};
use dwell_integration_tests::same::{assert_punctual, assert_same, by_id, noise, producer_with};
use dwell_integration_tests::{Fleet, Roller, rec, within};
use dwell_kafka::clock::wall_ms;
use dwell_kafka::producer::Written;
use dwell_kafka::reader::Reader;
use std::collections::BTreeSet;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
/// How soon a roller asks again for a topic that was not there.
const RECHECK_MS: i64 = 5_000;

/// Records with ids `<what> 0`, `<what> 1` and so on, one key.
fn some(target: &str, what: &str, count: usize) -> Vec<Rec> {
    (0..count).map(|i| rec(target, "k", what).with("dwell-id", &format!("{what} {i}"))).collect()
}

fn set_aside(roller: &Roller) -> f64 {
    roller.metric("dwell_roller_set_aside_total", "")
}

/// Lines of the log that contain all of these.
fn said(roller: &Roller, parts: &[&str]) -> usize {
    roller.log().lines().filter(|line| parts.iter().all(|part| line.contains(part))).count()
}

/// A client gives a topic up that it has known for less than this only then; half a minute unless told otherwise.
const GIVE_UP_SOON: [&str; 2] = ["-X", "topic.metadata.propagation.max.ms=1000"];

fn soon_giving_up(fleet: &Fleet) -> Roller {
    let roller = fleet.roller_unready(&["1s", "5s"], &GIVE_UP_SOON);
    roller.wait_ready();
    roller
}

/// Makes the topic anew and waits until it can be read: its leader may still have to learn of it.
fn again(fleet: &Fleet, suffix: &str) {
    let target = fleet.target(suffix, 2);
    let read = || Reader::open(&fleet.settings, &target).ok()?.read_to_end(PATIENCE).ok();
    within(PATIENCE, "the new topic has leaders", || read().map(|_| ()));
}

fn assert_all_punctual(fleet: &Fleet, level: &str, target: &str, what: &str, written: &[Written]) {
    let got = fleet.read_until(target, written.len(), PATIENCE);
    for (i, written) in written.iter().enumerate() {
        let id = format!("{what} {i}");
        assert_punctual(&id, fleet, level, written, by_id(&got, &id));
    }
}

#[test]
fn a_target_created_ten_seconds_after_its_records_were_due_gets_each_of_them_once() {
    let fleet = Fleet::new("{1s: {}, 5s: {}}", "");
    let other = fleet.target("other", 2);
    let roller = fleet.roller(&["1s", "5s"]);
    let mut records = some(&fleet.target_name("later"), "early bird", 50);
    let neighbours = some(&other, "neighbour", 50);
    // Each between two others, in one partition.
    records = records.into_iter().zip(neighbours).flat_map(|(a, b)| [a, b]).collect();
    let written = fleet.producer().send(&fleet.level_topic("1s"), &records);
    let (written, beside): (Vec<_>, Vec<_>) = written.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
    let due_ms = written.last().unwrap().append_ms.unwrap() + fleet.delay_ms("1s");
    within(PATIENCE, "ten seconds after due", || (wall_ms() >= due_ms + 10_000).then_some(()));
    assert!(set_aside(&roller) >= 50.0, "they wait meanwhile");

    let target = fleet.target("later", 2);
    let created_ms = wall_ms();
    let got = fleet.read_until(&target, written.len(), PATIENCE);
    for (i, _) in written.iter().enumerate() {
        let late = by_id(&got, &format!("early bird {i}")).timestamp_ms - created_ms;
        // One more round of the level where they wait, and one question.
        let limit = fleet.delay_ms("5s") + RECHECK_MS + 5_000;
        assert!(late < limit, "{late} ms after the target was there");
    }
    assert_eq!(fleet.parked(), []);
    assert_all_punctual(&fleet, "1s", &other, "neighbour", &beside);
    assert!((1..6).contains(&said(&roller, &["records of", "set aside"])), "in sums, not one by one");
}

#[test]
fn what_was_meant_for_a_deleted_target_waits_and_arrives_when_it_is_created_again() {
    let fleet = Fleet::new("{1s: {}, 5s: {}}", "");
    let (target, other) = (fleet.target("orders", 2), fleet.target("other", 2));
    let roller = soon_giving_up(&fleet);
    let mut producer = fleet.producer();
    let first = producer.send(&fleet.level_topic("1s"), &some(&target, "before", 50));
    assert_all_punctual(&fleet, "1s", &target, "before", &first);

    fleet.admin.delete_topic(&target).unwrap();
    let lost = some(&target, "homeless", 50).into_iter().zip(some(&other, "neighbour", 50));
    let records: Vec<_> = lost.flat_map(|(a, b)| [a, b]).collect();
    let written = producer.send(&fleet.level_topic("1s"), &records);
    let beside: Vec<_> = written.chunks(2).map(|pair| pair[1]).collect();
    assert_all_punctual(&fleet, "1s", &other, "neighbour", &beside);
    within(PATIENCE, "they are set aside", || (set_aside(&roller) >= 50.0).then_some(()));

    again(&fleet, "orders");
    let got = fleet.read_until(&target, 50, PATIENCE);
    for i in 0..50 {
        by_id(&got, &format!("homeless {i}"));
    }
    let last = producer.send(&fleet.level_topic("1s"), &some(&target, "after", 50));
    let got = fleet.read_until(&target, 100, PATIENCE);
    for (i, written) in last.iter().enumerate() {
        let id = format!("after {i}");
        assert_punctual(&id, &fleet, "1s", written, by_id(&got, &id));
    }
    assert_eq!(got.len(), 100, "nothing twice");
    assert_eq!(fleet.parked(), []);
}

#[test]
fn a_target_made_anew_under_load_loses_only_what_it_had() {
    let fleet = Fleet::new("{1s: {}, 5s: {}}", "");
    let (target, other) = (fleet.target("orders", 2), fleet.target("other", 2));
    let _roller = soon_giving_up(&fleet);
    let mut producer = fleet.producer();
    let round = |rounds: usize, producer: &mut Producer| {
        let pairs = some(&target, &format!("here {rounds}"), 20).into_iter();
        let pairs = pairs.zip(some(&other, &format!("there {rounds}"), 20)).flat_map(|(a, b)| [a, b]);
        producer.send(&fleet.level_topic("1s"), &pairs.collect::<Vec<_>>());
    };
    let mut rounds = 0;
    let mut go_on_for_three_seconds = |producer: &mut Producer| {
        let until = wall_ms() + 3_000;
        while wall_ms() < until {
            round(rounds, producer);
            rounds += 1;
            std::thread::sleep(Duration::from_millis(50));
        }
        rounds
    };
    go_on_for_three_seconds(&mut producer);
    fleet.admin.delete_topic(&target).unwrap();
    again(&fleet, "orders");
    let first_safe = go_on_for_three_seconds(&mut producer);
    let rounds = go_on_for_three_seconds(&mut producer);
    // What was sent once the new topic was there can only be in the new one.
    let ids =
        || -> Vec<String> { fleet.read(&target).iter().map(|r| r.header("dwell-id").unwrap().to_owned()).collect() };
    let here = |round| (0..20).map(move |i| format!("here {round} {i}"));
    let safe: BTreeSet<_> = (first_safe..rounds).flat_map(here).collect();
    within(PATIENCE, "all are there", || safe.is_subset(&ids().into_iter().collect()).then_some(()));
    let got = ids();
    assert_eq!(got.iter().collect::<BTreeSet<_>>().len(), got.len(), "nothing twice");
    let beside = fleet.read_until(&other, 20 * rounds, PATIENCE);
    for r in &beside {
        let due: i64 = r.header("dwell-due").unwrap().parse().unwrap();
        assert!((0..5_000).contains(&(r.timestamp_ms - due)), "{:?} late", r.timestamp_ms - due);
    }
    assert_eq!(beside.len(), 20 * rounds, "nothing twice");
    assert_eq!(fleet.parked(), []);
}

/// Without compression a record's size is a matter of counting.
const PLAIN: (&str, &str) = ("compression.type", "none");

/// With so many bytes of noise and two hundred headers.
fn sized(size: usize, headers: &[(&str, &str)]) -> Rec {
    let body = Rec { key: Some(b"k".to_vec()), payload: Some(noise(size)), ..Rec::default() };
    let body = (0..200).fold(body, |r, i| r.with(&format!("trace-{i}"), "one of many"));
    headers.iter().fold(body, |r, (name, value)| r.with(name, value))
}

#[test]
fn a_record_that_fills_its_target_to_the_last_byte_arrives_and_one_byte_more_is_parked() {
    let fleet = Fleet::new("{1s: {}}", "");
    let limit = [("max.message.bytes", "100000")];
    let (target, like_target) = (fleet.target_with("full", 1, &limit), fleet.target_with("ruler", 1, &limit));
    let roller = fleet.roller_unready(&["1s"], &["-X", &format!("{}={}", PLAIN.0, PLAIN.1)]);
    roller.wait_ready();
    // What a copy carries: these instead of the target. All times of this century have thirteen digits.
    let copy = [("dwell-id", "largest"), ("dwell-trail", "1s"), ("dwell-due", "1234567890123")];
    let mut ruler = producer_with(&fleet, &[PLAIN]);
    let mut fits = |size: usize| ruler.try_send(&like_target, &[sized(size, &copy)])[0].is_ok();
    let (mut most, mut too_many) = (80_000, 100_000);
    while too_many - most > 1 {
        let middle = (most + too_many) / 2;
        if fits(middle) { most = middle } else { too_many = middle }
    }
    let own = |id: &str, size| sized(size, &[("dwell-target", &target), ("dwell-id", id)]);
    let records = [
        rec(&target, "k", "small").with("dwell-id", "before"),
        own("largest", most),
        own("too_big", most + 1),
        rec(&target, "k", "small").with("dwell-id", "behind"),
    ];
    let written = fleet.producer().send(&fleet.level_topic("1s"), &records);
    let parked = fleet.read_until(&fleet.table.parked_topic(), 1, PATIENCE);
    let got = fleet.read_until(&target, 3, PATIENCE);
    for (id, i) in [("before", 0), ("largest", 1), ("behind", 3)] {
        assert_punctual(id, &fleet, "1s", &written[i], by_id(&got, id));
        assert_same(id, &records[i], by_id(&got, id));
    }
    assert_eq!((got.len(), parked.len()), (3, 1));
    assert_eq!(by_id(&parked, "too_big").header("dwell-reason"), Some("TOO_LARGE"));
    assert_same("too_big", &records[2], &parked[0]);
}
