//! The line in which records wait for room.

use super::failure::SendTrouble;
use super::letter::{Letter, Reply};
use super::options::SenderOptions;
use super::{Load, Outstanding};
use crate::clock::mono;
use crate::producer::Fate;
use dwell_roller_core::Mono;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A place in line; smaller ones come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// A record in line.
pub(super) struct Waiting {
    pub(super) letter: Letter,
    pub(super) size: usize,
    pub(super) reply: Reply,
    until: Mono,
}

/// The line and the room in front of it. Answers are always given outside its lock: they may call back.
pub(super) struct Line {
    state: Mutex<State>,
    wake: Condvar,
    bounds: Load,
    timeout: Duration,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<Ticket, Waiting>,
    next: u64,
    sent: Load,
    closing: Option<Mono>,
}

/// What the thread waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WakeFor {
    /// A record that may go, the end, or the time.
    Records,
    /// The end or the time: records could not go.
    Time,
}

impl Line {
    pub(super) fn new(options: &SenderOptions) -> Line {
        Line {
            state: Mutex::default(),
            wake: Condvar::new(),
            bounds: Load { records: options.max_records.max(1), bytes: options.max_bytes },
            timeout: options.timeout,
        }
    }

    /// Every change is a single step, so a panic elsewhere leaves the state whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a record in; without a ticket it has been refused and answered.
    pub(super) fn join(&self, letter: Letter, reply: Reply) -> Option<Ticket> {
        let waiting = Waiting { size: letter.size(), letter, reply, until: mono().plus(self.timeout) };
        let mut state = self.lock();
        if state.closing.is_some() {
            drop(state);
            waiting.reply.failed(SendTrouble::Closed, Fate::NotWritten);
            return None;
        }
        let ticket = Ticket(state.next);
        state.next += 1;
        state.waiting.insert(ticket, waiting);
        drop(state);
        self.wake.notify_one();
        Some(ticket)
    }

    pub(super) fn withdraw(&self, ticket: Ticket) {
        let withdrawn = self.lock().waiting.remove(&ticket);
        if let Some(waiting) = withdrawn {
            waiting.reply.failed(SendTrouble::Withdrawn, Fate::NotWritten);
        }
    }

    /// The first in line, if there is room for it.
    pub(super) fn admit(&self) -> Option<(Ticket, Waiting)> {
        let mut state = self.lock();
        if !state.fits(self.bounds) {
            return None;
        }
        let (ticket, waiting) = state.waiting.pop_first()?;
        state.sent.records += 1;
        state.sent.bytes += waiting.size;
        Some((ticket, waiting))
    }

    /// Back to its old place: the client had no room after all.
    pub(super) fn put_back(&self, ticket: Ticket, waiting: Waiting) {
        let mut state = self.lock();
        state.leave(waiting.size);
        state.waiting.insert(ticket, waiting);
    }

    /// A record of this size was answered.
    pub(super) fn left(&self, size: usize) {
        self.lock().leave(size);
    }

    /// Answers those that waited too long.
    pub(super) fn expire(&self, now: Mono) {
        loop {
            let mut state = self.lock();
            if state.waiting.first_key_value().is_none_or(|(_, first)| first.until > now) {
                return;
            }
            let expired = state.waiting.pop_first();
            drop(state);
            if let Some((_, waiting)) = expired {
                waiting.reply.failed(SendTrouble::NoRoom(self.timeout), Fate::NotWritten);
            }
        }
    }

    /// Waits until there is something to do.
    pub(super) fn wait(&self, wake_for: WakeFor, at_most: Duration) {
        let state = self.lock();
        let closing = state.closing;
        let idle =
            |state: &mut State| state.closing == closing && !(wake_for == WakeFor::Records && state.fits(self.bounds));
        if state.closing.is_some() && state.waiting.is_empty() && state.sent.records == 0 {
            return;
        }
        // The result is the state and whether the time is up; the caller looks at everything anyway.
        drop(self.wake.wait_timeout_while(state, at_most, idle).unwrap_or_else(PoisonError::into_inner));
    }

    /// Takes no more records.
    pub(super) fn close(&self, patience: Duration) {
        self.lock().closing.get_or_insert(mono().plus(patience));
        self.wake.notify_all();
    }

    /// Whether the thread may end: closed, and either empty or out of patience.
    pub(super) fn ended(&self, now: Mono) -> Ended {
        let state = self.lock();
        let empty = state.waiting.is_empty() && state.sent.records == 0;
        match state.closing {
            Some(deadline) if empty || deadline <= now => Ended::Yes,
            _ => Ended::No,
        }
    }

    /// Answers all that still wait.
    pub(super) fn send_home(&self) {
        let waiting = std::mem::take(&mut self.lock().waiting);
        for (_, waiting) in waiting {
            waiting.reply.failed(SendTrouble::Closed, Fate::NotWritten);
        }
    }

    pub(super) fn outstanding(&self) -> Outstanding {
        let state = self.lock();
        Outstanding { waiting: state.waiting.len(), sent: state.sent }
    }
}

/// Whether the thread may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Yes,
    No,
}

impl State {
    /// Whether the first in line may go. One that is larger than all room goes when nothing else is under way.
    fn fits(&self, bounds: Load) -> bool {
        let Some((_, first)) = self.waiting.first_key_value() else { return false };
        let room = self.sent.records < bounds.records && self.sent.bytes.saturating_add(first.size) <= bounds.bytes;
        room || self.sent.records == 0
    }

    fn leave(&mut self, size: usize) {
        self.sent.records = self.sent.records.saturating_sub(1);
        self.sent.bytes = self.sent.bytes.saturating_sub(size);
    }
}

#[cfg(test)]
mod tests;
