//! Reads topics from beginning to end, without a group: for checks, tools and tests.

use crate::clock::mono;
use crate::consumer::context::GroupContext;
use crate::errors::{KafkaFailure, Trouble};
use crate::lookup::{Lookup, TopicState};
use crate::record::{Fetched, Record};
use crate::settings::{ClientSettings, Role};
use dwell_roller_core::Stamp;
use rdkafka::Message;
use rdkafka::Offset as RdOffset;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::topic_partition_list::TopicPartitionList;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A record, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeRecord {
    /// Its partition.
    pub partition: i32,
    /// Its offset.
    pub offset: i64,
    /// Its timestamp, epoch milliseconds.
    pub timestamp_ms: i64,
    /// Whether the broker set the timestamp at the append.
    pub stamped_by: StampedBy,
    /// The key.
    pub key: Option<Vec<u8>>,
    /// The value.
    pub payload: Option<Vec<u8>>,
    /// All headers in order.
    pub headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// Who set a record's timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StampedBy {
    /// The broker, at the append.
    Broker,
    /// The producer.
    Producer,
}

impl WholeRecord {
    /// The last value of a header, as text; `None` if absent, null or not UTF-8.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().rev().find(|(n, _)| n == name.as_bytes())?;
        std::str::from_utf8(value.as_deref()?).ok()
    }

    /// How often a header occurs.
    pub fn header_count(&self, name: &str) -> usize {
        self.headers.iter().filter(|(n, _)| n == name.as_bytes()).count()
    }
}

/// Reads one topic, going on where it left off.
pub struct Reader {
    topic: String,
    lookup: Lookup,
    consumer: Arc<BaseConsumer<GroupContext>>,
    positions: BTreeMap<i32, i64>,
}

impl Reader {
    /// Opens a topic at its beginning. Nothing is committed, no group is joined.
    pub fn open(settings: &ClientSettings, topic: &str) -> Result<Reader, KafkaFailure> {
        let asked = || format!("read {topic}");
        let lookup = Lookup::open(settings, "dwell-reader", Duration::from_secs(10))?;
        let mut config = settings.to_client_config(Role::Consumer, "dwell-reader");
        // The client wants a group for a consumer; without subscribe or commit it is never joined.
        config.set("group.id", "dwell-reader").set("enable.auto.commit", "false").set("fetch.wait.max.ms", "50");
        let consumer: BaseConsumer<GroupContext> = config
            .create_with_context(GroupContext::new("dwell-reader"))
            .map_err(|e| KafkaFailure::from_error(asked(), &e))?;
        Ok(Reader { topic: topic.to_owned(), lookup, consumer: Arc::new(consumer), positions: BTreeMap::new() })
    }

    /// Everything up to the ends as they are now, that was not read before. Bounded by `patience`.
    pub fn read_to_end(&mut self, patience: Duration) -> Result<Vec<WholeRecord>, KafkaFailure> {
        let TopicState::Exists { partitions } = self.lookup.topic_state(&self.topic) else {
            return Err(KafkaFailure::plain(format!("read {}", self.topic), Trouble::UnknownTopic, "not there"));
        };
        let all: Vec<i32> = (0..i32::try_from(partitions).unwrap_or(i32::MAX)).collect();
        let starts = self.lookup.start_offsets(&self.topic, &all)?;
        for (p, start) in starts {
            let at = self.positions.entry(p).or_insert(start);
            *at = (*at).max(start);
        }
        let ends: BTreeMap<i32, i64> = self.lookup.end_offsets(&self.topic, &all)?.into_iter().collect();
        self.assign()?;
        self.collect(&ends, patience)
    }

    fn assign(&self) -> Result<(), KafkaFailure> {
        let mut list = TopicPartitionList::new();
        for (&p, &at) in &self.positions {
            list.add_partition_offset(&self.topic, p, RdOffset::Offset(at)).map_err(|e| self.failure(&e))?;
        }
        self.consumer.assign(&list).map_err(|e| self.failure(&e))
    }

    fn collect(&mut self, ends: &BTreeMap<i32, i64>, patience: Duration) -> Result<Vec<WholeRecord>, KafkaFailure> {
        let mut records = Vec::new();
        let begin = mono();
        while self.positions.iter().any(|(p, at)| ends.get(p).is_some_and(|end| at < end)) {
            if mono().since(begin) > patience {
                let text = format!("not at the end after {patience:?}: {:?} of {ends:?}", self.positions);
                return Err(KafkaFailure::plain(format!("read {}", self.topic), Trouble::Unreachable, text));
            }
            match self.consumer.poll(Duration::from_millis(100)) {
                None => self.skip_markers(ends),
                Some(Err(e)) => return Err(self.failure(&e)),
                Some(Ok(message)) => {
                    let (partition, offset) = (message.partition(), message.offset());
                    let record = Record::Fetched(Fetched::new(message, self.consumer.clone()));
                    records.push(whole(&record, partition));
                    self.positions.insert(partition, offset + 1);
                }
            }
        }
        Ok(records)
    }

    /// Transaction markers at the end are never handed out; the client's position tells that it is past them.
    fn skip_markers(&mut self, ends: &BTreeMap<i32, i64>) {
        let Ok(list) = self.consumer.position() else { return };
        for element in list.elements() {
            if let RdOffset::Offset(at) = element.offset()
                && ends.get(&element.partition()).is_some_and(|&end| at >= end)
            {
                self.positions.insert(element.partition(), at);
            }
        }
    }

    fn failure(&self, error: &KafkaError) -> KafkaFailure {
        KafkaFailure::from_error(format!("read {}", self.topic), error)
    }
}

fn whole(record: &Record, partition: i32) -> WholeRecord {
    let owned = |b: &[u8]| b.to_vec();
    WholeRecord {
        partition,
        offset: record.offset().get(),
        timestamp_ms: record.timestamp_ms(),
        stamped_by: match record.stamp() {
            Stamp::Append(_) => StampedBy::Broker,
            Stamp::Other => StampedBy::Producer,
        },
        key: record.key().map(owned),
        payload: record.payload().map(owned),
        headers: record.headers().map(|h| (h.name.to_vec(), h.value.map(owned))).collect(),
    }
}
