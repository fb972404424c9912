//! The consumer groups: who owns which partition, and what is committed.

use super::cluster::PARTITIONS;
use super::world::{Ev, LEVELS, Life, SECOND, Told, World};
use dwell_roller_core::{Claim, NextOffset};

const SESSION: u64 = 6 * SECOND;

impl World {
    /// Deals the partitions of a level out anew; what moves is revoked first.
    pub(super) fn rebalance(&mut self, level: usize) {
        for part in 0..PARTITIONS {
            let members: Vec<_> = self.rollers.iter().filter(|r| r.alive && r.level == level).map(|r| r.n).collect();
            if members.is_empty() {
                continue;
            }
            let wanted = members[self.rng.index(members.len())];
            self.seats[level][part].wanted = wanted;
            match self.seats[level][part].owner {
                Some((life, _)) if life.0 == wanted && self.lives(life) => {}
                Some((life, claim)) if self.lives(life) => {
                    self.note(|| format!("revoke {}-{part} of {life:?}", LEVELS[level]));
                    self.after(1_000, Ev::Told(life, Told::Revoked(claim)));
                }
                // The owner is dead: its session has to run out.
                Some(_) => self.after(SESSION, Ev::Assign(level, part)),
                None => self.after(5_000, Ev::Assign(level, part)),
            }
        }
    }

    /// The group gives a partition to whom it is due, unless someone alive has it.
    pub(super) fn assign(&mut self, level: usize, part: usize) {
        let seat = &self.seats[level][part];
        if seat.owner.is_some_and(|(life, _)| self.lives(life)) {
            return;
        }
        let wanted = seat.wanted;
        if !self.rollers[wanted].alive {
            self.after(SECOND, Ev::Assign(level, part));
            return;
        }
        self.hand_over(level, part, wanted);
    }

    fn hand_over(&mut self, level: usize, part: usize, n: usize) {
        let claim = self.new_claim(part);
        let life = (n, self.rollers[n].life);
        let seat = &mut self.seats[level][part];
        seat.owner = Some((life, claim));
        let from = seat.committed;
        self.note(|| format!("assign {}-{part} to {life:?} from {from}", LEVELS[level]));
        self.own(n, claim, from);
    }

    /// The group believes a member to be dead that is not: someone else gets its partition, and it hears late.
    pub(super) fn expel(&mut self, level: usize, part: usize) {
        let Some((life, claim)) = self.seats[level][part].owner.filter(|(life, _)| self.lives(*life)) else { return };
        let members: Vec<_> = self.rollers.iter().filter(|r| r.alive && r.level == level).map(|r| r.n).collect();
        let other = members[self.rng.index(members.len())];
        let late = self.rng.range(1_000, 4 * SECOND);
        self.after(late, Ev::Told(life, Told::Lost(claim)));
        self.seats[level][part].wanted = other;
        if other != life.0 {
            self.hand_over(level, part, other);
        } else {
            self.seats[level][part].owner = None;
            self.after(late + 1, Ev::Assign(level, part));
        }
    }

    /// A roller has let a claim go.
    pub(super) fn drained(&mut self, n: usize, claim: Claim) {
        let level = self.rollers[n].level;
        let part = claim.partition as usize;
        let seat = &mut self.seats[level][part];
        if seat.owner.is_some_and(|(_, c)| c == claim) {
            seat.owner = None;
            self.after(5_000, Ev::Assign(level, part));
        }
    }

    pub(super) fn commit(&mut self, life: Life, claim: Claim, next: NextOffset) {
        let level = self.rollers[life.0].level;
        let part = claim.partition as usize;
        let owner = self.seats[level][part].owner;
        let fenced = owner != Some((life, claim)) || self.t < self.cluster.outage_until;
        let back = self.rng.range(200, 3_000);
        if fenced {
            self.after(back, Ev::Told(life, Told::CommitFailed(claim)));
            return;
        }
        self.note(|| format!("commit {}-{part} {next}", LEVELS[level]));
        let topic = format!("delay-{}", LEVELS[level]);
        let from = self.seats[level][part].committed;
        for offset in from..next.get() {
            if !self.cluster.copied.contains(&(topic.clone(), part, offset)) {
                self.flaw(format!("commit of {topic}-{part} at {next} passes {offset}, of which there is no copy"));
            }
        }
        self.seats[level][part].committed = next.get();
        self.after(back, Ev::Told(life, Told::Committed(claim, next)));
    }
}
