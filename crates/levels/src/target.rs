//! Which topics a record may be released to.

use crate::delay::shorten;
use crate::{LevelTable, TopicNameError, check_topic_name};

/// Why a topic may not be a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetRefusal {
    /// No broker would accept the name.
    #[error("target: {0}")]
    Illegal(#[from] TopicNameError),
    /// A level, or another topic of this or a sibling fleet: the record would be delayed again and again.
    #[error(
        "target {topic:?} starts with {prefix:?} and so belongs to a delay fleet; send to the business topic itself"
    )]
    IsLevel {
        /// The topic that was asked for.
        topic: String,
        /// The fleet's prefix.
        prefix: String,
    },
    /// A topic of the broker itself.
    #[error("target {topic:?} belongs to the broker (it starts with \"__\"); send to a business topic")]
    Internal {
        /// The topic that was asked for.
        topic: String,
    },
    /// Not on the list of the file.
    #[error("target {topic:?} is not allowed; add it to targets in levels.yaml, which allows {allowed}")]
    NotAllowed {
        /// The topic that was asked for.
        topic: String,
        /// The list of the file, shortened where it is long.
        allowed: String,
    },
}

/// The prefix of the broker's own topics.
pub(crate) const INTERNAL_PREFIX: &str = "__";

impl LevelTable {
    /// Whether a record may be released to this topic: a legal name, no topic of a delay fleet or of the broker, and
    /// on the file's list.
    ///
    /// # Errors
    /// [`TargetRefusal`] says which of these it is not.
    pub fn check_target(&self, topic: &str) -> Result<(), TargetRefusal> {
        check_topic_name(topic)?;
        if let Some(prefix) = self.fleet_prefixes().find(|prefix| topic.starts_with(prefix)) {
            return Err(TargetRefusal::IsLevel { topic: topic.to_owned(), prefix: prefix.to_owned() });
        }
        if topic.starts_with(INTERNAL_PREFIX) {
            return Err(TargetRefusal::Internal { topic: topic.to_owned() });
        }
        if self.targets().iter().any(|pattern| pattern.matches(topic)) {
            return Ok(());
        }
        Err(TargetRefusal::NotAllowed { topic: topic.to_owned(), allowed: self.targets_shown() })
    }

    fn targets_shown(&self) -> String {
        let list: Vec<&str> = self.targets().iter().map(|pattern| pattern.as_str()).collect();
        shorten(&list.join(", "))
    }
}
