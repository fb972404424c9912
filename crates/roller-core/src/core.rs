//! The roller of one level: a set of claimed partitions and what they share.

use crate::event::{Action, Claim, Epoch, Event, Head, Note};
use crate::limits::Limits;
use crate::offset::Offset;
use crate::partition::{Doing, Partition, Phase};
use crate::shared::{Copy, Revived, Shared};
use crate::time::Reading;
use crate::topics::{Report, Silence, TopicKey};
use crate::window::{Fate, Stage};
use dwell_levels::{Level, LevelTable};
use std::sync::Arc;
use std::time::Duration;

/// Decides everything a roller does for one level.
///
/// Feed it [`Event`]s with the time at which they are handled, perform the [`Action`]s it appends, and call
/// again with [`Event::Tick`] after at most [`Core::next_wake`]. It reads no clock and does no I/O; the same
/// events give the same actions. A call too many changes nothing.
///
/// The caller keeps, for each claim, the records it has offered and that are not yet forgotten, in order: the
/// n-th head offered under a claim has [`Seq`](crate::Seq) n, from 0.
#[derive(Debug)]
pub struct Core {
    shared: Shared,
    /// By partition number.
    partitions: Vec<Option<Partition>>,
    /// The newest epoch of each partition, also after it was let go: it stays fenced.
    epochs: Vec<Option<Epoch>>,
    stopping: Stopping,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopping {
    No,
    Asked,
    Said,
}

/// Kafka numbers partitions from 0; more than this on one topic is not a level but a mistake.
const MOST_PARTITIONS: i32 = 100_000;

impl Core {
    /// A roller for `level` of `table`, with no partitions.
    pub fn new(table: Arc<LevelTable>, level: Level, limits: Limits) -> Core {
        Core {
            shared: Shared::new(table, level, limits),
            partitions: Vec::new(),
            epochs: Vec::new(),
            stopping: Stopping::No,
        }
    }

    /// Handles one event and appends what is to be done.
    pub fn handle(&mut self, now: &Reading, event: Event<'_>, out: &mut Vec<Action>) {
        self.shared.measured |= now.is_measured();
        match event {
            Event::Head(claim, head) => self.head(claim, head, now, out),
            Event::Acked(id) => self.acked(id, now, out),
            Event::Failed(id, failure) => self.failed(id, failure, now, out),
            Event::EndReached(claim) => {
                self.with(claim, |p, sh| p.end_reached(sh, now, out));
            }
            Event::EndSeen(claim, end) => {
                self.with(claim, |p, sh| p.end_seen(end, sh, now, out));
            }
            Event::Assigned(claim) => self.assigned(claim, now, out),
            Event::Revoked(claim) => {
                self.with(claim, |p, sh| p.drain(sh, now));
            }
            Event::Lost(claim) => {
                self.with(claim, |p, sh| p.lose(sh, out));
            }
            Event::TopicAnswer(topic, verdict) => self.shared.topics.answered(topic, verdict, now.mono),
            Event::ClusterAnswered => {
                let cap = self.shared.limits.evidence_cap;
                self.shared.topics.alive.answered(now.mono, cap);
            }
            Event::Committed(claim, next) => {
                self.with(claim, |p, _| p.committed(next, now));
            }
            Event::CommitFailed(claim) => {
                self.with(claim, |p, _| p.commit_failed(now));
            }
            Event::Tick => self.tick(now, out),
            Event::Stop => self.stop(now, out),
        }
    }

    /// Whether the claim wants its next record. Offer one only then.
    pub fn wants_head(&self, claim: Claim) -> bool {
        self.shared.measured
            && self
                .get(claim)
                .is_some_and(|p| p.owned() && p.window.head().is_none() && p.has_room(&self.shared.limits))
    }

