//! The records of one partition between "read" and "done", in offset order.

use crate::event::Batching;
use crate::offset::{NextOffset, Offset};
use crate::time::{BrokerTime, Mono};
use crate::topics::TopicKey;
use dwell_levels::{Delay, Rounding};
use dwell_wire::Reason;
use slotmap::new_key_type;
use std::collections::VecDeque;

new_key_type! {
    /// One copy handed to the producer. Each gets exactly one report, however late; the key fences reports of
    /// earlier epochs and earlier attempts.
    pub struct CopyId;
}

/// Position of a record in its partition's window, counted from 0 in each epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

/// What is to become of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Where it goes is decided when it is due: to its target, or to another level.
    Pending { target: TopicKey },
    /// To its target.
    Release { target: TopicKey, due_ms: i64 },
    /// To another level, for the rest of its delay.
    Hop { level: TopicKey, due_ms: i64, deliver_at_ms: i64 },
    /// Aside, because its target does not answer or is not there.
    SetAside { level: TopicKey, due_ms: i64 },
    /// To the parked topic, for a human.
    Park { reason: Reason, error: String },
    /// To the parked topic, without its body, which even the parked topic refused.
    ParkBare { reason: Reason, error: String },
}

/// When the sender wants the record at its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// As soon as this level has been passed.
    Level,
    /// This long after the append on this level.
    After(Delay),
    /// At this time, epoch milliseconds.
    At(i64),
}

/// How far a record has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The head: not due, or nothing may be sent right now.
    Waiting,
    /// A copy is with the producer.
    Sent(CopyId),
    /// The copy failed; the next one goes out then.
    Backoff(Mono),
    /// A copy was acknowledged.
    Done,
}

/// A record in the window.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) offset: Offset,
    /// Append time + delay, where the append time is the broker's.
    pub(crate) append_due: Option<BrokerTime>,
    /// The same counted from when the record was first seen; whichever comes first counts.
    pub(crate) seen_due: Mono,
    pub(crate) asked: Asked,
    pub(crate) rounding: Rounding,
    pub(crate) bytes: usize,
    pub(crate) fate: Fate,
    pub(crate) stage: Stage,
    pub(crate) failures: u8,
    pub(crate) batching: Batching,
    pub(crate) target_waits: u32,
}

/// The window of one partition: done from the front, extended at the back by the head.
#[derive(Debug, Default)]
pub(crate) struct Window {
    slots: VecDeque<Slot>,
    base: u64,
    waiting_head: bool,
    backoffs: usize,
}

impl Window {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(crate) fn push_head(&mut self, slot: Slot) -> Seq {
        debug_assert!(!self.waiting_head, "a partition has one head");
        let seq = Seq(self.base + self.slots.len() as u64);
        self.slots.push_back(slot);
        self.waiting_head = true;
        seq
    }

    /// The record that waits, if there is one: always the last.
    pub(crate) fn head(&self) -> Option<(Seq, &Slot)> {
        let last = self.waiting_head.then(|| self.slots.back()).flatten()?;
        Some((Seq(self.base + self.slots.len() as u64 - 1), last))
    }

    /// Takes the head away without having sent it: it is read again by whoever owns the partition next.
    pub(crate) fn drop_head(&mut self) -> Option<Slot> {
        if std::mem::take(&mut self.waiting_head) { self.slots.pop_back() } else { None }
    }

    pub(crate) fn get(&self, seq: Seq) -> Option<&Slot> {
        self.slots.get(usize::try_from(seq.0.checked_sub(self.base)?).ok()?)
    }

    pub(crate) fn get_mut(&mut self, seq: Seq) -> Option<&mut Slot> {
        self.slots.get_mut(usize::try_from(seq.0.checked_sub(self.base)?).ok()?)
    }

    /// Moves a slot to another stage, keeping the counters.
    pub(crate) fn set_stage(&mut self, seq: Seq, stage: Stage) {
        let is_last = seq.0 + 1 == self.base + self.slots.len() as u64;
        let Some(slot) = self.get_mut(seq) else { return };
        let was = std::mem::replace(&mut slot.stage, stage);
        if was == Stage::Waiting && stage != Stage::Waiting && is_last {
            self.waiting_head = false;
        }
        self.backoffs += usize::from(matches!(stage, Stage::Backoff(_)));
        self.backoffs -= usize::from(matches!(was, Stage::Backoff(_)));
    }

    /// Sequence numbers of all slots, oldest first, with their slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Seq, &Slot)> {
        (self.base..).map(Seq).zip(&self.slots)
    }

    pub(crate) fn has_backoffs(&self) -> bool {
        self.backoffs > 0
    }

    /// Removes the done prefix. Returns each removed slot to `done` and where the partition may be committed.
    pub(crate) fn pop_done(&mut self, mut done: impl FnMut(Slot)) -> Option<NextOffset> {
        let mut next = None;
        while self.slots.front().is_some_and(|s| s.stage == Stage::Done) {
            if let Some(slot) = self.slots.pop_front() {
                next = Some(slot.offset.next());
                self.base += 1;
                done(slot);
            }
        }
        next
    }

    /// The first sequence number that is still in the window.
    pub(crate) fn base(&self) -> Seq {
        Seq(self.base)
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Slot> + '_ {
        self.waiting_head = false;
        self.backoffs = 0;
        self.base += self.slots.len() as u64;
        self.slots.drain(..)
    }
}

impl CopyId {
    /// As a number, for a client that carries one number with each record.
    pub fn to_u64(self) -> u64 {
        slotmap::Key::data(&self).as_ffi()
    }

    /// Back from the number.
    pub fn from_u64(n: u64) -> CopyId {
        slotmap::KeyData::from_ffi(n).into()
    }
}
