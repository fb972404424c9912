//! Where a record goes when it is due.

use crate::rig::*;
use dwell_levels::{Delay, Rounding};
use dwell_roller_core::*;
use dwell_wire::{Control, Reason};

fn hour() -> u64 {
    3_600_000
}

#[test]
fn a_delay_up_to_the_level_ends_there() {
    let mut r = Rig::new("1h");
    r.head(0, 0, asks(45 * 60_000));
    r.run_to(3_600_000.0);
    assert_eq!((r.last().to.as_str(), r.last().at), ("orders", 3_600_000));
}

#[test]
fn five_hours_are_two_two_and_one() {
    let mut r = Rig::new("2h");
    r.head(0, 0, asks(5 * hour()));
    r.run_to(7_200_000.0);
    let deliver_at_ms = T0 + 5 * 3_600_000;
    assert_eq!((r.last().to.as_str(), &r.last().form), ("delay-2h", &Form::Hop { deliver_at_ms }));
    assert_eq!(outcomes(&r.ack(0)), [(0, Outcome::Hopped)]);

    // 40 ms in between, as long as it took to get to the next level.
    let second = Control { deliver_at: Some(deliver_at_ms), hops: 1, ..asks(5 * hour()) };
    r.head(1, 7_200_040, second);
    r.run_to(14_400_040.0);
    assert_eq!((r.last().to.as_str(), &r.last().form), ("delay-1h", &Form::Hop { deliver_at_ms }));

    let mut r = Rig::new("1h");
    r.set(14_400_080.0);
    r.head(0, 14_400_080, Control { hops: 2, ..second });
    r.run_to(18_000_080.0);
    assert_eq!((r.last().to.as_str(), r.last().at), ("orders", 18_000_080), "transit adds no hop");
}

#[test]
fn exact_takes_the_larger_levels_first() {
    let mut r = Rig::new("30m");
    r.head(0, 0, Control { rounding: Some(Rounding::Exact), ..asks(45 * 60_000) });
    r.run_to(1_800_000.0);
    assert_eq!(r.last().to, "delay-10m");
    let mut r = Rig::new("30m");
    r.head(0, 0, asks(45 * 60_000));
    r.run_to(1_800_000.0);
    assert_eq!(r.last().to, "delay-20m", "up: the smallest level that covers the rest");
}

#[test]
fn a_time_asked_for_counts_from_the_due_time() {
    let mut r = Rig::new("1s");
    let at = |ms: i64| Control { deliver_at: Some(T0 + ms), ..plain() };
    for (offset, (ms, topic)) in
        [(900, "orders"), (1_000, "orders"), (1_001, "delay-1s"), (4_000, "delay-5s")].into_iter().enumerate()
    {
        r.head(offset as i64, 0, at(ms));
        r.run_to(1_000.0);
        assert_eq!(r.last().to, topic, "{ms}");
    }
}

#[test]
fn a_time_asked_for_is_not_cut_short_by_a_fast_broker() {
    // The append time is from a clock 60 s ahead, so the record is due a delay after it was seen. The slowest
    // broker's clock still has to reach the time that was asked for.
    let mut r = Rig::new("5s");
    r.skew = (0, 60_000_000);
    r.head(0, 60_000, Control { deliver_at: Some(T0 + 20_000), ..plain() });
    r.run_to(7_000.0);
    assert_eq!((r.last().to.as_str(), r.last().at), ("delay-30s", 6_004), "14 s remain");
}

#[test]
fn beyond_the_longest_delay_is_refused_at_once() {
    let mut r = Rig::new("2h");
    let days = 86_400_000;
    r.head(0, 0, asks(40 * days));
    assert_eq!(r.copies.len(), 0, "40 days are allowed");
    let mut r = Rig::new("2h");
    r.head(0, 0, asks(40 * days + 1));
    assert!(matches!(&r.last().form, Form::Park { reason: Reason::TooLong, body: Body::Kept, .. }));
    let at = Control { deliver_at: Some(T0 + 40 * days as i64 + 60_000), ..plain() };
    r.head(1, 0, at);
    assert_eq!(r.copies.len(), 1, "a minute of slack for the producer's clock");
    let mut r = Rig::new("2h");
    r.head(0, 0, Control { deliver_at: Some(T0 + 40 * days as i64 + 60_001), ..plain() });
    assert!(matches!(&r.last().form, Form::Park { reason: Reason::TooLong, .. }));
}

#[test]
fn numbers_at_the_end_of_the_range_do_not_wrap() {
    for control in [
        asks(u64::MAX),
        Control { deliver_at: Some(i64::MAX), ..plain() },
        Control { delay: Some(Delay::MAX), deliver_at: Some(i64::MAX), hops: u32::MAX, ..plain() },
    ] {
        let mut r = Rig::new("2h");
        r.head(0, 0, control);
        assert_eq!(r.last().to, "delay-parked", "{control:?}");
    }
    let mut r = Rig::new("5s");
    r.head(0, 0, Control { deliver_at: Some(i64::MIN), ..plain() });
    r.run_to(5_000.0);
    assert_eq!((r.last().to.as_str(), r.last().at), ("orders", 5_000));
}

#[test]
fn a_record_that_goes_round_in_circles_is_parked() {
    let max = Rig::table().max_hops();
    let mut r = Rig::new("5s");
    r.head(0, 0, Control { hops: max + 1, ..plain() });
    assert!(matches!(&r.last().form, Form::Park { reason: Reason::TooManyHops, error, .. } if error.contains("hops")));
    r.ack(0);
    r.head(1, 0, Control { hops: max, ..plain() });
    assert_eq!(r.copies.len(), 1);
}

#[test]
fn a_missing_next_level_means_another_round_here() {
    let mut r = Rig::new("1h");
    r.topics.insert("delay-2h".into(), Some(Verdict::Missing));
    r.head(0, 0, asks(5 * hour()));
    r.run_to(3_600_000.0 + 100.0);
    assert_eq!(r.last().to, "delay-1h");
    assert_eq!(r.last().form, Form::Hop { deliver_at_ms: T0 + 5 * 3_600_000 });
}

#[test]
fn another_table_counts_from_the_next_record_on() {
    let mut r = Rig::new("5s");
    r.set(60_000.0);
    r.head(0, 0, plain());
    let text = "targets: [\"pay*\"]\nlevels: {5s: {}, 7m: {}}";
    r.core.set_table(std::sync::Arc::new(dwell_levels::LevelTable::parse(text).unwrap()));
    r.head(1, 0, plain());
    assert!(matches!(&r.last().form, Form::Park { reason: Reason::TargetNotAllowed, .. }), "vetted by the old one");
    r.head(2, 0, Control { delay: Some(Delay::from_millis(6 * 60_000)), ..to("payments") });
    r.run_to(60_010.0);
    assert_eq!(r.last().to, "delay-7m");
}
