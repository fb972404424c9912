//! The loop of one level, on a plain thread: it tells the core what happens and does what the core says.

mod acting;
mod books;
mod hearing;
mod identity;
mod rebalance;
mod resets;
mod silence;

pub(crate) use resets::Effect;

use crate::chronicle::Chronicle;
use crate::health::Health;
use crate::metrics::LevelMetrics;
use crate::pace::Rest;
use crate::ring::Ring;
use crate::sending::Sending;
use crate::side::Asker;
use dwell_kafka::BrokerClock;
use dwell_kafka::clock::{mono, sleep_exactly};
use dwell_kafka::consumer::LevelConsumer;
use dwell_kafka::producer::Report;
use dwell_roller_core::{Action, Claim, CopyId, Core, Event, Failure, Mono, Reading, TopicKey};
use identity::Identity;
use silence::Silence;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Records taken from one partition before the others get their turn.
const BURST: usize = 256;
/// Rebalances are served within this.
const LONGEST_REST: Duration = Duration::from_millis(100);
/// Gauges and the log's sums are brought up to date this often.
const BOOKKEEPING: Duration = Duration::from_millis(500);

/// How soon a topic that was deleted and created anew is noticed. One small request.
const IDENTITY_EVERY: Duration = Duration::from_secs(5);

/// Why a loop ended.
pub(crate) enum End {
    /// It was asked to stop and did.
    Stopped,
    /// It cannot go on.
    Failed(String),
}

/// The parts a loop is made of.
pub(crate) struct Parts {
    pub(crate) level: String,
    pub(crate) topic: String,
    pub(crate) core: Core,
    pub(crate) consumer: LevelConsumer,
    pub(crate) sending: Sending,
    pub(crate) clock: BrokerClock,
    pub(crate) asker: Asker,
    pub(crate) health: Arc<Health>,
    pub(crate) metrics: LevelMetrics,
    pub(crate) stop: Arc<AtomicBool>,
    /// First offsets of partitions that have none committed, where the guard has decided them.
    pub(crate) starts: BTreeMap<i32, i64>,
}

/// See the module.
pub(crate) struct LevelLoop {
    // Records point into the consumer's buffers and go first.
    rings: HashMap<i32, Ring>,
    parts: Parts,
    chronicle: Chronicle,
    epochs: u64,
    claims: Vec<Claim>,
    /// Partitions asked back together, and those of them that are not finished with.
    giving_back: Vec<(Vec<i32>, BTreeSet<i32>)>,
    names: HashMap<TopicKey, Arc<str>>,
    actions: Vec<Action>,
    failures: Vec<(CopyId, Failure)>,
    reports: Vec<Report>,
    rest: Rest,
    booked: Mono,
    answers: u64,
    identity: Identity,
    silence: Silence,
    ending: Option<End>,
    stop_told: bool,
}

impl LevelLoop {
    pub(crate) fn new(parts: Parts) -> LevelLoop {
        let chronicle = Chronicle::new(&parts.level, &parts.topic);
        LevelLoop {
            rings: HashMap::new(),
            chronicle,
            epochs: 0,
            claims: Vec::new(),
            giving_back: Vec::new(),
            names: HashMap::new(),
            actions: Vec::new(),
            failures: Vec::new(),
            reports: Vec::new(),
            rest: Rest::default(),
            booked: Mono::default(),
            answers: parts.clock.answers(),
            identity: Identity::default(),
            silence: Silence::new(&parts.level, mono()),
            ending: None,
            stop_told: false,
            parts,
        }
    }

    /// Turns until it is told to stop and everything is finished with, or until it cannot go on. Leaves the group.
    pub(crate) fn run(mut self) -> End {
        let mut wait = Duration::ZERO;
        let end = loop {
            wait = self.turn(wait);
            if let Some(end) = self.ending.take() {
                break end;
            }
        };
        let LevelLoop { rings, parts, .. } = self;
        drop(rings);
        drop(parts.sending);
        parts.consumer.leave();
        end
    }

    /// One turn; returns how long the next one may wait for the group.
    fn turn(&mut self, wait: Duration) -> Duration {
        let steps = self.parts.consumer.serve(wait);
        let now = self.parts.clock.read();
        self.parts.health.beat(now.mono);
        let mut busy = !steps.is_empty();
        for step in steps {
            self.step(step, &now);
        }
        if self.parts.stop.load(Ordering::Relaxed) && !std::mem::replace(&mut self.stop_told, true) {
            self.tell(&now, Event::Stop);
        }
        self.hear_side(&now);
        busy |= self.hear_reports();
        self.hear_commits(&now);
        busy |= self.read_heads();
        let now = self.parts.clock.read();
        self.tell(&now, Event::Tick);
        self.keep_books(&now);
        self.rest_until(&now, busy)
    }

    /// Waits in the client where the wait is long, and exactly where it is short.
    fn rest_until(&mut self, now: &Reading, busy: bool) -> Duration {
        let in_flight = self.parts.core.awaits_reports();
        let longest = self.rest.next(busy, in_flight).min(LONGEST_REST);
        let wake = self.parts.core.next_wake(now, longest);
        let millisecond = Duration::from_millis(1);
        if wake >= 2 * millisecond {
            // The client counts in whole milliseconds; the rest is slept exactly in the next turn.
            return Duration::from_millis(u64::try_from(wake.as_millis()).unwrap_or(0)) - millisecond;
        }
        if !wake.is_zero() && !busy {
            sleep_exactly(wake);
        }
        Duration::ZERO
    }
}
