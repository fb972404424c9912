//! The main job: records go to the right level and arrive at their target on time, never early.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::{Fleet, rec};
use std::collections::HashMap;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn records_arrive_when_due_and_never_early() {
    let fleet = Fleet::new("{1s: {}, 3s: {}}", "");
    let target = fleet.target("orders", 4);
    let _roller = fleet.roller(&["1s", "3s"]);
    let mut producer = fleet.producer();
    for level in ["1s", "3s"] {
        let records: Vec<_> =
            (0..500).map(|i| rec(&target, &format!("k{}", i % 40), &format!("{level}-{i}"))).collect();
        producer.send(&fleet.level_topic(level), &records);
    }
    let got = fleet.read_until(&target, 1000, PATIENCE);
    assert_eq!(got.len(), 1000, "each once");
    for level in ["1s", "3s"] {
        let source: HashMap<Vec<u8>, i64> =
            fleet.read(&fleet.level_topic(level)).into_iter().map(|r| (r.payload.unwrap(), r.timestamp_ms)).collect();
        for r in got.iter().filter(|r| source.contains_key(r.payload.as_ref().unwrap())) {
            let due = source[r.payload.as_ref().unwrap()] + fleet.delay_ms(level);
            assert!(r.timestamp_ms >= due, "{level}: {} ms early", due - r.timestamp_ms);
            assert_eq!(r.header("dwell-due"), Some(due.to_string().as_str()));
            assert_eq!(r.header("dwell-trail"), Some(level));
            assert!(r.header("dwell-id").is_some() && r.header("dwell-target").is_none());
            assert!(r.timestamp_ms - due < 10_000, "{level}: {} ms late", r.timestamp_ms - due);
        }
    }
}

#[test]
fn one_key_keeps_its_order_on_a_level() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 4);
    let _roller = fleet.roller(&["1s"]);
    let records: Vec<_> = (0..4000).map(|i| rec(&target, &format!("k{}", i % 16), &i.to_string())).collect();
    fleet.producer().send(&fleet.level_topic("1s"), &records);
    let mut got = fleet.read_until(&target, 4000, PATIENCE);
    assert_eq!(got.len(), 4000);
    got.sort_by_key(|r| (r.partition, r.offset));
    let mut last: HashMap<Vec<u8>, i64> = HashMap::new();
    for r in got {
        let n: i64 = String::from_utf8(r.payload.unwrap()).unwrap().parse().unwrap();
        let before = last.insert(r.key.unwrap(), n);
        assert!(before.is_none_or(|b| b < n), "{before:?} then {n}");
    }
}

#[test]
fn longer_than_the_longest_level_goes_in_hops() {
    let fleet = Fleet::new("{1s: {}, 2s: {}}", "");
    let target = fleet.target("orders", 1);
    let _roller = fleet.roller(&["1s", "2s"]);
    // 5 s through 2s: two hops of 2 s and one of 1 s.
    let sent =
        fleet.producer().send(&fleet.level_topic("2s"), &[rec(&target, "k", "far").with("dwell-delay", "5000")])[0];
    let got = &fleet.read_until(&target, 1, PATIENCE)[0];
    let asked = sent.append_ms.unwrap() + 5000;
    assert!(got.timestamp_ms >= asked, "{} ms early", asked - got.timestamp_ms);
    assert_eq!(got.header("dwell-trail"), Some("2s,2s,1s"));
    assert_eq!(got.header("dwell-hops"), None, "control headers are removed");
}
