//! Only the contiguous acknowledged prefix, at the bound, after a second, and when idle.

use crate::rig::*;
use dwell_roller_core::*;

fn released(count: i64, limits: Limits) -> Rig {
    let mut r = Rig::with_limits("1s", limits);
    r.set(9_000.0);
    for offset in 0..count {
        r.head(offset, 0, plain());
    }
    r
}

#[test]
fn acks_out_of_order_commit_the_prefix_only() {
    let mut r = released(4, Limits::default());
    r.ack(2);
    r.ack(1);
    r.run_to(20_000.0);
    assert_eq!(r.commits(), [] as [i64; 0], "record 0 is open");
    r.ack(0);
    r.run_to(22_000.0);
    assert_eq!(r.commits(), [3]);
    r.committed();
    r.ack(3);
    r.run_to(24_000.0);
    assert_eq!(r.commits(), [3, 4]);
}

#[test]
fn done_records_are_forgotten_in_order() {
    let mut r = released(3, Limits::default());
    let forgets = |actions: &[Action]| {
        actions.iter().filter_map(|a| if let Action::Forget(_, s) = a { Some(s.0) } else { None }).collect::<Vec<_>>()
    };
    assert_eq!(forgets(&r.ack(1)), [] as [u64; 0]);
    assert_eq!(forgets(&r.ack(0)), [2]);
    assert_eq!(forgets(&r.ack(2)), [3]);
}

#[test]
fn an_idle_partition_commits_after_a_tenth_of_a_second() {
    let mut r = released(2, Limits::default());
    r.ack(0);
    r.ack(1);
    assert_eq!(r.wake_ms(), 100.0);
    r.run_to(9_099.0);
    assert_eq!(r.commits(), [] as [i64; 0]);
    r.run_to(9_100.0);
    assert_eq!(r.commits(), [2]);
}

#[test]
fn a_waiting_head_does_not_keep_a_partition_from_being_idle() {
    let mut r = released(1, Limits::default());
    r.ack(0);
    r.head(1, 8_999, plain());
    r.run_to(9_101.0);
    assert_eq!(r.commits(), [1]);
}

#[test]
fn a_busy_partition_commits_every_second() {
    let mut r = released(2, Limits::default());
    r.ack(0);
    for n in 1..20 {
        r.run_to(9_000.0 + 90.0 * n as f64);
        r.head(n + 1, 0, plain());
        r.ack(n as usize);
        if r.commits().len() == 1 {
            break;
        }
    }
    assert!(r.now().mono.as_micros() >= 1_000_000_000 + 10_000_000, "not before a second");
    assert!(r.now().mono.as_micros() < 1_000_000_000 + 10_100_000, "not long after it");
}

#[test]
fn at_most_one_commit_is_under_way_and_a_failed_one_is_repeated() {
    let mut r = released(3, Limits::default());
    r.ack(0);
    r.run_to(9_000.0 + 1_100.0);
    assert_eq!(r.commits(), [1]);
    r.ack(1);
    r.run_to(12_000.0);
    assert_eq!(r.commits(), [1], "the first has not been answered");
    r.ev(Event::CommitFailed(r.claim));
    r.run_to(12_499.0);
    assert_eq!(r.commits(), [1]);
    r.run_to(12_500.0);
    assert_eq!(r.commits(), [1, 2], "half a second later, and with what was done since");
}

#[test]
fn an_answer_to_another_commit_is_none() {
    let mut r = released(2, Limits::default());
    r.ack(0);
    r.run_to(10_100.0);
    r.ev(Event::Committed(r.claim, NextOffset::new(77)));
    r.ev(Event::CommitFailed(claim(0, 9)));
    r.ack(1);
    r.run_to(12_000.0);
    assert_eq!(r.commits(), [1], "still waits for its answer");
    r.committed();
    r.run_to(14_000.0);
    assert_eq!(r.commits(), [1, 2]);
}

#[test]
fn a_failed_commit_that_nobody_asked_for_does_not_make_the_loop_spin() {
    let mut r = Rig::new("1s");
    r.ev(Event::CommitFailed(r.claim));
    r.run_to(10_000.0);
    assert_eq!(r.commits(), [] as [i64; 0]);
}

#[test]
fn the_window_is_bounded_and_commits_make_room() {
    let limits = Limits { in_flight_records: 100_000, ..Limits::default() };
    let mut r = released(10_000, limits);
    assert!(!r.core.wants_head(r.claim), "10,000 sent");
    for n in 0..2_499 {
        r.ack(n);
    }
    assert_eq!(r.commits(), [] as [i64; 0]);
    r.ack(2_499);
    assert_eq!(r.commits(), [2_500], "half full and a quarter done: at once");
    assert!(!r.core.wants_head(r.claim), "done but not committed counts");
    r.committed();
    assert!(r.core.wants_head(r.claim));
    for n in 0..2_500 {
        r.head(10_000 + n, 0, plain());
    }
    assert!(!r.core.wants_head(r.claim));
    assert!(r.wake_ms() > 0.0);
}

#[test]
fn a_second_report_of_one_copy_counts_once() {
    let mut r = released(2, Limits::default());
    assert_eq!(outcomes(&r.ack(0)).len(), 1);
    assert_eq!(r.ack(0), []);
    assert_eq!(r.fail(0, Failure::Retriable), []);
    assert_eq!(r.core.in_flight(), 1);
    r.fail(1, Failure::Retriable);
    assert_eq!(r.ack(1), [], "its report has been taken in; the next copy has another name");
    r.run_to(9_200.0);
    assert_eq!(outcomes(&r.ack(2)), [(1, Outcome::Released { due_ms: T0 + 1_000 })]);
    assert_eq!(r.core.in_flight(), 0);
    assert!(!r.core.awaits_reports());
}
