//! Whether the level's topic is still the same. Deleted and created anew under its old name it has other records at the
//! same offsets, and the client, which knows topics by name, would go on in the middle of them.

use super::{Effect, LevelLoop};
use crate::ring::Ring;
use crate::side::Question;
use dwell_kafka::TopicId;
use dwell_roller_core::{Claim, Epoch, Event, Mono, NextOffset, Reading};
use std::time::Duration;

/// What is known of the topic's identity.
#[derive(Debug, Default)]
pub(super) struct Identity {
    known: Option<TopicId>,
    asked: Option<Mono>,
}

impl LevelLoop {
    /// Asks who the topic is, now and then and after every assignment.
    pub(super) fn ask_identity(&mut self, now: Mono, every: Duration) {
        if self.identity.asked.is_some_and(|at| now.since(at) < every) {
            return;
        }
        self.identity.asked = Some(now);
        self.parts.asker.ask(Question::Identity { topic: self.parts.topic.clone() });
    }

    pub(super) fn hear_identity(&mut self, id: TopicId, now: &Reading) {
        let before = self.identity.known.replace(id);
        if before.is_some_and(|before| before != id) && !self.start_anew(now) {
            // Tried again with the next answer.
            self.identity.known = before;
        }
    }

    /// Reads all partitions from their beginning. What is under way from the old topic is finished by nobody: its
    /// records are gone, and their copies arrive or do not.
    fn start_anew(&mut self, now: &Reading) -> bool {
        let partitions: Vec<i32> = self.claims.iter().map(|c| c.partition).collect();
        for &partition in &partitions {
            if let Err(error) = self.parts.consumer.rewind(partition) {
                tracing::warn!(level = self.parts.level, partition, %error, "cannot read a new topic from its beginning");
                return false;
            }
        }
        tracing::error!(
            level = self.parts.level,
            ?partitions,
            "{} was deleted and created anew; what waited in the old one is gone. Reading goes on at the beginning of \
             the new one; what was released of it so far is released again",
            self.parts.topic
        );
        for partition in partitions {
            self.parts.metrics.offset_reset(Effect::Repeats);
            if let Some(old) = self.claims.iter().copied().find(|c| c.partition == partition) {
                self.tell(now, Event::Lost(old));
            }
            self.claim(partition, now);
            // For every later owner, however soon: the group may still have the old topic's offset.
            self.parts.consumer.commit(partition, NextOffset::new(0));
        }
        true
    }

    /// A new claim on a partition that the client has.
    pub(super) fn claim(&mut self, partition: i32, now: &Reading) {
        self.epochs += 1;
        let claim = Claim { partition, epoch: Epoch(self.epochs) };
        self.claims.retain(|c| c.partition != partition);
        self.claims.push(claim);
        self.rings.insert(partition, Ring::new(claim));
        self.tell(now, Event::Assigned(claim));
    }
}
