//! New topics and new partitions.
#![allow(unsafe_code)]

use super::results::{TopicChange, Verdicts, verdicts};
use super::settle::{settle, settle_one, unsettled};
use crate::errors::{KafkaFailure, Trouble};
use crate::native::{Owned, Request, build, c_string};
use crate::side::Side;
use dwell_levels::topics::TopicSpec;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;
use std::time::Duration;

/// What became of a topic that was to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Creation {
    /// It is new.
    Created,
    /// It was there before and is unchanged.
    AlreadyThere,
}

type NewTopic = Owned<sys::rd_kafka_NewTopic_t>;

pub(super) fn create(
    side: &Side,
    timeout: Duration,
    specs: &[TopicSpec],
) -> Vec<(String, Result<Creation, KafkaFailure>)> {
    let mut results: Vec<(String, Result<Creation, KafkaFailure>)> = Vec::with_capacity(specs.len());
    let mut asked_for: Vec<NewTopic> = Vec::new();
    for spec in specs {
        let built = new_topic(spec);
        results.push((spec.name.clone(), built.as_ref().map(|_| Creation::Created).map_err(Clone::clone)));
        asked_for.extend(built);
    }
    if !asked_for.is_empty() {
        apply(&mut results, &request(side, timeout, &asked_for));
        await_leaders(side, timeout, &mut results);
    }
    results
}

fn asked(topic: &str) -> String {
    format!("create topic {topic}")
}

fn new_topic(spec: &TopicSpec) -> Result<NewTopic, KafkaFailure> {
    let asked = asked(&spec.name);
    let name = c_string(&asked, &spec.name)?;
    let partitions = i32::try_from(spec.partitions).unwrap_or(i32::MAX);
    let replicas = i32::from(spec.replication_factor);
    // SAFETY: name and buffer are alive for the call, which copies the name.
    let topic = build(&asked, sys::rd_kafka_NewTopic_destroy, |said, room| unsafe {
        sys::rd_kafka_NewTopic_new(name.as_ptr(), partitions, replicas, said, room)
    })?;
    for (key, value) in &spec.config {
        let (key, value) = (c_string(&asked, key)?, c_string(&asked, value)?);
        // SAFETY: topic, key and value are alive for the call, which copies both texts.
        let code = unsafe { sys::rd_kafka_NewTopic_set_config(topic.ptr(), key.as_ptr(), value.as_ptr()) };
        let code = RDKafkaErrorCode::from(code);
        if code != RDKafkaErrorCode::NoError {
            return Err(KafkaFailure::from_code(asked, code, ""));
        }
    }
    Ok(topic)
}

fn request(side: &Side, timeout: Duration, topics: &[NewTopic]) -> Result<Verdicts, KafkaFailure> {
    let mut pointers: Vec<_> = topics.iter().map(Owned::ptr).collect();
    let op = sys::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_CREATETOPICS;
    // SAFETY: topics and wires are alive while the request is issued, which copies the topics.
    let answer = Request { asked: "create topics", op, timeout }.run(side, |w| unsafe {
        sys::rd_kafka_CreateTopics(w.client, pointers.as_mut_ptr(), pointers.len(), w.options, w.queue);
    })?;
    // SAFETY: the accessor fits the request, and the answer is alive.
    unsafe {
        let result = answer.result(sys::rd_kafka_event_CreateTopics_result)?;
        Ok(verdicts(|count| sys::rd_kafka_CreateTopics_result_topics(result, count)))
    }
}

/// Puts the verdicts in place of the hopes.
fn apply(results: &mut [(String, Result<Creation, KafkaFailure>)], verdicts: &Result<Verdicts, KafkaFailure>) {
    for (name, result) in results.iter_mut().filter(|(_, result)| result.is_ok()) {
        *result = match verdicts.as_ref().map(|all| all.get(name)) {
            Err(failure) => Err(failure.clone()),
            Ok(Some(Ok(()))) => Ok(Creation::Created),
            Ok(Some(Err((RDKafkaErrorCode::TopicAlreadyExists, _)))) => Ok(Creation::AlreadyThere),
            Ok(Some(Err((code, said)))) => Err(KafkaFailure::from_code(asked(name), *code, said)),
            Ok(None) => Err(KafkaFailure::plain(asked(name), Trouble::Other, "the answer does not name the topic")),
        };
    }
}

/// Waits until every new partition has a leader.
fn await_leaders(side: &Side, timeout: Duration, results: &mut [(String, Result<Creation, KafkaFailure>)]) {
    let new = |r: &Result<Creation, KafkaFailure>| matches!(r, Ok(Creation::Created));
    let created = results.iter().filter(|(_, r)| new(r)).map(|(name, _)| name.clone()).collect();
    let waiting = settle(side, timeout, created, |look| matches!(look, Some(Ok(shape)) if shape.leaderless == 0));
    for (name, result) in results.iter_mut().filter(|(name, _)| waiting.contains(name)) {
        *result = Err(unsettled(&asked(name), timeout));
    }
}

pub(super) fn add_partitions(side: &Side, timeout: Duration, topic: &str, to: u32) -> Result<(), KafkaFailure> {
    let asked = format!("raise topic {topic} to {to} partitions");
    let op = sys::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_CREATEPARTITIONS;
    let request = Request { asked: &asked, op, timeout };
    let change = TopicChange { request, topic, destroy: sys::rd_kafka_NewPartitions_destroy };
    // SAFETY: name, buffer, object and wires are alive for their calls; the accessor fits the request.
    change.run(
        side,
        |name, said, room| unsafe { sys::rd_kafka_NewPartitions_new(name.as_ptr(), to as usize, said, room) },
        |w, objects| unsafe { sys::rd_kafka_CreatePartitions(w.client, objects, 1, w.options, w.queue) },
        |answer| unsafe {
            let result = answer.result(sys::rd_kafka_event_CreatePartitions_result)?;
            Ok(verdicts(|count| sys::rd_kafka_CreatePartitions_result_topics(result, count)))
        },
    )?;
    settle_one(
        side,
        timeout,
        &asked,
        topic,
        |look| matches!(look, Some(Ok(shape)) if shape.partitions >= to && shape.leaderless == 0),
    )
}
