//! Wrong clocks of rollers and producers: due times are the brokers'.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::audit::{Arrivals, asked, assert_each_once, assert_on_time};
use dwell_integration_tests::clock_shim::WrongClock;
use dwell_integration_tests::load::batch;
use dwell_integration_tests::produce::Rec;
use dwell_integration_tests::same::by_id;
use dwell_integration_tests::{Fleet, rec, within};
use dwell_kafka::clock::wall_ms;
use dwell_kafka::reader::WholeRecord;
use dwell_router::{Delayed, route};
use dwell_testkit::checker::Sent;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const HOUR: i64 = 3600;

/// Every way a record can go on a table of 1s, 2s and 3s, with the trail it must come with.
fn every_way(fleet: &Fleet, target: &str) -> Vec<(Vec<Sent>, &'static str)> {
    let mut producer = fleet.producer();
    let mut ways = Vec::new();
    for level in ["1s", "3s"] {
        let topic = fleet.level_topic(level);
        ways.push((asked(&topic, target, 0, &producer.send(&topic, &batch(target, 0))), level));
    }
    let topic = fleet.level_topic("3s");
    let hops = [rec(target, "k", "in 4 s").with("dwell-delay", "4000")];
    ways.push((asked(&topic, target, 4000, &producer.send(&topic, &hops)), "3s,1s"));
    let at = wall_ms() + 4900;
    let hops = [rec(target, "k", "in about 4.9 s").with("dwell-deliver-at", &at.to_string())];
    let mut sent = asked(&topic, target, 0, &producer.send(&topic, &hops));
    sent[0].deliver_at_ms = Some(at);
    ways.push((sent, "3s,2s"));
    ways
}

fn trail(records: &[WholeRecord], id: &str) -> String {
    let of = |r: &&WholeRecord| r.header("dwell-id") == Some(id);
    records.iter().find(of).and_then(|r| r.header("dwell-trail")).unwrap_or("none").to_owned()
}

fn goes_well_while(before: i64, during: i64) {
    let fleet = Fleet::new("{1s: {}, 2s: {}, 3s: {}}", "");
    let target = fleet.target("orders", 2);
    let clock = WrongClock::new(fleet.dir.path(), before);
    let mut roller = clock.roller(&fleet, &["1s", "2s", "3s"]);
    let ways = every_way(&fleet, &target);
    clock.step_to(during);
    // The brokers' clock minus the host's. Tells first of all that the host's clock is wrong indeed.
    within(PATIENCE, "the offset is measured", || {
        let measured = roller.metric("dwell_roller_clock_offset_seconds", "level=\"3s\"");
        (measured + during as f64).abs().lt(&30.0).then_some(())
    });
    let sent: Vec<Sent> = ways.iter().flat_map(|(sent, _)| sent.clone()).collect();
    let mut arrivals = Arrivals::at(&fleet, &target);
    arrivals.until(sent.len(), PATIENCE);
    assert!(roller.stop(PATIENCE).success());
    let verdict = arrivals.judge(&fleet, &["1s", "2s", "3s"], &sent);
    eprintln!("{verdict}");
    assert_each_once(&verdict);
    assert_on_time(&verdict, Duration::from_secs(10));
    let records = fleet.read(&target);
    for (sent, expected) in ways {
        assert!(sent.iter().all(|s| trail(&records, &s.id) == expected), "{expected}");
    }
}

#[test]
fn a_roller_whose_clock_is_an_hour_ahead_releases_nothing_early() {
    goes_well_while(HOUR, HOUR);
}

#[test]
fn a_roller_whose_clock_is_an_hour_behind_releases_on_time() {
    goes_well_while(-HOUR, -HOUR);
}

#[test]
fn a_roller_whose_clock_steps_while_it_holds_heads_releases_on_time() {
    goes_well_while(0, HOUR);
    goes_well_while(HOUR, -HOUR);
}

/// What a router sends whose host's clock is off by `skew_ms`.
fn routed(fleet: &Fleet, request: Delayed, skew_ms: i64, asked_ms: i64) -> (String, Rec) {
    let id = format!("{asked_ms} ms by a clock off by {skew_ms}");
    let route = route(&fleet.table, &request, wall_ms() + skew_ms, &id).unwrap();
    let record = Rec { key: Some(b"k".to_vec()), headers: route.headers, ..Rec::default() };
    (route.topic, record)
}

fn record_id(record: &Rec) -> String {
    let id = record.headers.iter().find(|(name, _)| name == b"dwell-id").and_then(|(_, id)| id.clone());
    String::from_utf8(id.unwrap()).unwrap()
}

