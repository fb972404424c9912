//! The first look at a record: may it wait here at all, and for what.

use crate::event::{Head, Stamp};
use crate::shared::Shared;
use crate::time::Reading;
use crate::window::{Asked, Fate};
use dwell_levels::{Delay, TargetRefusal};
use dwell_wire::{Control, Reason};

/// A producer's clock may be this far ahead of the broker's when it asks for the longest allowed delay.
const MAX_DELAY_SLACK_MS: i64 = 60_000;

/// Headers → the first fate: pending, or parked where no waiting can help.
pub(crate) fn judge(head: &Head<'_>, sh: &mut Shared, now: &Reading) -> Fate {
    let control = match &head.control {
        Ok(c) => c,
        Err(bad) => return Fate::Park { reason: bad.reason, error: bad.error.clone() },
    };
    if let Some((reason, error)) = refuse(control, head.stamp, sh, now) {
        return Fate::Park { reason, error };
    }
    if let Some(target) = sh.topics.use_vetted(control.target) {
        return Fate::Pending { target };
    }
    match sh.table.check_target(control.target) {
        Ok(()) => Fate::Pending { target: sh.topics.vet(control.target) },
        Err(refusal) => {
            let reason = match refusal {
                TargetRefusal::IsLevel { .. } => Reason::TargetIsLevel,
                _ => Reason::TargetNotAllowed,
            };
            Fate::Park { reason, error: refusal.to_string() }
        }
    }
}

fn refuse(c: &Control<'_>, stamp: Stamp, sh: &Shared, now: &Reading) -> Option<(Reason, String)> {
    if c.hops > sh.table.max_hops() {
        let error = format!("{} hops; at most {} are allowed", c.hops, sh.table.max_hops());
        return Some((Reason::TooManyHops, error));
    }
    let append_ms = match stamp {
        Stamp::Append(ms) => ms,
        Stamp::Other => now.latest.floor_millis(),
    };
    let asked_ms = match asked(c) {
        Asked::Level => 0,
        Asked::After(delay) => millis(delay),
        Asked::At(at) => at.saturating_sub(append_ms).saturating_sub(MAX_DELAY_SLACK_MS),
    };
    (asked_ms > millis(sh.table.max_delay())).then(|| {
        let error = format!("asks for a delay of {asked_ms} ms; maxDelay is {}", sh.table.max_delay());
        (Reason::TooLong, error)
    })
}

/// An absolute time wins: on later levels it is what the first roller wrote.
pub(crate) fn asked(c: &Control<'_>) -> Asked {
    match (c.deliver_at, c.delay) {
        (Some(at), _) => Asked::At(at),
        (None, Some(delay)) => Asked::After(delay),
        (None, None) => Asked::Level,
    }
}

/// A delay in the brokers' unit, saturating.
pub(crate) fn millis(d: Delay) -> i64 {
    i64::try_from(d.as_millis()).unwrap_or(i64::MAX)
}
