//! Very many targets at once: each gets what is its own, and none makes the others late.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::own_broker::OwnBroker;
use dwell_integration_tests::same::by_id;
use dwell_integration_tests::{Fleet, Roller, rec, roller, within};
use dwell_kafka::Lookup;
use dwell_levels::Delay;
use dwell_levels::topics::{TopicKind, TopicSpec};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
/// Records of each round.
const RECORDS: usize = 5_000;

/// All of them in one request; a thousand requests would take minutes.
fn targets(fleet: &Fleet, count: usize) -> Vec<String> {
    let names: Vec<_> = (0..count).map(|i| fleet.target_name(&format!("many-{count}-{i}"))).collect();
    let spec = |name: &String| TopicSpec {
        name: name.clone(),
        kind: TopicKind::Clock,
        partitions: 1,
        replication_factor: 1,
        retention_needed: Delay::ZERO,
        config: vec![("message.timestamp.type".to_owned(), "LogAppendTime".to_owned())],
    };
    for some in names.chunks(250) {
        for (topic, result) in fleet.admin.create(&some.iter().map(spec).collect::<Vec<_>>()) {
            result.unwrap_or_else(|e| panic!("{topic}: {e}"));
        }
    }
    names
}

fn delivered(roller: &Roller) -> f64 {
    roller.metric("dwell_roller_released_total", "delivered")
}

/// Records released at most `le` seconds late, so far.
fn by(roller: &Roller, le: &str) -> f64 {
    roller.metric("dwell_roller_release_lateness_seconds_bucket", &format!("le=\"{le}\""))
}

/// Time on the processor, in milliseconds.
fn worked_ms(roller: &Roller) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", roller.pid())).unwrap();
    // Behind the name in brackets: user and system time are the 12th and 13th field, in hundredths of a second.
    let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()) * 10
}

fn lateness(roller: &Roller) -> Vec<(&'static str, f64)> {
    ["0.005", "0.02", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "15"].map(|le| (le, by(roller, le))).to_vec()
}

/// Sends each target its records, one target after the other and again, and waits until all are released.
fn round(fleet: &Fleet, roller: &Roller, names: &[String], what: &str) {
    let record =
        |i: usize| rec(&names[i % names.len()], &format!("k{i}"), what).with("dwell-id", &format!("{what} {i}"));
    let records: Vec<_> = (0..RECORDS).map(record).collect();
    let (before, begin) = (lateness(roller), worked_ms(roller));
    let wanted = delivered(roller) + records.len() as f64;
    fleet.producer().send(&fleet.level_topic("3s"), &records);
    within(PATIENCE, what, || (delivered(roller) >= wanted).then_some(()));
    let text: Vec<_> = before.iter().zip(lateness(roller)).map(|(b, a)| format!("{}:{}", a.0, a.1 - b.1)).collect();
    let worked = worked_ms(roller) - begin;
    let late = |le| by(roller, le) - before.iter().find(|(bound, _)| *bound == le).unwrap().1;
    assert_eq!(late("15"), RECORDS as f64, "{what}, {} targets: late", names.len());
    if what == "warm" {
        assert_eq!(late("5"), RECORDS as f64, "{what}, {} targets: late", names.len());
        assert!(worked < 5_000, "{} targets: {worked} ms of work", names.len());
    }
    println!(
        "{what}: {} records to {} targets; {worked} ms of work; late by at most {}",
        records.len(),
        names.len(),
        text.join(" ")
    );
}

fn each_got(fleet: &Fleet, names: &[String]) {
    let count = 2 * RECORDS / names.len();
    let lookup = Lookup::open(&fleet.settings, "test", PATIENCE).unwrap();
    for name in names {
        assert_eq!(lookup.end_offsets(name, &[0]).unwrap(), [(0, i64::try_from(count).unwrap())], "{name}");
    }
    for i in [0, names.len() / 2, names.len() - 1] {
        let got = fleet.read(&names[i]);
        for nth in 0..RECORDS / names.len() {
            by_id(&got, &format!("warm {}", i + nth * names.len()));
        }
    }
}

#[test]
fn a_thousand_targets_get_what_is_theirs_and_are_on_time() {
    let broker = OwnBroker::start();
    let fleet = Fleet::on(broker.address(), "{3s: {}}", "");
    fleet.create_topics();
    for count in [1, 100, 1_000] {
        let names = targets(&fleet, count);
        let mut roller = fleet.roller(&["3s"]);
        round(&fleet, &roller, &names, "cold");
        round(&fleet, &roller, &names, "warm");
        assert_eq!(roller::code(roller.stop(PATIENCE)), Some(0));
        each_got(&fleet, &names);
    }
    assert_eq!(fleet.parked(), []);
}
