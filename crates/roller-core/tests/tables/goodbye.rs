//! Revoke, loss and stop.

use crate::rig::*;
use dwell_roller_core::*;

fn in_flight(count: i64) -> Rig {
    let mut r = Rig::new("1s");
    r.set(9_000.0);
    for offset in 0..count {
        r.head(offset, 0, plain());
    }
    r
}

fn is_drained(actions: &[Action], claim: Claim) -> bool {
    actions.contains(&Action::Drained(claim))
}

#[test]
fn a_revoke_waits_for_acks_then_commits_then_lets_go() {
    let mut r = in_flight(2);
    r.ev(Event::Revoked(r.claim));
    assert!(!r.core.wants_head(r.claim));
    r.run_to(9_500.0);
    r.ack(1);
    assert_eq!(r.commits(), [] as [i64; 0]);
    assert_eq!(commits(&r.ack(0)), [2], "at once");
    assert!(!is_drained(&r.run_to(9_600.0), r.claim), "not before the commit is answered");
    r.committed();
    assert_eq!(r.wake_ms(), 0.0, "nothing is left to wait for");
    assert!(is_drained(&r.tick(), r.claim));
    assert_eq!(r.core.claims().count(), 0);
}

#[test]
fn a_revoke_with_nothing_under_way_lets_go_at_once_and_drops_the_head() {
    let mut r = Rig::new("2h");
    r.head(0, 0, plain());
    r.tick();
    r.ev(Event::Revoked(r.claim));
    assert_eq!(r.wake_ms(), 0.0);
    assert_eq!(r.tick(), [Action::Drained(r.claim)]);
    assert_eq!((r.copies.len(), r.commits().len()), (0, 0));
}

#[test]
fn a_revoke_ends_at_its_deadline_and_commits_what_was_done() {
    let mut r = in_flight(3);
    r.ack(0);
    r.ev(Event::Revoked(r.claim));
    let actions = r.run_to(14_000.0);
    assert_eq!(notes(&actions), [Note::DrainCutShort { unacknowledged: 2 }]);
    assert_eq!(r.commits(), [1]);
    r.committed();
    assert!(is_drained(&r.tick(), r.claim));
    assert_eq!(r.core.in_flight(), 2, "the producer still has them");
    r.ack(1);
    r.fail(2, Failure::Retriable);
    assert_eq!((r.core.in_flight(), r.core.awaits_reports()), (0, false));
}

#[test]
fn a_commit_that_is_never_answered_does_not_hold_the_group() {
    let mut r = in_flight(1);
    r.ack(0);
    r.ev(Event::Revoked(r.claim));
    assert!(!is_drained(&r.run_to(15_999.0), r.claim));
    assert!(is_drained(&r.run_to(16_000.0), r.claim));
}

#[test]
fn a_paused_partition_drains_without_spinning() {
    for empty in [0, 1] {
        let mut r = Rig::new("1m");
        r.set(100_000.0);
        r.head(0, 0, plain());
        if empty == 1 {
            r.ev(Event::EndReached(r.claim));
        } else {
            r.head(1, 99_900, plain());
        }
        r.tick();
        r.set(129_900.0);
        r.ev(Event::Revoked(r.claim));
        assert!(is_drained(&r.run_to(140_000.0), r.claim));
        assert!(!r.log.iter().any(|a| matches!(a, Action::Look(_))));
    }
}

#[test]
fn what_is_lost_is_let_go_at_once_without_a_commit() {
    let mut r = in_flight(3);
    r.ack(0);
    let actions = r.ev(Event::Lost(r.claim));
    assert_eq!(actions, [Action::Drained(r.claim)]);
    r.ack(1);
    r.run_to(30_000.0);
    assert_eq!(r.commits(), [] as [i64; 0]);
}

#[test]
fn lost_during_a_revoke() {
    let mut r = in_flight(1);
    r.ev(Event::Revoked(r.claim));
    assert_eq!(r.ev(Event::Lost(r.claim)), [Action::Drained(r.claim)]);
    assert_eq!(r.ev(Event::Lost(r.claim)), []);
    assert_eq!(r.ev(Event::Revoked(r.claim)), []);
}

