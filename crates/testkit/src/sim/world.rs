//! Everything there is, and the events that move it.

use super::cluster::{BROKERS, Cluster, Headers, PARTITIONS, Spot};
use super::faults::{Fault, Weather};
use super::producer::Order;
use super::rng::Rng;
use super::shell::Roller;
use dwell_levels::{Faults, LevelTable};
use dwell_roller_core::{Claim, CopyId, Epoch, Event, Failure, Limits, NextOffset, TopicKey, Verdict};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

pub(super) const SECOND: u64 = 1_000_000;
/// Until then things go wrong.
pub(super) const FAULTS_END: u64 = 60 * SECOND;
/// By then everything must be done: records that were set aside last wait for 30 s, three times.
pub(super) const END: u64 = 200 * SECOND;
pub(super) const LEVELS: [&str; 3] = ["1s", "5s", "30s"];
const TABLE: &str = "targets: [orders, payments, ghost]\nmaxDelay: 10m\nlevels: {1s: {}, 5s: {}, 30s: {}}\n";

/// A roller process: its number, and how often it was started.
pub(super) type Life = (usize, u32);

pub(super) enum Ev {
    Wake(usize, u64),
    /// The oldest copy of a producer's queue for a topic reaches the broker.
    Arrive(Life, String),
    Told(Life, Told),
    Commit(Life, Claim, NextOffset),
    Assign(usize, usize),
    SampleDue(Life, usize),
    Sample(Life, usize, u64, i64),
    Produce(usize),
    Fault(Fault),
}

/// What reaches a roller process, if it still lives.
pub(super) enum Told {
    Acked(CopyId),
    Failed(CopyId, Failure),
    Answer(TopicKey, Verdict),
    End(Claim, NextOffset),
    Committed(Claim, NextOffset),
    CommitFailed(Claim),
    Revoked(Claim),
    Lost(Claim),
}

/// A copy on its way to a broker.
pub(super) struct Transit {
    pub(super) copy: CopyId,
    pub(super) from: Spot,
    pub(super) part: usize,
    pub(super) id: String,
    pub(super) key: usize,
    pub(super) big: bool,
    pub(super) spoiled: bool,
    pub(super) alone: bool,
    pub(super) headers: Headers,
}

/// One partition in a consumer group.
#[derive(Default)]
pub(super) struct Seat {
    pub(super) owner: Option<(Life, Claim)>,
    pub(super) wanted: usize,
    pub(super) committed: i64,
}

pub(super) struct World {
    pub(super) t: u64,
    pub(super) rng: Rng,
    pub(super) weather: Weather,
    pub(super) cluster: Cluster,
    pub(super) table: Arc<LevelTable>,
    pub(super) rollers: Vec<Roller>,
    /// By level, then partition.
    pub(super) seats: Vec<Vec<Seat>>,
    pub(super) orders: Vec<Order>,
    pub(super) transits: BTreeMap<(Life, String), VecDeque<Transit>>,
    pub(super) epoch: u64,
    pub(super) flaws: Vec<String>,
    pub(super) trace: Vec<String>,
    pub(super) keep_trace: bool,
    pub(super) hash: u64,
    agenda: BTreeMap<(u64, u64), Ev>,
    serial: u64,
}

pub(super) fn limits() -> Limits {
    Limits {
        target_silence: Duration::from_secs(6),
        target_waits: 2,
        recheck: Duration::from_secs(1),
        drain_acks: Duration::from_secs(2),
        drain_commit: Duration::from_secs(1),
        backoff: (Duration::from_millis(100), Duration::from_secs(2)),
        in_flight_records: 30,
        uncommitted: 40,
        ..Limits::default()
    }
}

impl World {
    pub(super) fn new(seed: u64, table: Arc<LevelTable>) -> World {
        let mut rng = Rng::new(seed);
        let weather = Weather::draw(&mut rng);
        let mut world = World {
            t: 0,
            weather,
            cluster: Cluster::default(),
            rollers: Vec::new(),
            seats: LEVELS.map(|_| (0..PARTITIONS).map(|_| Seat::default()).collect()).into(),
            orders: Vec::new(),
            transits: BTreeMap::new(),
            epoch: 0,
            flaws: Vec::new(),
            trace: Vec::new(),
            keep_trace: false,
            hash: 0xcbf2_9ce4_8422_2325,
            agenda: BTreeMap::new(),
            serial: 0,
            table,
            rng,
        };
        world.set_up();
        world
    }

