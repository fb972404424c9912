//! Several rollers on one level: partitions move, and nobody notices at the target.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::audit::{Arrivals, asked, assert_each_once, assert_on_time};
use dwell_integration_tests::chance::chance;
use dwell_integration_tests::load::{Load, batch};
use dwell_integration_tests::{Fleet, Roller, roller, within};
use dwell_kafka::consumer::{LevelConsumer, Step, Tuning};
use dwell_testkit::checker::Sent;
use std::collections::BTreeMap;
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
fn one_becomes_three_and_one_again_under_load_and_nothing_is_repeated() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 4);
    let mut stays = fleet.roller(&["1s"]);
    let load = Load::start(&fleet, "1s", &target, Duration::from_millis(20));
    for _ in 1..=2 {
        let mut guests = [fleet.roller_unready(&["1s"], &[]), fleet.roller_unready(&["1s"], &[])];
        within(PATIENCE, "both guests release", || guests.iter().all(|g| delivered(g) > 200.0).then_some(()));
        assert!(partitions(&stays) > 0, "three of them share four partitions");
        guests.iter().for_each(|guest| guest.signal("TERM"));
        for guest in &mut guests {
            assert_eq!(roller::code(guest.wait(PATIENCE)), Some(0));
        }
    }
    within(PATIENCE, "all are back", || (partitions(&stays) == 4).then_some(()));
    let sent = load.finish();
    let mut arrivals = Arrivals::at(&fleet, &target);
    arrivals.until(sent.len(), PATIENCE);
    assert_eq!(roller::code(stays.stop(PATIENCE)), Some(0));
    let verdict = arrivals.judge(&fleet, &["1s"], &sent);
    eprintln!("{verdict}");
    assert_each_once(&verdict);
    assert_on_time(&verdict, TAKEOVER);
}

/// Joins the level's group, holds what it is given for a while without a thought for it, and leaves.
fn passer_by(fleet: &Fleet, level: &str, stay: Duration) {
    let level = fleet.table.get(level).unwrap();
    let (group, topic) = (fleet.table.group_of(level), fleet.table.topic_of(level));
    let mut member = LevelConsumer::join(&fleet.settings, &group, &topic, &Tuning::for_level(level)).unwrap();
    let begin = Instant::now();
    while begin.elapsed() < stay {
        for step in member.serve(Duration::from_millis(20)) {
            match step {
                Step::Assign(partitions) => member.accept(&partitions, &BTreeMap::new()).unwrap(),
                Step::Revoke(partitions, _) => member.give_back(&partitions).unwrap(),
            }
        }
    }
    member.leave();
}

#[test]
fn fifty_joins_and_leaves_in_a_row_leave_no_partition_behind() {
    // On the short level heads are held in memory, on the long one their partitions are paused.
    const LEVELS: [&str; 2] = ["1s", "12s"];
    let fleet = Fleet::new("{1s: {}, 12s: {}}", "");
    let mut stays = fleet.roller(&LEVELS);
    let loads = LEVELS.map(|level| {
        let target = fleet.target(level, 4);
        (level, Load::start(&fleet, level, &target, Duration::from_millis(250)), target)
    });
    std::thread::scope(|scope| {
        for level in LEVELS {
            let fleet = &fleet;
            scope.spawn(move || {
                for nth in 1..=25 {
                    let stay = chance(&format!("passer-by {nth} on {level} stays for so many ms"), 0..600);
                    passer_by(fleet, level, Duration::from_millis(stay));
                }
            });
        }
    });
    let mut done: Vec<_> =
        loads.map(|(level, load, target)| (level, load.finish(), Arrivals::at(&fleet, &target))).into();
    within(PATIENCE, "all are back", || (partitions(&stays) == 8).then_some(()));
    // Every partition goes on at once.
    done.extend(LEVELS.map(|level| {
        let target = fleet.target(&format!("{level}-afterwards"), 1);
        (level, send(&fleet, level, &target, 0, 200), Arrivals::at(&fleet, &target))
    }));
    for (_, sent, arrivals) in &mut done {
        arrivals.until(sent.len(), PATIENCE);
    }
    assert_eq!(roller::code(stays.stop(PATIENCE)), Some(0));
    for (nth, (level, sent, mut arrivals)) in done.into_iter().enumerate() {
        let verdict = arrivals.judge(&fleet, &[level], &sent);
        eprintln!("{verdict}");
        assert_each_once(&verdict);
        if nth >= LEVELS.len() {
            assert_on_time(&verdict, Duration::from_secs(10));
        }
    }
}
