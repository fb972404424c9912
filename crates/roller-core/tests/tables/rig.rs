//! One roller, one partition, one clock that the test turns.

use dwell_levels::{Delay, LevelTable};
use dwell_roller_core::*;
use dwell_wire::{BadRecord, Control};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Broker time at the start of every test, epoch milliseconds.
pub(crate) const T0: i64 = 1_700_000_000_000;
/// The process has been up for a while by then.
const UP_US: u64 = 1_000_000_000;

pub(crate) fn plain() -> Control<'static> {
    Control {
        target: "orders",
        id: None,
        delay: None,
        deliver_at: None,
        rounding: None,
        record_type: None,
        sent_at: None,
        trail: None,
        hops: 0,
        target_waits: 0,
    }
}

pub(crate) fn to(target: &'static str) -> Control<'static> {
    Control { target, ..plain() }
}

pub(crate) fn asks(ms: u64) -> Control<'static> {
    Control { delay: Some(Delay::from_millis(ms)), ..plain() }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) copy: CopyId,
    pub(crate) claim: Claim,
    pub(crate) seq: Seq,
    pub(crate) to: String,
    pub(crate) form: Form,
    pub(crate) batching: Batching,
    /// Milliseconds after `T0`, rounded down.
    pub(crate) at: i64,
}

pub(crate) struct Rig {
    pub(crate) core: Core,
    pub(crate) claim: Claim,
    /// µs since the start.
    pub(crate) now_us: u64,
    /// How far the slowest and the fastest broker's clock are from the nominal one, µs.
    pub(crate) skew: (i64, i64),
    pub(crate) measured: bool,
    /// What a question about a topic is answered with; silence for `None`.
    pub(crate) topics: HashMap<String, Option<Verdict>>,
    pub(crate) copies: Vec<Copied>,
    pub(crate) log: Vec<Action>,
}

impl Rig {
    pub(crate) fn table() -> Arc<LevelTable> {
        Arc::new(LevelTable::standard(&["orders", "pay*", "big"]).unwrap())
    }

    pub(crate) fn new(level: &str) -> Rig {
        Rig::with_limits(level, Limits::default())
    }

    pub(crate) fn with_limits(level: &str, limits: Limits) -> Rig {
        Rig::with_table(Rig::table(), level, limits)
    }

    pub(crate) fn with_table(table: Arc<LevelTable>, level: &str, limits: Limits) -> Rig {
        let level = table.get(level).unwrap().clone();
        let mut rig = Rig {
            core: Core::new(table, level, limits),
            claim: claim(0, 1),
            now_us: 0,
            skew: (0, 0),
            measured: true,
            topics: HashMap::new(),
            copies: Vec::new(),
            log: Vec::new(),
        };
        rig.ev(Event::Assigned(rig.claim));
        rig
    }

    pub(crate) fn now(&self) -> Reading {
        let mono = Mono::from_micros(UP_US + self.now_us);
        if !self.measured {
            return Reading::unmeasured(mono);
        }
        let nominal = T0 * 1000 + i64::try_from(self.now_us).unwrap();
        let at = |skew| BrokerTime::from_micros(nominal + skew);
        Reading { mono, earliest: at(self.skew.0), latest: at(self.skew.1) }
    }

    /// Turns the clock to `ms` after `T0` without telling the core.
    pub(crate) fn set(&mut self, ms: f64) -> &mut Rig {
        self.now_us = (ms * 1000.0) as u64;
        self
    }

    /// Handles an event, answers the questions it raises, and returns what was asked for.
    pub(crate) fn ev(&mut self, event: Event<'_>) -> Vec<Action> {
        let now = self.now();
        let mut out = Vec::new();
        self.core.handle(&now, event, &mut out);
        let mut all = Vec::new();
        while !out.is_empty() {
            let mut next = Vec::new();
            for action in std::mem::take(&mut out) {
                self.note(&action);
                if let Action::AskTopic(key) = action {
                    let name = self.core.topic_name(key).to_string();
                    if let Some(v) = self.topics.get(&name).copied().unwrap_or(Some(Verdict::Present)) {
                        self.core.handle(&now, Event::TopicAnswer(key, v), &mut next);
                        self.core.handle(&now, Event::Tick, &mut next);
                    }
                }
                all.push(action);
            }
            out = next;
        }
        self.log.extend(all.iter().cloned());
        all
    }

