//! Delivery reports: the only thing that completes a record.

use crate::event::{Action, Batching, Failure, Outcome};
use crate::partition::{Partition, Phase};
use crate::shared::{Copy, Shared};
use crate::time::Reading;
use crate::topics::Verdict;
use crate::window::{CopyId, Fate, Slot, Stage};
use dwell_wire::Reason;
use std::time::Duration;

impl Partition {
    /// Some copy of the record is safe. Which of several copies does not matter.
    pub(crate) fn acked(&mut self, copy: &Copy, sh: &mut Shared, now: &Reading, out: &mut Vec<Action>) {
        let Some(slot) = self.window.get(copy.seq) else { return };
        if slot.stage == Stage::Done {
            return;
        }
        out.push(Action::Completed(self.claim, slot.offset, slot.outcome(copy, sh)));
        self.window.set_stage(copy.seq, Stage::Done);
        self.take_done(sh, now, out);
    }

    /// Moves past the done prefix.
    fn take_done(&mut self, sh: &mut Shared, now: &Reading, out: &mut Vec<Action>) {
        let mut taken = 0;
        let next = self.window.pop_done(|slot| {
            slot.release_uses(sh);
            taken += 1;
        });
        if let Some(next) = next {
            if self.some_alone {
                self.some_alone = self.window.iter().any(|(_, s)| s.batching == Batching::Alone);
            }
            self.uncommitted += taken;
            self.first_uncommitted.get_or_insert(now.mono);
            self.last_done = now.mono;
            self.to_commit = Some(next);
            out.push(Action::Forget(self.claim, self.window.base()));
        }
    }

    /// A copy was not written. Only the newest copy of a record decides anything.
    pub(crate) fn failed(
        &mut self,
        id: CopyId,
        copy: &Copy,
        failure: Failure,
        sh: &mut Shared,
        now: &Reading,
        out: &mut Vec<Action>,
    ) {
        note_topic(copy, &failure, sh, now);
        let Some(slot) = self.window.get_mut(copy.seq) else { return };
        if slot.stage != Stage::Sent(id) {
            return;
        }
        let pause = slot.after_failure(&failure, sh);
        self.window.set_stage(copy.seq, Stage::Backoff(now.mono.plus(pause)));
        if pause.is_zero() {
            self.resend(sh, now, out);
        }
    }

    /// Sends again what has waited long enough.
    pub(crate) fn resend(&mut self, sh: &mut Shared, now: &Reading, out: &mut Vec<Action>) {
        if !self.window.has_backoffs() || self.phase == Phase::Gone {
            return;
        }
        let ready: Vec<_> = self
            .window
            .iter()
            .filter(|(_, s)| matches!(s.stage, Stage::Backoff(until) if until <= now.mono))
            .map(|(seq, _)| seq)
            .collect();
        for seq in ready {
            if !sh.has_room() {
                break;
            }
            self.send_slot(seq, sh, now, out);
        }
    }

    /// What is under way to a topic that does not answer goes aside.
    pub(crate) fn target_silent(&mut self, topic: crate::TopicKey, sh: &mut Shared, now: &Reading) {
        let stuck: Vec<_> = self
            .window
            .iter()
            .filter(|(_, s)| matches!(s.stage, Stage::Sent(_)) && s.is_bound_for(topic))
            .map(|(seq, _)| seq)
            .collect();
        for seq in stuck {
            if let Some(slot) = self.window.get_mut(seq) {
                slot.put_aside(Reason::TargetUnavailable, sh);
            }
            self.window.set_stage(seq, Stage::Backoff(now.mono));
        }
    }
}

impl Slot {
    fn is_bound_for(&self, topic: crate::TopicKey) -> bool {
        match self.fate {
            Fate::Release { target, .. } => target == topic,
            Fate::Hop { level, .. } => level == topic,
            _ => false,
        }
    }

    /// The outcome by the copy that was acknowledged, which may be an older one than the fate says.
    fn outcome(&self, copy: &Copy, sh: &Shared) -> Outcome {
        match &self.fate {
            Fate::Release { due_ms, .. } => Outcome::Released { due_ms: *due_ms },
            Fate::Hop { .. } => Outcome::Hopped,
            Fate::SetAside { level, due_ms } if copy.dest != *level => Outcome::Released { due_ms: *due_ms },
            Fate::SetAside { .. } => Outcome::SetAside,
            Fate::Park { reason, .. } | Fate::ParkBare { reason, .. } if copy.dest == sh.parked => {
                Outcome::Parked(*reason)
            }
            Fate::Park { .. } | Fate::ParkBare { .. } | Fate::Pending { .. } => {
                Outcome::Released { due_ms: self.append_due.map_or(0, |d| d.floor_millis()) }
            }
        }
    }

    /// Changes the fate where the failure asks for it; returns the pause before the next copy.
    fn after_failure(&mut self, failure: &Failure, sh: &mut Shared) -> Duration {
        if matches!(failure, Failure::TooLarge | Failure::Rejected(_)) && self.batching == Batching::Shared {
            self.batching = Batching::Alone;
            return Duration::ZERO;
        }
        let patient = sh.limits.backoff_after(self.failures);
        match failure {
            Failure::Refused => return Duration::from_millis(1),
            Failure::UnknownTopic if self.goes_to_target() => {
                self.put_aside(Reason::TargetUnknown, sh);
                return Duration::ZERO;
            }
            Failure::Forbidden if self.goes_to_target() => {
                self.put_aside(Reason::TargetForbidden, sh);
                return Duration::ZERO;
            }
            Failure::TooLarge => {
                if self.give_up(Reason::TooLarge, "larger than the topic takes".into(), sh) {
                    return Duration::ZERO;
                }
            }
            Failure::Rejected(text) => {
                if !self.goes_to_parked() && self.give_up(Reason::TargetUnavailable, text.clone(), sh) {
                    return Duration::ZERO;
                }
            }
            Failure::UnknownTopic | Failure::Forbidden | Failure::Retriable | Failure::Fatal(_) => {}
        }
        self.failures = self.failures.saturating_add(1);
        patient
    }

    /// To the parked topic; from there once more without its body. False if nothing is left to try.
    fn give_up(&mut self, reason: Reason, error: String, sh: &mut Shared) -> bool {
        match &self.fate {
            Fate::ParkBare { .. } => return false,
            Fate::Park { reason, error } => {
                self.fate = Fate::ParkBare { reason: *reason, error: error.clone() };
            }
            _ => self.park(reason, error, sh),
        }
        true
    }

    fn goes_to_target(&self) -> bool {
        matches!(self.fate, Fate::Release { .. })
    }

    fn goes_to_parked(&self) -> bool {
        matches!(self.fate, Fate::Park { .. } | Fate::ParkBare { .. })
    }
}

fn note_topic(copy: &Copy, failure: &Failure, sh: &mut Shared, now: &Reading) {
    let verdict = match failure {
        Failure::UnknownTopic => Verdict::Missing,
        Failure::Forbidden => Verdict::Forbidden,
        _ => return,
    };
    sh.topics.answered(copy.dest, verdict, now.mono);
}
