//! What may happen, and the world in which it does.

use crate::model::Model;
use dwell_levels::{Delay, LevelTable};
use dwell_roller_core::*;
use dwell_wire::{BadRecord, Control, Reason};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

const T0: i64 = 1_700_000_000_000;

#[derive(Debug, Clone)]
pub(crate) enum Op {
    Advance(u64),
    StepClock(i64),
    Spread(i64),
    Measure(u8),
    Assign(u8),
    StaleAssign(u8),
    /// Partition, kind, append time against now.
    Head(u8, u8, i64),
    Back(u8),
    Ack(usize),
    Fail(usize, u8),
    EndReached(u8),
    EndSeen(u8, i64),
    Committed(u8),
    CommittedOther(u8, i64),
    CommitFailed(u8),
    Revoke(u8),
    Lose(u8),
    LoseStale(u8),
    Answer(usize, u8),
    Alive,
    Tick,
    Stop,
}

pub(crate) fn op() -> impl Strategy<Value = Op> {
    let p = 0u8..2;
    prop_oneof![
        6 => prop_oneof![0u64..50, 0u64..3_000, 0u64..70_000].prop_map(Op::Advance),
        1 => (-5_000i64..5_000).prop_map(Op::StepClock),
        1 => (0i64..3_000).prop_map(Op::Spread),
        1 => (0u8..4).prop_map(Op::Measure),
        4 => p.clone().prop_map(Op::Assign),
        1 => p.clone().prop_map(Op::StaleAssign),
        14 => (p.clone(), 0u8..8, -3_000i64..500).prop_map(|(p, kind, at)| Op::Head(p, kind, at)),
        1 => p.clone().prop_map(Op::Back),
        12 => any::<usize>().prop_map(Op::Ack),
        5 => (any::<usize>(), 0u8..7).prop_map(|(n, kind)| Op::Fail(n, kind)),
        3 => p.clone().prop_map(Op::EndReached),
        3 => (p.clone(), -3i64..20).prop_map(|(p, by)| Op::EndSeen(p, by)),
        5 => p.clone().prop_map(Op::Committed),
        1 => (p.clone(), 0i64..50).prop_map(|(p, n)| Op::CommittedOther(p, n)),
        1 => p.clone().prop_map(Op::CommitFailed),
        1 => p.clone().prop_map(Op::Revoke),
        1 => p.clone().prop_map(Op::Lose),
        1 => p.prop_map(Op::LoseStale),
        4 => (any::<usize>(), 0u8..8).prop_map(|(n, v)| Op::Answer(n, v)),
        2 => Just(Op::Alive),
        10 => Just(Op::Tick),
        1 => prop::bool::weighted(0.1).prop_map(|stop| if stop { Op::Stop } else { Op::Tick }),
    ]
}

pub(crate) struct World {
    core: Core,
    pub(crate) model: Model,
    mono_us: u64,
    /// The slowest broker's clock against the process's, µs.
    offset_us: i64,
    spread_us: i64,
    measured: bool,
    epoch: u64,
    next_offset: [i64; 2],
    questions: Vec<TopicKey>,
}

impl World {
    pub(crate) fn new(level: &str) -> World {
        let table = Arc::new(LevelTable::standard(&["orders", "pay*"]).unwrap());
        let level = table.get(level).unwrap().clone();
        let limits = Limits { in_flight_records: 6, uncommitted: 9, stranded: 3, ..Limits::default() };
        let mut world = World {
            model: Model::new(level.delay, limits.clone()),
            core: Core::new(table, level, limits),
            mono_us: 5_000_000,
            offset_us: T0 * 1000,
            spread_us: 0,
            measured: true,
            epoch: 0,
            next_offset: [0, 0],
            questions: Vec::new(),
        };
        // The clock is measured once before anything is read.
        world.ev(Event::Tick);
        world
    }

    fn now(&self) -> Reading {
        let mono = Mono::from_micros(self.mono_us);
        if !self.measured {
            return Reading::unmeasured(mono);
        }
        let earliest = self.mono_us as i64 + self.offset_us;
        Reading {
            mono,
            earliest: BrokerTime::from_micros(earliest),
            latest: BrokerTime::from_micros(earliest + self.spread_us),
        }
    }

    fn claim(&self, partition: u8) -> Claim {
        self.model.current(i32::from(partition)).unwrap_or(Claim { partition: partition.into(), epoch: Epoch(0) })
    }

    fn ev(&mut self, event: Event<'_>) {
        let now = self.now();
        let ticked = matches!(event, Event::Tick | Event::Stop);
        self.model.before(&event, &now, &self.core);
        let mut out = Vec::new();
        self.core.handle(&now, event, &mut out);
        for action in out {
            if let Action::AskTopic(key) = action {
                self.questions.push(key);
            }
            self.model.saw(&action, &now, &self.core);
        }
        self.model.after(&now, &self.core);
        if ticked {
            self.model.awake(&now, self.core.next_wake(&now, Duration::from_secs(7_200)));
        }
    }

