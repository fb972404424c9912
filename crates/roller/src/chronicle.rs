//! The log of a level: what happened, once, in words an operator understands.
//!
//! Single records are never logged; what was parked or set aside is told in sums, with one example each.

use dwell_roller_core::{Claim, Core, Mono, Note, Offset, Outcome};
use std::collections::BTreeMap;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(10);

/// Sums for the log of one level.
pub(crate) struct Chronicle {
    level: String,
    topic: String,
    told: Option<Mono>,
    sums: BTreeMap<String, (u64, Claim, Offset)>,
}

impl Chronicle {
    pub(crate) fn new(level: &str, topic: &str) -> Chronicle {
        Chronicle { level: level.to_owned(), topic: topic.to_owned(), told: None, sums: BTreeMap::new() }
    }

    pub(crate) fn completed(&mut self, claim: Claim, offset: Offset, outcome: &Outcome) {
        let what = match outcome {
            Outcome::Released { .. } | Outcome::Hopped => return,
            Outcome::SetAside => "set aside, because their target does not take them".to_owned(),
            Outcome::Parked(reason) => format!("parked as {}", reason.as_str()),
        };
        self.sums.entry(what).or_insert((0, claim, offset)).0 += 1;
    }

    /// Tells the sums, now and then.
    pub(crate) fn tell(&mut self, now: Mono) {
        if self.sums.is_empty() || self.told.is_some_and(|t| now.since(t) < EVERY) {
            return;
        }
        self.told = Some(now);
        for (what, (count, claim, offset)) in std::mem::take(&mut self.sums) {
            tracing::warn!(
                level = self.level,
                records = count,
                "{count} records of {} were {what}; the first is partition {} offset {offset}",
                self.topic,
                claim.partition,
            );
        }
    }

    pub(crate) fn note(&self, claim: Option<Claim>, note: &Note, core: &Core) {
        let level = &self.level;
        let partition = claim.map_or(-1, |c| c.partition);
        match note {
            Note::WentBack { expected, got } => tracing::error!(
                level,
                partition,
                "offsets of {} went back: expected {expected}, got {got}. The topic was made anew or records were \
                 lost; everything that is there is released",
                self.topic
            ),
            Note::NotAppendTime(offset) => tracing::warn!(
                level,
                partition,
                "the record at offset {offset} of {} does not carry the broker's append time; such records wait from \
                 when they are first seen. Set message.timestamp.type=LogAppendTime",
                self.topic
            ),
            Note::ClockWasAhead(offset) => tracing::warn!(
                level,
                partition,
                "the broker's clock was ahead when it stamped offset {offset} of {}; the records concerned wait from \
                 when they were seen",
                self.topic
            ),
            Note::TargetSilent(topic) => tracing::error!(
                level,
                "{} has acknowledged nothing while other topics did; its records are set aside",
                core.topic_name(*topic)
            ),
            Note::TargetBack(topic) => tracing::info!(level, "{} acknowledges again", core.topic_name(*topic)),
            Note::DrainCutShort { unacknowledged } => tracing::warn!(
                level,
                partition,
                "{unacknowledged} records were not acknowledged in time while the partition was given back; the next \
                 owner sends them again"
            ),
        }
    }
}
