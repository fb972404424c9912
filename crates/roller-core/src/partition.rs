//! The state of one owned partition.

use crate::event::Claim;
use crate::flow::Flow;
use crate::limits::Limits;
use crate::offset::NextOffset;
use crate::sightings::Sightings;
use crate::time::Mono;
use crate::window::Window;
use dwell_levels::Level;
use std::time::Duration;

/// How much longer the claim lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Until further notice.
    Owned,
    /// Acknowledgements are taken in until the first moment, the last commit's answer until the second.
    Draining { acks_by: Mono, end_by: Mono },
    /// Finished with; only waits to be taken out.
    Gone,
}

/// One claim on a partition. Its events are handled in [`crate::head`], [`crate::reports`],
/// [`crate::commit`], [`crate::flow`] and [`crate::drain`].
#[derive(Debug)]
pub(crate) struct Partition {
    pub(crate) claim: Claim,
    pub(crate) phase: Phase,
    pub(crate) window: Window,
    pub(crate) sightings: Sightings,
    /// Where reading goes on.
    pub(crate) position: Option<NextOffset>,
    pub(crate) flow: Flow,
    /// When the end offset is looked at next.
    pub(crate) look_at: Option<Mono>,
    /// Done but not committed.
    pub(crate) uncommitted: usize,
    pub(crate) first_uncommitted: Option<Mono>,
    pub(crate) last_done: Mono,
    pub(crate) to_commit: Option<NextOffset>,
    pub(crate) committing: Option<NextOffset>,
    pub(crate) retry_commit_at: Option<Mono>,
    /// Copies were sent outside the common batches; see `keeps_order_for_retry`.
    pub(crate) some_alone: bool,
    /// One note per claim about records without append time, and one about clocks.
    pub(crate) noted_stamp: bool,
    pub(crate) noted_clock: bool,
}

impl Partition {
    pub(crate) fn new(claim: Claim, level: &Level) -> Partition {
        // A sixty-fourth of the delay: the list covers about one delay's worth of sightings.
        let spacing = Duration::from_millis(level.delay.as_millis() / 64);
        Partition {
            claim,
            phase: Phase::Owned,
            window: Window::default(),
            sightings: Sightings::with_spacing(spacing),
            position: None,
            flow: Flow::Fetching,
            look_at: None,
            uncommitted: 0,
            first_uncommitted: None,
            last_done: Mono::default(),
            to_commit: None,
            committing: None,
            retry_commit_at: None,
            some_alone: false,
            noted_stamp: false,
            noted_clock: false,
        }
    }

    pub(crate) fn owned(&self) -> bool {
        self.phase == Phase::Owned
    }

    /// Room for another record under the bound of what a crash may repeat.
    pub(crate) fn has_room(&self, limits: &Limits) -> bool {
        self.window.len() + self.uncommitted < limits.uncommitted
    }
}

/// What an owned partition is doing, for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Doing {
    /// Nothing waits.
    Empty,
    /// The head is not due.
    Waiting,
    /// Copies are under way.
    Releasing,
    /// A due head cannot go: no room, no answer about its target, or a failed copy before it.
    Blocked,
}
