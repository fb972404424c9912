//! The thread of a sender: passes records to the client and reads the reports.

use super::failure::SendTrouble;
use super::letter::Reply;
use super::line::{Ended, Line, Ticket, Waiting, WakeFor};
use super::options::SenderOptions;
use crate::clock::{mono, wall_ms};
use crate::errors::KafkaFailure;
use crate::producer::{Fate, Linger, Outbox, Outgoing, Report};
use crate::settings::ClientSettings;
use dwell_roller_core::{Failure, Mono};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Records handed over between two looks at the reports.
const BURST: usize = 256;
/// How often to look for reports while they are expected, and while they have been missing for a while.
const SOON: Duration = Duration::from_millis(1);
const LATER: Duration = Duration::from_millis(10);
const MISSING_FOR: Duration = Duration::from_millis(200);
/// The client's own events are served this often when there is nothing to do.
const IDLE: Duration = Duration::from_secs(1);
const WARM_UP: Duration = Duration::from_secs(3);

pub(super) struct Worker {
    settings: ClientSettings,
    options: SenderOptions,
    line: Arc<Line>,
    outbox: Outbox,
    in_flight: HashMap<u64, InFlight>,
    next_opaque: u64,
    last_move: Mono,
    health: Health,
    reports: Vec<Report>,
}

struct InFlight {
    reply: Reply,
    size: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Health {
    Good,
    /// Nothing more is handed over; a new client is made when the last report is in.
    Broken,
}

/// What a turn of the loop has brought.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Moved,
    Nothing,
    /// The client's own queue is full.
    Full,
}

impl Worker {
    pub(super) fn connect(
        settings: &ClientSettings,
        options: &SenderOptions,
        line: Arc<Line>,
    ) -> Result<Worker, KafkaFailure> {
        Ok(Worker {
            settings: settings.clone(),
            options: options.clone(),
            line,
            outbox: new_outbox(settings, options)?,
            in_flight: HashMap::new(),
            next_opaque: 1,
            last_move: mono(),
            health: Health::Good,
            reports: Vec::new(),
        })
    }

    pub(super) fn run(mut self) {
        if let Some(topic) = &self.options.warm_up {
            self.outbox.warm_up(topic, WARM_UP);
        }
        while self.line.ended(mono()) == Ended::No {
            let handed = self.hand_over();
            let reported = self.collect();
            let now = mono();
            self.line.expire(now);
            if handed == Turn::Moved || reported == Turn::Moved {
                self.last_move = now;
            } else {
                self.rest(handed, now);
            }
        }
    }

    fn rest(&mut self, handed: Turn, now: Mono) {
        if self.health == Health::Broken && self.in_flight.is_empty() {
            self.renew();
        }
        let stuck = handed == Turn::Full || self.health == Health::Broken;
        let wake_for = if stuck { WakeFor::Time } else { WakeFor::Records };
        let pause = match (self.in_flight.is_empty() && handed != Turn::Full, now.since(self.last_move) < MISSING_FOR) {
            (true, _) => IDLE,
            (false, true) => SOON,
            (false, false) => LATER,
        };
        self.line.wait(wake_for, pause);
    }

    fn hand_over(&mut self) -> Turn {
        let mut turn = Turn::Nothing;
        for _ in 0..BURST {
            if self.health == Health::Broken {
                break;
            }
            let Some((ticket, waiting)) = self.line.admit() else { break };
            match self.post(ticket, waiting) {
                Turn::Full => return Turn::Full,
                _ => turn = Turn::Moved,
            }
        }
        turn
    }

    fn post(&mut self, ticket: Ticket, waiting: Waiting) -> Turn {
        let letter = &waiting.letter;
        let outgoing = Outgoing {
            topic: &letter.topic,
            key: letter.key.as_deref(),
            payload: letter.payload.as_deref(),
            headers: letter.header_list(),
            timestamp_ms: wall_ms(),
            opaque: self.next_opaque,
        };
        match self.outbox.send(outgoing) {
            Ok(()) => {
                let in_flight = InFlight { reply: waiting.reply, size: waiting.size };
                self.in_flight.insert(self.next_opaque, in_flight);
                self.next_opaque += 1;
            }
            Err(Failure::Refused) => {
                self.line.put_back(ticket, waiting);
                return Turn::Full;
            }
            // The same client would say so of every record: it waits for the next one instead.
            Err(Failure::Fatal(why)) => {
                self.broken(&why);
                self.line.put_back(ticket, waiting);
            }
            Err(failure) => {
                self.line.left(waiting.size);
                waiting.reply.failed(self.trouble(failure), Fate::NotWritten);
            }
        }
        Turn::Moved
    }

    fn collect(&mut self) -> Turn {
        let mut turn = Turn::Nothing;
        loop {
            let mut reports = std::mem::take(&mut self.reports);
            self.outbox.reports(&mut reports);
            if reports.is_empty() {
                self.reports = reports;
                return turn;
            }
            turn = Turn::Moved;
            reports.drain(..).for_each(|report| self.answer(report));
            self.reports = reports;
        }
    }

    fn answer(&mut self, report: Report) {
        let Some(InFlight { reply, size }) = self.in_flight.remove(&report.opaque) else { return };
        self.line.left(size);
        match report.result {
            Ok(written) => reply.written(written),
            Err(failure) => {
                if let Failure::Fatal(why) = &failure {
                    self.broken(why);
                }
                let trouble = self.trouble(failure);
                reply.failed(trouble, report.fate);
            }
        }
    }

    fn trouble(&self, failure: Failure) -> SendTrouble {
        match failure {
            Failure::UnknownTopic => SendTrouble::UnknownTopic,
            Failure::Forbidden => SendTrouble::Forbidden,
            Failure::TooLarge => SendTrouble::TooLarge,
            Failure::Rejected(why) => SendTrouble::Rejected(why),
            Failure::Fatal(why) => SendTrouble::Broken(why),
            // The client sends again by itself, so what comes back has run out of time.
            Failure::Retriable | Failure::Refused => SendTrouble::NoAnswer(self.options.timeout),
        }
    }

    fn broken(&mut self, why: &str) {
        if self.health == Health::Good {
            let why = self.outbox.fatal().unwrap_or_else(|| why.to_owned());
            tracing::warn!(client = %self.options.client_id, why, "the producer is broken; starting a new one");
            self.health = Health::Broken;
        }
    }

    fn renew(&mut self) {
        match new_outbox(&self.settings, &self.options) {
            Ok(outbox) => {
                self.outbox = outbox;
                self.health = Health::Good;
            }
            Err(error) => tracing::warn!(%error, "no new producer; trying again"),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Also where the thread panicked: nobody may wait for an answer that cannot come.
        self.line.close(Duration::ZERO);
        self.line.send_home();
        for (_, InFlight { reply, size }) in self.in_flight.drain() {
            self.line.left(size);
            reply.failed(SendTrouble::Closed, Fate::MayBeWritten);
        }
    }
}

fn new_outbox(settings: &ClientSettings, options: &SenderOptions) -> Result<Outbox, KafkaFailure> {
    Outbox::connect_with(settings, &options.client_id, Linger(options.linger), 10_000, &options.fixed())
}
