//! When a record is due, and where it goes then.

use crate::event::{Action, Body, Form};
use crate::judge::millis;
use crate::shared::Shared;
use crate::time::{BrokerTime, Reading};
use crate::topics::{Open, TopicKey};
use crate::window::{Asked, Fate, Slot};
use dwell_levels::{Delay, Next};
use dwell_wire::Reason;
use std::time::Duration;

/// Without a measured clock nothing comes due; this is how soon to look again.
const UNMEASURED_RECHECK: Duration = Duration::from_secs(1);

impl Slot {
    /// Even the slowest broker's clock has reached append + delay, or the record was seen a delay ago.
    pub(crate) fn is_due(&self, now: &Reading) -> bool {
        self.append_due.is_some_and(|due| now.earliest >= due) || (now.is_measured() && now.mono >= self.seen_due)
    }

    /// Time until it is due.
    pub(crate) fn wait(&self, now: &Reading) -> Duration {
        if !now.is_measured() {
            return UNMEASURED_RECHECK;
        }
        let seen = self.seen_due.since(now.mono);
        self.append_due.map_or(seen, |due| now.earliest.until(due).min(seen))
    }

    /// The due time to show to consumers and to plan the rest of the way from, epoch milliseconds.
    fn due_ms(&self, now: &Reading) -> i64 {
        match self.append_due {
            Some(due) if due <= now.earliest => due.floor_millis(),
            _ => {
                let late = now.mono.since(self.seen_due);
                let late_us = i64::try_from(late.as_micros()).unwrap_or(i64::MAX);
                BrokerTime::from_micros(now.latest.as_micros().saturating_sub(late_us)).floor_millis()
            }
        }
    }

    /// Turns the fate into a destination that takes records now.
    ///
    /// Each round either answers or moves the fate on (pending → release or hop → aside → parked), so the loop
    /// is short.
    pub(crate) fn settle(&mut self, sh: &mut Shared, now: &Reading, out: &mut Vec<Action>) -> Option<(TopicKey, Form)> {
        for _ in 0..6 {
            match self.fate.clone() {
                Fate::Pending { target } => self.decide(target, sh, now),
                Fate::Release { target, due_ms } => match sh.open(target, now.mono, out) {
                    Open::Yes => return Some((target, Form::Release { due_ms })),
                    Open::Missing => self.put_aside(Reason::TargetUnknown, sh),
                    Open::Forbidden => self.put_aside(Reason::TargetForbidden, sh),
                    Open::Silent => self.put_aside(Reason::TargetUnavailable, sh),
                    Open::Wait | Open::Ask => return None,
                },
                Fate::Hop { level, due_ms, deliver_at_ms } => match sh.open(level, now.mono, out) {
                    Open::Yes => return Some((level, Form::Hop { deliver_at_ms })),
                    Open::Wait | Open::Ask => return None,
                    // This level's own topic is there, since it is read from: go round here instead.
                    _ if level != sh.own => self.fate = Fate::Hop { level: sh.own, due_ms, deliver_at_ms },
                    _ => return None,
                },
                Fate::SetAside { level, due_ms } => match sh.open(level, now.mono, out) {
                    Open::Yes => {
                        return Some((
                            level,
                            Form::SetAside { deliver_at_ms: self.deliver_at(due_ms, sh.level.delay) },
                        ));
                    }
                    Open::Wait | Open::Ask => return None,
                    _ if level != sh.own => self.fate = Fate::SetAside { level: sh.own, due_ms },
                    _ => return None,
                },
                Fate::Park { reason, error } => return self.to_parked(reason, error, Body::Kept, sh, now, out),
                Fate::ParkBare { reason, error } => {
                    return self.to_parked(reason, error, Body::LeftOut, sh, now, out);
                }
            }
        }
        None
    }

    fn to_parked(
        &self,
        reason: Reason,
        error: String,
        body: Body,
        sh: &mut Shared,
        now: &Reading,
        out: &mut Vec<Action>,
    ) -> Option<(TopicKey, Form)> {
        let open = sh.open(sh.parked, now.mono, out) == Open::Yes;
        open.then_some((sh.parked, Form::Park { reason, error, body }))
    }

    /// At due time: to the target, or on to another level.
    fn decide(&mut self, target: TopicKey, sh: &mut Shared, now: &Reading) {
        let due_ms = self.due_ms(now);
        let remaining_ms = match self.asked {
            Asked::Level => 0,
            // Of what a fast broker's clock says, only as much has passed as on the slowest one.
            Asked::At(ms) => ms.saturating_sub(due_ms.min(now.earliest.floor_millis())),
            Asked::After(delay) => millis(delay).saturating_sub(millis(sh.level.delay)),
        };
        self.fate = match sh.table.plan(remaining_ms, self.rounding) {
            Next::Target => Fate::Release { target, due_ms },
            Next::Level(next) => {
                let level = sh.level_key(next);
                sh.topics.release_use(target);
                let deliver_at_ms = self.deliver_at(due_ms, sh.level.delay).unwrap_or(due_ms);
                Fate::Hop { level, due_ms, deliver_at_ms }
            }
        };
    }

    /// When the target should have the record, in terms that the next level understands.
    fn deliver_at(&self, due_ms: i64, level: Delay) -> Option<i64> {
        match self.asked {
            Asked::Level => None,
            Asked::At(ms) => Some(ms),
            Asked::After(delay) => Some(due_ms.saturating_sub(millis(level)).saturating_add(millis(delay))),
        }
    }

    /// The target does not take records now: to a level, or to a human after too many times.
    pub(crate) fn put_aside(&mut self, reason: Reason, sh: &mut Shared) {
        let Fate::Release { target, due_ms } = self.fate else { return };
        let name = sh.topics.name(target);
        sh.topics.release_use(target);
        self.fate = if self.target_waits < sh.limits.target_waits {
            Fate::SetAside { level: sh.set_aside_key(), due_ms }
        } else {
            let error = format!("{name}: {}; waited for {} times", in_words(reason), self.target_waits);
            Fate::Park { reason, error }
        };
    }

    /// A human must look at it.
    pub(crate) fn park(&mut self, reason: Reason, error: String, sh: &mut Shared) {
        self.release_uses(sh);
        self.fate = Fate::Park { reason, error };
    }

    /// Gives back the registry's use of the target.
    pub(crate) fn release_uses(&self, sh: &mut Shared) {
        if let Fate::Pending { target } | Fate::Release { target, .. } = self.fate {
            sh.topics.release_use(target);
        }
    }
}

fn in_words(reason: Reason) -> &'static str {
    match reason {
        Reason::TargetUnknown => "no such topic, or not visible to the roller",
        Reason::TargetForbidden => "the roller may not write to it",
        _ => "acknowledged nothing while other topics did",
    }
}