    pub(super) fn table() -> Result<Arc<LevelTable>, Faults> {
        LevelTable::parse(TABLE).map(Arc::new)
    }

    fn set_up(&mut self) {
        for clock in &mut self.cluster.clocks {
            clock.offset_us = self.rng.signed(300_000);
            clock.drift_ppm = self.rng.signed(20);
        }
        for level in LEVELS {
            let rng = &mut self.rng;
            self.cluster.add(&format!("delay-{level}"), PARTITIONS, || rng.index(BROKERS));
        }
        for topic in ["orders", "payments", "ghost", "delay-parked"] {
            let rng = &mut self.rng;
            self.cluster.add(topic, 1, || rng.index(BROKERS));
        }
        for topic in self.cluster.topics.iter_mut().filter(|(name, _)| name.starts_with("delay-")) {
            topic.1.takes_big = true;
        }
        if let Some(ghost) = self.cluster.topics.get_mut("ghost") {
            ghost.exists = false;
        }
        for n in 0..LEVELS.len() * 2 {
            let roller = Roller::new(n, &self.table, &mut self.rng);
            self.rollers.push(roller);
            self.start_roller(n);
        }
        self.plan_orders();
        self.plan_faults();
        for level in 0..LEVELS.len() {
            self.rebalance(level);
        }
    }

    pub(super) fn at(&mut self, t: u64, ev: Ev) {
        self.serial += 1;
        self.agenda.insert((t.max(self.t), self.serial), ev);
    }

    pub(super) fn after(&mut self, us: u64, ev: Ev) {
        self.at(self.t + us, ev);
    }

    pub(super) fn note(&mut self, text: impl FnOnce() -> String) {
        let mut line = text();
        let _ = write!(line, " @{}", self.t);
        for byte in line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if self.keep_trace {
            self.trace.push(line);
        }
    }

    pub(super) fn flaw(&mut self, text: String) {
        self.note(|| format!("FLAW {text}"));
        self.flaws.push(format!("{:.6} s: {text}", self.t as f64 / 1e6));
    }

    pub(super) fn run(&mut self) {
        while let Some(((t, _), ev)) = self.agenda.pop_first() {
            if t > END || self.flaws.len() > 5 {
                break;
            }
            self.t = t;
            self.dispatch(ev);
        }
        self.t = END;
    }

    fn dispatch(&mut self, ev: Ev) {
        match ev {
            Ev::Wake(n, token) if self.rollers[n].wake_token == token => self.wake(n),
            Ev::Wake(..) => {}
            Ev::Arrive(life, topic) => self.arrive(life, topic),
            Ev::Told(life, told) if self.lives(life) => self.told(life.0, told),
            Ev::Told(..) => {}
            Ev::Commit(life, claim, next) => self.commit(life, claim, next),
            Ev::Assign(level, part) => self.assign(level, part),
            Ev::SampleDue(life, broker) => self.sample_due(life, broker),
            Ev::Sample(life, broker, sent, stamp) => self.sampled(life, broker, sent, stamp),
            Ev::Produce(n) => self.produce(n),
            Ev::Fault(fault) => self.strike(fault),
        }
    }

    pub(super) fn lives(&self, life: Life) -> bool {
        self.rollers.get(life.0).is_some_and(|r| r.alive && r.life == life.1)
    }

    fn told(&mut self, n: usize, told: Told) {
        let event = match told {
            Told::Acked(id) => Event::Acked(id),
            Told::Failed(id, failure) => Event::Failed(id, failure),
            Told::Answer(key, verdict) => Event::TopicAnswer(key, verdict),
            Told::End(claim, end) => Event::EndSeen(claim, end),
            Told::Committed(claim, next) => Event::Committed(claim, next),
            Told::CommitFailed(claim) => Event::CommitFailed(claim),
            Told::Revoked(claim) => Event::Revoked(claim),
            Told::Lost(claim) => Event::Lost(claim),
        };
        self.feed(n, event);
        self.wake(n);
    }

    pub(super) fn new_claim(&mut self, part: usize) -> Claim {
        self.epoch += 1;
        Claim { partition: part as i32, epoch: Epoch(self.epoch) }
    }
}