    /// Time until a tick is needed, at most `longest`.
    pub fn next_wake(&self, now: &Reading, longest: Duration) -> Duration {
        let sh = &self.shared;
        let mut wake = longest;
        for p in self.partitions.iter().flatten() {
            let deadlines = [p.flow_wake(), p.drain_wake(), p.retry_commit_due()];
            for at in deadlines.into_iter().flatten() {
                wake = wake.min(at.since(now.mono));
            }
            if let Some(wait) = p.commit_wait(sh, now) {
                wake = wake.min(wait);
            }
            if p.owned()
                && let Some((_, head)) = p.window.head()
            {
                wake = wake.min(self.head_wait(head, now));
            }
            for (_, slot) in p.window.iter().filter(|_| p.window.has_backoffs()) {
                if let Stage::Backoff(until) = slot.stage {
                    wake = wake.min(until.since(now.mono).max(BLOCKED_RECHECK));
                }
            }
        }
        wake
    }

    /// A due head that could not go is looked at again soon, not at once: the loop must not spin on it.
    fn head_wait(&self, head: &crate::window::Slot, now: &Reading) -> Duration {
        if matches!(head.fate, Fate::Park { .. }) || head.is_due(now) { BLOCKED_RECHECK } else { head.wait(now) }
    }

    /// The topic a key stands for.
    pub fn topic_name(&self, key: TopicKey) -> Arc<str> {
        self.shared.topics.name(key)
    }

    /// Copies with the producer that count against the limits.
    pub fn in_flight(&self) -> usize {
        self.shared.in_flight()
    }

    /// Whether anything was sent that has not been reported.
    pub fn awaits_reports(&self) -> bool {
        !self.shared.copies.is_empty()
    }

    /// Takes another table: targets and plans follow it from the next record on.
    pub fn set_table(&mut self, table: Arc<LevelTable>) {
        self.shared.set_table(table);
    }

    /// The claims that are held or being given back.
    pub fn claims(&self) -> impl Iterator<Item = Claim> + '_ {
        self.partitions.iter().flatten().map(|p| p.claim)
    }

    /// What each owned partition is doing.
    pub fn census(&self, now: &Reading) -> Vec<(Claim, Doing)> {
        self.partitions.iter().flatten().map(|p| (p.claim, self.doing(p, now))).collect()
    }

    fn doing(&self, p: &Partition, now: &Reading) -> Doing {
        match p.window.head() {
            Some((_, head)) if head.is_due(now) => Doing::Blocked,
            Some(_) if p.window.len() == 1 => Doing::Waiting,
            None if p.window.is_empty() => Doing::Empty,
            _ => Doing::Releasing,
        }
    }

    /// The earliest due head: its partition's claim, offset and the time until it is due.
    pub fn next_due(&self, now: &Reading) -> Option<(Claim, Offset, Duration)> {
        let heads = self.partitions.iter().flatten().filter_map(|p| p.window.head().map(|(_, h)| (p.claim, h)));
        heads.map(|(c, h)| (c, h.offset, h.wait(now))).min_by_key(|&(_, _, wait)| wait)
    }

    fn get(&self, claim: Claim) -> Option<&Partition> {
        let p = self.partitions.get(usize::try_from(claim.partition).ok()?)?.as_ref()?;
        (p.claim == claim).then_some(p)
    }

    /// Runs `f` on the claimed partition; an older claim finds nothing.
    fn with<R>(&mut self, claim: Claim, f: impl FnOnce(&mut Partition, &mut Shared) -> R) -> Option<R> {
        let index = usize::try_from(claim.partition).ok()?;
        let entry = self.partitions.get_mut(index)?;
        let p = entry.as_mut().filter(|p| p.claim == claim)?;
        let r = f(p, &mut self.shared);
        if p.phase == Phase::Gone {
            *entry = None;
        }
        Some(r)
    }

