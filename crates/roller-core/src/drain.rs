//! Giving a partition back: let acknowledgements land for a bounded time, commit, go.

use crate::event::{Action, Note};
use crate::partition::{Partition, Phase};
use crate::shared::Shared;
use crate::time::{Mono, Reading};
use crate::window::Stage;

impl Partition {
    /// Starts to give the partition back. The head goes: the next owner reads it again.
    pub(crate) fn drain(&mut self, sh: &mut Shared, now: &Reading) {
        if !self.owned() {
            return;
        }
        if let Some(head) = self.window.drop_head() {
            head.release_uses(sh);
        }
        let acks_by = now.mono.plus(sh.limits.drain_acks);
        self.phase = Phase::Draining { acks_by, end_by: acks_by.plus(sh.limits.drain_commit) };
        self.retry_commit_at = None;
    }

    /// Someone else owns it already: nothing more is done for it, in particular no commit.
    pub(crate) fn lose(&mut self, sh: &mut Shared, out: &mut Vec<Action>) {
        if self.phase != Phase::Gone {
            self.finish(sh, out);
        }
    }

    /// Moves a draining partition on.
    pub(crate) fn drain_on(&mut self, sh: &mut Shared, now: &Reading, out: &mut Vec<Action>) {
        let Phase::Draining { acks_by, end_by } = self.phase else { return };
        if now.mono >= acks_by && !self.window.is_empty() {
            let unacknowledged = self.window.iter().filter(|(_, s)| s.stage != Stage::Done).count();
            out.push(Action::Note(Some(self.claim), Note::DrainCutShort { unacknowledged }));
            self.discard_window(sh);
        }
        if now.mono >= end_by || self.is_through() {
            self.finish(sh, out);
        }
    }

    /// Everything is acknowledged and committed.
    fn is_through(&self) -> bool {
        self.window.is_empty() && self.to_commit.is_none() && self.committing.is_none()
    }

    fn discard_window(&mut self, sh: &mut Shared) {
        for slot in self.window.drain() {
            slot.release_uses(sh);
        }
    }

    fn finish(&mut self, sh: &mut Shared, out: &mut Vec<Action>) {
        self.discard_window(sh);
        self.phase = Phase::Gone;
        out.push(Action::Drained(self.claim));
    }

    pub(crate) fn drain_wake(&self) -> Option<Mono> {
        match self.phase {
            Phase::Draining { .. } if self.is_through() => Some(Mono::default()),
            Phase::Draining { acks_by, .. } if !self.window.is_empty() => Some(acks_by),
            Phase::Draining { end_by, .. } => Some(end_by),
            Phase::Owned | Phase::Gone => None,
        }
    }
}
