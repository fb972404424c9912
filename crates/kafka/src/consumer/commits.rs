//! Asynchronous commits whose results come back on a queue of their own.
//!
//! rdkafka's `commit(…, Async)` never reports, and its `Sync` form blocks without a bound.
#![allow(unsafe_code)]

use super::context::GroupContext;
use dwell_roller_core::NextOffset;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka_sys as sys;
use std::ffi::CString;
use std::sync::Arc;

/// The result of one commit for one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitResult {
    /// The partition.
    pub partition: i32,
    /// What was committed, or was to be.
    pub next: NextOffset,
    /// Whether the group has it now.
    pub outcome: CommitOutcome,
}

/// Whether a commit arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The coordinator has stored it.
    Stored,
    /// It was refused or not answered.
    Failed(sys::rd_kafka_resp_err_t),
}

/// Sends commits, one request at a time, and hands out their results.
pub(crate) struct Commits {
    queue: *mut sys::rd_kafka_queue_t,
    topic: CString,
    outstanding: bool,
    // Keeps the client alive for as long as its queue exists.
    consumer: Arc<BaseConsumer<GroupContext>>,
}

// SAFETY: librdkafka's queues may be used from any thread; this type is not shared, only moved to the loop's.
unsafe impl Send for Commits {}

impl Commits {
    pub(crate) fn new(consumer: Arc<BaseConsumer<GroupContext>>, topic: &str) -> Option<Commits> {
        let topic = CString::new(topic).ok()?;
        // SAFETY: the client is alive; the new queue is destroyed in `drop`.
        let queue = unsafe { sys::rd_kafka_queue_new(consumer.client().native_ptr()) };
        (!queue.is_null()).then_some(Commits { queue, topic, outstanding: false, consumer })
    }

    pub(crate) fn outstanding(&self) -> bool {
        self.outstanding
    }

    /// Starts a commit of these positions. False if the client refuses it outright.
    pub(crate) fn start(&mut self, positions: &[(i32, NextOffset)]) -> bool {
        // SAFETY: the list is created, filled within its own bounds and destroyed here; the call copies it. The
        // topic is a C string, the queue is alive, and without a callback no opaque is needed.
        let err = unsafe {
            let list = sys::rd_kafka_topic_partition_list_new(i32::try_from(positions.len()).unwrap_or(0));
            for &(partition, next) in positions {
                let entry = sys::rd_kafka_topic_partition_list_add(list, self.topic.as_ptr(), partition);
                (*entry).offset = next.get();
            }
            let rk = self.consumer.client().native_ptr();
            let err = sys::rd_kafka_commit_queue(rk, list, self.queue, None, std::ptr::null_mut());
            sys::rd_kafka_topic_partition_list_destroy(list);
            err
        };
        self.outstanding = err == sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR;
        self.outstanding
    }

    /// Results that have come in, without waiting.
    pub(crate) fn results(&mut self) -> Vec<CommitResult> {
        let mut results = Vec::new();
        while self.outstanding {
            // SAFETY: the queue is alive; the event is destroyed below.
            let event = unsafe { sys::rd_kafka_queue_poll(self.queue, 0) };
            if event.is_null() {
                break;
            }
            // SAFETY: the event is not null and of this thread; its list is owned by it and read before the
            // event is destroyed.
            unsafe {
                if sys::rd_kafka_event_type(event) == sys::RD_KAFKA_EVENT_OFFSET_COMMIT {
                    self.outstanding = false;
                    read_results(event, &mut results);
                }
                sys::rd_kafka_event_destroy(event);
            }
        }
        results
    }
}

/// SAFETY: `event` must be a live commit event.
unsafe fn read_results(event: *mut sys::rd_kafka_event_t, results: &mut Vec<CommitResult>) {
    const OK: sys::rd_kafka_resp_err_t = sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR;
    // SAFETY: by the caller; the list's count bounds its elements.
    unsafe {
        let whole = sys::rd_kafka_event_error(event);
        let list = sys::rd_kafka_event_topic_partition_list(event);
        if list.is_null() {
            return;
        }
        let count = usize::try_from((*list).cnt).unwrap_or(0);
        for entry in std::slice::from_raw_parts((*list).elems, count) {
            let err = if entry.err == OK { whole } else { entry.err };
            let outcome = if err == OK { CommitOutcome::Stored } else { CommitOutcome::Failed(err) };
            results.push(CommitResult { partition: entry.partition, next: NextOffset::new(entry.offset), outcome });
        }
    }
}

impl Drop for Commits {
    fn drop(&mut self) {
        // SAFETY: created in `new`, destroyed once; the client outlives it.
        unsafe { sys::rd_kafka_queue_destroy(self.queue) }
    }
}
