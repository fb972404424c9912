//! Starts one thread per level: guard, then join, then roll.

use crate::args::Args;
use crate::guard::{Found, Guard};
use crate::health::Health;
use crate::level_loop::{End, LevelLoop, Parts};
use crate::metrics::LevelMetrics;
use crate::sending::Sending;
use crate::side::SideThread;
use crate::stop::{LevelThread, Stop};
use anyhow::Context;
use dwell_kafka::clock::{mono, sleep_exactly};
use dwell_kafka::consumer::{LevelConsumer, Tuning};
use dwell_kafka::{BrokerClock, ClientSettings, ClockGuard};
use dwell_levels::{Level, LevelTable};
use dwell_roller_core::{Core, Limits};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between two tries of a guard that found something wrong.
const GUARD_RETRY: Duration = Duration::from_secs(2);
/// Between two looks whether a guard has its answer.
const GUARD_LOOK: Duration = Duration::from_millis(10);
/// Between two checks of the topics while rolling.
const GUARD_EVERY: Duration = Duration::from_secs(300);

/// What the process was asked to do.
pub(crate) struct Setup {
    pub(crate) args: Args,
    pub(crate) client: ClientSettings,
    pub(crate) table: Arc<LevelTable>,
    pub(crate) levels: Vec<Level>,
}

/// What runs.
pub(crate) struct Fleet {
    pub(crate) threads: Vec<LevelThread>,
    pub(crate) healths: Vec<Arc<Health>>,
    _clock: ClockGuard,
}

/// Starts everything. Nothing here waits for Kafka.
pub(crate) fn all(setup: &Setup, stop: &Stop) -> anyhow::Result<Fleet> {
    let pace = clock_pace(&setup.levels);
    let (clock, guard) = BrokerClock::start(&setup.client, &setup.table.clock_topic(), pace)?;
    let side = Arc::new(SideThread::start(&setup.client)?);
    let mut fleet = Fleet { threads: Vec::new(), healths: Vec::new(), _clock: guard };
    for level in &setup.levels {
        let health = Arc::new(Health::new(level.name.as_str()));
        let starter = Starter {
            guard: Guard {
                table: setup.table.clone(),
                level: level.clone(),
                settings: setup.client.clone(),
                start_from: setup.args.start_from,
            },
            limits: limits(&setup.args),
            tuning: Tuning::for_level(level).with_instance_id(setup.args.instance_id.clone()),
            clock: clock.clone(),
            side: side.clone(),
            health: health.clone(),
            stop: stop.flag(),
        };
        let name = format!("roll-{}", level.name);
        let handle =
            std::thread::Builder::new().name(name).spawn(move || starter.run()).context("start a level's thread")?;
        fleet.threads.push(LevelThread { level: level.name.to_string(), handle, health: health.clone() });
        fleet.healths.push(health);
    }
    Ok(fleet)
}

/// How often the brokers' clocks are sampled: where milliseconds count, more often.
fn clock_pace(levels: &[Level]) -> Duration {
    let short = levels.iter().any(|l| l.delay.as_millis() <= 60_000);
    Duration::from_secs(if short { 2 } else { 10 })
}

fn limits(args: &Args) -> Limits {
    let std = |d: dwell_levels::Delay| Duration::from_millis(d.as_millis());
    Limits {
        target_silence: std(args.target_silence),
        target_waits: args.target_waits,
        drain_acks: std(args.stop_after),
        ..Limits::default()
    }
}

struct Starter {
    guard: Guard,
    limits: Limits,
    tuning: Tuning,
    clock: BrokerClock,
    side: Arc<SideThread>,
    health: Arc<Health>,
    stop: Arc<AtomicBool>,
}

impl Starter {
    fn run(self) -> End {
        let Some(starts) = self.wait_until_good() else { return End::Stopped };
        let (health, stop) = (self.health.clone(), self.stop.clone());
        self.guard_while_rolling();
        match self.assemble(starts) {
            Ok(parts) => {
                health.ready();
                LevelLoop::new(parts).run()
            }
            Err(_) if stop.load(Ordering::Relaxed) => End::Stopped,
            Err(error) => End::Failed(format!("{error:#}")),
        }
    }

