//! When to commit: at the bound, after a while, or when idle. Only ever the contiguous done prefix.

use crate::event::Action;
use crate::offset::NextOffset;
use crate::partition::{Partition, Phase};
use crate::shared::Shared;
use crate::time::{Mono, Reading};
use std::time::Duration;

impl Partition {
    /// Asks for a commit if one is due. One at a time.
    pub(crate) fn commit_if_due(&mut self, sh: &Shared, now: &Reading, out: &mut Vec<Action>) {
        if self.committing.is_some() || self.phase == Phase::Gone {
            return;
        }
        let Some(next) = self.to_commit else { return };
        if self.commit_wait(sh, now).is_some_and(|wait| wait.is_zero()) {
            self.committing = Some(next);
            out.push(Action::Commit(self.claim, next));
        }
    }

    /// Time until the next commit is due, if there is anything to commit.
    pub(crate) fn commit_wait(&self, sh: &Shared, now: &Reading) -> Option<Duration> {
        self.to_commit?;
        if self.committing.is_some() {
            return None;
        }
        if let Some(at) = self.retry_commit_at {
            return Some(at.since(now.mono));
        }
        let half_full = self.window.len() + self.uncommitted > sh.limits.uncommitted / 2
            && self.uncommitted >= sh.limits.uncommitted / 4;
        if half_full || self.drains_last() {
            return Some(Duration::ZERO);
        }
        let by_age = self.first_uncommitted.unwrap_or(now.mono).plus(sh.limits.commit_after);
        let idle = self.window.is_empty() || (self.window.len() == 1 && self.window.head().is_some());
        let at = if idle { by_age.min(self.last_done.plus(sh.limits.commit_idle)) } else { by_age };
        Some(at.since(now.mono))
    }

    /// Draining, and no more acknowledgements are expected or waited for.
    fn drains_last(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. }) && self.window.is_empty()
    }

    pub(crate) fn committed(&mut self, next: NextOffset, now: &Reading) {
        if self.committing != Some(next) {
            return;
        }
        self.committing = None;
        self.retry_commit_at = None;
        if self.to_commit == Some(next) {
            self.to_commit = None;
            self.uncommitted = 0;
            self.first_uncommitted = None;
        } else {
            // What was done since then is still uncommitted; how much of it is counted from the offsets, which
            // can only overstate it.
            self.uncommitted = self.uncommitted.min(self.done_since(next));
            self.first_uncommitted = Some(now.mono);
        }
    }

    fn done_since(&self, committed: NextOffset) -> usize {
        let newest = self.to_commit.map_or(committed.get(), NextOffset::get);
        // Offsets that went back (a topic made anew) say nothing about how many records were done.
        usize::try_from(newest.saturating_sub(committed.get())).unwrap_or(usize::MAX)
    }

    pub(crate) fn commit_failed(&mut self, now: &Reading) {
        if self.committing.take().is_none() {
            return;
        }
        self.retry_commit_at = Some(now.mono.plus(Duration::from_millis(500)));
    }

    pub(crate) fn retry_commit_due(&self) -> Option<Mono> {
        self.retry_commit_at.filter(|_| self.committing.is_none())
    }
}