#[test]
fn a_late_ack_of_an_earlier_claim_is_not_taken_for_a_later_one() {
    let mut r = in_flight(1);
    r.ev(Event::Lost(r.claim));
    r.claim = claim(0, 2);
    r.ev(Event::Assigned(r.claim));
    r.head(0, 0, plain());
    assert_eq!(outcomes(&r.ack(0)), []);
    r.run_to(20_000.0);
    assert_eq!(r.commits(), [] as [i64; 0]);
    assert_eq!(outcomes(&r.ack(1)).len(), 1);
}

#[test]
fn regained_without_a_word_in_between() {
    let mut r = in_flight(2);
    let new = claim(0, 2);
    let actions = r.ev(Event::Assigned(new));
    assert_eq!(actions, [Action::Drained(r.claim), Action::Resume(new)]);
    assert_eq!(r.ev(Event::Assigned(r.claim)), [], "an old assignment arrives late");
    assert!(r.core.wants_head(new));
}

#[test]
fn a_claim_that_was_let_go_stays_let_go() {
    let mut r = Rig::new("1s");
    r.ev(Event::Lost(r.claim));
    assert_eq!(r.ev(Event::Assigned(r.claim)), []);
    assert_eq!(r.ev(Event::Assigned(claim(0, 0))), []);
    assert!(!r.core.wants_head(r.claim));
}

#[test]
fn two_hundred_revokes_with_a_hundred_in_flight_leak_nothing() {
    let mut r = Rig::new("1s");
    for round in 0..200u64 {
        r.set(9_000.0 + 10_000.0 * round as f64);
        r.claim = claim(0, round + 2);
        r.ev(Event::Assigned(r.claim));
        for offset in 0..100 {
            r.head(offset, 0, plain());
        }
        if round % 2 == 0 {
            r.ev(Event::Lost(r.claim));
        } else {
            r.ev(Event::Revoked(r.claim));
            r.run_to(9_000.0 + 10_000.0 * round as f64 + 8_000.0);
        }
        assert_eq!(r.core.claims().count(), 0);
        for n in 0..100 {
            let nth = r.copies.len() - 100 + n;
            if n % 3 == 0 {
                r.fail(nth, Failure::Retriable)
            } else {
                r.ack(nth)
            };
        }
        assert_eq!((r.core.in_flight(), r.core.awaits_reports()), (0, false));
    }
    assert_eq!(r.commits(), [] as [i64; 0]);
}

#[test]
fn a_stop_drains_everything_and_says_so_once() {
    let mut r = in_flight(1);
    let other = claim(1, 2);
    r.ev(Event::Assigned(other));
    let actions = r.ev(Event::Stop);
    assert!(is_drained(&actions, other) && !actions.contains(&Action::Stopped));
    r.ack(0);
    r.committed();
    let actions = r.tick();
    assert!(actions.ends_with(&[Action::Drained(r.claim), Action::Stopped]), "{actions:?}");
    assert_eq!(r.ev(Event::Stop), []);
}

#[test]
fn a_stop_with_a_head_two_hours_away_and_a_target_that_fails_is_bounded() {
    let mut r = in_flight(1);
    r.ev(Event::Stop);
    r.fail(0, Failure::Retriable);
    let mut rounds = 0;
    for step in 0..140 {
        let actions = r.run_to(9_000.0 + 50.0 * f64::from(step + 1));
        rounds += sends(&actions);
        if actions.contains(&Action::Stopped) {
            assert!(step >= 99, "not before the five seconds are over");
            assert!(rounds <= 6, "backs off: {rounds}");
            return;
        }
        for nth in 1..r.copies.len() {
            r.fail(nth, Failure::Retriable);
        }
    }
    panic!("never stopped");
}

#[test]
fn what_is_assigned_during_a_stop_is_given_back() {
    let mut r = in_flight(1);
    r.ev(Event::Stop);
    let late = claim(4, 9);
    r.ev(Event::Assigned(late));
    assert!(!r.core.wants_head(late));
    assert!(is_drained(&r.tick(), late));
}

#[test]
fn a_stop_of_nothing_is_done_at_once() {
    let table = Rig::table();
    let mut core = Core::new(table.clone(), table.get("1s").unwrap().clone(), Limits::default());
    let mut out = Vec::new();
    core.handle(&Reading::unmeasured(Mono::default()), Event::Stop, &mut out);
    assert_eq!(out, [Action::Stopped]);
}
