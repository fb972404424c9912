//! Measures the brokers' clocks, from a thread of its own.
//!
//! One small record to each partition of the clock topic, `acks=1`, at a gentle pace; the broker's append time
//! comes back with the acknowledgement. See [`dwell_roller_core::Estimate`] for what is made of it.

use crate::clock::{mono, sleep_exactly};
use crate::errors::KafkaFailure;
use crate::producer::{Report, ReportContext, Written};
use crate::settings::{ClientSettings, Role};
use dwell_roller_core::{Estimate, Failure, Measured, Mono, Reading, Sample, read_all};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Where somebody waits for a sign of life.
const PRESSING: Duration = Duration::from_millis(500);
/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// Longest wait for the thread at the end.
const CLOSE: Duration = Duration::from_secs(1);

/// The brokers' time. Cheap to read, from any thread.
#[derive(Clone)]
pub struct BrokerClock {
    shared: Arc<State>,
}

#[derive(Default)]
struct State {
    estimates: Mutex<BTreeMap<i32, Estimate>>,
    answers: AtomicU64,
    pressing: AtomicBool,
    /// Every broker was measured, or given its chance.
    complete: AtomicBool,
    topic: AtomicI64,
    stop: Mutex<bool>,
    wake: Condvar,
}

/// What is known of the clock topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockTopic {
    /// Nothing was tried yet, or nobody answered.
    NoAnswer,
    /// It answers with the broker's time.
    Good,
    /// It does not exist.
    Missing,
    /// It does not stamp records with the broker's append time.
    NotAppendTime,
}

impl BrokerClock {
    /// Starts to measure. The thread ends when the returned guard is dropped.
    ///
    /// `pace` is the time between two samples where nothing is pressing. Between them two clocks can drift apart, by
    /// half a millisecond each second at the most, and records are late by as much.
    pub fn start(
        settings: &ClientSettings,
        topic: &str,
        pace: Duration,
    ) -> Result<(BrokerClock, ClockGuard), KafkaFailure> {
        let asked = || format!("measure the brokers' clocks through {topic}");
        let mut config = settings.to_client_config(Role::Producer, "dwell-clock");
        config
            .set("enable.idempotence", "false")
            .set("acks", "1")
            .set("linger.ms", "0")
            .set("message.timeout.ms", PATIENCE.as_millis().to_string());
        let producer: BaseProducer<ReportContext> = config
            .create_with_context(ReportContext::new("dwell-clock"))
            .map_err(|e| KafkaFailure::from_error(asked(), &e))?;
        let clock = BrokerClock { shared: Arc::default() };
        let sampler = Sampler {
            producer,
            topic: topic.to_owned(),
            state: clock.shared.clone(),
            pace,
            partitions: 1,
            round: 0,
            asked: 0,
        };
        let thread = std::thread::Builder::new()
            .name("dwell-clock".into())
            .spawn(move || sampler.run())
            .map_err(|e| KafkaFailure::plain(asked(), crate::errors::Trouble::Other, e.to_string()))?;
        Ok((clock.clone(), ClockGuard { state: clock.shared, thread: Some(thread) }))
    }

    /// The time now, on our clock and on the brokers'.
    pub fn read(&self) -> Reading {
        let now = mono();
        match self.shared.estimates.lock() {
            // One fast broker alone would make the records of a slow one early.
            _ if !self.shared.complete.load(Ordering::Acquire) => Reading::unmeasured(now),
            Ok(estimates) => read_all(estimates.values(), now),
            Err(_) => Reading::unmeasured(now),
        }
    }

    /// Counts the answers of the cluster so far.
    pub fn answers(&self) -> u64 {
        self.shared.answers.load(Ordering::Relaxed)
    }

    /// Asks for samples at a quicker pace while something waits for an acknowledgement.
    pub fn press(&self, pace: Pace) {
        let pressing = pace == Pace::Quick;
        if self.shared.pressing.swap(pressing, Ordering::Relaxed) != pressing && pressing {
            self.shared.wake.notify_all();
        }
    }

    /// What is known of the clock topic.
    pub fn topic(&self) -> ClockTopic {
        match self.shared.topic.load(Ordering::Relaxed) {
            1 => ClockTopic::Good,
            2 => ClockTopic::Missing,
            3 => ClockTopic::NotAppendTime,
            _ => ClockTopic::NoAnswer,
        }
    }
}

/// How often to sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Enough for the drift between clocks.
    Gentle,
    /// Something is unanswered and it must be known whether the cluster lives.
    Quick,
}

