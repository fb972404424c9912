//! Takes partitions over and gives them back.

use super::{End, LevelLoop};
use dwell_kafka::consumer::{Ownership, Step};
use dwell_roller_core::{Claim, Event, NextOffset, Reading};
use std::time::Duration;

impl LevelLoop {
    pub(super) fn step(&mut self, step: Step, now: &Reading) {
        match step {
            Step::Assign(partitions) => {
                self.parts.metrics.rebalances("assigned", 1);
                tracing::info!(level = self.parts.level, ?partitions, "assigned");
                if let Err(error) = self.parts.consumer.accept(&partitions, &self.parts.starts) {
                    self.ending = Some(End::Failed(format!("cannot take assigned partitions: {error}")));
                    return;
                }
                self.keep_starts(&partitions);
                for partition in partitions {
                    self.claim(partition, now);
                }
                self.ask_identity(now.mono, Duration::ZERO);
            }
            Step::Revoke(partitions, ownership) => self.revoke(partitions, ownership, now),
        }
    }

    /// What the guard decided for the first assignment is committed, so that it holds for every later owner, however
    /// soon that is: the next would skip other records, or none. By a later assignment, commits may have gone on.
    fn keep_starts(&mut self, partitions: &[i32]) {
        for (partition, start) in std::mem::take(&mut self.parts.starts) {
            if partitions.contains(&partition) {
                self.parts.consumer.commit(partition, NextOffset::new(start));
            }
        }
    }

    pub(super) fn revoke(&mut self, partitions: Vec<i32>, ownership: Ownership, now: &Reading) {
        let event = if ownership == Ownership::Lost { "lost" } else { "revoked" };
        self.parts.metrics.rebalances(event, 1);
        tracing::info!(level = self.parts.level, ?partitions, "{event}");
        let claims: Vec<Claim> = self.claims.iter().copied().filter(|c| partitions.contains(&c.partition)).collect();
        let open = claims.iter().map(|c| c.partition).collect();
        self.giving_back.push((partitions, open));
        for claim in claims {
            self.tell(now, if ownership == Ownership::Lost { Event::Lost(claim) } else { Event::Revoked(claim) });
        }
        self.tell(now, Event::Tick);
        self.give_back();
    }

    pub(super) fn drained(&mut self, claim: Claim) {
        self.claims.retain(|c| *c != claim);
        if self.rings.get(&claim.partition).is_some_and(|r| r.claim == claim) {
            self.rings.remove(&claim.partition);
        }
        for (_, open) in &mut self.giving_back {
            open.remove(&claim.partition);
        }
        self.give_back();
    }

    pub(super) fn give_back(&mut self) {
        while let Some(at) = self.giving_back.iter().position(|(_, open)| open.is_empty()) {
            let (partitions, _) = self.giving_back.remove(at);
            let result = self.parts.consumer.give_back(&partitions);
            self.check("give back", result);
        }
    }
}