    fn assigned(&mut self, claim: Claim, now: &Reading, out: &mut Vec<Action>) {
        let Some(index) = usize::try_from(claim.partition).ok().filter(|_| claim.partition < MOST_PARTITIONS) else {
            return;
        };
        if self.partitions.len() <= index {
            self.partitions.resize_with(index + 1, || None);
            self.epochs.resize(index + 1, None);
        }
        if self.epochs[index].is_some_and(|newest| newest >= claim.epoch) {
            return;
        }
        self.epochs[index] = Some(claim.epoch);
        if let Some(old) = &self.partitions[index] {
            // Lost and regained without our being told: the old claim is worth nothing.
            let old = old.claim;
            self.with(old, |p, sh| p.lose(sh, out));
        }
        let mut p = Partition::new(claim, &self.shared.level);
        // The client remembers a pause across assignments; the core does not.
        out.push(Action::Resume(claim));
        if self.stopping != Stopping::No {
            p.drain(&mut self.shared, now);
        }
        self.partitions[index] = Some(p);
    }

    fn head(&mut self, claim: Claim, head: Head<'_>, now: &Reading, out: &mut Vec<Action>) {
        if self.wants_head(claim) {
            self.with(claim, |p, sh| p.admit(head, sh, now, out));
        }
    }

    fn acked(&mut self, id: crate::CopyId, now: &Reading, out: &mut Vec<Action>) {
        let Some((copy, revived)) = self.shared.report(id, Report::Acked, now) else { return };
        if revived == Revived::Yes {
            out.push(Action::Note(None, Note::TargetBack(copy.dest)));
        }
        self.with(copy.claim, |p, sh| {
            p.acked(&copy, sh, now, out);
            p.commit_if_due(sh, now, out);
        });
    }

    fn failed(&mut self, id: crate::CopyId, failure: crate::Failure, now: &Reading, out: &mut Vec<Action>) {
        let Some((copy, _)) = self.shared.report(id, Report::Failed, now) else { return };
        if let crate::Failure::Fatal(text) = &failure {
            out.push(Action::Fatal(text.clone()));
        }
        self.with::<()>(copy.claim, |p, sh| p.failed(id, &copy, failure, sh, now, out));
    }

    fn tick(&mut self, now: &Reading, out: &mut Vec<Action>) {
        self.find_silent(now, out);
        let mut looks = Vec::new();
        for index in 0..self.partitions.len() {
            let Some(claim) = self.partitions[index].as_ref().map(|p| p.claim) else { continue };
            let looked = self.with(claim, |p, sh| {
                p.resend(sh, now, out);
                p.dispatch_head(sh, now, out);
                p.commit_if_due(sh, now, out);
                p.adjust_flow(sh, now, out);
                p.drain_on(sh, now, out);
                p.take_look(now)
            });
            if looked == Some(true) {
                looks.push(claim);
            }
        }
        if !looks.is_empty() {
            out.push(Action::Look(looks));
        }
        self.say_stopped(out);
    }

    fn find_silent(&mut self, now: &Reading, out: &mut Vec<Action>) {
        let limit = self.shared.limits.target_silence;
        for (topic, since) in self.shared.topics.silent_for(limit) {
            if since == Silence::New {
                out.push(Action::Note(None, Note::TargetSilent(topic)));
            }
            for p in self.partitions.iter_mut().flatten() {
                p.target_silent(topic, &mut self.shared, now);
            }
            self.shared.strand(topic);
        }
    }

    fn stop(&mut self, now: &Reading, out: &mut Vec<Action>) {
        if self.stopping == Stopping::No {
            self.stopping = Stopping::Asked;
        }
        for p in self.partitions.iter_mut().flatten() {
            p.drain(&mut self.shared, now);
        }
        self.tick(now, out);
    }

    fn say_stopped(&mut self, out: &mut Vec<Action>) {
        if self.stopping == Stopping::Asked && self.partitions.iter().all(Option::is_none) {
            self.stopping = Stopping::Said;
            out.push(Action::Stopped);
        }
    }

    /// For the simulation and the tests: the copy a report would belong to.
    pub fn is_in_flight(&self, id: crate::CopyId) -> bool {
        self.shared.copies.get(id).is_some_and(|_: &Copy| true)
    }
}

/// How soon a head or a failed copy that may go but cannot is looked at again.
const BLOCKED_RECHECK: Duration = Duration::from_millis(2);