/// Ends the sampling thread when dropped. A client whose broker hangs takes long to close; after a second it is left
/// to the end of the process.
pub struct ClockGuard {
    state: Arc<State>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for ClockGuard {
    fn drop(&mut self) {
        if let Ok(mut stop) = self.state.stop.lock() {
            *stop = true;
        }
        self.state.wake.notify_all();
        let Some(thread) = self.thread.take() else { return };
        let begin = mono();
        while !thread.is_finished() {
            if mono().since(begin) > CLOSE {
                return tracing::debug!("the clock's client hangs; it is left to the end of the process");
            }
            sleep_exactly(Duration::from_millis(10));
        }
        if thread.join().is_err() {
            tracing::error!("the clock thread panicked");
        }
    }
}

struct Sampler {
    producer: BaseProducer<ReportContext>,
    topic: String,
    state: Arc<State>,
    pace: Duration,
    partitions: i32,
    round: u64,
    asked: usize,
}

/// The number of the clock topic's partitions is asked for this often, in rounds of samples.
const RECOUNT: u64 = 16;
/// A broker that has not answered in this many rounds is not waited for.
const CHANCES: u64 = 4;

impl Sampler {
    fn run(mut self) {
        loop {
            if self.round.is_multiple_of(RECOUNT) || self.state.topic.load(Ordering::Relaxed) != 1 {
                self.count_partitions();
            }
            for partition in 0..self.partitions {
                self.sample(partition);
            }
            self.judge_complete();
            if self.pause() {
                return;
            }
        }
    }

    fn judge_complete(&mut self) {
        let measured = self.state.estimates.lock().map_or(0, |e| e.len());
        let all = usize::try_from(self.partitions).is_ok_and(|n| measured >= n);
        if measured > 0 {
            self.round += 1;
        }
        if all || (measured > 0 && self.round >= CHANCES) {
            self.state.complete.store(true, Ordering::Release);
        }
    }

    /// Waits for the next turn; true at the end.
    fn pause(&self) -> bool {
        let Ok(stop) = self.state.stop.lock() else { return true };
        if *stop {
            return true;
        }
        let complete = self.state.complete.load(Ordering::Relaxed);
        let quick =
            !complete || self.state.pressing.load(Ordering::Relaxed) || self.state.topic.load(Ordering::Relaxed) != 1;
        let pace = if quick { PRESSING } else { self.pace };
        self.state.wake.wait_timeout(stop, pace).map_or(true, |(stop, _)| *stop)
    }

    /// One partition for each broker is usual; each is sampled, so that the slowest clock is known.
    fn count_partitions(&mut self) {
        if let Ok(metadata) = self.producer.client().fetch_metadata(Some(&self.topic), PATIENCE)
            && let Some(topic) = metadata.topics().first()
            && !topic.partitions().is_empty()
        {
            self.partitions = i32::try_from(topic.partitions().len()).unwrap_or(1).min(64);
        }
    }

    fn sample(&mut self, partition: i32) {
        let sent = mono();
        self.asked += 1;
        let record = BaseRecord::<(), (), usize>::with_opaque_to(&self.topic, self.asked).partition(partition);
        if let Err((error, _)) = self.producer.send(record) {
            let failure = error.rdkafka_error_code().map_or(Failure::Retriable, crate::producer::failure_of);
            return self.failed(&failure);
        }
        let mut reports = Vec::new();
        while reports.is_empty() && mono().since(sent) < PATIENCE + Duration::from_secs(1) {
            self.producer.poll(Duration::from_millis(20));
            self.producer.context().take(&mut reports);
            // The late answer to an earlier question says nothing about this one.
            reports.retain(|r: &Report| r.opaque == self.asked as u64);
        }
        match reports.pop() {
            Some(Report { result: Ok(written), .. }) => self.measured(partition, sent, written),
            Some(Report { result: Err(failure), .. }) => self.failed(&failure),
            None => {}
        }
    }

    fn measured(&self, partition: i32, sent: Mono, written: Written) {
        self.state.answers.fetch_add(1, Ordering::Relaxed);
        let Some(stamp_ms) = written.append_ms else {
            return self.state.topic.store(3, Ordering::Relaxed);
        };
        self.state.topic.store(1, Ordering::Relaxed);
        let sample = Sample { sent, acked: written.at, stamp_ms };
        let Ok(mut estimates) = self.state.estimates.lock() else { return };
        if let Measured::Stepped(by_us) = estimates.entry(partition).or_default().add(sample) {
            let by_ms = by_us / 1000;
            tracing::warn!(partition, by_ms, "a broker's clock has stepped; due times follow it");
        }
    }

    fn failed(&self, failure: &Failure) {
        if matches!(failure, Failure::UnknownTopic | Failure::Forbidden) {
            self.state.topic.store(2, Ordering::Relaxed);
        }
    }
}