#[test]
fn producers_whose_clocks_are_off_take_the_right_hops() {
    let fleet = Fleet::new("{3s: {}, 10s: {}}", "");
    let target = fleet.target("orders", 1);
    let mut roller = fleet.roller(&["3s", "10s"]);
    let mut producer = fleet.producer();
    // A cold producer needs half a second for its first record; the moments below are soon.
    producer.send(&fleet.target("elsewhere", 1), &[Rec::default()]);
    let mut cases: Vec<(Sent, Option<&str>)> = Vec::new();
    for skew in [-200, 0, 200] {
        // Their clocks do not agree; they ask for the same moments. The first is beyond the longest level for each of
        // them. The second is just before or just after what the shortest gives, so the way may differ: the brokers
        // see that what is too short is made up for.
        for (ms, way) in [(12_500, Some("10s,3s")), (3100, None)] {
            let at = wall_ms() + ms;
            let (topic, record) = routed(&fleet, Delayed::to(&target).at(at), skew, ms);
            let id = record_id(&record);
            producer.send(&topic, &[record]);
            cases.push((Sent { deliver_at_ms: Some(at), ..Sent::new(id, &target, 0) }, way));
        }
        // No clock of a producer takes part in "in 13 s".
        let (topic, record) = routed(&fleet, Delayed::to(&target).after(Duration::from_secs(13)), skew, 13_000);
        let id = record_id(&record);
        producer.send(&topic, &[record]);
        cases.push((Sent::new(id, &target, 13_000), Some("10s,3s")));
    }
    let sent: Vec<Sent> = cases.iter().map(|(sent, _)| sent.clone()).collect();
    let mut arrivals = Arrivals::at(&fleet, &target);
    arrivals.until(sent.len(), PATIENCE);
    assert!(roller.stop(PATIENCE).success());
    let verdict = arrivals.judge(&fleet, &["3s", "10s"], &sent);
    eprintln!("{verdict}");
    assert_each_once(&verdict);
    assert_on_time(&verdict, Duration::from_secs(10));
    let records = fleet.read(&target);
    for (sent, way) in cases {
        let took = trail(&records, &sent.id);
        assert!(way.is_none_or(|way| way == took), "{}: {took}", sent.id);
    }
}

/// How far a producer's timestamp is from the present, ms. Brokers refuse what is more than an hour ahead.
const FAR: [i64; 3] = [50 * 60_000, 0, -30 * 24 * HOUR * 1000];

/// Records with timestamps of their own, and the time before they were sent.
fn stamped(fleet: &Fleet, target: &str, what: &str) -> Vec<(String, i64)> {
    let mut producer = fleet.producer();
    let send = |nth: usize| {
        let (id, now) = (format!("{what} {nth}"), wall_ms());
        let record = Rec { timestamp_ms: now + FAR[nth % FAR.len()], ..rec(target, &format!("k{nth}"), &id) };
        producer.send(&fleet.level_topic("2s"), &[record.with("dwell-id", &id)]);
        (id, now)
    };
    (0..60).map(send).collect()
}

#[test]
fn timestamps_of_producers_release_nothing_early_and_block_nothing() {
    let fleet = Fleet::new("{2s: {}}", "");
    let (target, topic) = (fleet.target("orders", 1), fleet.level_topic("2s"));
    let mut roller = fleet.roller(&["2s"]);
    let mut sent = stamped(&fleet, &target, "before");
    fleet.admin.alter(&topic, &[("message.timestamp.type", "CreateTime")]).unwrap();
    let wrong = stamped(&fleet, &target, "meanwhile");
    // Behind each of them one with the broker's time.
    fleet.admin.alter(&topic, &[("message.timestamp.type", "LogAppendTime")]).unwrap();
    sent.extend(wrong);
    sent.extend(stamped(&fleet, &target, "after"));

    let got = fleet.read_until(&target, sent.len(), PATIENCE);
    assert_eq!(got.len(), sent.len(), "each once");
    let far = fleet.read(&topic).iter().filter(|r| (r.timestamp_ms - wall_ms()).abs() > 20 * 60_000).count();
    assert!(far >= 30, "{far} records on the level have the time of their producer");
    for (id, sent_ms) in &sent {
        let waited = by_id(&got, id).timestamp_ms - sent_ms;
        assert!((2_000..12_000).contains(&waited), "{id} waited for {waited} ms");
    }
    assert!(roller.stop(PATIENCE).success());
    let told = roller.log().matches("does not carry the broker's append time").count();
    assert!((1..=4).contains(&told), "told once for each partition: {}", roller.log());
    assert_eq!(fleet.parked(), []);
}
