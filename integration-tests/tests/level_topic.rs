//! The level's own topic and offsets under a running fleet: positions that lead nowhere, a topic made anew, more
//! partitions, a group that has lost its offsets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::audit::{Arrivals, assert_each_once};
use dwell_integration_tests::produce::Rec;
use dwell_integration_tests::same::{assert_punctual, by_id};
use dwell_integration_tests::{Fleet, Roller, eventually, rec, roller, within};
use dwell_kafka::consumer::{CommitOutcome, LevelConsumer, Step, Tuning};
use dwell_roller_core::NextOffset;
use dwell_testkit::checker::Sent;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Records with ids `<what> 0`, `<what> 1` and so on, over all partitions.
fn some(target: &str, what: &str, count: usize) -> Vec<Rec> {
    (0..count).map(|i| rec(target, &format!("k{i}"), what).with("dwell-id", &format!("{what} {i}"))).collect()
}

/// What the checker is to expect of such records.
fn sent(target: &str, what: &str, count: usize) -> Vec<Sent> {
    (0..count).map(|i| Sent::new(format!("{what} {i}"), target, 0)).collect()
}

fn resets(roller: &Roller, effect: &str) -> f64 {
    roller.metric("dwell_roller_offset_resets_total", effect)
}

/// Lines of the log that contain all of these.
fn said(roller: &Roller, parts: &[&str]) -> usize {
    roller.log().lines().filter(|line| parts.iter().all(|part| line.contains(part))).count()
}

/// As the level's only member, commits this position for all partitions.
fn commit_everywhere(fleet: &Fleet, level: &str, position: i64) {
    let l = fleet.table.get(level).unwrap();
    let (group, topic) = (fleet.table.group_of(l), fleet.table.topic_of(l));
    let mut member = LevelConsumer::join(&fleet.settings, &group, &topic, &Tuning::for_level(l)).unwrap();
    let partitions = within(PATIENCE, "it is assigned", || {
        member.serve(Duration::from_millis(50)).into_iter().find_map(|step| match step {
            Step::Assign(partitions) => Some(partitions),
            Step::Revoke(..) => None,
        })
    });
    member.accept(&partitions, &BTreeMap::new()).unwrap();
    for &p in &partitions {
        member.commit(p, NextOffset::new(position));
    }
    let mut stored = 0;
    within(PATIENCE, "it is committed", || {
        member.serve(Duration::from_millis(10));
        stored += member.serve_commits().iter().filter(|r| r.outcome == CommitOutcome::Stored).count();
        (stored == partitions.len()).then_some(())
    });
    member.leave();
}

#[test]
fn a_committed_offset_beyond_the_end_is_told_counted_and_everything_there_is_released() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 2);
    let records = some(&target, "r", 40);
    fleet.producer().send(&fleet.level_topic("1s"), &records);
    commit_everywhere(&fleet, "1s", 1_000);

    let roller = fleet.roller(&["1s"]);
    let got = fleet.read_until(&target, 40, PATIENCE);
    for i in 0..40 {
        by_id(&got, &format!("r {i}"));
    }
    eventually(PATIENCE, &4.0, || resets(&roller, "repeats"));
    for p in 0..4 {
        let line = ["ERROR", "offset 1000 of", &format!("partition {p},"), "goes on at 0"];
        assert_eq!(said(&roller, &line), 1, "once, with the old and the new offset");
    }
    assert_eq!(said(&roller, &["offset reset"]), 0, "in our words, not the client's");
    // From here on offsets count again.
    eventually(PATIENCE, &40, || fleet.committed("1s").values().flatten().sum::<i64>());
    assert_eq!(resets(&roller, "lost"), 0.0);
}

#[test]
fn records_deleted_before_they_were_released_are_told_and_counted() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 2);
    fleet.producer().send(&fleet.level_topic("1s"), &some(&target, "r", 200));
    commit_everywhere(&fleet, "1s", 1);
    let below: Vec<_> = (0..4).map(|p| (p, 5)).collect();
    fleet.admin.delete_records(&fleet.level_topic("1s"), &below).unwrap();

    let roller = fleet.roller(&["1s"]);
    let got = fleet.read_until(&target, 180, PATIENCE);
    assert_eq!(got.len(), 180);
    eventually(PATIENCE, &4.0, || resets(&roller, "lost"));
    assert_eq!(said(&roller, &["ERROR", "offset 1 of", "deleted before they were released", "goes on at 5"]), 4);
}

