//! Hold short, pause long, and always a wake-up.

use crate::rig::*;
use dwell_roller_core::*;

fn flows(actions: &[Action]) -> Vec<&'static str> {
    let name = |a: &Action| match a {
        Action::Pause(_) => Some("pause"),
        Action::Resume(_) => Some("resume"),
        Action::Look(_) => Some("look"),
        _ => None,
    };
    actions.iter().filter_map(name).collect()
}

/// Without the looks.
fn pauses(actions: &[Action]) -> Vec<&'static str> {
    flows(actions).into_iter().filter(|name| *name != "look").collect()
}

#[test]
fn an_assignment_resumes_whatever_the_client_remembers() {
    let r = Rig::new("2h");
    assert_eq!(flows(&r.log), ["resume"]);
}

#[test]
fn levels_up_to_ten_seconds_never_pause() {
    for level in ["1s", "5s", "10s"] {
        let mut r = Rig::new(level);
        r.ev(Event::EndReached(r.claim));
        r.run_to(60_000.0);
        r.head(0, 60_000, plain());
        r.run_to(80_000.0);
        assert_eq!(pauses(&r.log), ["resume"], "{level}");
    }
}

#[test]
fn empty_partitions_are_looked_at_in_the_levels_interval() {
    for (level, seconds) in [("1m", 30), ("10m", 300), ("2h", 300)] {
        let mut r = Rig::new(level);
        r.head(0, -9_000_000, plain());
        assert_eq!(flows(&r.ev(Event::EndReached(r.claim))), ["pause"]);
        assert_eq!(flows(&r.run_to(f64::from(seconds) * 1000.0 - 1.0)), [] as [&str; 0], "{level}");
        assert_eq!(r.run_to(f64::from(seconds) * 1000.0), [Action::Look(vec![r.claim])], "{level}");
        assert_eq!(flows(&r.ev(Event::EndSeen(r.claim, NextOffset::new(1)))), [] as [&str; 0], "nothing new");
        assert_eq!(flows(&r.run_to(f64::from(seconds) * 2000.0)), ["look"], "{level}");
        assert_eq!(flows(&r.ev(Event::EndSeen(r.claim, NextOffset::new(2)))), ["resume"], "{level}");
        assert!(r.core.wants_head(r.claim));
    }
}

#[test]
fn an_unanswered_look_is_repeated() {
    let mut r = Rig::new("1m");
    r.ev(Event::EndReached(r.claim));
    r.run_to(30_000.0);
    assert_eq!(flows(&r.run_to(34_999.0)), [] as [&str; 0]);
    assert_eq!(flows(&r.run_to(35_000.0)), ["look"]);
}

#[test]
fn one_question_for_all_partitions_that_are_due_for_a_look() {
    let mut r = Rig::new("1m");
    let other = claim(1, 2);
    r.ev(Event::Assigned(other));
    r.ev(Event::EndReached(r.claim));
    r.ev(Event::EndReached(other));
    assert_eq!(r.run_to(30_000.0), [Action::Look(vec![r.claim, other])]);
}

#[test]
fn an_end_that_went_back_is_news() {
    let mut r = Rig::new("1m");
    r.set(600_000.0);
    r.head(10, 0, plain());
    r.ev(Event::EndReached(r.claim));
    r.run_to(630_000.0);
    assert_eq!(flows(&r.ev(Event::EndSeen(r.claim, NextOffset::new(3)))), ["resume"]);
}

#[test]
fn a_far_head_pauses_and_resumes_a_lead_before_it_is_due() {
    let mut r = Rig::new("2h");
    r.head(0, 0, plain());
    assert_eq!(flows(&r.log), ["resume", "pause"]);
    let lead = Limits::default().resume_lead().as_secs_f64() * 1000.0;
    assert_eq!(pauses(&r.run_to(7_200_000.0 - lead - 1.0)), [] as [&str; 0]);
    assert_eq!(pauses(&r.run_to(7_200_000.0 - lead)), ["resume"]);
    assert_eq!(sends(&r.run_to(7_199_999.999)), 0);
    assert_eq!(sends(&r.run_to(7_200_000.0)), 1);
}

#[test]
fn a_head_due_within_the_interval_is_held_not_paused() {
    let mut r = Rig::new("2h");
    r.head(0, -7_200_000 + 299_000, plain());
    assert_eq!(flows(&r.run_to(299_000.0)), [] as [&str; 0]);
    assert_eq!(r.copies.len(), 1);
}

#[test]
fn a_paused_head_that_comes_due_early_by_a_clock_step_resumes() {
    let mut r = Rig::new("2h");
    r.head(0, 0, plain());
    r.tick();
    r.skew = (7_300_000_000, 7_300_000_000);
    let actions = r.tick_at(1_000.0);
    assert_eq!((sends(&actions), flows(&actions)), (1, vec!["resume"]));
}

#[test]
fn looks_behind_a_far_head_date_the_backlog() {
    let mut r = Rig::new("2h");
    r.head(0, 86_400_000, plain());
    assert_eq!(flows(&r.run_to(299_999.0)), [] as [&str; 0]);
    assert_eq!(flows(&r.run_to(300_000.0)), ["look"]);
    r.ev(Event::EndSeen(r.claim, NextOffset::new(5)));
    assert_eq!(pauses(&r.run_to(7_190_000.0)), [] as [&str; 0], "news behind a far head is no reason to fetch");
    r.run_to(7_204_000.0);
    assert_eq!(r.copies.len(), 1);
    r.head(1, 86_400_000, plain());
    r.run_to(7_504_000.0);
    for offset in 2..5 {
        r.head(offset, 86_400_000, plain());
    }
    assert_eq!(r.copies.len(), 5, "a delay after the look, not after they were read");
}

#[test]
fn a_new_claim_knows_nothing_of_an_old_pause() {
    let mut r = Rig::new("1m");
    r.head(0, 0, plain());
    r.ev(Event::EndReached(r.claim));
    r.tick();
    r.ev(Event::Lost(r.claim));
    r.claim = claim(0, 2);
    assert_eq!(flows(&r.ev(Event::Assigned(r.claim))), ["resume"]);
    assert!(r.core.wants_head(r.claim));
    r.head(0, 0, plain());
    assert_eq!(sends(&r.run_to(60_000.0)), 1);
}

#[test]
fn an_end_that_is_reached_while_a_head_waits_pauses_nothing() {
    let mut r = Rig::new("1m");
    r.head(0, -40_000, plain());
    assert_eq!(r.ev(Event::EndReached(r.claim)), []);
}

#[test]
fn intervals_from_the_file_apply_within_reason() {
    let text = "targets: [orders]\nlevels:\n  5s: {pollInterval: 2s}\n  1h: {pollInterval: 1m}\n";
    let table = std::sync::Arc::new(dwell_levels::LevelTable::parse(text).unwrap());
    for (level, ms) in [("5s", 2_000.0), ("1h", 60_000.0)] {
        let mut r = Rig::with_table(table.clone(), level, Limits::default());
        assert_eq!(flows(&r.ev(Event::EndReached(r.claim))), ["pause"]);
        assert_eq!(r.wake_ms(), ms);
    }
}
