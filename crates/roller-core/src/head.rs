//! A record becomes the head, waits, and is decided on when it is due.

use crate::event::{Action, Batching, Body, Form, Head, Note, Stamp};
use crate::partition::Partition;
use crate::shared::{Copy, Shared};
use crate::time::{BrokerTime, Reading};
use crate::topics::{Open, TopicKey};
use crate::window::{Asked, Fate, Seq, Slot, Stage};
use dwell_levels::{Delay, Next, TargetRefusal};
use dwell_wire::{Control, Reason};
use std::time::Duration;

/// Brokers' clocks this far apart still count as well kept; beyond it, one of them is wrong.
const CLOCKS_APART: Duration = Duration::from_secs(1);
/// Without a measured clock nothing comes due; this is how soon to look again.
const UNMEASURED_RECHECK: Duration = Duration::from_secs(1);
/// A producer's clock may be this far ahead of the broker's when it asks for the longest allowed delay.
const MAX_DELAY_SLACK_MS: i64 = 60_000;

impl Partition {
    /// Takes the next record in.
    pub(crate) fn admit(&mut self, head: Head<'_>, sh: &mut Shared, now: &Reading, out: &mut Vec<Action>) {
        self.note_position(&head, out);
        self.sightings.saw(head.offset.next(), now.mono);
        let seen = self.sightings.known(head.offset).unwrap_or(now.mono);
        let fate = judge(&head, sh, now);
        let slot = Slot {
            offset: head.offset,
            append_due: match head.stamp {
                Stamp::Append(ms) => Some(BrokerTime::from_millis(ms).plus(sh.level.delay)),
                Stamp::Other => None,
            },
            seen_due: seen.plus(seen_delay(sh.level.delay, now)),
            asked: head.control.as_ref().map_or(Asked::Level, asked),
            rounding: head.control.as_ref().ok().and_then(|c| c.rounding).unwrap_or(sh.table.rounding()),
            bytes: head.bytes,
            fate,
            stage: Stage::Waiting,
            failures: 0,
            batching: Batching::Shared,
            target_waits: head.control.as_ref().map_or(0, |c| c.target_waits),
        };
        if slot.append_due.is_none() && !std::mem::replace(&mut self.noted_stamp, true) {
            out.push(Action::Note(Some(self.claim), Note::NotAppendTime(head.offset)));
        }
        self.ask_ahead(&slot, sh, now, out);
        let wait = slot.wait(now);
        let seq = self.window.push_head(slot);
        self.dispatch_head(sh, now, out);
        if self.window.head().is_some() && wait > sh.limits.detach_after {
            out.push(Action::Detach(self.claim, seq));
        }
    }

    fn note_position(&mut self, head: &Head<'_>, out: &mut Vec<Action>) {
        if let Some(expected) = self.position
            && expected.is_beyond(head.offset)
        {
            // Dropping it as a repetition would lose the records of a topic that was made anew.
            self.sightings.clear();
            out.push(Action::Note(Some(self.claim), Note::WentBack { expected, got: head.offset }));
        }
        self.position = Some(head.offset.next());
    }

    /// The target's existence is asked for while the record waits, not when it is due.
    fn ask_ahead(&self, slot: &Slot, sh: &mut Shared, now: &Reading, out: &mut Vec<Action>) {
        if let Fate::Pending { target } = slot.fate {
            sh.open(target, now.mono, out);
        }
    }

    /// Sends the head if it may go now.
    pub(crate) fn dispatch_head(&mut self, sh: &mut Shared, now: &Reading, out: &mut Vec<Action>) {
        if !self.owned() {
            return;
        }
        let Some((seq, slot)) = self.window.head() else { return };
        let parks = matches!(slot.fate, Fate::Park { .. });
        if (!parks && !slot.is_due(now)) || !sh.has_room() || self.keeps_order_for_retry() {
            return;
        }
        let skewed = slot.append_due.is_some_and(|due| due > now.earliest);
        if !parks && skewed && !std::mem::replace(&mut self.noted_clock, true) {
            let offset = slot.offset;
            out.push(Action::Note(Some(self.claim), Note::ClockWasAhead(offset)));
        }
        self.send_slot(seq, sh, now, out);
    }

    /// A failed copy that will go, or is going by itself, to its destination again holds back what is behind it.
    fn keeps_order_for_retry(&self) -> bool {
        if !self.window.has_backoffs() && !self.some_alone {
            return false;
        }
        self.window.iter().any(|(_, s)| {
            let again = matches!(s.stage, Stage::Backoff(_))
                || (s.batching == Batching::Alone && matches!(s.stage, Stage::Sent(_)));
            again && matches!(s.fate, Fate::Release { .. } | Fate::Hop { .. })
        })
    }

    /// Settles where the record goes now and sends it there, or leaves it waiting.
    pub(crate) fn send_slot(&mut self, seq: Seq, sh: &mut Shared, now: &Reading, out: &mut Vec<Action>) {
        let Some(slot) = self.window.get_mut(seq) else { return };
        let Some((to, form)) = slot.settle(sh, now, out) else { return };
        let bytes = if matches!(slot.fate, Fate::ParkBare { .. }) { 0 } else { slot.bytes };
        let batching = slot.batching;
        self.some_alone |= batching == Batching::Alone;
        let copy = sh.send(Copy::new(self.claim, seq, to, bytes), form, batching, out);
        self.window.set_stage(seq, Stage::Sent(copy));
    }
}

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
    fn settle(&mut self, sh: &mut Shared, now: &Reading, out: &mut Vec<Action>) -> Option<(TopicKey, Form)> {
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

/// Headers → the first fate: pending, or parked where no waiting can help.
fn judge(head: &Head<'_>, sh: &mut Shared, now: &Reading) -> Fate {
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
fn asked(c: &Control<'_>) -> Asked {
    match (c.deliver_at, c.delay) {
        (Some(at), _) => Asked::At(at),
        (None, Some(delay)) => Asked::After(delay),
        (None, None) => Asked::Level,
    }
}

fn millis(d: Delay) -> i64 {
    i64::try_from(d.as_millis()).unwrap_or(i64::MAX)
}

/// A delay on our own monotonic clock that is not shorter on any broker's.
///
/// A record is seen just after it was appended, so "seen + delay" competes with "append + delay" within a
/// millisecond; two clocks that drift by 500 µs each second must not let it win and be early. Nor may it win where
/// the brokers' clocks are merely a little apart: the slowest would stamp the copy before `append + delay`.
fn seen_delay(delay: Delay, now: &Reading) -> Duration {
    let plain = Duration::from_millis(delay.as_millis());
    let apart = now.earliest.until(now.latest).min(CLOCKS_APART);
    plain + plain / 2_000 + Duration::from_millis(2) + apart
}