#[test]
fn a_level_topic_made_anew_is_rolled_from_its_beginning() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 2);
    let topic = fleet.level_topic("1s");
    let roller = fleet.roller(&["1s"]);
    let mut arrivals = Arrivals::at(&fleet, &target);
    fleet.producer().send(&topic, &some(&target, "old", 400));
    arrivals.until(400, PATIENCE);

    fleet.admin.delete_topic(&topic).unwrap();
    fleet.create_topics();
    let records = some(&target, "new", 40);
    within(PATIENCE, "the new topic takes records", || {
        let written = fleet.producer().try_send(&topic, &records[..1]);
        written[0].is_ok().then_some(())
    });
    fleet.producer().send(&topic, &records[1..]);
    arrivals.until(440, PATIENCE);
    let told = said(&roller, &["ERROR", "went back"]) + said(&roller, &["ERROR", "Reading goes on at"]);
    assert!(
        told <= 4,
        "once for each partition at most; a group that has lost its offsets just starts at the beginning"
    );
    assert_eq!((resets(&roller, "repeats"), resets(&roller, "lost")), (told as f64, 0.0));
}

#[test]
fn a_level_topic_made_anew_behind_our_back_with_more_records_than_were_read_loses_none_of_them() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 2);
    let topic = fleet.level_topic("1s");
    let roller = fleet.roller(&["1s"]);
    let mut arrivals = Arrivals::at(&fleet, &target);
    fleet.producer().send(&topic, &some(&target, "old", 40));
    arrivals.until(40, PATIENCE);

    // Not long enough to lose the partitions: by its name the topic is there all the time.
    roller.signal("STOP");
    fleet.admin.delete_topic(&topic).unwrap();
    fleet.create_topics();
    let records = some(&target, "new", 1_000);
    within(PATIENCE, "the new topic takes records", || {
        let written = fleet.producer().try_send(&topic, &records[..1]);
        written[0].is_ok().then_some(())
    });
    fleet.producer().send(&topic, &records[1..]);
    roller.signal("CONT");
    arrivals.until(1_040, PATIENCE);
    eventually(PATIENCE, &1_000, || fleet.committed("1s").values().flatten().sum::<i64>());
    assert_eq!(fleet.parked(), []);
    assert!(said(&roller, &["ERROR", "created anew"]) <= 1, "once");
}

#[test]
fn partitions_added_while_a_level_is_rolled_are_rolled_too() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 2);
    let roller = fleet.roller(&["1s"]);
    let topic = fleet.level_topic("1s");
    fleet.admin.add_partitions(&topic, 8).unwrap();
    let written = fleet.producer().send(&topic, &some(&target, "r", 400));
    assert_eq!(written.iter().map(|w| w.partition).collect::<BTreeSet<_>>().len(), 8);
    let mut arrivals = Arrivals::at(&fleet, &target);
    // A short level asks every five seconds how many partitions there are.
    arrivals.until(400, Duration::from_secs(20));
    eventually(PATIENCE, &8.0, || roller.metric("dwell_roller_partitions", ""));
    let verdict = arrivals.judge(&fleet, &["1s"], &sent(&target, "r", 400));
    assert_each_once(&verdict);
}

#[test]
fn a_group_that_has_lost_its_offsets_is_told_and_loses_nothing() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 2);
    let mut first = fleet.roller(&["1s"]);
    let topic = fleet.level_topic("1s");
    fleet.producer().send(&topic, &some(&target, "r", 40));
    fleet.read_until(&target, 40, PATIENCE);
    assert_eq!(roller::code(first.stop(PATIENCE)), Some(0));
    let group = fleet.table.group_of(fleet.table.get("1s").unwrap());
    delete_group(&fleet, &group);
    let sent = fleet.producer().send(&topic, &some(&target, "later", 40));
    let second = fleet.roller(&["1s"]);
    let got = fleet.read_until(&target, 120, PATIENCE);
    assert_eq!(got.len(), 120, "what was released before and is still there is released again");
    for (i, w) in sent.iter().enumerate() {
        let id = format!("later {i}");
        assert_punctual(&id, &fleet, "1s", w, by_id(&got, &id));
    }
    assert_eq!(said(&second, &["WARN", &group, "no committed offset"]), 1, "once");
}

/// As the broker does to a group that nobody has used for a week.
fn delete_group(fleet: &Fleet, group: &str) {
    let class_path = Command::new(dwell_integration_tests::bins::root().join("dev/kafka")).arg("cp").output().unwrap();
    let class_path = String::from_utf8(class_path.stdout).unwrap();
    let tool = ["-cp", class_path.trim(), "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"];
    let what = ["--bootstrap-server", fleet.settings.brokers(), "--delete", "--group", group];
    let output = Command::new("java").args(tool).args(what).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