    pub(crate) fn apply(&mut self, op: Op) {
        match op {
            Op::Advance(ms) => self.mono_us += ms * 1000 + ms % 7,
            Op::StepClock(ms) => self.offset_us += ms * 1000,
            Op::Spread(ms) => self.spread_us = ms * 1000,
            Op::Measure(n) => self.measured = n > 0,
            Op::Assign(p) => {
                self.epoch += 1;
                self.ev(Event::Assigned(Claim { partition: p.into(), epoch: Epoch(self.epoch) }));
            }
            Op::StaleAssign(p) => self.ev(Event::Assigned(Claim { partition: p.into(), epoch: Epoch(0) })),
            Op::Head(p, kind, at) => self.head(p, kind, at),
            Op::Back(p) => self.next_offset[usize::from(p)] /= 2,
            Op::Ack(n) => {
                if let Some(id) = self.model.any_copy(n) {
                    self.ev(Event::Acked(id));
                }
            }
            Op::Fail(n, kind) => {
                if let Some(id) = self.model.any_copy(n) {
                    self.ev(Event::Failed(id, failure(kind)));
                }
            }
            Op::EndReached(p) => self.ev(Event::EndReached(self.claim(p))),
            Op::EndSeen(p, by) => {
                let end = (self.next_offset[usize::from(p)] + by).max(0);
                self.ev(Event::EndSeen(self.claim(p), NextOffset::new(end)));
            }
            Op::Committed(p) => {
                if let Some(next) = self.model.committing(self.claim(p)) {
                    self.ev(Event::Committed(self.claim(p), next));
                }
            }
            Op::CommittedOther(p, n) => self.ev(Event::Committed(self.claim(p), NextOffset::new(1_000_000 + n))),
            Op::CommitFailed(p) => self.ev(Event::CommitFailed(self.claim(p))),
            Op::Revoke(p) => self.ev(Event::Revoked(self.claim(p))),
            Op::Lose(p) => self.ev(Event::Lost(self.claim(p))),
            Op::LoseStale(p) => self.ev(Event::Lost(Claim { partition: p.into(), epoch: Epoch(0) })),
            Op::Answer(n, verdict) => self.answer(n, verdict),
            Op::Alive => self.ev(Event::ClusterAnswered),
            Op::Tick => self.ev(Event::Tick),
            Op::Stop => self.ev(Event::Stop),
        }
    }

    fn answer(&mut self, n: usize, verdict: u8) {
        if self.questions.is_empty() {
            return;
        }
        let key = self.questions[n % self.questions.len()];
        let verdict = match verdict {
            0 => Verdict::Missing,
            1 => Verdict::Forbidden,
            2 => Verdict::NoAnswer,
            _ => Verdict::Present,
        };
        self.ev(Event::TopicAnswer(key, verdict));
    }

    fn head(&mut self, p: u8, kind: u8, at: i64) {
        let offset = self.next_offset[usize::from(p)];
        let append = (self.mono_us as i64 + self.offset_us) / 1000 + at;
        let stamp = if kind == 1 { Stamp::Other } else { Stamp::Append(append) };
        let mut control = Control {
            target: if kind.is_multiple_of(2) { "orders" } else { "payments" },
            id: None,
            delay: None,
            deliver_at: None,
            rounding: None,
            record_type: None,
            sent_at: None,
            trail: None,
            hops: 0,
            target_waits: u32::from(kind == 3) * 5,
        };
        match kind {
            2 => control.delay = Some(Delay::from_millis(90_000)),
            4 => control.deliver_at = Some(append + 70_000),
            5 => control.target = "secret",
            _ => {}
        }
        let bad = BadRecord { reason: Reason::BadHeader, error: "bad".into() };
        let control = if kind == 6 { Err(bad) } else { Ok(control) };
        let claim = self.claim(p);
        if self.core.wants_head(claim) {
            self.next_offset[usize::from(p)] += 1 + i64::from(kind == 7);
        }
        let asked = self.questions.len();
        self.ev(Event::Head(claim, Head { offset: Offset::new(offset), stamp, bytes: 10, control }));
        // Most topics are there; without this, few copies would ever be sent.
        let new: Vec<_> = if kind == 3 { Vec::new() } else { self.questions[asked..].to_vec() };
        for key in new {
            self.ev(Event::TopicAnswer(key, Verdict::Present));
        }
    }

    /// Every report arrives in the end, and nothing is left over.
    pub(crate) fn finish(&mut self) {
        self.measured = true;
        self.ev(Event::Stop);
        for _ in 0..10 {
            self.mono_us += 1_000_000;
            self.ev(Event::Tick);
            for id in self.model.outstanding() {
                self.ev(Event::Acked(id));
            }
        }
        assert_eq!((self.core.in_flight(), self.core.awaits_reports()), (0, false));
        assert_eq!(self.core.claims().count(), 0, "a stop ends");
    }
}

fn failure(kind: u8) -> Failure {
    match kind {
        0 => Failure::Refused,
        1 => Failure::UnknownTopic,
        2 => Failure::Forbidden,
        3 => Failure::TooLarge,
        4 => Failure::Rejected("no".into()),
        5 => Failure::Fatal("no".into()),
        _ => Failure::Retriable,
    }
}
