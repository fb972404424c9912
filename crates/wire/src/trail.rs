//! The path of a record, in constant space.

use crate::inline::{Inline, first_bytes};
use crate::limits::{MAX_STEP, MAX_TRAIL};

/// A trail: steps joined by commas, at most 512 bytes.
pub type Trail = Inline<MAX_TRAIL>;

/// Stands for the steps left out.
const ELLIPSIS: &str = "…";

/// How much of the beginning is kept when the middle is left out.
const MAX_HEAD: usize = 128;

/// `trail` with `step` behind it. Beyond 512 bytes the middle collapses to `…`: the first steps and as many of the
/// latest as fit remain. A step is cut at 64 bytes.
///
/// ```
/// assert_eq!(dwell_wire::push_trail(Some("2h,30m"), "RETRY_1").as_str(), "2h,30m,RETRY_1");
/// ```
pub fn push_trail(trail: Option<&str>, step: &str) -> Trail {
    let trail = trail.unwrap_or_default();
    let step = first_bytes(step, MAX_STEP);
    let mut out = Trail::new();
    if trail.len() + 1 + step.len() <= MAX_TRAIL {
        join(&mut out, trail);
    } else {
        let (head, rest) = split_head(trail);
        join(&mut out, head);
        join(&mut out, ELLIPSIS);
        // Two commas: before the latest steps and before the new one.
        let used = out.as_bytes().len() + 1 + 1 + step.len();
        join(&mut out, latest_steps(rest, MAX_TRAIL.saturating_sub(used)));
    }
    join(&mut out, step);
    out
}

fn join(out: &mut Trail, steps: &str) {
    if !out.is_empty() && !steps.is_empty() {
        out.push_str(",");
    }
    out.push_str(steps);
}

/// The first whole steps within [`MAX_HEAD`] and before an earlier `…`, and what follows them (or the `…`).
fn split_head(trail: &str) -> (&str, &str) {
    let mut head = 0;
    let mut start = 0;
    for step in trail.split(',') {
        let end = start + step.len();
        if step == ELLIPSIS {
            start = end + 1;
            break;
        }
        if end > MAX_HEAD {
            break;
        }
        head = end;
        start = end + 1;
    }
    (trail.get(..head).unwrap_or_default(), trail.get(start..).unwrap_or_default())
}

/// The longest end of `steps` that is made of whole steps and has at most `room` bytes.
fn latest_steps(steps: &str, room: usize) -> &str {
    let Some(before) = steps.len().checked_sub(room + 1) else {
        return steps;
    };
    // A step may begin right behind the last byte that has no room.
    let comma = steps.bytes().skip(before).position(|byte| byte == b',');
    comma.and_then(|at| steps.get(before + at + 1..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_trails_are_kept_whole() {
        assert_eq!(push_trail(None, "1h").as_str(), "1h");
        assert_eq!(push_trail(Some(""), "1h").as_str(), "1h");
        assert_eq!(push_trail(Some("1h,30m"), "RETRY_1").as_str(), "1h,30m,RETRY_1");
    }

    #[test]
    fn a_long_trail_keeps_its_first_and_latest_steps() {
        let mut trail = push_trail(None, "first");
        for hop in 0..1_000 {
            trail = push_trail(Some(trail.as_str()), &format!("s{hop}"));
        }
        let steps: Vec<&str> = trail.as_str().split(',').collect();
        assert!(trail.as_str().starts_with("first,s0,s1,"), "{trail}");
        assert!(trail.as_str().ends_with(",s997,s998,s999"), "{trail}");
        assert_eq!(steps.iter().filter(|step| **step == ELLIPSIS).count(), 1);
        assert!((MAX_TRAIL - 6..=MAX_TRAIL).contains(&trail.as_str().len()));
    }

    #[test]
    fn a_trail_of_exactly_the_bound_is_not_collapsed() {
        let trail = "x".repeat(MAX_TRAIL - 3);
        let full = push_trail(Some(&trail), "1h");
        assert_eq!(full.as_str(), format!("{trail},1h"));
        assert_eq!(push_trail(Some(full.as_str()), "2h").as_str(), "…,1h,2h");
    }

    #[test]
    fn there_is_one_gap_however_long_the_steps_are() {
        // The second step is too long for the beginning, so the gap comes early.
        let mut trail = format!("a,{}", "x".repeat(400));
        for _ in 0..300 {
            trail = push_trail(Some(&trail), "30m").as_str().to_owned();
        }
        assert!(trail.starts_with("a,…,30m,30m,"), "{trail}");
        assert_eq!(trail.matches(ELLIPSIS).count(), 1, "{trail}");
    }

    #[test]
    fn the_latest_steps_are_whole_and_use_their_room() {
        for (room, latest) in [(8, "1h,2h,3h"), (7, "2h,3h"), (5, "2h,3h"), (4, "3h"), (2, "3h"), (1, ""), (0, "")] {
            assert_eq!(latest_steps("1h,2h,3h", room), latest, "{room}");
        }
    }

    #[test]
    fn hostile_trails_stay_bounded() {
        for trail in ["x".repeat(512), ",".repeat(512), "…".repeat(170), "…,".repeat(128), "€".repeat(9_000)] {
            let out = push_trail(Some(&trail), &"ü".repeat(300));
            assert!(out.as_str().len() <= MAX_TRAIL);
            assert!(out.as_str().ends_with(&"ü".repeat(32)), "{out}");
        }
    }
}
