//! Why a record was not acknowledged.

use crate::producer::Fate;
use std::sync::Arc;
use std::time::Duration;

/// A record that was not acknowledged: why, and whether a broker may have it all the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record for topic {topic}: {trouble}; {}", fate_text(*fate))]
pub struct SendFailure {
    topic: Arc<str>,
    trouble: SendTrouble,
    fate: Fate,
}

/// What went wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendTrouble {
    /// It waited in line for room all the time.
    #[error(
        "found no room within {0:?}, because the brokers take records more slowly than they are sent, or not at all"
    )]
    NoRoom(Duration),
    /// No acknowledgement came in time, though the client tried again all the time.
    #[error("not acknowledged within {0:?}; check the brokers and the way to them")]
    NoAnswer(Duration),
    /// The topic does not exist, or the broker hides it from this user.
    #[error("the topic does not exist, or this user may not see it; create it or grant Describe on it")]
    UnknownTopic,
    /// This user may not write to the topic.
    #[error("this user may not write to the topic; grant Write on it (`dwell acls` prints what is needed)")]
    Forbidden,
    /// Larger than the topic or the client takes.
    #[error("larger than the topic takes; make it smaller or raise the topic's max.message.bytes")]
    TooLarge,
    /// The broker refuses the record for another reason and will do so again.
    #[error("the broker refuses it: {0}")]
    Rejected(String),
    /// The producer lost its identity; a new one is made for the records that follow.
    #[error("the producer had to start anew: {0}")]
    Broken(String),
    /// The sender was closed first.
    #[error("the sender was closed")]
    Closed,
    /// The caller stopped waiting while the record was still in line.
    #[error("withdrawn by its caller")]
    Withdrawn,
}

impl SendFailure {
    pub(super) fn new(topic: Arc<str>, trouble: SendTrouble, fate: Fate) -> SendFailure {
        SendFailure { topic, trouble, fate }
    }

    /// To which topic.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// What went wrong.
    pub fn trouble(&self) -> &SendTrouble {
        &self.trouble
    }

    /// Whether a broker may have the record.
    pub fn fate(&self) -> Fate {
        self.fate
    }
}

fn fate_text(fate: Fate) -> &'static str {
    match fate {
        Fate::NotWritten => "it was not written",
        Fate::MayBeWritten => "it may have been written, so that sending it again may make it two",
    }
}
