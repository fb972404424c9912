//! The loop of one level, on a plain thread: it tells the core what happens and does what the core says.

use crate::chronicle::Chronicle;
use crate::health::Health;
use crate::metrics::LevelMetrics;
use crate::pace::Rest;
use crate::ring::Ring;
use crate::sending::{Copy, Sending, Source};
use crate::side::{Answer, Asker, Question};
use dwell_kafka::clock::{sleep_exactly, wall_ms};
use dwell_kafka::consumer::{CommitOutcome, Fetch, LevelConsumer, Ownership, Step};
use dwell_kafka::producer::{Report, Written};
use dwell_kafka::{BrokerClock, Pace, Stats};
use dwell_roller_core::{
    Action, Claim, CopyId, Core, Epoch, Event, Failure, Head, Mono, Offset, Outcome, Reading, TopicKey,
};
use dwell_wire::decode;
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

    /// Tells the core and does what it says.
    fn tell(&mut self, now: &Reading, event: Event<'_>) {
        self.parts.core.handle(now, event, &mut self.actions);
        self.perform(now, None);
    }

    /// Does what the core has said; refused copies are told at once.
    fn perform(&mut self, now: &Reading, written: Option<&Written>) {
        loop {
            let mut actions = std::mem::take(&mut self.actions);
            for action in actions.drain(..) {
                self.act(action, now, written);
            }
            if self.actions.is_empty() {
                self.actions = actions;
            }
            if self.failures.is_empty() {
                return;
            }
            for (copy, failure) in std::mem::take(&mut self.failures) {
                self.parts.metrics.failed(&failure);
                self.parts.core.handle(now, Event::Failed(copy, failure), &mut self.actions);
            }
        }
    }

    fn act(&mut self, action: Action, now: &Reading, written: Option<&Written>) {
        match action {
            Action::Send { copy, claim, seq, to, form, batching } => {
                let to = self.name(to);
                let source = Source { level: &self.parts.level, topic: &self.parts.topic, partition: claim.partition };
                let now_ms = now.latest.floor_millis();
                let outgoing = Copy { id: copy, to: &to, form: &form, batching, source, now_ms };
                let record = self.rings.get(&claim.partition).filter(|r| r.claim == claim).and_then(|r| r.get(seq));
                let sent = match record {
                    Some(record) => self.parts.sending.send(record, &outgoing),
                    None => Err(Failure::Fatal("a record to be sent is not in the ring".to_owned())),
                };
                if let Err(failure) = sent {
                    self.failures.push((copy, failure));
                }
            }
            Action::Detach(claim, seq) => self.with_ring(claim, |ring| {
                if let Some(record) = ring.get_mut(seq) {
                    record.detach();
                }
            }),
            Action::Forget(claim, seq) => self.with_ring(claim, |ring| ring.forget_before(seq)),
            Action::Completed(claim, offset, outcome) => self.completed(claim, offset, &outcome, now, written),
            Action::Pause(claim) => self.check("pause", self.parts.consumer.pause(claim.partition)),
            Action::Resume(claim) => self.check("resume", self.parts.consumer.resume(claim.partition)),
            Action::Look(claims) => {
                self.parts.asker.ask(Question::Ends { topic: self.parts.topic.clone(), claims });
            }
            Action::AskTopic(key) => {
                let name = self.parts.core.topic_name(key).to_string();
                self.parts.asker.ask(Question::Topic { key, name });
            }
            Action::Commit(claim, next) => self.parts.consumer.commit(claim.partition, next),
            Action::Drained(claim) => self.drained(claim),
            Action::Stopped => self.ending = Some(End::Stopped),
            Action::Note(claim, note) => self.chronicle.note(claim, &note, &self.parts.core),
            Action::Fatal(text) => self.ending = Some(End::Failed(text)),
        }
    }

    fn name(&mut self, key: TopicKey) -> Arc<str> {
        if self.names.len() > 8192 {
            self.names.clear();
        }
        self.names.entry(key).or_insert_with(|| self.parts.core.topic_name(key)).clone()
    }

    fn with_ring(&mut self, claim: Claim, f: impl FnOnce(&mut Ring)) {
        if let Some(ring) = self.rings.get_mut(&claim.partition).filter(|r| r.claim == claim) {
            f(ring);
        }
    }

    fn check<E: std::fmt::Display>(&self, what: &str, result: Result<(), E>) {
        if let Err(error) = result {
            tracing::warn!(level = self.parts.level, %error, "cannot {what} a partition");
        }
    }

    fn completed(&mut self, claim: Claim, offset: Offset, outcome: &Outcome, now: &Reading, written: Option<&Written>) {
        let mut late_us = 0;
        if let Outcome::Released { due_ms } = outcome {
            late_us = now.latest.as_micros() - due_ms * 1000;
            if let Some(append_ms) = written.and_then(|w| w.append_ms)
                && append_ms < *due_ms
            {
                self.parts.metrics.early.increment(1);
                tracing::error!(
                    level = self.parts.level, partition = claim.partition, %offset,
                    "released {} ms before it was due by the target's broker; its clock is behind the others'",
                    due_ms - append_ms
                );
            }
        }
        self.parts.metrics.completed(outcome, late_us as f64 / 1e6);
        self.chronicle.completed(claim, offset, outcome);
    }

    fn step(&mut self, step: Step, now: &Reading) {
        match step {
            Step::Assign(partitions) => {
                self.parts.metrics.rebalances("assigned", 1);
                tracing::info!(level = self.parts.level, ?partitions, "assigned");
                if let Err(error) = self.parts.consumer.accept(&partitions, &self.parts.starts) {
                    self.ending = Some(End::Failed(format!("cannot take assigned partitions: {error}")));
                    return;
                }
                // Decided by the guard for the first assignment; by a later one, commits may have gone on.
                self.parts.starts.clear();
                for partition in partitions {
                    self.epochs += 1;
                    let claim = Claim { partition, epoch: Epoch(self.epochs) };
                    self.claims.retain(|c| c.partition != partition);
                    self.claims.push(claim);
                    self.rings.insert(partition, Ring::new(claim));
                    self.tell(now, Event::Assigned(claim));
                }
            }
            Step::Revoke(partitions, ownership) => self.revoke(partitions, ownership, now),
        }
    }

    fn revoke(&mut self, partitions: Vec<i32>, ownership: Ownership, now: &Reading) {
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

    fn drained(&mut self, claim: Claim) {
        self.claims.retain(|c| *c != claim);
        if self.rings.get(&claim.partition).is_some_and(|r| r.claim == claim) {
            self.rings.remove(&claim.partition);
        }
        for (_, open) in &mut self.giving_back {
            open.remove(&claim.partition);
        }
        self.give_back();
    }

    fn give_back(&mut self) {
        while let Some(at) = self.giving_back.iter().position(|(_, open)| open.is_empty()) {
            let (partitions, _) = self.giving_back.remove(at);
            let result = self.parts.consumer.give_back(&partitions);
            self.check("give back", result);
        }
    }

    fn hear_side(&mut self, now: &Reading) {
        let answers: Vec<Answer> = self.parts.asker.answers().collect();
        for answer in answers {
            let event = match answer {
                Answer::Topic { key, verdict } => Event::TopicAnswer(key, verdict),
                Answer::End { claim, end } => Event::EndSeen(claim, end),
            };
            self.tell(now, event);
        }
        let answers = self.parts.clock.answers();
        if std::mem::replace(&mut self.answers, answers) != answers {
            self.tell(now, Event::ClusterAnswered);
        }
    }

    /// True if there were any.
    fn hear_reports(&mut self) -> bool {
        let mut reports = std::mem::take(&mut self.reports);
        self.parts.sending.reports(&mut reports);
        let some = !reports.is_empty();
        if some {
            // Later than every report, so that lateness is not understated.
            let now = self.parts.clock.read();
            for report in reports.drain(..) {
                self.hear_report(report, &now);
            }
        }
        self.reports = reports;
        some
    }

    fn hear_report(&mut self, report: Report, now: &Reading) {
        let copy = CopyId::from_u64(report.opaque);
        match report.result {
            Ok(written) => {
                self.parts.core.handle(now, Event::Acked(copy), &mut self.actions);
                self.perform(now, Some(&written));
            }
            Err(failure) => {
                self.parts.metrics.failed(&failure);
                self.tell(now, Event::Failed(copy, failure));
            }
        }
    }

    fn hear_commits(&mut self, now: &Reading) {
        for result in self.parts.consumer.serve_commits() {
            let Some(claim) = self.claims.iter().copied().find(|c| c.partition == result.partition) else { continue };
            match result.outcome {
                CommitOutcome::Stored => {
                    self.parts.metrics.commits("ok", 1);
                    self.tell(now, Event::Committed(claim, result.next));
                }
                CommitOutcome::Failed(code) => {
                    self.parts.metrics.commits("error", 1);
                    tracing::debug!(level = self.parts.level, ?code, partition = result.partition, "commit failed");
                    self.tell(now, Event::CommitFailed(claim));
                }
            }
        }
    }

    /// Offers heads to the core while it wants them. True if there were any.
    fn read_heads(&mut self) -> bool {
        let mut some = false;
        for index in 0..self.claims.len() {
            let Some(&claim) = self.claims.get(index) else { break };
            let now = self.parts.clock.read();
            for _ in 0..BURST {
                if !self.parts.core.wants_head(claim) || !self.read_head(claim, &now) {
                    break;
                }
                some = true;
            }
        }
        some
    }

    fn read_head(&mut self, claim: Claim, now: &Reading) -> bool {
        match self.parts.consumer.next(claim.partition) {
            None => false,
            Some(Fetch::End) => {
                self.tell(now, Event::EndReached(claim));
                false
            }
            Some(Fetch::Fault(error)) => {
                tracing::warn!(level = self.parts.level, partition = claim.partition, %error, "reading");
                false
            }
            Some(Fetch::Record(record)) => {
                self.parts.metrics.consumed.increment(1);
                self.offer(claim, record, now);
                true
            }
        }
    }

    fn offer(&mut self, claim: Claim, record: dwell_kafka::record::Record, now: &Reading) {
        let Some(ring) = self.rings.get_mut(&claim.partition).filter(|r| r.claim == claim) else { return };
        let record = ring.push(record);
        let head = Head {
            offset: record.offset(),
            stamp: record.stamp(),
            bytes: record.bytes(),
            control: decode(record.headers()),
        };
        self.parts.core.handle(now, Event::Head(claim, head), &mut self.actions);
        self.perform(now, None);
    }

    /// Gauges, sums for the log, errors of the client.
    fn keep_books(&mut self, now: &Reading) {
        if now.mono.since(self.booked) < BOOKKEEPING {
            return;
        }
        self.booked = now.mono;
        let m = &self.parts.metrics;
        m.in_flight.set(self.parts.core.in_flight() as f64);
        m.loop_timestamp.set(wall_ms() as f64 / 1e3);
        m.partitions(&self.parts.core.census(now));
        let next = self.parts.core.next_due(now);
        m.next_due.set(next.map_or(-1.0, |(_, _, wait)| wait.as_secs_f64()));
        m.clock_uncertainty.set(now.earliest.until(now.latest).as_secs_f64());
        m.clock_offset.set((now.latest.as_micros() - wall_ms() * 1000) as f64 / 1e6);
        self.chronicle.tell(now.mono);
        // An unanswered copy: is it one target, or the cluster? The clock's samples tell.
        let pace = if self.parts.core.awaits_reports() { Pace::Quick } else { Pace::Gentle };
        self.parts.clock.press(pace);
        self.read_client();
    }

    fn read_client(&mut self) {
        for error in self.parts.consumer.take_errors() {
            tracing::debug!(level = self.parts.level, %error, "client");
        }
        if let Some(json) = self.parts.consumer.take_statistics()
            && let Ok(stats) = Stats::parse(&json)
        {
            let queued: u64 = stats.partitions().map(|(_, _, p)| p.fetchq_cnt).sum();
            self.parts.metrics.client(stats.rx_bytes as f64, queued as f64);
        }
        if let Some(text) = self.parts.consumer.fatal().or_else(|| self.parts.sending.fatal()) {
            self.ending = Some(End::Failed(text));
        }
    }
}
