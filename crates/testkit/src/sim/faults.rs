//! What goes wrong, and when.

use super::cluster::{BROKERS, PARTITIONS};
use super::rng::Rng;
use super::world::{Ev, FAULTS_END, LEVELS, SECOND, World};

/// Which kinds of trouble a run has. Calm runs are judged more strictly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weather {
    pub(super) steps: bool,
    pub(super) outages: bool,
    pub(super) sick_target: bool,
    pub(super) crashes: bool,
    pub(super) rebalances: bool,
    pub(super) expulsions: bool,
    pub(super) create_time: bool,
    pub(super) bad_records: bool,
    pub(super) flaky_producer: bool,
    pub(super) ghost_comes: bool,
}

impl Weather {
    pub(super) fn draw(rng: &mut Rng) -> Weather {
        let often = rng.range(0, 600);
        Weather {
            steps: rng.per_mille(often),
            outages: rng.per_mille(often),
            sick_target: rng.per_mille(often),
            crashes: rng.per_mille(often),
            rebalances: rng.per_mille(often),
            expulsions: rng.per_mille(often),
            create_time: rng.per_mille(often / 2),
            bad_records: rng.per_mille(often),
            flaky_producer: rng.per_mille(often),
            ghost_comes: rng.per_mille(500),
        }
    }

    /// Whether a record may be released twice.
    pub(super) fn may_repeat(self) -> bool {
        self.crashes || self.rebalances || self.expulsions || self.flaky_producer || self.sick_target || self.outages
    }

    /// Whether first deliveries may be out of order: a failed neighbour, an owner that has lost its partition.
    pub(super) fn may_disorder(self) -> bool {
        self.crashes || self.rebalances || self.expulsions || self.bad_records || self.sick_target || self.outages
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    Step(usize, i64),
    MoveLeaders,
    Outage(u64),
    SickTarget(u64),
    Crash(usize, u64),
    Restart(usize),
    Rebalance(usize),
    Expel(usize, usize),
    Stamps { append_time: u8 },
    GhostComes,
}

impl World {
    pub(super) fn plan_faults(&mut self) {
        let w = self.weather;
        for _ in 0..self.rng.range(1, 5) {
            let t = self.rng.range(SECOND, FAULTS_END);
            let (broker, level) = (self.rng.index(BROKERS), self.rng.index(LEVELS.len()));
            let by = self.rng.signed(20_000_000);
            let most = self.rng.range(SECOND, 12 * SECOND);
            let roller = self.rng.index(self.rollers.len());
            let part = self.rng.index(PARTITIONS);
            self.at(t, Ev::Fault(Fault::MoveLeaders));
            let list = [
                (w.steps, Fault::Step(broker, by)),
                (w.outages, Fault::Outage(most)),
                (w.sick_target, Fault::SickTarget(most * 3)),
                (w.crashes, Fault::Crash(roller, most / 2)),
                (w.rebalances, Fault::Rebalance(level)),
                (w.expulsions, Fault::Expel(level, part)),
            ];
            for (_, fault) in list.into_iter().filter(|(happens, _)| *happens) {
                let t = self.rng.range(SECOND, FAULTS_END);
                self.at(t, Ev::Fault(fault));
            }
        }
        if w.create_time {
            let t = self.rng.range(SECOND, FAULTS_END / 2);
            self.at(t, Ev::Fault(Fault::Stamps { append_time: 0 }));
            self.at(t + 15 * SECOND, Ev::Fault(Fault::Stamps { append_time: 1 }));
        }
        if w.ghost_comes {
            let t = self.rng.range(SECOND, FAULTS_END);
            self.at(t, Ev::Fault(Fault::GhostComes));
        }
    }

    pub(super) fn strike(&mut self, fault: Fault) {
        self.note(|| format!("{fault:?}"));
        match fault {
            Fault::Step(broker, by) => {
                self.cluster.clocks[broker].offset_us += by;
                self.cluster.steps.push((self.t, by.unsigned_abs()));
            }
            Fault::MoveLeaders => {
                for part in self.cluster.topics.values_mut().flat_map(|t| &mut t.parts) {
                    part.leader = self.rng.index(BROKERS);
                }
            }
            Fault::Outage(us) => self.cluster.outage_until = self.t + us,
            Fault::SickTarget(us) => {
                if let Some(topic) = self.cluster.topics.get_mut("payments") {
                    topic.blocked_until = self.t + us;
                }
            }
            Fault::Crash(n, us) if self.rollers[n].alive => self.crash(n, us),
            Fault::Crash(..) => {}
            Fault::Restart(n) => {
                self.start_roller(n);
                self.rebalance(self.rollers[n].level);
            }
            Fault::Rebalance(level) => self.rebalance(level),
            Fault::Expel(level, part) => self.expel(level, part),
            Fault::Stamps { append_time } => {
                if let Some(topic) = self.cluster.topics.get_mut("delay-5s") {
                    topic.create_time = append_time == 0;
                }
            }
            Fault::GhostComes => {
                if let Some(topic) = self.cluster.topics.get_mut("ghost") {
                    topic.exists = true;
                }
            }
        }
    }

    fn crash(&mut self, n: usize, us: u64) {
        let life = (n, self.rollers[n].life);
        self.rollers[n].alive = false;
        // Of what was on its way, only the oldest part still reaches the brokers.
        for (_, queue) in self.transits.iter_mut().filter(|((l, _), _)| *l == life) {
            let keep = self.rng.index(queue.len() + 1);
            queue.truncate(keep);
        }
        self.after(us, Ev::Fault(Fault::Restart(n)));
        self.rebalance(self.rollers[n].level);
    }
}
