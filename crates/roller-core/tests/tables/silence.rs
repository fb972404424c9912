//! A target that does not answer while others do.

use crate::rig::*;
use dwell_roller_core::*;

/// A roller with one copy under way to `payments`, which never answers.
fn stuck() -> Rig {
    let mut r = Rig::new("1s");
    r.set(9_000.0);
    r.head(0, 0, to("payments"));
    r
}

/// `orders` acknowledges a record each second until `ms`.
fn others_answer_until(r: &mut Rig, ms: i64, mut offset: i64) -> i64 {
    let mut now = (r.now().mono.as_micros() / 1000) as i64 - 1_000_000;
    while now < ms {
        now += 1_000;
        r.run_to(now as f64);
        r.head(offset, 0, plain());
        r.ack_all("orders");
        offset += 1;
    }
    r.tick();
    offset
}

#[test]
fn thirty_seconds_of_evidence_set_its_records_aside() {
    let mut r = stuck();
    r.ev(Event::ClusterAnswered);
    let next = others_answer_until(&mut r, 38_000, 1);
    assert!(!r.copies.iter().any(|c| c.to == "delay-30s"), "29 s");
    let next = others_answer_until(&mut r, 39_000, next);
    assert_eq!(r.last().to, "delay-30s");
    assert!(matches!(notes(&r.log)[..], [Note::TargetSilent(_)]));
    r.head(next, 0, to("payments"));
    assert_eq!(r.last().to, "delay-30s", "the next one is not sent there at all");
}

#[test]
fn a_late_acknowledgement_completes_the_record_and_ends_the_silence() {
    let mut r = stuck();
    r.ev(Event::ClusterAnswered);
    let next = others_answer_until(&mut r, 40_000, 1);
    let actions = r.ack(0);
    assert_eq!(outcomes(&actions), [(0, Outcome::Released { due_ms: T0 + 1_000 })]);
    assert!(matches!(notes(&actions)[..], [Note::TargetBack(_)]));
    r.ack_all("delay-30s");
    assert_eq!(outcomes(&r.log).iter().filter(|(o, _)| *o == 0).count(), 1, "done once");
    r.head(next, 0, to("payments"));
    assert_eq!(r.last().to, "payments");
    assert_eq!(r.core.in_flight(), 1);
}

#[test]
fn stranded_copies_do_not_use_up_what_others_may_send() {
    let limits = Limits { in_flight_records: 4, ..Limits::default() };
    let mut r = Rig::with_limits("1s", limits);
    r.set(9_000.0);
    for offset in 0..3 {
        r.head(offset, 0, to("payments"));
    }
    r.ev(Event::ClusterAnswered);
    let next = others_answer_until(&mut r, 40_000, 3);
    assert!(r.core.in_flight() <= 3, "only the copies on the level count: {}", r.core.in_flight());
    r.ack_all("delay-30s");
    assert_eq!(r.core.in_flight(), 0);
    assert!(r.core.awaits_reports());
    for offset in next..next + 4 {
        r.head(offset, 0, plain());
    }
    assert_eq!(r.core.in_flight(), 4);
}

#[test]
fn an_outage_of_everything_sets_nothing_aside_not_even_when_it_ends() {
    let mut r = stuck();
    r.head(1, 0, plain());
    r.run_to(3_600_000.0);
    r.ack(1);
    r.tick();
    assert_eq!(r.copies.len(), 2, "an hour later others answer first: three seconds of evidence");
    r.ack(0);
    r.run_to(3_602_000.0);
    assert_eq!((r.commits(), notes(&r.log).len()), (vec![2], 0));
}

#[test]
fn a_silent_topic_is_tried_again_when_nothing_is_under_way_to_it_and_can_be_silent_again() {
    let mut r = stuck();
    r.ev(Event::ClusterAnswered);
    let next = others_answer_until(&mut r, 40_000, 1);
    r.ack_all("delay-30s");
    r.fail(0, Failure::Retriable);
    r.head(next, 0, to("payments"));
    assert_eq!(r.last().to, "payments", "a probe");
    let last = others_answer_until(&mut r, 75_000, next + 1);
    r.ack_all("delay-30s");
    r.committed();
    r.run_to(85_000.0);
    let aside = r.copies.iter().filter(|c| c.to == "delay-30s").count();
    assert_eq!(aside, 2, "the probe must not block the partition for ever");
    assert_eq!(r.commits().last(), Some(&last), "everything is done");
}
