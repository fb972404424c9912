//! What topics are there, and how they are set up.
#![allow(unsafe_code)]

use crate::errors::{KafkaFailure, Trouble};
use crate::native::{Owned, Request, c_string, code_of_error, slice, text, text_or_empty};
use crate::side::Side;
use dwell_levels::topics::FoundTopic;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, c_char};
use std::time::Duration;

/// Tells a topic from others that had or will have its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TopicId(i64, i64);

/// A topic's partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TopicShape {
    /// `None` from brokers that do not number topics.
    pub(crate) id: Option<TopicId>,
    pub(crate) partitions: u32,
    /// Replicas of the partition that has the fewest.
    pub(crate) replicas: u16,
    /// Partitions without a leader.
    pub(crate) leaderless: u32,
}

/// What a broker says of a topic: its shape, or why there is none.
pub(crate) type Shapes = BTreeMap<String, Result<TopicShape, KafkaFailure>>;

type Settings = BTreeMap<String, Result<BTreeMap<String, String>, KafkaFailure>>;

pub(super) fn describe(
    side: &Side,
    timeout: Duration,
    topics: &[&str],
) -> Result<BTreeMap<String, Option<FoundTopic>>, KafkaFailure> {
    let mut found = BTreeMap::new();
    for (name, shape) in shapes(side, timeout, topics)? {
        found.insert(name, unless_missing(shape)?);
    }
    let there: Vec<&str> = found.iter().filter(|(_, shape)| shape.is_some()).map(|(name, _)| name.as_str()).collect();
    let mut settings = settings(side, timeout, &there)?;
    let described = found.into_iter().map(|(name, shape)| {
        let Some(shape) = shape else {
            return Ok((name, None));
        };
        // A topic can go between the two questions.
        let config = settings.remove(&name).map(unless_missing).transpose()?.flatten();
        let topic = config.map(|config| FoundTopic {
            partitions: shape.partitions,
            replication_factor: shape.replicas,
            config,
        });
        Ok((name, topic))
    });
    described.collect()
}

fn unless_missing<T>(answer: Result<T, KafkaFailure>) -> Result<Option<T>, KafkaFailure> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(failure) if failure.trouble() == Trouble::UnknownTopic => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Asks for the partitions of several topics at once. Never creates one, whatever the broker is set to.
pub(crate) fn shapes(side: &Side, timeout: Duration, topics: &[&str]) -> Result<Shapes, KafkaFailure> {
    let asked = "describe topics";
    let unique: BTreeSet<&str> = topics.iter().copied().filter(|t| !t.is_empty()).collect();
    let names: Vec<CString> = unique.iter().map(|name| c_string(asked, name)).collect::<Result<_, _>>()?;
    if names.is_empty() {
        return Ok(Shapes::new());
    }
    let mut pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    // SAFETY: the names outlive the call, which copies them; the collection is ours and freed by `Owned`.
    let collection = unsafe {
        let new = sys::rd_kafka_TopicCollection_of_topic_names(pointers.as_mut_ptr(), pointers.len());
        Owned::new(new, sys::rd_kafka_TopicCollection_destroy)
    };
    let collection = collection.ok_or_else(|| KafkaFailure::plain(asked, Trouble::Other, "out of memory"))?;
    let op = sys::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS;
    // SAFETY: collection and wires are alive while the request is issued.
    let answer = Request { asked, op, timeout }
        .run(side, |w| unsafe { sys::rd_kafka_DescribeTopics(w.client, collection.ptr(), w.options, w.queue) })?;
    // SAFETY: the accessor fits the request; what is read lives as long as the answer.
    unsafe {
        let result = answer.result(sys::rd_kafka_event_DescribeTopics_result)?;
        let topics = slice(|count| sys::rd_kafka_DescribeTopics_result_topics(result, count));
        // A topic the broker passed over in silence is a null pointer.
        Ok(topics.iter().filter(|topic| !topic.is_null()).map(|topic| shape(*topic)).collect())
    }
}

