//! A bad record or target is parked with its reason; its neighbours in the same partition are on time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::produce::Rec;
use dwell_integration_tests::{Fleet, rec};
use dwell_kafka::reader::WholeRecord;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(90);

/// Reason, then what to change in a good record.
type Case = (&'static str, fn(Rec, &Fleet) -> Rec);

fn without_target(mut r: Rec) -> Rec {
    r.headers.retain(|(name, _)| name != b"dwell-target");
    r
}

fn to(r: Rec, target: &str) -> Rec {
    without_target(r).with("dwell-target", target)
}

/// Every way in which headers or the target's name can be wrong.
const AT_ONCE: &[Case] = &[
    ("NO_TARGET", |r, _| without_target(r)),
    ("NO_TARGET", |r, _| without_target(r).raw(b"dwell-target", None)),
    ("NO_TARGET", |r, _| to(r, "")),
    ("BAD_HEADER", |r, _| to(r, "no/slash")),
    ("BAD_HEADER", |r, _| to(r, &"x".repeat(250))),
    ("BAD_HEADER", |r, _| without_target(r).raw(b"dwell-target", Some(b"\xff\xfe"))),
    ("BAD_HEADER", |r, _| r.with("dwell-delay", "1234567890123456")),
    ("BAD_HEADER", |r, _| r.with("dwell-delay", "-5")),
    ("BAD_HEADER", |r, _| r.with("dwell-delay", "soon")),
    ("BAD_HEADER", |r, _| r.with("dwell-deliver-at", "12:00")),
    ("BAD_HEADER", |r, _| r.raw(b"dwell-delay", None)),
    ("BAD_HEADER", |r, _| r.with("dwell-hops", "9x")),
    ("BAD_HEADER", |r, _| r.with("dwell-rounding", "down")),
    ("BAD_HEADER", |r, _| r.with("dwell-id", &"i".repeat(257))),
    ("BAD_HEADER", |r, _| r.with("dwell-type", &"t".repeat(129))),
    ("UNSUPPORTED_VERSION", |r, _| r.with("dwell-v", "2")),
    ("TOO_LONG", |r, _| r.with("dwell-delay", "999999999999")),
    ("TOO_LONG", |r, _| r.with("dwell-deliver-at", "99999999999999")),
    ("TOO_MANY_HOPS", |r, _| r.with("dwell-hops", "4000000000")),
    ("TARGET_NOT_ALLOWED", |r, _| to(r, "someone-elses")),
    ("TARGET_NOT_ALLOWED", |r, _| to(r, "__consumer_offsets")),
    ("TARGET_IS_LEVEL", |r, f| to(r, &f.level_topic("1s"))),
    ("TARGET_IS_LEVEL", |r, f| to(r, &f.table.parked_topic())),
    ("TARGET_IS_LEVEL", |r, _| to(r, "sibling-fleet-5s")),
];

#[test]
fn every_bad_header_and_forbidden_target_is_parked_while_neighbours_go_on() {
    let fleet = Fleet::new("{1s: {}}", "siblingPrefixes: [sibling-fleet-]");
    let target = fleet.target("orders", 1);
    let _roller = fleet.roller(&["1s"]);
    let mut records = Vec::new();
    for (i, (_, damage)) in AT_ONCE.iter().enumerate() {
        let user = |r: Rec| r.with("case", &i.to_string()).raw(b"n", None).raw(b"n", Some(b"\xff"));
        records.push(damage(user(rec(&target, "same key", &format!("bad {i}"))), &fleet));
        records.push(rec(&target, "same key", &format!("good {i}")));
    }
    let written = fleet.producer().send(&fleet.level_topic("1s"), &records);
    assert!(written.iter().all(|w| w.partition == written[0].partition), "one key, one partition");
    let good = fleet.read_until(&target, AT_ONCE.len(), PATIENCE);
    assert_eq!(good.len(), AT_ONCE.len());
    for r in &good {
        let due: i64 = r.header("dwell-due").unwrap().parse().unwrap();
        assert!((0..15_000).contains(&(r.timestamp_ms - due)), "{} ms late", r.timestamp_ms - due);
    }
    let parked = fleet.read_until(&fleet.table.parked_topic(), AT_ONCE.len(), PATIENCE);
    assert_eq!(parked.len(), AT_ONCE.len());
    for (i, (reason, _)) in AT_ONCE.iter().enumerate() {
        let place = &written[2 * i];
        let r = parked.iter().find(|r| r.header("case") == Some(&i.to_string())).unwrap();
        assert_eq!(r.header("dwell-reason"), Some(*reason), "case {i}: {:?}", r.header("dwell-error"));
        assert!(r.header("dwell-error").is_some_and(|e| !e.is_empty() && e.len() <= 1024), "case {i}");
        assert_place(r, &fleet.level_topic("1s"), place.partition, place.offset);
        assert_eq!(r.payload.as_deref(), Some(format!("bad {i}").as_bytes()), "the body is kept");
        let user: Vec<_> = r.headers.iter().filter(|(n, _)| n == b"n").map(|(_, v)| v.clone()).collect();
        assert_eq!(user, [None, Some(b"\xff".to_vec())], "user headers are kept");
    }
}

fn assert_place(r: &WholeRecord, topic: &str, partition: i32, offset: i64) {
    assert_eq!(r.header("dwell-parked-topic"), Some(topic));
    assert_eq!(r.header("dwell-parked-partition"), Some(partition.to_string().as_str()));
    assert_eq!(r.header("dwell-parked-offset"), Some(offset.to_string().as_str()));
    assert!(r.header("dwell-parked-timestamp").is_some());
}

#[test]
fn what_a_target_is_too_small_for_is_parked_and_its_small_neighbours_arrive() {
    let fleet = Fleet::new("{1s: {}}", "");
    let small = fleet.target_with("small", 1, &[("max.message.bytes", "20000")]);
    let other = fleet.target("other", 1);
    let _roller = fleet.roller(&["1s"]);
    let noise = noise(60_000);
    let mut records: Vec<Rec> =
        (0..400).map(|i| rec(&small, "k", &format!("small {i} {}", &noise[i * 50..i * 50 + 400]))).collect();
    records.insert(100, rec(&small, "k", &noise));
    records.insert(200, rec(&other, "k", "elsewhere"));
    fleet.producer().send(&fleet.level_topic("1s"), &records);
    assert_eq!(fleet.read_until(&other, 1, PATIENCE).len(), 1);
    let arrived = fleet.read_until(&small, 400, PATIENCE);
    assert_eq!(arrived.len(), 400, "neighbours in the refused batch are innocent");
    let parked = fleet.read_until(&fleet.table.parked_topic(), 1, PATIENCE);
    assert_eq!(parked.len(), 1);
    assert_eq!(parked[0].header("dwell-reason"), Some("TOO_LARGE"));
    assert!(parked[0].payload.as_deref() == Some(noise.as_bytes()));
}

/// Text that does not compress below the limit.
fn noise(length: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b' ' + u8::try_from((state >> 40) % 90).unwrap())
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn a_missing_target_is_waited_for_and_then_parked() {
    let fleet = Fleet::new("{1s: {}, 2s: {}}", "");
    let (good, later) = (fleet.target("good", 1), fleet.target_name("later"));
    let roller = fleet.roller_unready(&["1s", "2s"], &["--target-waits", "3"]);
    roller.wait_ready();
    let never = fleet.target_name("never");
    let records = [rec(&never, "k", "never"), rec(&good, "k", "good"), rec(&later, "k", "later")];
    fleet.producer().send(&fleet.level_topic("1s"), &records);
    let on_time = &fleet.read_until(&good, 1, PATIENCE)[0];
    let due: i64 = on_time.header("dwell-due").unwrap().parse().unwrap();
    assert!(on_time.timestamp_ms - due < 15_000, "the neighbour is on time");
    fleet.target("later", 1);
    let arrived = &fleet.read_until(&later, 1, PATIENCE)[0];
    assert_eq!(arrived.header("dwell-target-waits"), None);
    assert!(arrived.header("dwell-trail").unwrap().starts_with("1s,2s"), "{:?}", arrived.header("dwell-trail"));
    let parked = fleet.read_until(&fleet.table.parked_topic(), 1, PATIENCE);
    assert_eq!(parked.len(), 1);
    assert_eq!(parked[0].header("dwell-reason"), Some("TARGET_UNKNOWN"));
    assert_eq!(parked[0].header("dwell-target-waits"), Some("3"));
    assert_eq!(parked[0].header("dwell-target"), Some(never.as_str()));
}
