//! The records of one claim that the core has not forgotten, by sequence number.

use dwell_kafka::record::Record;
use dwell_roller_core::{Claim, NextOffset, Offset, Seq};
use std::collections::VecDeque;

/// Holds records from "offered" until "forgotten".
pub(crate) struct Ring {
    pub(crate) claim: Claim,
    /// The partition's end as last told to the core.
    pub(crate) end: Option<NextOffset>,
    /// The record that was read last.
    pub(crate) last: Option<Offset>,
    records: VecDeque<Record>,
    base: u64,
}

impl Ring {
    pub(crate) fn new(claim: Claim) -> Ring {
        Ring { claim, end: None, last: None, records: VecDeque::new(), base: 0 }
    }

    /// Adds the next record and shows it.
    pub(crate) fn push(&mut self, record: Record) -> &Record {
        self.records.push_back(record);
        &self.records[self.records.len() - 1]
    }

    pub(crate) fn get(&self, seq: Seq) -> Option<&Record> {
        self.records.get(usize::try_from(seq.0.checked_sub(self.base)?).ok()?)
    }

    pub(crate) fn get_mut(&mut self, seq: Seq) -> Option<&mut Record> {
        self.records.get_mut(usize::try_from(seq.0.checked_sub(self.base)?).ok()?)
    }

    /// Frees the records before `seq`.
    pub(crate) fn forget_before(&mut self, seq: Seq) {
        while self.base < seq.0 && self.records.pop_front().is_some() {
            self.base += 1;
        }
    }
}