    fn note(&mut self, action: &Action) {
        if let Action::Send { copy, claim, seq, to, form, batching } = action {
            self.copies.push(Copied {
                copy: *copy,
                claim: *claim,
                seq: *seq,
                to: self.core.topic_name(*to).to_string(),
                form: form.clone(),
                batching: *batching,
                at: (self.now_us / 1000) as i64,
            });
        }
    }

    pub(crate) fn tick(&mut self) -> Vec<Action> {
        self.ev(Event::Tick)
    }

    /// Turns the clock to `ms` and ticks.
    pub(crate) fn tick_at(&mut self, ms: f64) -> Vec<Action> {
        self.set(ms).tick()
    }

    /// Jumps from wake-up to wake-up until `ms`, as a shell does that sleeps exactly as long as it may.
    pub(crate) fn run_to(&mut self, ms: f64) -> Vec<Action> {
        let end = (ms * 1000.0) as u64;
        let mut all = self.tick();
        let mut rounds = 0;
        while self.now_us < end {
            let wake = self.core.next_wake(&self.now(), Duration::from_secs(600));
            assert!(!wake.is_zero(), "a tick leaves nothing to do at once: the loop would spin");
            self.now_us = end.min(self.now_us + wake.as_micros() as u64);
            all.extend(self.tick());
            rounds += 1;
            assert!(rounds < 100_000, "spins");
        }
        all
    }

    pub(crate) fn wake_ms(&self) -> f64 {
        self.core.next_wake(&self.now(), Duration::from_secs(3600)).as_secs_f64() * 1000.0
    }

    /// Offers a record appended `append` ms after `T0`.
    pub(crate) fn head(&mut self, offset: i64, append: i64, control: Control<'static>) -> Vec<Action> {
        self.offer(offset, Stamp::Append(T0 + append), Ok(control))
    }

    pub(crate) fn offer(
        &mut self,
        offset: i64,
        stamp: Stamp,
        control: Result<Control<'static>, BadRecord>,
    ) -> Vec<Action> {
        assert!(self.core.wants_head(self.claim), "offered unasked");
        let head = Head { offset: Offset::new(offset), stamp, bytes: 100, control };
        self.ev(Event::Head(self.claim, head))
    }

    pub(crate) fn ack(&mut self, nth: usize) -> Vec<Action> {
        self.ev(Event::Acked(self.copies[nth].copy))
    }

    pub(crate) fn fail(&mut self, nth: usize, failure: Failure) -> Vec<Action> {
        self.ev(Event::Failed(self.copies[nth].copy, failure))
    }

    /// Acknowledges everything that was sent to `topic`.
    pub(crate) fn ack_all(&mut self, topic: &str) {
        let ids: Vec<_> = self.copies.iter().filter(|c| c.to == topic).map(|c| c.copy).collect();
        for id in ids {
            self.ev(Event::Acked(id));
        }
    }

    pub(crate) fn last(&self) -> &Copied {
        self.copies.last().expect("something was sent")
    }

    pub(crate) fn commits(&self) -> Vec<i64> {
        commits(&self.log)
    }

    /// Confirms the last commit that was asked for.
    pub(crate) fn committed(&mut self) {
        let next = *self.commits().last().expect("a commit");
        self.ev(Event::Committed(self.claim, NextOffset::new(next)));
    }
}

pub(crate) fn claim(partition: i32, epoch: u64) -> Claim {
    Claim { partition, epoch: Epoch(epoch) }
}

pub(crate) fn commits(actions: &[Action]) -> Vec<i64> {
    actions.iter().filter_map(|a| if let Action::Commit(_, n) = a { Some(n.get()) } else { None }).collect()
}

pub(crate) fn sends(actions: &[Action]) -> usize {
    actions.iter().filter(|a| matches!(a, Action::Send { .. })).count()
}

pub(crate) fn outcomes(actions: &[Action]) -> Vec<(i64, Outcome)> {
    let pick = |a: &Action| if let Action::Completed(_, o, out) = a { Some((o.get(), *out)) } else { None };
    actions.iter().filter_map(pick).collect()
}

pub(crate) fn notes(actions: &[Action]) -> Vec<Note> {
    actions.iter().filter_map(|a| if let Action::Note(_, n) = a { Some(n.clone()) } else { None }).collect()
}
