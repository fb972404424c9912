//! A topic that could lose waiting records is not rolled; the probe names the command that mends it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::produce::Rec;
use dwell_integration_tests::{Fleet, Roller, rec, within};
use dwell_levels::topics::wanted;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(90);

/// Waits until `/readyz` is 503 with a text that contains all of `words`; `/livez` is 200 meanwhile.
fn refuses(roller: &Roller, words: &[&str]) {
    within(PATIENCE, &format!("not ready because of {words:?}"), || {
        let (status, text) = roller.get("/readyz");
        (status == 503 && words.iter().all(|w| text.contains(w))).then_some(())
    });
    assert_eq!(roller.get("/livez").0, 200, "a wrong topic is no reason to restart");
}

#[test]
fn wrong_settings_are_refused_until_they_are_mended() {
    let cases = [
        ("message.timestamp.type", "CreateTime", "LogAppendTime"),
        ("retention.ms", "60000", "1209600000"),
        ("cleanup.policy", "compact", "delete"),
        ("retention.bytes", "1000000", "-1"),
    ];
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 1);
    let topic = fleet.level_topic("1s");
    for (key, wrong, right) in cases {
        fleet.admin.alter(&topic, &[(key, wrong)]).unwrap();
        let mut roller = fleet.roller_unready(&["1s"], &[]);
        refuses(&roller, &[&topic, key, wrong, "kafka-configs"]);
        assert!(!roller.log().contains("assigned"), "it must not roll");
        fleet.admin.alter(&topic, &[(key, right)]).unwrap();
        roller.wait_ready();
        fleet.producer().send(&topic, &[rec(&target, "k", key)]);
        within(PATIENCE, "released after the fix", || {
            fleet.read(&target).iter().any(|r| r.payload.as_deref() == Some(key.as_bytes())).then_some(())
        });
        assert!(roller.stop(PATIENCE).success());
    }
}

#[test]
fn missing_topics_are_waited_for() {
    let fleet = Fleet::without_topics("{1s: {}}", "");
    let roller = fleet.roller_unready(&["1s"], &[]);
    let (level, parked, clock) = (fleet.level_topic("1s"), fleet.table.parked_topic(), fleet.table.clock_topic());
    refuses(&roller, &[&level, &parked, &clock, "missing", "kafka-topics"]);
    let mut specs = wanted(&fleet.table);
    specs.retain(|s| s.name != parked);
    for (topic, created) in fleet.admin.create(&specs) {
        created.unwrap_or_else(|e| panic!("{topic}: {e}"));
    }
    refuses(&roller, &[&parked, "missing"]);
    fleet.create_topics();
    roller.wait_ready();
}

/// Records appended hours ago: written with old producer timestamps while the topic takes those.
fn fleet_with_old_records() -> (Fleet, String) {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 1);
    let topic = fleet.level_topic("1s");
    fleet.admin.alter(&topic, &[("message.timestamp.type", "CreateTime")]).unwrap();
    let hours_ago = dwell_kafka::clock::wall_ms() - 5 * 3_600_000;
    let old = (0..20).map(|i| Rec { timestamp_ms: hours_ago, ..rec(&target, &format!("k{i}"), "old") });
    fleet.producer().send(&topic, &old.collect::<Vec<_>>());
    fleet.admin.alter(&topic, &[("message.timestamp.type", "LogAppendTime")]).unwrap();
    (fleet, target)
}

#[test]
fn lost_offsets_with_long_overdue_records_need_a_decision() {
    let (fleet, target) = fleet_with_old_records();
    let mut roller = fleet.roller_unready(&["1s"], &[]);
    refuses(&roller, &["--start-from", "no committed offset"]);
    assert!(roller.stop(PATIENCE).success());
    let roller = fleet.roller_unready(&["1s"], &["--start-from", "earliest"]);
    roller.wait_ready();
    assert_eq!(fleet.read_until(&target, 20, PATIENCE).len(), 20);
}

#[test]
fn start_from_now_skips_what_is_overdue() {
    let (fleet, target) = fleet_with_old_records();
    let roller = fleet.roller_unready(&["1s"], &["--start-from", "now"]);
    roller.wait_ready();
    fleet.producer().send(&fleet.level_topic("1s"), &[rec(&target, "k", "new")]);
    let got = fleet.read_until(&target, 1, PATIENCE);
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].payload.as_deref(), Some(b"new".as_slice()));
}
