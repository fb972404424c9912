//! A committed or reached position that the brokers no longer know: what that does to records, told once and counted.

use super::LevelLoop;
use dwell_roller_core::{Claim, NextOffset, Offset};

impl LevelLoop {
    /// The partition holds nothing behind the last record read.
    pub(super) fn look_for_reset_at_the_end(&mut self, claim: Claim) {
        let last = self.rings.get(&claim.partition).filter(|r| r.claim == claim).and_then(|r| r.last);
        if let Some(end) = self.parts.consumer.fetched_end(claim.partition) {
            self.look_for_reset(claim, last, end);
        }
    }

    /// Reading has come to `at`: was there a reset on the way?
    ///
    /// `last` is the record read before under this claim. One that follows it directly was fetched before the reset.
    pub(super) fn look_for_reset(&mut self, claim: Claim, last: Option<Offset>, at: NextOffset) {
        if !self.parts.consumer.has_resets() || last.is_some_and(|last| last.next() == at) {
            return;
        }
        let Some(reset) = self.parts.consumer.take_reset(claim.partition) else { return };
        let went_back_under_our_eyes = last.is_some_and(|last| last.next() > at);
        if went_back_under_our_eyes {
            // The core notes it.
            return;
        }
        let (level, topic, partition) = (&self.parts.level, &self.parts.topic, claim.partition);
        let (from, to, why) = (reset.from, at.get(), reset.why);
        let effect = if to <= from { Effect::Repeats } else { Effect::Lost };
        self.parts.metrics.offset_reset(effect);
        match effect {
            Effect::Repeats => tracing::error!(
                level,
                partition,
                "offset {from} of {topic}, partition {partition}, does not exist ({why}): the topic was made anew, \
                 records were lost, or the group's offsets are another topic's. Reading goes on at {to}, the earliest; \
                 what is there is released, also what was released before"
            ),
            Effect::Lost => tracing::error!(
                level,
                partition,
                "offset {from} of {topic}, partition {partition}, does not exist any more ({why}): records up to \
                 {to} were deleted before they were released. Reading goes on at {to}"
            ),
        }
    }
}

/// What a reset does to records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Records that were released may be released again.
    Repeats,
    /// Records have gone that were not released.
    Lost,
}

impl Effect {
    pub(crate) const ALL: [Effect; 2] = [Effect::Repeats, Effect::Lost];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Effect::Repeats => "repeats",
            Effect::Lost => "lost",
        }
    }
}