    /// Asks until everything is right; `None` if told to stop before.
    fn wait_until_good(&self) -> Option<BTreeMap<i32, i64>> {
        let begin = mono();
        loop {
            let retry = match self.ask_guard()? {
                Found::Good(starts) => return Some(starts),
                Found::Bad(why) => {
                    self.health.not_ready(&why);
                    GUARD_RETRY
                }
                Found::NotYet => {
                    // Said only if it lasts: at every start it takes a moment.
                    if mono().since(begin) > GUARD_RETRY {
                        self.health.not_ready("the brokers' clocks have not been measured yet");
                    }
                    Duration::from_millis(100)
                }
            };
            if self.pause(retry) {
                return None;
            }
        }
    }

    /// What the guard finds; `None` if told to stop before. Brokers that are away keep a guard waiting for long, so it
    /// asks on a thread of its own, which a stop leaves behind: the heart beats on, and the process ends at once.
    fn ask_guard(&self) -> Option<Found> {
        let (guard, clock) = (self.guard.clone(), self.clock.clone());
        let spawned = std::thread::Builder::new().name("dwell-guard".into()).spawn(move || guard.check(&clock));
        let asking = match spawned {
            Ok(asking) => asking,
            Err(error) => return Some(Found::Bad(format!("cannot start the thread that asks the brokers: {error}"))),
        };
        while !asking.is_finished() {
            if self.pause(GUARD_LOOK) {
                return None;
            }
        }
        Some(asking.join().unwrap_or_else(|_| Found::Bad("the guard panicked".to_owned())))
    }

    /// Rests while the heart beats; true if told to stop.
    fn pause(&self, d: Duration) -> bool {
        let start = mono();
        while mono().since(start) < d {
            if self.stop.load(Ordering::Relaxed) {
                return true;
            }
            self.health.beat(mono());
            sleep_exactly(d.min(Duration::from_millis(100)));
        }
        false
    }

    fn assemble(self, starts: BTreeMap<i32, i64>) -> anyhow::Result<Parts> {
        let Guard { table, level, settings, .. } = &self.guard;
        let topic = table.topic_of(level);
        let sending = Sending::connect(settings, level.name.as_str(), linger(level))?;
        sending.warm_up(&topic);
        let consumer = LevelConsumer::join(settings, &table.group_of(level), &topic, &self.tuning)?;
        let limits = Limits { fetch_wait: self.tuning.fetch_wait(), ..self.limits };
        Ok(Parts {
            level: level.name.to_string(),
            topic,
            core: Core::new(table.clone(), level.clone(), limits),
            consumer,
            sending,
            clock: self.clock,
            asker: self.side.asker(),
            health: self.health,
            metrics: LevelMetrics::new(level.name.as_str(), level.delay.as_secs_f64()),
            stop: self.stop,
            starts,
        })
    }

    /// Checks the topics now and then while the level is rolled; what is found makes it not ready, it is rolled on.
    fn guard_while_rolling(&self) {
        let guard = Guard { start_from: None, ..self.guard.clone() };
        let (clock, health, stop) = (self.clock.clone(), self.health.clone(), self.stop.clone());
        let watch = move || {
            while !stop.load(Ordering::Relaxed) {
                std::thread::park_timeout(GUARD_EVERY);
                match guard.faults(&clock) {
                    Ok(faults) if faults.is_empty() => health.ready(),
                    Ok(faults) => health.not_ready(&faults.join("; ")),
                    // Brokers that are away say nothing about topics.
                    Err(failure) => tracing::debug!(%failure, "checking topics"),
                }
            }
        };
        if let Err(error) = std::thread::Builder::new().name("dwell-guard".into()).spawn(watch) {
            tracing::warn!(%error, "topics are not checked while the level is rolled");
        }
    }
}

/// Batches gather longer where nobody counts milliseconds.
fn linger(level: &Level) -> Duration {
    Duration::from_millis(if level.delay.as_millis() <= 60_000 { 1 } else { 5 })
}