/// # Safety
/// `topic` belongs to an answer that is alive.
unsafe fn shape(topic: *const sys::rd_kafka_TopicDescription_t) -> (String, Result<TopicShape, KafkaFailure>) {
    // SAFETY: as promised by the caller.
    unsafe {
        let name = text_or_empty(sys::rd_kafka_TopicDescription_name(topic));
        if let Some((code, said)) = code_of_error(sys::rd_kafka_TopicDescription_error(topic)) {
            let failure = KafkaFailure::from_code(format!("describe topic {name}"), code, &said);
            return (name, Err(failure));
        }
        let partitions = slice(|count| sys::rd_kafka_TopicDescription_partitions(topic, count));
        let replicas = |p: &*const _| slice(|count| sys::rd_kafka_TopicPartitionInfo_replicas(*p, count)).len();
        let fewest = partitions.iter().map(replicas).min().unwrap_or(0);
        let leaderless = partitions.iter().filter(|p| sys::rd_kafka_TopicPartitionInfo_leader(**p).is_null()).count();
        let shape = TopicShape {
            id: topic_id(sys::rd_kafka_TopicDescription_topic_id(topic)),
            partitions: u32::try_from(partitions.len()).unwrap_or(u32::MAX),
            replicas: u16::try_from(fewest).unwrap_or(u16::MAX),
            leaderless: u32::try_from(leaderless).unwrap_or(u32::MAX),
        };
        (name, Ok(shape))
    }
}

/// # Safety
/// `id` is null or belongs to an answer that is alive.
unsafe fn topic_id(id: *const sys::rd_kafka_Uuid_t) -> Option<TopicId> {
    if id.is_null() {
        return None;
    }
    // SAFETY: not null, and as promised by the caller.
    let id =
        unsafe { TopicId(sys::rd_kafka_Uuid_most_significant_bits(id), sys::rd_kafka_Uuid_least_significant_bits(id)) };
    (id != TopicId(0, 0)).then_some(id)
}

/// All settings in effect of several topics.
fn settings(side: &Side, timeout: Duration, topics: &[&str]) -> Result<Settings, KafkaFailure> {
    let asked = "read the settings of topics";
    if topics.is_empty() {
        return Ok(Settings::new());
    }
    let resources: Vec<_> = topics.iter().map(|topic| resource(asked, topic)).collect::<Result<_, _>>()?;
    let mut pointers: Vec<_> = resources.iter().map(Owned::ptr).collect();
    let op = sys::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS;
    // SAFETY: resources and wires are alive while the request is issued, which copies the resources.
    let answer = Request { asked, op, timeout }.run(side, |w| unsafe {
        sys::rd_kafka_DescribeConfigs(w.client, pointers.as_mut_ptr(), pointers.len(), w.options, w.queue);
    })?;
    // SAFETY: the accessor fits the request; what is read lives as long as the answer.
    unsafe {
        let result = answer.result(sys::rd_kafka_event_DescribeConfigs_result)?;
        let resources = slice(|count| sys::rd_kafka_DescribeConfigs_result_resources(result, count));
        Ok(resources.iter().map(|r| settings_of(*r)).collect())
    }
}

/// # Safety
/// `resource` belongs to an answer that is alive.
unsafe fn settings_of(
    resource: *const sys::rd_kafka_ConfigResource_t,
) -> (String, Result<BTreeMap<String, String>, KafkaFailure>) {
    // SAFETY: as promised by the caller.
    unsafe {
        let name = text_or_empty(sys::rd_kafka_ConfigResource_name(resource));
        let code = RDKafkaErrorCode::from(sys::rd_kafka_ConfigResource_error(resource));
        if code != RDKafkaErrorCode::NoError {
            let said = text_or_empty(sys::rd_kafka_ConfigResource_error_string(resource));
            let failure = KafkaFailure::from_code(format!("read the settings of topic {name}"), code, &said);
            return (name, Err(failure));
        }
        let entries = slice(|count| sys::rd_kafka_ConfigResource_configs(resource, count));
        let values = entries.iter().filter_map(|entry| {
            let value = text(sys::rd_kafka_ConfigEntry_value(*entry))?;
            Some((text_or_empty(sys::rd_kafka_ConfigEntry_name(*entry)), value))
        });
        (name, Ok(values.collect()))
    }
}

/// A topic as an object whose settings are read or changed.
pub(crate) fn resource(asked: &str, topic: &str) -> Result<Owned<sys::rd_kafka_ConfigResource_t>, KafkaFailure> {
    let name = c_string(asked, topic)?;
    let kind = sys::rd_kafka_ResourceType_t::RD_KAFKA_RESOURCE_TOPIC;
    // SAFETY: the name outlives the call, which copies it; the object is ours and freed by `Owned`.
    let new = unsafe {
        Owned::new(sys::rd_kafka_ConfigResource_new(kind, name.as_ptr()), sys::rd_kafka_ConfigResource_destroy)
    };
    new.ok_or_else(|| KafkaFailure::plain(asked, Trouble::Settings, format!("{topic:?} is no topic name")))
}
