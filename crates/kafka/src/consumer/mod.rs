//! The consumer of one level topic: its own queue for each partition, rebalances as steps, commits with results.

mod commits;
pub(crate) mod context;
mod edges;
mod resets;
mod tuning;

pub use commits::{CommitOutcome, CommitResult};
pub use context::{Ownership, Step};
pub use resets::Reset;
pub use tuning::Tuning;

use crate::errors::KafkaFailure;
use crate::record::{Fetched, Record};
use crate::settings::{ClientSettings, Role};
use commits::Commits;
use context::GroupContext;
use dwell_roller_core::NextOffset;
use rdkafka::Message;
use rdkafka::Offset as RdOffset;
use rdkafka::consumer::base_consumer::PartitionQueue;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::topic_partition_list::TopicPartitionList;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::CString;
use std::sync::Arc;
use std::time::Duration;

/// What a partition's queue gave.
pub enum Fetch {
    /// The next record.
    Record(Record),
    /// All there is has been read.
    End,
    /// The client reports a fault for this partition.
    Fault(KafkaError),
}

/// A member of a level's consumer group. Used by one thread.
///
/// Every assigned partition is split into its own queue before it is assigned, and the queue is kept for the
/// life of the consumer: dropped, it would leave the partition silent until it is split again.
pub struct LevelConsumer {
    topic: String,
    c_topic: CString,
    queues: HashMap<i32, PartitionQueue<GroupContext>>,
    strays: HashMap<i32, VecDeque<Fetch>>,
    commits: Commits,
    to_commit: BTreeMap<i32, NextOffset>,
    // Last, so that queues and commits go first: the group is left when the last reference goes.
    consumer: Arc<BaseConsumer<GroupContext>>,
}

impl LevelConsumer {
    /// Connects and joins `group` on `topic`.
    pub fn join(
        settings: &ClientSettings,
        group: &str,
        topic: &str,
        tuning: &Tuning,
    ) -> Result<LevelConsumer, KafkaFailure> {
        let name = format!("dwell-roller-{topic}");
        let mut config = settings.to_tuned_client_config(Role::Consumer, &name, &tuning.properties());
        config.set("group.id", group).set("enable.auto.commit", "false").set("enable.partition.eof", "true");
        if let Some(id) = tuning.instance_id() {
            config.set("group.instance.id", id);
        }
        let asked = || format!("join group {group} on {topic}");
        let consumer: BaseConsumer<GroupContext> =
            config.create_with_context(GroupContext::new(&name)).map_err(|e| KafkaFailure::from_error(asked(), &e))?;
        consumer.subscribe(&[topic]).map_err(|e| KafkaFailure::from_error(asked(), &e))?;
        let consumer = Arc::new(consumer);
        let c_topic = CString::new(topic).map_err(|e| KafkaFailure::from_error(asked(), &KafkaError::from(e)))?;
        let commits = Commits::new(consumer.clone(), topic)
            .ok_or_else(|| KafkaFailure::from_error(asked(), &KafkaError::ClientCreation("no commit queue".into())))?;
        Ok(LevelConsumer {
            topic: topic.to_owned(),
            c_topic,
            queues: HashMap::new(),
            strays: HashMap::new(),
            commits,
            to_commit: BTreeMap::new(),
            consumer,
        })
    }

    /// Serves the group, waiting up to `timeout`. Returns rebalance steps in order; records that come here
    /// instead of on their own queue are kept for [`LevelConsumer::next`].
    pub fn serve(&mut self, timeout: Duration) -> Vec<Step> {
        if let Some(result) = self.consumer.poll(timeout) {
            self.keep_stray(
                result.map(|m| (m.partition(), m)).map(|(p, m)| (p, Fetched::new(m, self.consumer.clone()))),
            );
        }
        self.consumer.context().take_steps()
    }

    fn keep_stray(&mut self, result: KafkaResult<(i32, Fetched)>) {
        match result {
            Ok((partition, record)) => {
                let stray = Fetch::Record(Record::Fetched(record));
                self.strays.entry(partition).or_default().push_back(stray);
            }
            Err(KafkaError::PartitionEOF(partition)) => {
                self.strays.entry(partition).or_default().push_back(Fetch::End);
            }
            Err(error) => tracing::debug!(topic = %self.topic, %error, "consumer"),
        }
    }

    /// Errors the client has reported since the last call.
    pub fn take_errors(&self) -> Vec<KafkaError> {
        self.consumer.context().take_errors()
    }

    /// Whether the client has gone to the earliest record of some partition, because its position was not there.
    /// Costs nothing.
    pub fn has_resets(&self) -> bool {
        self.consumer.context().resets.some()
    }

    /// The reset of this partition, once.
    pub fn take_reset(&self, partition: i32) -> Option<Reset> {
        self.consumer.context().resets.take(partition)
    }

    /// The client's newest statistics (JSON), if there are new ones.
    pub fn take_statistics(&self) -> Option<Vec<u8>> {
        self.consumer.context().take_statistics()
    }

    /// A fatal error after which the client does nothing any more.
    pub fn fatal(&self) -> Option<String> {
        self.consumer.client().fatal_error().map(|(code, text)| format!("{code}: {text}"))
    }

