//! SIGTERM: in order, soon, and without a trace.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::audit::{Arrivals, asked, assert_each_once, assert_on_time};
use dwell_integration_tests::chance::chance;
use dwell_integration_tests::load::{Load, batch};
use dwell_integration_tests::own_broker::OwnBroker;
use dwell_integration_tests::{Fleet, fleet, rec, roller, within};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
/// The watchdog ends a process 15 s after the signal, see docs/guarantees.md; the rest is for a busy machine.
const BOUND: Duration = Duration::from_secs(25);

#[test]
fn rolling_restarts_under_load_lose_nothing_and_repeat_nothing() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 4);
    let load = Load::start(&fleet, "1s", &target, Duration::from_millis(20));
    for round in 1..=4 {
        let mut now = fleet.roller(&["1s"]);
        within(PATIENCE, "it releases", || {
            (now.metric("dwell_roller_released_total", "delivered") > 0.0).then_some(())
        });
        std::thread::sleep(Duration::from_millis(chance(&format!("stop {round} after so many ms"), 0..2500)));
        assert_eq!(roller::code(now.stop(BOUND)), Some(0), "{}", now.log());
    }
    let sent = load.finish();
    let mut last = fleet.roller(&["1s"]);
    let mut arrivals = Arrivals::at(&fleet, &target);
    arrivals.until(sent.len(), PATIENCE);
    assert_eq!(roller::code(last.stop(BOUND)), Some(0));
    let verdict = arrivals.judge(&fleet, &["1s"], &sent);
    eprintln!("{verdict}");
    assert_each_once(&verdict);
}

#[test]
fn a_stop_does_not_wait_for_a_head_that_is_due_in_two_hours() {
    let fleet = Fleet::new("{2h: {}, 1s: {}}", "");
    let target = fleet.target("orders", 1);
    let topic = fleet.level_topic("2h");
    // Before the roller: an empty two-hour level is looked at every five minutes only.
    let far = fleet.producer().send(&topic, &[rec(&target, "k", "far")])[0];
    let mut both = fleet.roller(&["2h", "1s"]);
    within(PATIENCE, "the head is held", || {
        (both.metric("dwell_roller_partitions", "level=\"2h\",state=\"waiting\"") == 1.0).then_some(())
    });
    let begin = Instant::now();
    assert_eq!(roller::code(both.stop(BOUND)), Some(0), "{}", both.log());
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert_eq!(fleet.read(&target).len(), 0, "due in two hours");
    let committed = fleet.committed("2h")[&far.partition];
    assert!(committed.is_none_or(|next| next <= far.offset), "the record is passed: {committed:?}");
}

#[test]
fn a_stop_while_the_broker_hangs_is_bounded_and_the_next_start_releases_everything() {
    fleet::brokers();
    let broker = OwnBroker::start();
    let fleet = Fleet::on(broker.address(), "{1s: {}}", "");
    fleet.create_topics();
    let (topic, target) = (fleet.level_topic("1s"), fleet.target("orders", 2));
    let mut hanging = fleet.roller(&["1s"]);
    let records: Vec<_> = (0..2000).step_by(100).flat_map(|from| batch(&target, from)).collect();
    let sent = asked(&topic, &target, 0, &fleet.producer().send(&topic, &records));
    within(PATIENCE, "heads are held", || (hanging.metric("dwell_roller_partitions", "waiting") > 0.0).then_some(()));
    broker.freeze();
    within(PATIENCE, "copies are under way", || {
        (hanging.metric("dwell_roller_in_flight_records", "") > 0.0).then_some(())
    });
    let begin = Instant::now();
    hanging.signal("TERM");
    let over = || ["stopped after", "the stop exceeded"].iter().any(|text| hanging.log().contains(text));
    within(BOUND, "the levels end", || over().then_some(()));
    // Every client has the broker's silence to wait for; none may hold the process back.
    let status = hanging.wait(Duration::from_secs(5));
    roller::code(status);
    eprintln!("{status} after {:?}\n{}", begin.elapsed(), hanging.log());
    broker.thaw();

    let mut next = fleet.roller(&["1s"]);
    let mut arrivals = Arrivals::at(&fleet, &target);
    arrivals.until(sent.len(), PATIENCE);
    assert_eq!(roller::code(next.stop(BOUND)), Some(0));
    let verdict = arrivals.judge(&fleet, &["1s"], &sent);
    assert!(verdict.is_clean(), "{verdict}");
    assert_on_time(&verdict, PATIENCE);
}

#[test]
fn a_stop_before_it_is_ready_is_at_once() {
    let fleet = Fleet::without_topics("{1s: {}}", "");
    let mut waiting = fleet.roller_unready(&["1s"], &[]);
    within(PATIENCE, "it says what is missing", || waiting.get("/readyz").1.contains("missing").then_some(()));
    let begin = Instant::now();
    assert_eq!(roller::code(waiting.stop(BOUND)), Some(0), "{}", waiting.log());
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}
