//! Small questions to the cluster, on a handle of their own so that they wait behind no fetch.
//!
//! One [`Lookup`] serves one thread's questions; each is one batched request per broker concerned and takes well under
//! a millisecond on a healthy cluster. Nothing asked here creates a topic, whatever the broker is set to.

mod groups;
mod offsets;

use crate::admin::{TopicId, shapes};
use crate::errors::{KafkaFailure, Trouble};
use crate::settings::{ClientSettings, Role};
use crate::side::Side;
use groups::Groups;
use offsets::Seek;
use std::time::Duration;

/// A handle for questions.
pub struct Lookup {
    side: Side,
    groups: Groups,
    timeout: Duration,
}

impl std::fmt::Debug for Lookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lookup").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// What is known of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicState {
    /// It is there.
    Exists {
        /// The number of its partitions.
        partitions: u32,
    },
    /// A broker says there is none of this name.
    Missing,
    /// A broker says that this user may not see it. It may or may not exist.
    Forbidden,
    /// A broker refuses the name itself.
    Illegal,
    /// Nobody answered, or not in a way that says anything about the topic.
    Unknown(KafkaFailure),
}

impl Lookup {
    /// Opens a handle; `timeout` bounds each question. No broker is asked yet.
    pub fn open(settings: &ClientSettings, client_id: &str, timeout: Duration) -> Result<Lookup, KafkaFailure> {
        let side = Side::open(settings, Role::Side, client_id)?;
        Ok(Lookup { side, groups: Groups::new(settings, client_id), timeout })
    }

    /// Whether a topic exists. Never creates it.
    pub fn topic_state(&self, topic: &str) -> TopicState {
        let state = self.topic_states(&[topic]).pop().map(|(_, state)| state);
        state.unwrap_or(TopicState::Illegal)
    }

    /// As [`Self::topic_state`] for several topics in one request, in the order asked.
    pub fn topic_states(&self, topics: &[&str]) -> Vec<(String, TopicState)> {
        let found = shapes(&self.side, self.timeout, topics);
        let state = |topic: &str| match &found {
            Err(failure) => TopicState::Unknown(failure.clone()),
            Ok(all) => all.get(topic).map_or(TopicState::Illegal, |shape| match shape {
                Ok(shape) => TopicState::Exists { partitions: shape.partitions },
                Err(failure) => state_of(failure),
            }),
        };
        topics.iter().map(|topic| ((*topic).to_owned(), state(topic))).collect()
    }

    /// Which topic has this name now; `None` if there is none or nobody answered.
    pub fn topic_id(&self, topic: &str) -> Option<TopicId> {
        shapes(&self.side, self.timeout, &[topic]).ok()?.remove(topic)?.ok()?.id
    }

    /// The end offsets of these partitions: the offset the next record will have, open transactions included.
    ///
    /// Fails as a whole where one partition has no leader or does not exist.
    pub fn end_offsets(&self, topic: &str, partitions: &[i32]) -> Result<Vec<(i32, i64)>, KafkaFailure> {
        self.edges(topic, partitions, Seek::End)
    }

    /// The first offsets still there.
    pub fn start_offsets(&self, topic: &str, partitions: &[i32]) -> Result<Vec<(i32, i64)>, KafkaFailure> {
        self.edges(topic, partitions, Seek::Start)
    }

    /// For each partition and time (epoch ms) the offset of the first record not older than that, `None` where all
    /// records are older (the end offset is then the answer to "how many").
    pub fn offsets_for_times(
        &self,
        topic: &str,
        times: &[(i32, i64)],
    ) -> Result<Vec<(i32, Option<i64>)>, KafkaFailure> {
        let asks = times.iter().map(|(partition, at)| (*partition, Seek::Time(*at)));
        let found = offsets::seek(&self.side, self.timeout, topic, asks)?;
        Ok(found.into_iter().map(|(partition, offset)| (partition, (offset >= 0).then_some(offset))).collect())
    }

    /// The offsets a group has committed for these partitions, `None` where it has committed none.
    ///
    /// The group need not have members, and is not joined. The first question about a group opens a handle for it,
    /// which stays open as long as this lookup. Pending transactional commits are not waited for.
    pub fn committed(
        &self,
        group: &str,
        topic: &str,
        partitions: &[i32],
    ) -> Result<Vec<(i32, Option<i64>)>, KafkaFailure> {
        self.groups.committed(self.timeout, group, topic, partitions)
    }

    fn edges(&self, topic: &str, partitions: &[i32], edge: Seek) -> Result<Vec<(i32, i64)>, KafkaFailure> {
        offsets::seek(&self.side, self.timeout, topic, partitions.iter().map(|partition| (*partition, edge)))
    }
}

fn state_of(failure: &KafkaFailure) -> TopicState {
    use rdkafka::error::RDKafkaErrorCode as Code;
    match (failure.trouble(), failure.code()) {
        (_, Some(Code::InvalidTopic)) => TopicState::Illegal,
        (Trouble::UnknownTopic, _) => TopicState::Missing,
        (Trouble::Forbidden, _) => TopicState::Forbidden,
        _ => TopicState::Unknown(failure.clone()),
    }
}