    /// Takes assigned partitions over: each is split into its own queue first, so that no record of it can go
    /// astray. Reading starts from the committed offset, or from `starts` where that names the partition.
    pub fn accept(&mut self, partitions: &[i32], starts: &BTreeMap<i32, i64>) -> KafkaResult<()> {
        for &p in partitions {
            self.strays.remove(&p);
            if !self.queues.contains_key(&p)
                && let Some(queue) = self.consumer.split_partition_queue(&self.topic, p)
            {
                self.queues.insert(p, queue);
            }
        }
        self.consumer.incremental_assign(&self.list_from(partitions, starts))
    }

    /// Gives revoked partitions back; the group goes on.
    pub fn give_back(&mut self, partitions: &[i32]) -> KafkaResult<()> {
        for p in partitions {
            self.strays.remove(p);
            self.to_commit.remove(p);
        }
        self.consumer.incremental_unassign(&self.list(partitions))
    }

    /// The partition's next record, without waiting.
    pub fn next(&mut self, partition: i32) -> Option<Fetch> {
        if let Some(stray) = self.strays.get_mut(&partition).and_then(VecDeque::pop_front) {
            return Some(stray);
        }
        let fetched = self.queues.get(&partition)?.poll(Duration::ZERO)?;
        Some(match fetched {
            Ok(message) => Fetch::Record(Record::Fetched(Fetched::new(message, self.consumer.clone()))),
            Err(KafkaError::PartitionEOF(_)) => Fetch::End,
            Err(error) => Fetch::Fault(error),
        })
    }

    /// The partition's end as the last fetch showed it. Asks nobody; `None` before the first fetch.
    pub fn fetched_end(&self, partition: i32) -> Option<NextOffset> {
        edges::fetched_end(&self.consumer, &self.c_topic, partition)
    }

    /// Stops fetching a partition. What was prefetched is thrown away.
    pub fn pause(&self, partition: i32) -> KafkaResult<()> {
        ignore_gone(self.consumer.pause(&self.list(&[partition])))
    }

    /// Fetches a partition again. Harmless if it is not paused.
    pub fn resume(&self, partition: i32) -> KafkaResult<()> {
        ignore_gone(self.consumer.resume(&self.list(&[partition])))
    }

    /// Reads a partition from its beginning. What was fetched and not read is thrown away.
    pub fn rewind(&mut self, partition: i32) -> KafkaResult<()> {
        self.strays.remove(&partition);
        self.to_commit.remove(&partition);
        // Without a timeout the client does it when it can.
        self.consumer.seek(&self.topic, partition, RdOffset::Beginning, Duration::ZERO)
    }

    /// Notes a position to be committed with the next request.
    pub fn commit(&mut self, partition: i32, next: NextOffset) {
        self.to_commit.insert(partition, next);
    }

    /// Starts the next commit request if none is under way; returns results that have come in, and at once
    /// those of requests that the client refused.
    pub fn serve_commits(&mut self) -> Vec<CommitResult> {
        let mut results = self.commits.results();
        if self.to_commit.is_empty() || self.commits.outstanding() {
            return results;
        }
        let positions: Vec<_> = std::mem::take(&mut self.to_commit).into_iter().collect();
        if !self.commits.start(&positions) {
            let failed = CommitOutcome::Failed(rdkafka_sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR__STATE);
            results.extend(positions.into_iter().map(|(partition, next)| CommitResult {
                partition,
                next,
                outcome: failed,
            }));
        }
        results
    }

    /// Whether a commit is asked for or under way.
    pub fn commits_pending(&self) -> bool {
        self.commits.outstanding() || !self.to_commit.is_empty()
    }

    /// Leaves the group. Blocks until the client is gone, normally under a second; run it where that is allowed
    /// and under a watchdog. All records must have been dropped before, or their client stays.
    pub fn leave(self) {
        self.consumer.context().close();
        let LevelConsumer { queues, strays, commits, consumer, .. } = self;
        drop((strays, queues, commits));
        drop(consumer);
    }

    fn list(&self, partitions: &[i32]) -> TopicPartitionList {
        self.list_from(partitions, &BTreeMap::new())
    }

    fn list_from(&self, partitions: &[i32], starts: &BTreeMap<i32, i64>) -> TopicPartitionList {
        let mut list = TopicPartitionList::with_capacity(partitions.len());
        for &p in partitions {
            // Invalid: start from the committed offset.
            let offset = starts.get(&p).map_or(RdOffset::Invalid, |&o| RdOffset::Offset(o));
            if list.add_partition_offset(&self.topic, p, offset).is_err() {
                tracing::error!(topic = %self.topic, partition = p, "cannot name partition");
            }
        }
        list
    }
}

/// A partition that was taken away between the decision and the call is no fault.
fn ignore_gone(result: KafkaResult<()>) -> KafkaResult<()> {
    match result {
        Err(e)
            if matches!(e.rdkafka_error_code(), Some(RDKafkaErrorCode::UnknownPartition | RDKafkaErrorCode::State)) =>
        {
            Ok(())
        }
        other => other,
    }
}
