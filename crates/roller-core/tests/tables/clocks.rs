//! Clocks that are wrong, step or stop making sense.

use crate::rig::*;
use dwell_roller_core::*;

#[test]
fn an_append_time_in_the_future_waits_from_when_it_was_seen() {
    let mut r = Rig::new("5s");
    let actions = r.head(0, 86_400_000, plain());
    assert!(actions.contains(&Action::Detach(r.claim, Seq(0))));
    assert_eq!(sends(&r.run_to(5_004.4)), 0);
    let actions = r.run_to(5_004.5);
    assert_eq!((sends(&actions), notes(&actions).len()), (1, 1));
    assert!(matches!(notes(&actions)[..], [Note::ClockWasAhead(_)]));
}

#[test]
fn the_whole_backlog_behind_it_comes_due_together() {
    let mut r = Rig::new("5s");
    r.ev(Event::EndSeen(r.claim, NextOffset::new(100)));
    r.head(0, 86_400_000, plain());
    r.run_to(5_004.5);
    for offset in 1..100 {
        r.head(offset, 86_400_000 + offset, plain());
    }
    assert_eq!(r.copies.len(), 100);
    assert_eq!(notes(&r.log).len(), 1, "one note per claim");
    r.head(100, 86_400_000, plain());
    assert_eq!(r.copies.len(), 100, "what was appended later waits from when it was seen");
    r.run_to(10_010.0);
    assert_eq!(r.copies.len(), 101);
}

#[test]
fn a_record_without_append_time_waits_from_when_it_was_seen_and_is_counted() {
    let mut r = Rig::new("5s");
    r.set(50.0);
    let actions = r.offer(0, Stamp::Other, Ok(plain()));
    assert!(matches!(notes(&actions)[..], [Note::NotAppendTime(_)]));
    assert_eq!(sends(&r.run_to(5_054.4)), 0);
    assert_eq!(sends(&r.run_to(5_054.5)), 1);
    let actions = r.offer(1, Stamp::Other, Ok(plain()));
    assert_eq!(notes(&actions), []);
}

#[test]
fn a_clock_that_steps_back_keeps_records_waiting_at_most_a_delay_from_when_they_were_seen() {
    let mut r = Rig::new("5s");
    r.head(0, 0, plain());
    r.set(1_000.0);
    r.skew = (-3_600_000_000, -3_600_000_000);
    assert_eq!(sends(&r.run_to(5_004.4)), 0);
    assert_eq!(sends(&r.run_to(5_004.5)), 1);
}

#[test]
fn a_reading_that_becomes_unmeasured_makes_nothing_due_and_invents_no_time() {
    let mut r = Rig::new("5s");
    r.head(0, 0, plain());
    r.measured = false;
    assert_eq!(sends(&r.run_to(20_000.0)), 0);
    r.measured = true;
    assert_eq!(sends(&r.run_to(20_010.0)), 1);
    assert_eq!(r.last().form, Form::Release { due_ms: T0 + 5_000 });
}

#[test]
fn offsets_that_go_back_are_accepted_and_told() {
    let mut r = Rig::new("1s");
    r.set(9_000.0);
    r.head(500, 0, plain());
    let actions = r.head(0, 8_900, plain());
    let wanted = Note::WentBack { expected: NextOffset::new(501), got: Offset::new(0) };
    assert_eq!(notes(&actions), [wanted]);
    r.ack(0);
    r.run_to(9_900.0);
    r.ack(1);
    r.run_to(12_000.0);
    assert_eq!(r.commits().last(), Some(&501));
    r.committed();
    r.run_to(14_000.0);
    assert_eq!(r.commits().last(), Some(&1), "what is committed follows what was read");
}

#[test]
fn sightings_of_a_topic_made_anew_start_anew() {
    let mut r = Rig::new("5s");
    r.ev(Event::EndSeen(r.claim, NextOffset::new(1_000)));
    r.set(60_000.0);
    r.head(900, 0, plain());
    r.offer(3, Stamp::Other, Ok(plain()));
    assert_eq!(r.copies.len(), 1, "record 3 of the new topic was not there a minute ago");
    r.run_to(65_010.0);
    assert_eq!(r.copies.len(), 2);
}

#[test]
fn clocks_a_little_apart_are_no_reason_to_trust_a_sighting() {
    // The level's leader stamps 40 ms ahead of the slowest broker, which may lead the target. The record is seen at
    // once; a delay after that the slowest broker would still stamp the copy before `append + delay`.
    let mut r = Rig::new("5s");
    r.skew = (-40_000, 0);
    r.head(0, 0, plain());
    assert_eq!(sends(&r.run_to(5_039.999)), 0);
    assert_eq!(sends(&r.run_to(5_040.0)), 1);
    assert_eq!(notes(&r.log), []);
}

#[test]
fn a_broker_an_hour_ahead_blocks_nothing_for_an_hour() {
    let mut r = Rig::new("5s");
    r.skew = (0, 3_600_000_000);
    r.head(0, 3_600_000, plain());
    assert_eq!(sends(&r.run_to(6_004.4)), 0);
    assert_eq!(sends(&r.run_to(6_004.5)), 1);
}
