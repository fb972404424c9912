//! Deleting topics, and records of topics.
#![allow(unsafe_code)]

use super::results::{TopicChange, verdicts};
use super::settle::settle_one;
use crate::errors::KafkaFailure;
use crate::native::{PartitionList, Request, build};
use crate::side::Side;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;
use std::time::Duration;

pub(super) fn delete_topic(side: &Side, timeout: Duration, topic: &str) -> Result<(), KafkaFailure> {
    let asked = format!("delete topic {topic}");
    let op = sys::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DELETETOPICS;
    let request = Request { asked: &asked, op, timeout };
    let change = TopicChange { request, topic, destroy: sys::rd_kafka_DeleteTopic_destroy };
    // SAFETY: name, object and wires are alive for their calls; the accessor fits the request.
    change.run(
        side,
        |name, _, _| unsafe { sys::rd_kafka_DeleteTopic_new(name.as_ptr()) },
        |w, objects| unsafe { sys::rd_kafka_DeleteTopics(w.client, objects, 1, w.options, w.queue) },
        |answer| unsafe {
            let result = answer.result(sys::rd_kafka_event_DeleteTopics_result)?;
            Ok(verdicts(|count| sys::rd_kafka_DeleteTopics_result_topics(result, count)))
        },
    )?;
    settle_one(side, timeout, &asked, topic, |look| !matches!(look, Some(Ok(_))))
}

pub(super) fn delete_records(
    side: &Side,
    timeout: Duration,
    topic: &str,
    below: &[(i32, i64)],
) -> Result<(), KafkaFailure> {
    if below.is_empty() {
        return Ok(());
    }
    let asked = format!("delete released records of topic {topic}");
    let list = PartitionList::new(&asked, topic, below.iter().copied())?;
    // SAFETY: the list is alive for the call, which copies it.
    let object = build(&asked, sys::rd_kafka_DeleteRecords_destroy, |_, _| unsafe {
        sys::rd_kafka_DeleteRecords_new(list.ptr())
    })?;
    let mut array = [object.ptr()];
    let op = sys::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DELETERECORDS;
    // SAFETY: object and wires are alive while the request is issued, which copies the object.
    let answer = Request { asked: &asked, op, timeout }.run(side, |w| unsafe {
        sys::rd_kafka_DeleteRecords(w.client, array.as_mut_ptr(), 1, w.options, w.queue);
    })?;
    // SAFETY: the accessor fits the request, and the answer is alive.
    let verdicts = unsafe {
        let result = answer.result(sys::rd_kafka_event_DeleteRecords_result)?;
        PartitionList::read_raw(sys::rd_kafka_DeleteRecords_result_offsets(result))
    };
    match verdicts.into_iter().find(|(_, _, code)| *code != RDKafkaErrorCode::NoError) {
        None => Ok(()),
        Some((partition, _, code)) => Err(KafkaFailure::from_code(format!("{asked}, partition {partition}"), code, "")),
    }
}
