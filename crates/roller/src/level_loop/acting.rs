//! Does what the core says.

use super::{Effect, End, LevelLoop};
use crate::ring::Ring;
use crate::sending::{Copy, Source};
use crate::side::Question;
use dwell_kafka::producer::Written;
use dwell_roller_core::{Action, Claim, Event, Failure, Note, Offset, Outcome, Reading, TopicKey};
use std::sync::Arc;

impl LevelLoop {
    /// Tells the core and does what it says.
    pub(super) fn tell(&mut self, now: &Reading, event: Event<'_>) {
        self.parts.core.handle(now, event, &mut self.actions);
        self.perform(now, None);
    }

    /// Does what the core has said; refused copies are told at once.
    pub(super) fn perform(&mut self, now: &Reading, written: Option<&Written>) {
        loop {
            let mut actions = std::mem::take(&mut self.actions);
            for action in actions.drain(..) {
                self.act(action, now, written);
            }
            if self.actions.is_empty() {
                self.actions = actions;
            }
            if self.failures.is_empty() {
                return;
            }
            for (copy, failure) in std::mem::take(&mut self.failures) {
                self.parts.metrics.failed(&failure);
                self.parts.core.handle(now, Event::Failed(copy, failure), &mut self.actions);
            }
        }
    }

    pub(super) fn act(&mut self, action: Action, now: &Reading, written: Option<&Written>) {
        match action {
            Action::Send { copy, claim, seq, to, form, batching } => {
                let to = self.name(to);
                let source = Source { level: &self.parts.level, topic: &self.parts.topic, partition: claim.partition };
                let now_ms = now.latest.floor_millis();
                let outgoing = Copy { id: copy, to: &to, form: &form, batching, source, now_ms };
                let record = self.rings.get(&claim.partition).filter(|r| r.claim == claim).and_then(|r| r.get(seq));
                let sent = match record {
                    Some(record) => self.parts.sending.send(record, &outgoing),
                    None => Err(Failure::Fatal("a record to be sent is not in the ring".to_owned())),
                };
                if let Err(failure) = sent {
                    self.failures.push((copy, failure));
                }
            }
            Action::Detach(claim, seq) => self.with_ring(claim, |ring| {
                if let Some(record) = ring.get_mut(seq) {
                    record.detach();
                }
            }),
            Action::Forget(claim, seq) => self.with_ring(claim, |ring| ring.forget_before(seq)),
            Action::Completed(claim, offset, outcome) => self.completed(claim, offset, &outcome, now, written),
            Action::Pause(claim) => self.check("pause", self.parts.consumer.pause(claim.partition)),
            Action::Resume(claim) => self.check("resume", self.parts.consumer.resume(claim.partition)),
            Action::Look(claims) => {
                self.parts.asker.ask(Question::Ends { topic: self.parts.topic.clone(), claims });
            }
            Action::AskTopic(key) => {
                let name = self.parts.core.topic_name(key).to_string();
                self.parts.asker.ask(Question::Topic { key, name });
            }
            Action::Commit(claim, next) => self.parts.consumer.commit(claim.partition, next),
            Action::Drained(claim) => self.drained(claim),
            Action::Stopped => self.ending = Some(End::Stopped),
            Action::Note(claim, note) => {
                if matches!(note, Note::WentBack { .. }) {
                    self.parts.metrics.offset_reset(Effect::Repeats);
                }
                self.chronicle.note(claim, &note, &self.parts.core);
            }
            Action::Fatal(text) => self.ending = Some(End::Failed(text)),
        }
    }

    pub(super) fn name(&mut self, key: TopicKey) -> Arc<str> {
        if self.names.len() > 8192 {
            self.names.clear();
        }
        self.names.entry(key).or_insert_with(|| self.parts.core.topic_name(key)).clone()
    }

    pub(super) fn with_ring(&mut self, claim: Claim, f: impl FnOnce(&mut Ring)) {
        if let Some(ring) = self.rings.get_mut(&claim.partition).filter(|r| r.claim == claim) {
            f(ring);
        }
    }

    pub(super) fn check<E: std::fmt::Display>(&self, what: &str, result: Result<(), E>) {
        if let Err(error) = result {
            tracing::warn!(level = self.parts.level, %error, "cannot {what} a partition");
        }
    }

    pub(super) fn completed(
        &mut self,
        claim: Claim,
        offset: Offset,
        outcome: &Outcome,
        now: &Reading,
        written: Option<&Written>,
    ) {
        let mut late_us = 0;
        if let Outcome::Released { due_ms } = outcome {
            late_us = now.latest.as_micros() - due_ms * 1000;
            if let Some(append_ms) = written.and_then(|w| w.append_ms)
                && append_ms < *due_ms
            {
                self.parts.metrics.early.increment(1);
                tracing::error!(
                    level = self.parts.level, partition = claim.partition, %offset,
                    "released {} ms before it was due by the target's broker; its clock is behind the others'",
                    due_ms - append_ms
                );
            }
        }
        self.parts.metrics.completed(outcome, late_us as f64 / 1e6);
        self.chronicle.completed(claim, offset, outcome);
    }
}
