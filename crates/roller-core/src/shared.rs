//! What the partitions of one level share: the table, the topics, and the copies in flight.

use crate::event::{Action, Batching, Claim, Form};
use crate::limits::Limits;
use crate::time::{Mono, Reading};
use crate::topics::{Open, Report, TopicKey, Topics};
use crate::window::{CopyId, Seq};
use dwell_levels::{Level, LevelTable};
use slotmap::SlotMap;
use std::collections::HashMap;
use std::sync::Arc;

/// A copy with the producer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copy {
    pub(crate) claim: Claim,
    pub(crate) seq: Seq,
    pub(crate) dest: TopicKey,
    pub(crate) bytes: usize,
    counted: bool,
}

impl Copy {
    pub(crate) fn new(claim: Claim, seq: Seq, dest: TopicKey, bytes: usize) -> Copy {
        Copy { claim, seq, dest, bytes, counted: true }
    }
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) table: Arc<LevelTable>,
    pub(crate) level: Level,
    pub(crate) limits: Limits,
    pub(crate) topics: Topics,
    pub(crate) own: TopicKey,
    pub(crate) parked: TopicKey,
    pub(crate) copies: SlotMap<CopyId, Copy>,
    in_flight_records: usize,
    in_flight_bytes: usize,
    stranded: usize,
    level_keys: HashMap<String, TopicKey>,
    /// Whether the brokers' clock was ever measured; before that nothing is read.
    pub(crate) measured: bool,
}

impl Shared {
    pub(crate) fn new(table: Arc<LevelTable>, level: Level, limits: Limits) -> Shared {
        let mut topics = Topics::new(limits.recheck);
        let own = topics.use_topic(&table.topic_of(&level));
        let parked = topics.use_topic(&table.parked_topic());
        let mut shared = Shared {
            table,
            level,
            limits,
            topics,
            own,
            parked,
            copies: SlotMap::with_key(),
            in_flight_records: 0,
            in_flight_bytes: 0,
            stranded: 0,
            level_keys: HashMap::new(),
            measured: false,
        };
        shared.register_levels();
        shared
    }

    /// Takes another table for targets and plans. This level's own delay does not change.
    pub(crate) fn set_table(&mut self, table: Arc<LevelTable>) {
        self.table = table;
        self.topics.forget_vetting();
        self.register_levels();
    }

    /// Levels are destinations too; their keys are kept for good.
    fn register_levels(&mut self) {
        for level in self.table.levels() {
            let name = self.table.topic_of(level);
            if !self.level_keys.contains_key(&name) {
                let key = self.topics.use_topic(&name);
                self.level_keys.insert(name, key);
            }
        }
    }

    pub(crate) fn level_key(&self, level: &Level) -> TopicKey {
        self.level_keys.get(&self.table.topic_of(level)).copied().unwrap_or(self.own)
    }

    /// Where records go whose target does not answer.
    pub(crate) fn set_aside_key(&self) -> TopicKey {
        self.level_key(self.table.set_aside_level())
    }

    pub(crate) fn has_room(&self) -> bool {
        self.in_flight_records < self.limits.in_flight_records && self.in_flight_bytes < self.limits.in_flight_bytes
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight_records
    }

    /// A topic may be written to, or the question is asked.
    pub(crate) fn open(&mut self, key: TopicKey, now: Mono, out: &mut Vec<Action>) -> Open {
        match self.topics.open(key, now) {
            Open::Ask => {
                self.topics.asked(key, now);
                out.push(Action::AskTopic(key));
                Open::Wait
            }
            open => open,
        }
    }

    pub(crate) fn send(&mut self, copy: Copy, form: Form, batching: Batching, out: &mut Vec<Action>) -> CopyId {
        let Copy { claim, seq, dest: to, bytes, .. } = copy;
        let id = self.copies.insert(copy);
        self.in_flight_records += 1;
        self.in_flight_bytes += bytes;
        self.topics.sent(to);
        out.push(Action::Send { copy: id, claim, seq, to, form, batching });
        id
    }

    /// Every copy is reported once; what comes again is unknown here and changes nothing.
    pub(crate) fn report(&mut self, id: CopyId, report: Report, now: &Reading) -> Option<(Copy, Revived)> {
        let copy = self.copies.remove(id)?;
        if copy.counted {
            self.in_flight_records -= 1;
            self.in_flight_bytes -= copy.bytes;
        } else {
            self.stranded -= 1;
        }
        if report == Report::Acked {
            self.topics.alive.answered(now.mono, self.limits.evidence_cap);
        }
        let revived = if self.topics.reported(copy.dest, report) { Revived::Yes } else { Revived::No };
        Some((copy, revived))
    }

    /// Copies to a silent topic stay with the producer for as long as it likes; they must not use up what the
    /// others may send.
    pub(crate) fn strand(&mut self, topic: TopicKey) {
        for copy in self.copies.values_mut().filter(|c| c.dest == topic && c.counted) {
            if self.stranded >= self.limits.stranded {
                break;
            }
            copy.counted = false;
            self.stranded += 1;
            self.in_flight_records -= 1;
            self.in_flight_bytes -= copy.bytes;
        }
    }
}

/// Whether an acknowledgement ended a topic's silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revived {
    Yes,
    No,
}
