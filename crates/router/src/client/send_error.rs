//! Why a record was not acknowledged, and who sends it again.

use crate::refusal::RouteError;
use crate::route::Route;
use dwell_kafka::producer::Fate;
use dwell_kafka::sender::{SendFailure, SendTrouble};
use std::time::Duration;

/// Why a record was not acknowledged.
///
/// The router has by then sent it again for as long as it may; further attempts are the caller's, see
/// [`SendError::retry`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The request itself: nothing was sent.
    #[error(transparent)]
    Refused(#[from] RouteError),
    /// The topic of the level is gone, or this user may not see it. It was there when the router connected.
    #[error(
        "level topic {topic} does not exist, or this user may not see it; `dwell topics apply --execute` creates it, `dwell acls` prints what must be granted; then send the record again"
    )]
    UnknownLevelTopic {
        /// The level's topic.
        topic: String,
    },
    /// A record that was due at once, and whose target does not exist or is hidden.
    #[error("target topic {topic} does not exist, or this user may not see it; create it, then send the record again")]
    UnknownTarget {
        /// The target.
        topic: String,
    },
    /// This user may not write there.
    #[error("this user may not write to topic {topic}; grant Write on it (`dwell acls`), then send the record again")]
    Forbidden {
        /// The topic.
        topic: String,
    },
    /// The broker does not take a record of this size, or not the batch it was in: where a topic takes less than
    /// 1 MB, set the property `batch.size` no higher than its `max.message.bytes`.
    #[error("the record is larger than topic {topic} takes; make it smaller, or raise max.message.bytes of the topic")]
    TooLarge {
        /// The topic.
        topic: String,
    },
    /// The broker refuses the record for another reason, and will do so again.
    #[error("topic {topic} refuses the record: {why}; change what the broker names")]
    Rejected {
        /// The topic.
        topic: String,
        /// The broker's words.
        why: String,
    },
    /// No acknowledgement in time, or no room to send it because the brokers are slow or away.
    #[error("topic {topic} did not acknowledge record {id} within {waited:?}; {}", advice(*fate))]
    Timeout {
        /// The topic.
        topic: String,
        /// The record's id, to send it again with.
        id: String,
        /// How long it waited where it was, in line or with the client.
        waited: Duration,
        /// Whether a broker may have it.
        fate: Fate,
    },
    /// The producer had to start anew.
    #[error("the producer lost its identity ({why}) with record {id} for topic {topic}; {}", advice(*fate))]
    Broken {
        /// The topic.
        topic: String,
        /// The record's id, to send it again with.
        id: String,
        /// The client's words.
        why: String,
        /// Whether a broker may have it.
        fate: Fate,
    },
    /// The router was dropped first.
    #[error("the router was closed with record {id} for topic {topic} under way; {}", advice(*fate))]
    Closed {
        /// The topic.
        topic: String,
        /// The record's id, to send it again with.
        id: String,
        /// Whether a broker may have it.
        fate: Fate,
    },
    /// The caller dropped its future while the record waited for its turn. Only the hook sees this.
    #[error("the caller withdrew record {id} for topic {topic} before it was sent")]
    Withdrawn {
        /// The topic.
        topic: String,
        /// The record's id.
        id: String,
    },
}

/// Whether the caller should send a record again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retry {
    /// As it is, and with the same id: the trouble may pass by itself.
    Caller,
    /// Not before somebody has changed the record, the table, the topic or an access right.
    AfterAChange,
}

impl SendError {
    pub(super) fn of(route: &Route, failure: &SendFailure) -> SendError {
        let (topic, id, fate) = (route.topic.clone(), route.id.clone(), failure.fate());
        match failure.trouble() {
            SendTrouble::UnknownTopic if route.level.is_some() => SendError::UnknownLevelTopic { topic },
            SendTrouble::UnknownTopic => SendError::UnknownTarget { topic },
            SendTrouble::NoRoom(waited) | SendTrouble::NoAnswer(waited) => {
                SendError::Timeout { topic, id, waited: *waited, fate }
            }
            SendTrouble::Forbidden => SendError::Forbidden { topic },
            SendTrouble::TooLarge => SendError::TooLarge { topic },
            SendTrouble::Rejected(why) => SendError::Rejected { topic, why: why.clone() },
            SendTrouble::Broken(why) => SendError::Broken { topic, id, why: why.clone(), fate },
            SendTrouble::Withdrawn => SendError::Withdrawn { topic, id },
            _ => SendError::Closed { topic, id, fate },
        }
    }

    /// Who sends the record again, and when.
    #[must_use]
    pub fn retry(&self) -> Retry {
        match self {
            SendError::Timeout { .. }
            | SendError::Broken { .. }
            | SendError::Closed { .. }
            | SendError::Withdrawn { .. } => Retry::Caller,
            _ => Retry::AfterAChange,
        }
    }

    /// Whether a broker may have the record all the same.
    #[must_use]
    pub fn fate(&self) -> Fate {
        match self {
            SendError::Timeout { fate, .. } | SendError::Broken { fate, .. } | SendError::Closed { fate, .. } => *fate,
            _ => Fate::NotWritten,
        }
    }

    /// A number for each kind, below 32.
    pub(super) fn kind(&self) -> u32 {
        match self {
            SendError::Refused(_) => 0,
            SendError::UnknownLevelTopic { .. } => 1,
            SendError::UnknownTarget { .. } => 2,
            SendError::Forbidden { .. } => 3,
            SendError::TooLarge { .. } => 4,
            SendError::Rejected { .. } => 5,
            SendError::Timeout { .. } => 6,
            SendError::Broken { .. } => 7,
            SendError::Closed { .. } => 8,
            SendError::Withdrawn { .. } => 9,
        }
    }
}

/// The answer was lost on its way to the caller, which a panic in the hook can do.
impl From<SendFailure> for SendError {
    fn from(failure: SendFailure) -> SendError {
        SendError::Closed { topic: failure.topic().to_owned(), id: "unknown".to_owned(), fate: failure.fate() }
    }
}

fn advice(fate: Fate) -> &'static str {
    match fate {
        Fate::NotWritten => "it was not written: send it again when the brokers are back",
        Fate::MayBeWritten => {
            "it may have been written: if you send it again, keep its id, so that consumers can tell a duplicate"
        }
    }
}
