//! What the client calls back: rebalances, logs, errors, statistics.

use super::resets::Resets;
use crate::clock::mono;
use crate::log::LogBridge;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::topic_partition_list::TopicPartitionList;
use rdkafka::types::RDKafkaRespErr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A rebalance step that the group waits for us to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// These partitions are ours once [`super::LevelConsumer::accept`] is called.
    Assign(Vec<i32>),
    /// These partitions are to be given back with [`super::LevelConsumer::give_back`].
    Revoke(Vec<i32>, Ownership),
}

/// Whether revoked partitions are still ours while we finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// Yes: commits count.
    Held,
    /// No: someone else may already read them.
    Lost,
}

/// Collects rebalance steps instead of taking them in the callback, so that finishing a partition is a state of
/// the loop with a deadline, and not a callback that blocks everything else.
pub(crate) struct GroupContext {
    log: LogBridge,
    steps: Mutex<Vec<Step>>,
    errors: Mutex<Vec<KafkaError>>,
    closing: AtomicBool,
    statistics: Mutex<Option<Vec<u8>>>,
    pub(super) resets: Resets,
}

impl GroupContext {
    pub(crate) fn new(client: &str) -> GroupContext {
        GroupContext {
            log: LogBridge::new(client),
            steps: Mutex::default(),
            errors: Mutex::default(),
            closing: AtomicBool::new(false),
            statistics: Mutex::default(),
            resets: Resets::default(),
        }
    }

    pub(crate) fn take_steps(&self) -> Vec<Step> {
        self.steps.lock().map(|mut s| std::mem::take(&mut *s)).unwrap_or_default()
    }

    pub(crate) fn take_errors(&self) -> Vec<KafkaError> {
        self.errors.lock().map(|mut s| std::mem::take(&mut *s)).unwrap_or_default()
    }

    /// The newest statistics as JSON, if any came since the last call.
    pub(crate) fn take_statistics(&self) -> Option<Vec<u8>> {
        self.statistics.lock().ok()?.take()
    }

    /// From now on revokes are answered at once: the consumer is closing and nothing is left to finish.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    fn push(&self, step: Step) {
        if let Ok(mut steps) = self.steps.lock() {
            steps.push(step);
        }
    }
}

impl ClientContext for GroupContext {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, message: &str) {
        // What a reset means is told by whoever knows where reading goes on.
        let level = if self.resets.hear(fac, message) { RDKafkaLogLevel::Debug } else { level };
        self.log.line(mono(), level, fac, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        if matches!(error.rdkafka_error_code(), Some(RDKafkaErrorCode::PartitionEOF)) {
            return;
        }
        self.log.line(mono(), RDKafkaLogLevel::Error, "ERROR", reason);
        if let Ok(mut errors) = self.errors.lock()
            && errors.len() < 100
        {
            errors.push(error);
        }
    }

    fn stats_raw(&self, statistics: &[u8]) {
        if let Ok(mut slot) = self.statistics.lock() {
            *slot = Some(statistics.to_vec());
        }
    }
}

impl ConsumerContext for GroupContext {
    fn rebalance(&self, consumer: &BaseConsumer<Self>, err: RDKafkaRespErr, tpl: &mut TopicPartitionList) {
        if self.closing.load(Ordering::Acquire) {
            answer_at_once(consumer, err, tpl);
            return;
        }
        let partitions = tpl.elements().iter().map(|e| e.partition()).collect();
        self.push(match err {
            RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS => Step::Assign(partitions),
            _ if consumer.assignment_lost() => Step::Revoke(partitions, Ownership::Lost),
            _ => Step::Revoke(partitions, Ownership::Held),
        });
    }
}

fn answer_at_once(consumer: &BaseConsumer<GroupContext>, err: RDKafkaRespErr, tpl: &TopicPartitionList) {
    let answer = match err {
        // Taken and given back with the close that is under way.
        RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS => consumer.incremental_assign(tpl),
        _ => consumer.incremental_unassign(tpl),
    };
    if let Err(error) = answer {
        tracing::debug!(%error, "answering a rebalance while closing");
    }
}
