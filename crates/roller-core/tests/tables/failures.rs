//! What the producer refuses.

use crate::rig::*;
use dwell_roller_core::*;
use dwell_wire::Reason;

fn due(count: i64) -> Rig {
    let mut r = Rig::new("1s");
    r.set(9_000.0);
    for offset in 0..count {
        r.head(offset, 0, plain());
    }
    r
}

#[test]
fn too_large_goes_once_more_alone_then_is_parked_then_without_its_body() {
    let mut r = due(1);
    r.fail(0, Failure::TooLarge);
    assert_eq!((r.copies[1].to.as_str(), r.copies[1].batching, r.copies[1].at), ("orders", Batching::Alone, 9_000));
    r.fail(1, Failure::TooLarge);
    assert!(matches!(&r.copies[2].form, Form::Park { reason: Reason::TooLarge, body: Body::Kept, .. }));
    r.fail(2, Failure::TooLarge);
    assert!(matches!(&r.copies[3].form, Form::Park { reason: Reason::TooLarge, body: Body::LeftOut, .. }));
    assert_eq!(outcomes(&r.ack(3)), [(0, Outcome::Parked(Reason::TooLarge))]);
    assert_eq!(r.core.in_flight(), 0);
}

#[test]
fn a_neighbour_of_a_large_record_goes_through_alone() {
    let mut r = due(2);
    r.fail(0, Failure::TooLarge);
    r.fail(1, Failure::TooLarge);
    assert_eq!(
        r.copies.iter().skip(2).map(|c| (c.seq.0, c.batching)).collect::<Vec<_>>(),
        [(0, Batching::Alone), (1, Batching::Alone)]
    );
    r.fail(2, Failure::TooLarge);
    r.ack(3);
    assert_eq!(r.last().to, "delay-parked");
    r.ack(4);
    r.run_to(11_000.0);
    assert_eq!(r.commits(), [2]);
}

#[test]
fn what_is_sent_alone_holds_back_what_is_behind_it() {
    let mut r = due(1);
    r.fail(0, Failure::TooLarge);
    r.head(1, 0, plain());
    r.run_to(9_100.0);
    assert_eq!(r.copies.len(), 2, "the head waits for the lone copy");
    r.ack(1);
    r.run_to(9_110.0);
    assert_eq!(r.last().seq, Seq(1));
}

#[test]
fn rejected_for_another_reason_is_parked_with_that_reason_in_words() {
    let mut r = due(1);
    r.fail(0, Failure::Rejected("INVALID_RECORD".into()));
    r.fail(1, Failure::Rejected("INVALID_RECORD".into()));
    let Form::Park { reason, error, .. } = &r.last().form else { panic!("{:?}", r.last()) };
    assert_eq!((*reason, error.as_str()), (Reason::TargetUnavailable, "INVALID_RECORD"));
}

#[test]
fn a_parked_copy_that_is_rejected_is_tried_again_not_lost() {
    let mut r = due(1);
    for nth in 0..6 {
        r.fail(nth, Failure::Rejected("NO".into()));
        r.run_to(9_000.0 + 40_000.0 * (nth + 1) as f64);
        assert_eq!(r.copies.len(), nth + 2);
    }
    assert_eq!(r.last().to, "delay-parked");
    r.ack(6);
    r.run_to(400_000.0);
    assert_eq!(r.commits(), [1]);
}

#[test]
fn a_full_queue_is_no_error_and_no_reorder() {
    let mut r = due(1);
    r.fail(0, Failure::Refused);
    r.head(1, 0, plain());
    assert_eq!(r.copies.len(), 1, "the second does not overtake");
    r.run_to(9_010.0);
    assert_eq!(r.copies.iter().map(|c| c.seq.0).collect::<Vec<_>>(), [0, 0, 1]);
}

#[test]
fn a_failed_copy_is_sent_again_with_growing_pauses_and_keeps_its_place() {
    let mut r = due(1);
    let mut at = 9_000.0;
    for (nth, pause) in [100.0, 200.0, 400.0, 800.0].into_iter().enumerate() {
        r.fail(nth, Failure::Retriable);
        r.run_to(at + pause - 1.0);
        assert_eq!(r.copies.len(), nth + 1, "{pause}");
        r.run_to(at + pause + 3.0);
        assert_eq!(r.copies.len(), nth + 2, "{pause}");
        at += pause + 3.0;
    }
    r.head(1, 0, plain());
    assert_eq!(r.last().seq, Seq(1), "what is merely under way again holds nothing back");
}

#[test]
fn several_failed_copies_are_repeated_in_order() {
    let mut r = due(3);
    for nth in [2, 0, 1] {
        r.fail(nth, Failure::Retriable);
    }
    r.run_to(9_200.0);
    assert_eq!(r.copies.iter().skip(3).map(|c| c.seq.0).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn the_failure_of_an_older_copy_decides_nothing() {
    let mut r = due(1);
    r.fail(0, Failure::TooLarge);
    assert_eq!(r.fail(0, Failure::TooLarge), []);
    assert_eq!(r.copies.len(), 2);
}

#[test]
fn a_fatal_producer_ends_the_process() {
    let mut r = due(1);
    let actions = r.fail(0, Failure::Fatal("fenced".into()));
    assert!(actions.contains(&Action::Fatal("fenced".into())));
    assert_eq!(r.commits(), [] as [i64; 0]);
}
