//! Never before due, exactly when due, in order.

use crate::rig::*;
use dwell_roller_core::*;

#[test]
fn not_a_microsecond_early_and_not_one_late() {
    let mut r = Rig::new("5s");
    assert_eq!(sends(&r.head(0, 0, plain())), 0);
    assert!(r.wake_ms() <= 5_000.0);
    assert_eq!(sends(&r.tick_at(4_999.999)), 0);
    assert_eq!(r.wake_ms(), 0.001);
    assert_eq!(sends(&r.tick_at(5_000.0)), 1);
    assert_eq!(r.last().form, Form::Release { due_ms: T0 + 5_000 });
    assert_eq!((r.last().to.as_str(), r.last().seq), ("orders", Seq(0)));
}

#[test]
fn an_overdue_head_goes_at_once_with_its_own_due_time() {
    let mut r = Rig::new("5s");
    r.set(60_000.0);
    assert_eq!(sends(&r.head(0, 0, plain())), 1);
    assert_eq!(r.last().form, Form::Release { due_ms: T0 + 5_000 });
}

#[test]
fn the_slowest_brokers_clock_decides() {
    let mut r = Rig::new("5s");
    r.skew = (-40_000, 3_000_000);
    r.head(0, 0, plain());
    assert_eq!(sends(&r.tick_at(5_039.999)), 0);
    assert_eq!(sends(&r.tick_at(5_040.0)), 1);
}

#[test]
fn nothing_is_read_before_the_clock_is_measured() {
    let mut r = Rig::new("5s");
    assert!(r.core.wants_head(r.claim));
    let mut r2 = Rig { measured: false, ..Rig::new("5s") };
    r2.core = Core::new(Rig::table(), Rig::table().get("5s").unwrap().clone(), Limits::default());
    r2.ev(Event::Assigned(r2.claim));
    assert!(!r2.core.wants_head(r2.claim));
    r2.measured = true;
    r2.tick();
    assert!(r2.core.wants_head(r2.claim));
    r.head(0, 0, plain());
    assert!(!r.core.wants_head(r.claim), "one head at a time");
}

#[test]
fn heads_leave_in_offset_order_and_one_at_a_time() {
    let mut r = Rig::new("5s");
    r.set(10_000.0);
    for offset in 0..5 {
        r.head(offset, offset, plain());
    }
    let seqs: Vec<_> = r.copies.iter().map(|c| c.seq.0).collect();
    assert_eq!(seqs, [0, 1, 2, 3, 4]);
}

#[test]
fn an_earlier_due_record_waits_behind_its_head() {
    // A broker's clock went back between two appends.
    let mut r = Rig::new("5s");
    r.head(0, 3_000, plain());
    assert!(!r.core.wants_head(r.claim));
    r.run_to(8_000.0);
    assert_eq!(r.copies[0].at, 5_004, "the append time lies in the future: a delay after it was seen");
    assert_eq!(sends(&r.head(1, 0, plain())), 1, "due before its head, and so at once after it");
}

#[test]
fn a_head_that_waits_is_detached_once_and_only_if_it_waits_long() {
    let mut r = Rig::new("5s");
    assert_eq!(r.head(0, 0, plain()).last(), Some(&Action::Detach(r.claim, Seq(0))));
    assert!(!r.tick().iter().any(|a| matches!(a, Action::Detach(..))));
    r.tick_at(5_000.0);
    r.set(5_001.0);
    let soon = r.head(1, 4, plain());
    assert!(!soon.iter().any(|a| matches!(a, Action::Detach(..))), "3 ms are not worth a copy: {soon:?}");
}

#[test]
fn the_next_due_is_the_earliest_head_of_all_partitions() {
    let mut r = Rig::new("5s");
    r.head(7, -100, plain());
    let other = claim(3, 2);
    r.ev(Event::Assigned(other));
    let head = Head { offset: Offset::new(1), stamp: Stamp::Append(T0 - 200), bytes: 1, control: Ok(plain()) };
    r.ev(Event::Head(other, head));
    let (c, offset, wait) = r.core.next_due(&r.now()).unwrap();
    assert_eq!((c, offset.get(), wait.as_millis()), (other, 1, 4_800));
}

#[test]
fn a_full_budget_holds_the_head_and_an_ack_lets_it_go() {
    let limits = Limits { in_flight_records: 2, ..Limits::default() };
    let mut r = Rig::with_limits("1s", limits);
    r.set(9_000.0);
    for offset in 0..3 {
        r.head(offset, 0, plain());
    }
    assert_eq!((r.copies.len(), r.core.in_flight()), (2, 2));
    assert!(!r.core.wants_head(r.claim));
    assert!(r.wake_ms() > 0.0, "no spinning");
    r.ack(0);
    r.run_to(9_010.0);
    assert_eq!(r.copies.len(), 3);
}

#[test]
fn bytes_in_flight_are_bounded_too() {
    let limits = Limits { in_flight_bytes: 150, ..Limits::default() };
    let mut r = Rig::with_limits("1s", limits);
    r.set(9_000.0);
    for offset in 0..3 {
        r.head(offset, 0, plain());
    }
    assert_eq!(r.copies.len(), 2, "the second crosses the bound, the third waits");
}

#[test]
fn spurious_events_change_nothing() {
    let mut r = Rig::new("5s");
    r.head(0, 0, plain());
    let before = format!("{:?}", r.core);
    for event in [
        Event::Acked(CopyId::default()),
        Event::Failed(CopyId::default(), Failure::Retriable),
        Event::Committed(r.claim, NextOffset::new(9)),
        Event::CommitFailed(r.claim),
        Event::Assigned(r.claim),
        Event::Assigned(claim(-1, 9)),
        Event::Assigned(claim(i32::MAX, 9)),
        Event::Revoked(claim(0, 0)),
        Event::Lost(claim(5, 1)),
        Event::EndReached(claim(0, 9)),
        Event::TopicAnswer(TopicKey::default(), Verdict::Missing),
        Event::Tick,
    ] {
        let text = format!("{event:?}");
        assert_eq!(r.ev(event), [], "{text}");
        assert_eq!(format!("{:?}", r.core), before, "{text}");
    }
}
