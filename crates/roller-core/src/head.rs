//! A record becomes the head, waits, and is decided on when it is due.

use crate::event::{Action, Batching, Head, Note, Stamp};
use crate::judge::{asked, judge};
use crate::partition::Partition;
use crate::shared::{Copy, Shared};
use crate::time::{BrokerTime, Reading};
use crate::window::{Asked, Fate, Seq, Slot, Stage};
use dwell_levels::Delay;
use std::time::Duration;

/// Brokers' clocks this far apart still count as well kept; beyond it, one of them is wrong.
const CLOCKS_APART: Duration = Duration::from_secs(1);

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
