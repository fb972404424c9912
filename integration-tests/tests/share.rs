//! Several rollers on one level: partitions move, and nobody notices at the target.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::audit::{Arrivals, asked, assert_each_once, assert_on_time};
use dwell_integration_tests::load::{Load, batch};
use dwell_integration_tests::{Fleet, Roller, roller, within};
use dwell_testkit::checker::Sent;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
/// The level's session timeout is 6 s.
const TAKEOVER: Duration = Duration::from_secs(20);

fn partitions(roller: &Roller) -> u64 {
    roller.metric("dwell_roller_partitions", "") as u64
}

fn delivered(roller: &Roller) -> f64 {
    roller.metric("dwell_roller_released_total", "delivered")
}

/// Two rollers that have divided the four partitions.
fn two(fleet: &Fleet, level: &str, more: &[&str]) -> (Roller, Roller) {
    let pair = (fleet.roller_unready(&[level], more), fleet.roller_unready(&[level], more));
    within(PATIENCE, "both have two of four", || (partitions(&pair.0) == 2 && partitions(&pair.1) == 2).then_some(()));
    pair
}

fn send(fleet: &Fleet, level: &str, target: &str, from: usize, count: usize) -> Vec<Sent> {
    let records: Vec<_> = (from..from + count).step_by(100).flat_map(|from| batch(target, from)).collect();
    let topic = fleet.level_topic(level);
    asked(&topic, target, 0, &fleet.producer().send(&topic, &records))
}

fn all_held_by(rollers: &[&Roller], heads: f64) {
    within(PATIENCE, "all heads are held", || {
        let held: f64 = rollers.iter().map(|r| r.metric("dwell_roller_partitions", "waiting")).sum();
        (held == heads).then_some(())
    });
}

#[test]
fn two_share_a_level_and_one_leaves_while_heads_are_held() {
    let fleet = Fleet::new("{12s: {}}", "");
    let target = fleet.target("orders", 4);
    // Whoever goes without a word is missed for a minute, and its records are late by as much.
    let long = ["-X", "session.timeout.ms=60000"];
    let (mut stays, mut leaves) = two(&fleet, "12s", &long);
    let mut sent = send(&fleet, "12s", &target, 0, 400);
    let mut arrivals = Arrivals::at(&fleet, &target);
    arrivals.until(400, PATIENCE);
    assert!(delivered(&stays) > 0.0 && delivered(&leaves) > 0.0, "both work");

    sent.extend(send(&fleet, "12s", &target, 400, 400));
    all_held_by(&[&stays, &leaves], 4.0);
    assert_eq!(roller::code(leaves.stop(PATIENCE)), Some(0));
    arrivals.until(800, PATIENCE);
    assert_eq!(roller::code(stays.stop(PATIENCE)), Some(0));
    let verdict = arrivals.judge(&fleet, &["12s"], &sent);
    assert_each_once(&verdict);
    assert_on_time(&verdict, Duration::from_secs(6));
}

#[test]
fn the_other_takes_over_within_the_session_when_one_is_killed() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 4);
    let (mut stays, mut dies) = two(&fleet, "1s", &[]);
    let mut sent = send(&fleet, "1s", &target, 0, 400);
    let mut arrivals = Arrivals::at(&fleet, &target);
    arrivals.until(400, PATIENCE);
    sent.extend(send(&fleet, "1s", &target, 400, 400));
    dies.kill();
    let begin = Instant::now();
    within(TAKEOVER, "the other has all partitions", || (partitions(&stays) == 4).then_some(()));
    eprintln!("taken over after {:?}", begin.elapsed());
    arrivals.until(800, PATIENCE);
    assert_eq!(roller::code(stays.stop(PATIENCE)), Some(0));
    let verdict = arrivals.judge(&fleet, &["1s"], &sent);
    assert!(verdict.is_clean(), "{verdict}");
    assert_on_time(&verdict, TAKEOVER);
}

#[test]
fn partitions_taken_away_and_given_back_before_the_due_time_do_not_stall() {
    let fleet = Fleet::new("{30s: {}}", "");
    let target = fleet.target("orders", 4);
    let mut stays = fleet.roller(&["30s"]);
    let mut sent = send(&fleet, "30s", &target, 0, 400);
    all_held_by(&[&stays], 4.0);
    let mut guest = fleet.roller(&["30s"]);
    all_held_by(&[&guest], 2.0);
    assert_eq!(roller::code(guest.stop(PATIENCE)), Some(0));
    within(PATIENCE, "all are back", || (partitions(&stays) == 4).then_some(()));
    let mut arrivals = Arrivals::at(&fleet, &target);
    assert_eq!(
        arrivals.look(),
        0,
        "the machine is too slow for this test: all of it was to happen before the due time"
    );
    sent.extend(send(&fleet, "30s", &target, 400, 400));
    arrivals.until(800, PATIENCE + PATIENCE);
    assert_eq!(roller::code(stays.stop(PATIENCE)), Some(0));
    let verdict = arrivals.judge(&fleet, &["30s"], &sent);
    assert_each_once(&verdict);
    assert_on_time(&verdict, Duration::from_secs(5));
}

#[test]
fn members_come_and_go_under_load_and_nothing_is_repeated() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 4);
    let mut stays = fleet.roller(&["1s"]);
    let load = Load::start(&fleet, "1s", &target, Duration::from_millis(20));
    for _ in 1..=3 {
        let mut guest = fleet.roller(&["1s"]);
        within(PATIENCE, "the guest releases", || (delivered(&guest) > 500.0).then_some(()));
        assert_eq!(roller::code(guest.stop(PATIENCE)), Some(0));
    }
    let sent = load.finish();
    let mut arrivals = Arrivals::at(&fleet, &target);
    arrivals.until(sent.len(), PATIENCE);
    assert_eq!(roller::code(stays.stop(PATIENCE)), Some(0));
    let verdict = arrivals.judge(&fleet, &["1s"], &sent);
    eprintln!("{verdict}");
    assert_each_once(&verdict);
    assert_on_time(&verdict, TAKEOVER);
}
