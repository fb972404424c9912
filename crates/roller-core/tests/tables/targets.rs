//! Bad headers, refused targets, missing and forbidden ones, and the parked topic.

use crate::rig::*;
use dwell_roller_core::*;
use dwell_wire::{BadRecord, Control, Reason};

fn reason(c: &Copied) -> Option<Reason> {
    if let Form::Park { reason, .. } = c.form { Some(reason) } else { None }
}

#[test]
fn bad_headers_are_parked_at_once_and_neighbours_are_on_time() {
    let mut r = Rig::new("5s");
    let bad = BadRecord { reason: Reason::BadHeader, error: "dwell-delay: x".into() };
    r.offer(0, Stamp::Append(T0), Err(bad));
    assert_eq!((r.last().to.as_str(), reason(r.last()), r.last().at), ("delay-parked", Some(Reason::BadHeader), 0));
    assert!(matches!(&r.last().form, Form::Park { error, body: Body::Kept, .. } if error == "dwell-delay: x"));
    r.head(1, 0, plain());
    r.run_to(5_000.0);
    assert_eq!((r.last().to.as_str(), r.last().at), ("orders", 5_000));
    assert_eq!(outcomes(&r.ack(0)), [(0, Outcome::Parked(Reason::BadHeader))]);
}

#[test]
fn targets_off_the_list_are_parked_at_once() {
    for (target, wanted) in [
        ("secrets", Reason::TargetNotAllowed),
        ("delay-5s", Reason::TargetIsLevel),
        ("delay-parked", Reason::TargetIsLevel),
        ("__consumer_offsets", Reason::TargetNotAllowed),
        ("pay ments", Reason::TargetNotAllowed),
    ] {
        let mut r = Rig::new("2h");
        r.head(0, 0, to(target));
        assert_eq!(reason(r.last()), Some(wanted), "{target}");
    }
}

#[test]
fn without_the_parked_topic_the_partition_holds() {
    let mut r = Rig::new("5s");
    r.topics.insert("delay-parked".into(), Some(Verdict::Missing));
    r.offer(0, Stamp::Append(T0), Err(BadRecord { reason: Reason::NoTarget, error: "none".into() }));
    r.run_to(20_000.0);
    assert_eq!((r.copies.len(), r.core.wants_head(r.claim)), (0, false));
    assert_eq!(r.core.census(&r.now()).len(), 1);
    r.topics.insert("delay-parked".into(), Some(Verdict::Present));
    r.run_to(26_000.0);
    assert_eq!(reason(r.last()), Some(Reason::NoTarget));
}

#[test]
fn a_missing_target_means_set_aside_and_the_partition_goes_on() {
    let mut r = Rig::new("5s");
    r.topics.insert("payments".into(), Some(Verdict::Missing));
    r.head(0, 0, to("payments"));
    r.run_to(5_010.0);
    assert_eq!((r.last().to.as_str(), &r.last().form), ("delay-30s", &Form::SetAside { deliver_at_ms: None }));
    r.head(1, 0, plain());
    r.run_to(5_020.0);
    assert_eq!(r.last().to, "orders");
    assert_eq!(outcomes(&r.ack(0)), [(0, Outcome::SetAside)]);
    r.ack(1);
    r.run_to(7_000.0);
    assert_eq!(r.commits(), [2]);
}

#[test]
fn set_aside_is_not_done_before_its_copy_is_acknowledged() {
    let mut r = Rig::new("5s");
    r.topics.insert("payments".into(), Some(Verdict::Missing));
    r.head(0, 0, to("payments"));
    r.run_to(60_000.0);
    assert_eq!((r.copies.len(), r.commits().len()), (1, 0));
    assert_eq!(outcomes(&r.log), []);
}

#[test]
fn five_waits_and_then_a_human() {
    for (reason_wanted, verdict) in
        [(Reason::TargetUnknown, Verdict::Missing), (Reason::TargetForbidden, Verdict::Forbidden)]
    {
        for (waits, topic) in [(4, "delay-30s"), (5, "delay-parked")] {
            let mut r = Rig::new("5s");
            r.topics.insert("payments".into(), Some(verdict));
            r.head(0, 0, Control { target_waits: waits, ..to("payments") });
            r.run_to(5_010.0);
            assert_eq!(r.last().to, topic, "{waits}");
            if waits == 5 {
                assert_eq!(reason(r.last()), Some(reason_wanted));
                let Form::Park { error, .. } = &r.last().form else { panic!() };
                assert!(error.contains("payments") && error.contains("5 times"), "{error}");
            }
        }
    }
}

#[test]
fn a_missing_target_is_asked_for_again_and_found() {
    let mut r = Rig::new("5s");
    r.topics.insert("payments".into(), Some(Verdict::Missing));
    r.head(0, 0, to("payments"));
    r.topics.insert("payments".into(), Some(Verdict::Present));
    r.run_to(5_010.0);
    assert_eq!(r.last().to, "payments", "five seconds after the first answer");
}

#[test]
fn no_answer_is_no_verdict() {
    let mut r = Rig::new("5s");
    r.topics.insert("payments".into(), Some(Verdict::NoAnswer));
    r.head(0, 0, to("payments"));
    r.run_to(60_000.0);
    assert_eq!(r.copies.len(), 0, "an outage: held, not set aside");
    let asked = r.log.iter().filter(|a| matches!(a, Action::AskTopic(_))).count();
    assert!((10..=14).contains(&asked), "asked every five seconds: {asked}");
    r.topics.insert("payments".into(), Some(Verdict::Present));
    r.run_to(66_000.0);
    assert_eq!(r.last().to, "payments");
}

#[test]
fn a_topic_that_vanished_is_noticed_by_the_failure() {
    for failure in [Failure::UnknownTopic, Failure::Forbidden] {
        let mut r = Rig::new("5s");
        r.set(9_000.0);
        r.head(0, 0, plain());
        r.fail(0, failure);
        assert_eq!((r.last().to.as_str(), r.last().at), ("delay-30s", 9_000));
        r.head(1, 0, plain());
        r.run_to(9_005.0);
        assert_eq!(r.copies.len(), 3);
        assert_eq!(r.last().to, "delay-30s", "the next one is not tried");
    }
}

#[test]
fn a_requested_delay_survives_being_set_aside() {
    let mut r = Rig::new("5s");
    r.topics.insert("orders".into(), Some(Verdict::Missing));
    r.head(0, 0, asks(4_000));
    r.run_to(5_010.0);
    assert_eq!(r.last().form, Form::SetAside { deliver_at_ms: Some(T0 + 4_000) });
}
