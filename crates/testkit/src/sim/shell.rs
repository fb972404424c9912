//! A roller process: the real core and the real clock estimate, with a model of everything around them.

use super::cluster::{BROKERS, Record};
use super::rng::Rng;
use super::world::{Ev, LEVELS, Life, SECOND, World, limits};
use dwell_levels::LevelTable;
use dwell_roller_core::{Claim, Core, Estimate, Event, Head, Mono, NextOffset, Offset, Reading, Sample, read_all};
use dwell_wire::{RawHeader, decode};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const LONGEST_SLEEP: Duration = Duration::from_secs(1);
const FETCH: u64 = 1_000;

/// A partition in the hands of a process.
pub(super) struct Owned {
    pub(super) claim: Claim,
    pub(super) paused: bool,
    /// Where reading goes on.
    position: i64,
    end_told: i64,
    end_reached: bool,
    /// Records that were offered and not forgotten, with their offsets; the first has this number.
    pub(super) ring: VecDeque<(i64, Rc<Record>)>,
    pub(super) ring_base: u64,
}

pub(super) struct Roller {
    pub(super) n: usize,
    pub(super) level: usize,
    pub(super) alive: bool,
    pub(super) life: u32,
    pub(super) core: Core,
    pub(super) owned: BTreeMap<i32, Owned>,
    pub(super) wake_token: u64,
    wake_at: u64,
    busy: (u64, u32),
    started: u64,
    drift_ppm: i64,
    estimates: [Option<Estimate>; BROKERS],
}

fn core(table: &Arc<LevelTable>, level: usize) -> Core {
    let level = table.levels()[level].clone();
    Core::new(table.clone(), level, limits())
}

impl Roller {
    pub(super) fn new(n: usize, table: &Arc<LevelTable>, rng: &mut Rng) -> Roller {
        let level = n % LEVELS.len();
        Roller {
            n,
            level,
            alive: false,
            life: 0,
            core: core(table, level),
            owned: BTreeMap::new(),
            wake_token: 0,
            wake_at: 0,
            busy: (0, 0),
            started: 0,
            drift_ppm: rng.signed(20),
            estimates: [None; BROKERS],
        }
    }

    /// The process's own clock at true time `t`.
    fn mono(&self, t: u64) -> Mono {
        let up = t.saturating_sub(self.started) as i64;
        Mono::from_micros((7 * SECOND as i64 + up + up * self.drift_ppm / 1_000_000) as u64)
    }

    /// Unknown until every broker's clock was measured: the slowest might be the one that is missing.
    fn reading(&self, t: u64) -> Reading {
        if self.estimates.iter().any(Option::is_none) {
            return Reading::unmeasured(self.mono(t));
        }
        read_all(self.estimates.iter().flatten(), self.mono(t))
    }
}

impl World {
    pub(super) fn start_roller(&mut self, n: usize) {
        let core = core(&self.table, self.rollers[n].level);
        let t = self.t;
        let r = &mut self.rollers[n];
        r.life += 1;
        (r.alive, r.core, r.started) = (true, core, t);
        r.owned.clear();
        r.estimates = [None; BROKERS];
        let life = (n, r.life);
        for broker in 0..BROKERS {
            let soon = self.rng.range(1_000, 400_000);
            self.after(soon, Ev::SampleDue(life, broker));
        }
        self.wake_by(n, t);
    }

    pub(super) fn sample_due(&mut self, life: Life, broker: usize) {
        if !self.lives(life) {
            return;
        }
        if self.t < self.cluster.outage_until {
            return self.after(300_000, Ev::SampleDue(life, broker));
        }
        let (there, back) = (self.rng.range(100, 3_000), self.rng.range(100, 3_000));
        let stamp = self.cluster.clocks[broker].at(self.t + there).div_euclid(1000);
        self.after(there + back, Ev::Sample(life, broker, self.t, stamp));
        self.after(2 * SECOND, Ev::SampleDue(life, broker));
    }

    pub(super) fn sampled(&mut self, life: Life, broker: usize, sent: u64, stamp_ms: i64) {
        if !self.lives(life) {
            return;
        }
        let r = &mut self.rollers[life.0];
        let sample = Sample { sent: r.mono(sent), acked: r.mono(self.t), stamp_ms };
        r.estimates[broker].get_or_insert_default().add(sample);
        self.feed(life.0, Event::ClusterAnswered);
        self.wake(life.0);
    }

    pub(super) fn own(&mut self, n: usize, claim: Claim, from: i64) {
        let owned = Owned {
            claim,
            paused: false,
            position: from,
            end_told: -1,
            end_reached: false,
            ring: VecDeque::new(),
            ring_base: 0,
        };
        self.feed(n, Event::Assigned(claim));
        self.rollers[n].owned.insert(claim.partition, owned);
        self.wake(n);
    }

