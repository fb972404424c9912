//! What a failed produce means for the record and for its neighbours.

use super::codes::{is_admin_code, is_broker_trouble, is_connectivity, is_consumer_code, is_fatal};
use rdkafka::error::RDKafkaErrorCode;

/// What to do with a record whose produce request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// The client's own queue is full: backpressure, send the same record again in order.
    QueueFull,
    /// The cluster, a broker or the way to it has trouble: hold, keep order, back off, send again.
    Outage,
    /// The target does not exist, or the broker hides it from this user.
    UnknownTopic,
    /// This user may not write to the target.
    Forbidden,
    /// The target does not take a request of this size. A broker judges a whole batch, so a small record can get
    /// this verdict from large neighbours: send it alone before believing it.
    TooLarge,
    /// The target refuses this record (its form, its timestamp, a policy) and will refuse it again.
    Rejected,
    /// The client threw the record away on our request, while shutting down or aborting.
    Purged,
    /// The producer can no longer keep its promises: start a new one and send the records again.
    Fatal,
}

impl FailureClass {
    /// A short name for logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            FailureClass::QueueFull => "queue-full",
            FailureClass::Outage => "outage",
            FailureClass::UnknownTopic => "unknown-topic",
            FailureClass::Forbidden => "forbidden",
            FailureClass::TooLarge => "too-large",
            FailureClass::Rejected => "rejected",
            FailureClass::Purged => "purged",
            FailureClass::Fatal => "fatal",
        }
    }
}

/// Classifies the error code of a delivery report or of a refused send.
///
/// A code that says nothing about this record counts as [`FailureClass::Outage`]: the record is held and sent
/// again, never dropped and never parked for a reason nobody understands.
pub fn classify_produce(code: RDKafkaErrorCode) -> FailureClass {
    listed(code).unwrap_or(FailureClass::Outage)
}

/// The verdict on every code of this client version; `None` for one that a newer version added.
fn listed(code: RDKafkaErrorCode) -> Option<FailureClass> {
    if is_connectivity(code) || is_broker_trouble(code) || is_not_about_produce(code) {
        return Some(FailureClass::Outage);
    }
    if is_fatal(code) {
        return Some(FailureClass::Fatal);
    }
    about_the_record(code)
}

fn about_the_record(code: RDKafkaErrorCode) -> Option<FailureClass> {
    use RDKafkaErrorCode as C;
    Some(match code {
        C::QueueFull => FailureClass::QueueFull,
        C::UnknownTopic | C::UnknownPartition | C::UnknownTopicOrPartition | C::UnknownTopicId => {
            FailureClass::UnknownTopic
        }
        C::TopicAuthorizationFailed => FailureClass::Forbidden,
        C::MessageSizeTooLarge | C::MessageBatchTooLarge | C::InvalidMessageSize => FailureClass::TooLarge,
        C::BadMessage
        | C::BadCompression
        | C::InvalidArgument
        | C::KeySerialization
        | C::ValueSerialization
        | C::InvalidDifferentRecord
        | C::InvalidMessage
        | C::InvalidTopic
        | C::InvalidTimestamp
        | C::InvalidRecord
        | C::PolicyViolation
        | C::UnsupportedForMessageFormat => FailureClass::Rejected,
        C::PurgeQueue | C::PurgeInflight => FailureClass::Purged,
        _ => return None,
    })
}

/// Codes of other requests (groups, fetches, topics, tokens): as a verdict on a record they mean nothing.
fn is_not_about_produce(code: RDKafkaErrorCode) -> bool {
    is_consumer_code(code) || is_admin_code(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rdkafka_sys::types::RDKafkaRespErr;

    #[test]
    fn every_code_of_this_client_version_has_a_verdict() {
        let mut seen = 0;
        for raw in -199..=200 {
            let Ok(native) = RDKafkaRespErr::try_from(raw) else {
                continue;
            };
            let code = RDKafkaErrorCode::from(native);
            if matches!(code, RDKafkaErrorCode::End | RDKafkaErrorCode::EndAll) {
                continue;
            }
            seen += 1;
            assert!(listed(code).is_some(), "{raw} {code:?} has no verdict");
        }
        assert!(seen > 140, "only {seen} codes were looked at");
    }

    #[test]
    fn no_code_is_in_two_groups() {
        for raw in -199..=200 {
            let Ok(native) = RDKafkaRespErr::try_from(raw) else {
                continue;
            };
            let code = RDKafkaErrorCode::from(native);
            let groups = [
                is_connectivity(code),
                is_broker_trouble(code),
                is_consumer_code(code),
                is_admin_code(code),
                is_fatal(code),
                about_the_record(code).is_some(),
            ];
            assert!(groups.iter().filter(|g| **g).count() <= 1, "{code:?} is in several groups");
        }
    }

    #[test]
    fn what_matters_most() {
        use FailureClass as F;
        use RDKafkaErrorCode as C;
        let table = [
            (C::QueueFull, F::QueueFull),
            (C::NotEnoughReplicas, F::Outage),
            (C::NotLeaderForPartition, F::Outage),
            (C::MessageTimedOut, F::Outage),
            (C::AllBrokersDown, F::Outage),
            (C::SaslAuthenticationFailed, F::Outage),
            (C::UnknownTopic, F::UnknownTopic),
            (C::UnknownTopicOrPartition, F::UnknownTopic),
            (C::TopicAuthorizationFailed, F::Forbidden),
            (C::MessageSizeTooLarge, F::TooLarge),
            (C::InvalidTimestamp, F::Rejected),
            (C::PolicyViolation, F::Rejected),
            (C::InvalidRecord, F::Rejected),
            (C::PurgeInflight, F::Purged),
            (C::OutOfOrderSequenceNumber, F::Fatal),
            (C::ProducerFenced, F::Fatal),
        ];
        for (code, class) in table {
            assert_eq!(classify_produce(code), class, "{code:?}");
        }
    }
}
