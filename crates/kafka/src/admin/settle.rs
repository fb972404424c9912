//! Waiting until what the controller has decided is what brokers tell.
//!
//! The controller answers when a change is decided; brokers follow a little later, and until then a produce to a new
//! topic can fail as to an unknown one.

use super::describe::{TopicShape, shapes};
use crate::errors::{KafkaFailure, Trouble};
use crate::side::Side;
use std::time::Duration;

/// Pause between two looks.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What a broker tells of a topic at one look.
pub(super) type Look<'a> = Option<&'a Result<TopicShape, KafkaFailure>>;

/// Looks at topics until each is as it should be; returns those that are not in the end.
pub(super) fn settle(
    side: &Side,
    timeout: Duration,
    mut waiting: Vec<String>,
    is_settled: impl Fn(Look<'_>) -> bool,
) -> Vec<String> {
    let looks = timeout.as_millis() / LOOK_EVERY.as_millis();
    for look in 0..=looks {
        if waiting.is_empty() {
            break;
        }
        if look > 0 {
            side.serve(LOOK_EVERY);
        }
        let names: Vec<&str> = waiting.iter().map(String::as_str).collect();
        // A look that fails is like one that finds nothing settled yet.
        if let Ok(found) = shapes(side, timeout, &names) {
            waiting.retain(|name| !is_settled(found.get(name)));
        }
    }
    waiting
}

/// As [`settle`] for one topic that was changed.
pub(super) fn settle_one(
    side: &Side,
    timeout: Duration,
    asked: &str,
    topic: &str,
    is_settled: impl Fn(Look<'_>) -> bool,
) -> Result<(), KafkaFailure> {
    match settle(side, timeout, vec![topic.to_owned()], is_settled).is_empty() {
        true => Ok(()),
        false => Err(unsettled(asked, timeout)),
    }
}

/// The failure of a change that was made and cannot be seen.
pub(super) fn unsettled(asked: &str, timeout: Duration) -> KafkaFailure {
    let said = format!("it is decided, but the brokers do not show it after {} s", timeout.as_secs());
    KafkaFailure::plain(asked, Trouble::Unavailable, said)
}