    /// Something was appended: its reader hears of it, unless it has paused.
    pub(super) fn poke(&mut self, level: usize, part: usize) {
        for n in 0..self.rollers.len() {
            let r = &self.rollers[n];
            if r.level == level && r.owned.get(&(part as i32)).is_some_and(|o| !o.paused) {
                self.wake_by(n, self.t + FETCH);
            }
        }
    }

    pub(super) fn wake_by(&mut self, n: usize, t: u64) {
        let r = &mut self.rollers[n];
        if r.wake_at > t || r.wake_at <= self.t {
            r.wake_at = t;
            r.wake_token += 1;
            let token = r.wake_token;
            self.at(t, Ev::Wake(n, token));
        }
    }

    /// One turn of the loop: offer heads where they are wanted, tick, sleep exactly as long as allowed.
    pub(super) fn wake(&mut self, n: usize) {
        if !self.rollers[n].alive {
            return;
        }
        self.feed(n, Event::Tick);
        for _ in 0..200 {
            let parts: Vec<i32> = self.rollers[n].owned.keys().copied().collect();
            let mut offered = false;
            for part in parts {
                offered |= self.read(n, part);
            }
            if !offered {
                break;
            }
        }
        self.feed(n, Event::Tick);
        self.watch(n);
        let r = &self.rollers[n];
        let sleep = r.core.next_wake(&r.reading(self.t), LONGEST_SLEEP).as_micros() as u64;
        self.watch_spinning(n, sleep);
        // Rounded up by what the process's clock may lag behind true time.
        let at = self.t + sleep + sleep / 10_000;
        self.rollers[n].wake_at = u64::MAX;
        self.wake_by(n, at);
    }

    fn watch_spinning(&mut self, n: usize, sleep: u64) {
        let t = self.t;
        let r = &mut self.rollers[n];
        r.busy = if sleep > 0 || r.busy.0 != t { (t, 0) } else { (t, r.busy.1 + 1) };
        if r.busy.1 >= 100 {
            self.flaw(format!("roller {n} spins"));
        }
    }

    fn watch(&mut self, n: usize) {
        let most = limits();
        let r = &self.rollers[n];
        let too_long = r.owned.values().any(|o| o.ring.len() > most.uncommitted + 1);
        if too_long || r.core.in_flight() > most.in_flight_records {
            self.flaw(format!("roller {n} holds more than its bounds"));
        }
    }

    /// Takes what is fetched from one partition. Returns whether a head was offered.
    fn read(&mut self, n: usize, part: i32) -> bool {
        let level = self.rollers[n].level;
        let topic = format!("delay-{}", LEVELS[level]);
        let fetched = self.t.saturating_sub(FETCH);
        let Some(o) = self.rollers[n].owned.get_mut(&part).filter(|o| !o.paused) else { return false };
        let claim = o.claim;
        let log = match self.cluster.part(&topic, part as usize) {
            Some(p) if self.cluster.is_up(&topic, self.t) => &p.log,
            _ => return false,
        };
        let end = log.iter().rposition(|r| r.true_us <= fetched).map_or(0, |at| at as i64 + 1);
        if end > o.end_told {
            o.end_told = end;
            self.feed(n, Event::EndSeen(claim, NextOffset::new(end)));
            return true;
        }
        if o.position < end {
            let record = log[o.position as usize].clone();
            return self.offer(n, claim, record);
        }
        if !std::mem::replace(&mut o.end_reached, true) {
            self.feed(n, Event::EndReached(claim));
        }
        false
    }

    fn offer(&mut self, n: usize, claim: Claim, record: Rc<Record>) -> bool {
        if !self.rollers[n].core.wants_head(claim) {
            return false;
        }
        let Some(o) = self.rollers[n].owned.get_mut(&claim.partition) else { return false };
        let offset = o.position;
        o.position += 1;
        o.end_reached = false;
        o.ring.push_back((offset, record.clone()));
        let raw = record.headers.iter().map(|(name, value)| RawHeader { name, value: value.as_deref() });
        let head = Head { offset: Offset::new(offset), stamp: record.stamp, bytes: 100, control: decode(raw) };
        self.note(|| format!("head {n} {claim:?} {offset}"));
        self.feed(n, Event::Head(claim, head));
        true
    }

    /// Tells the core, and performs what it asks for.
    pub(super) fn feed(&mut self, n: usize, event: Event<'_>) {
        let now = self.rollers[n].reading(self.t);
        let mut out = Vec::new();
        self.rollers[n].core.handle(&now, event, &mut out);
        for action in out {
            self.perform(n, action);
        }
    }
}
