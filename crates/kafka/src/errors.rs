//! What can go wrong with Kafka, in the words of someone who has to act on it.

mod codes;
mod produce;

pub use produce::{FailureClass, classify_produce};

use rdkafka::error::{KafkaError, RDKafkaErrorCode};

/// Where the cause of a failed request lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// No broker could be reached, or none answered in time.
    Unreachable,
    /// A broker answered that it cannot serve this at the moment (no leader, a coordinator that loads, a quota).
    Unavailable,
    /// The TLS handshake failed.
    Tls,
    /// The broker refused the credentials or the SASL mechanism.
    Sasl,
    /// An ACL is missing.
    Forbidden,
    /// The topic does not exist, or the broker hides it from this user.
    UnknownTopic,
    /// A broker understood the request and refused it.
    Refused,
    /// The client settings are wrong.
    Settings,
    /// The client instance can no longer be used.
    Fatal,
    /// None of the above.
    Other,
}

impl Trouble {
    /// A short name for logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Trouble::Unreachable => "unreachable",
            Trouble::Unavailable => "unavailable",
            Trouble::Tls => "tls",
            Trouble::Sasl => "sasl",
            Trouble::Forbidden => "forbidden",
            Trouble::UnknownTopic => "unknown-topic",
            Trouble::Refused => "refused",
            Trouble::Settings => "settings",
            Trouble::Fatal => "fatal",
            Trouble::Other => "other",
        }
    }

    /// What the reader can do about it.
    pub const fn advice(self) -> &'static str {
        match self {
            Trouble::Unreachable => {
                "check --brokers, the port, the network and whether that listener expects TLS (security.protocol)"
            }
            Trouble::Unavailable => "wait; if it stays so, look at the brokers' own state",
            Trouble::Tls => "check ssl.ca.location, the broker's certificate and host name, and security.protocol",
            Trouble::Sasl => "check sasl.mechanism, sasl.username and the password of this user",
            Trouble::Forbidden => "grant this user the missing ACL; `dwell acls` prints the ones each part needs",
            Trouble::UnknownTopic => "create the topic (`dwell topics apply`), or grant this user Describe on it",
            Trouble::Refused => "change what the broker's answer names and ask again",
            Trouble::Settings => "correct the client setting (-X key=value or DWELL_KAFKA_<KEY>)",
            Trouble::Fatal => "this client is of no further use: start a new one",
            Trouble::Other => "see the client's log lines around this moment",
        }
    }

    /// Whether the same request may succeed later with nothing changed on our side.
    pub const fn may_pass(self) -> Passing {
        match self {
            Trouble::Unreachable | Trouble::Unavailable | Trouble::Other => Passing::MayPass,
            _ => Passing::NeedsAHand,
        }
    }
}

/// Whether waiting can cure a [`Trouble`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Passing {
    /// Ask again later.
    MayPass,
    /// Somebody must change something first.
    NeedsAHand,
}

/// A request to Kafka that failed: what was asked, what the client or the broker said, what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not {asked}: {text}; {}", .trouble.advice())]
pub struct KafkaFailure {
    asked: String,
    trouble: Trouble,
    text: String,
    code: Option<RDKafkaErrorCode>,
}

impl KafkaFailure {
    /// A failure with an error code of the client or the broker, and the text that came with it, if any.
    pub(crate) fn from_code(asked: impl Into<String>, code: RDKafkaErrorCode, text: &str) -> KafkaFailure {
        let said = if text.is_empty() { code.to_string() } else { format!("{text} ({code:?})") };
        KafkaFailure { asked: asked.into(), trouble: trouble_of(code), text: said, code: Some(code) }
    }

    /// A failure as the client library reports it.
    pub(crate) fn from_error(asked: impl Into<String>, error: &KafkaError) -> KafkaFailure {
        let trouble = match (error, error.rdkafka_error_code()) {
            (KafkaError::ClientConfig(..) | KafkaError::ClientCreation(_) | KafkaError::Nul(_), _) => Trouble::Settings,
            (KafkaError::MessageConsumptionFatal(_), _) => Trouble::Fatal,
            (KafkaError::Transaction(e), _) if e.is_fatal() => Trouble::Fatal,
            (_, Some(code)) => trouble_of(code),
            (_, None) => Trouble::Other,
        };
        KafkaFailure { asked: asked.into(), trouble, text: error.to_string(), code: error.rdkafka_error_code() }
    }

    /// A failure without an error code.
    pub(crate) fn plain(asked: impl Into<String>, trouble: Trouble, text: impl Into<String>) -> KafkaFailure {
        KafkaFailure { asked: asked.into(), trouble, text: text.into(), code: None }
    }

    /// Names the cause the client met on the way (a refused connection, a failed handshake), where the request
    /// itself only ran out of time.
    pub(crate) fn because(mut self, code: RDKafkaErrorCode, reason: &str) -> KafkaFailure {
        if self.trouble == Trouble::Unreachable {
            // A handshake cut off by the other side comes as a lost connection whose text names the state.
            let cut_off = reason.contains("SSL_HANDSHAKE") || reason.contains("SSL handshake");
            let cause = if cut_off { Trouble::Tls } else { trouble_of(code) };
            if matches!(cause, Trouble::Tls | Trouble::Sasl) {
                self.trouble = cause;
            }
            self.text = format!("{}: {reason}", self.text);
        }
        self
    }

    /// Where the cause lies.
    pub fn trouble(&self) -> Trouble {
        self.trouble
    }

    /// What was asked, as in "could not …".
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// What the client or the broker said.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The error code, where there is one.
    pub fn code(&self) -> Option<RDKafkaErrorCode> {
        self.code
    }
}

fn trouble_of(code: RDKafkaErrorCode) -> Trouble {
    use RDKafkaErrorCode as C;
    match code {
        C::SSL => Trouble::Tls,
        C::Authentication | C::SaslAuthenticationFailed | C::UnsupportedSASLMechanism | C::IllegalSASLState => {
            Trouble::Sasl
        }
        C::TopicAuthorizationFailed
        | C::GroupAuthorizationFailed
        | C::ClusterAuthorizationFailed
        | C::TransactionalIdAuthorizationFailed
        | C::DelegationTokenAuthorizationFailed => Trouble::Forbidden,
        C::UnknownTopic | C::UnknownPartition | C::UnknownTopicOrPartition | C::UnknownTopicId => Trouble::UnknownTopic,
        C::InvalidArgument | C::NotConfigured | C::UnknownProtocol => Trouble::Settings,
        code if classify_produce(code) == FailureClass::Fatal => Trouble::Fatal,
        code if codes::is_connectivity(code) => Trouble::Unreachable,
        code if codes::is_broker_trouble(code) => Trouble::Unavailable,
        code if (code as i32) > 0 => Trouble::Refused,
        _ => Trouble::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_what_was_asked_what_happened_and_what_to_do() {
        let failure = KafkaFailure::from_code("create topic delay-5s", RDKafkaErrorCode::TopicAuthorizationFailed, "");
        let text = failure.to_string();
        for part in ["could not create topic delay-5s", "TopicAuthorizationFailed", "dwell acls"] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(failure.trouble(), Trouble::Forbidden);
    }

    #[test]
    fn a_timeout_takes_the_name_of_its_cause() {
        let timed_out = || KafkaFailure::from_code("describe topics", RDKafkaErrorCode::OperationTimedOut, "");
        let tls = timed_out().because(RDKafkaErrorCode::SSL, "handshake failed: certificate verify failed");
        assert_eq!(tls.trouble(), Trouble::Tls);
        assert!(tls.text().contains("certificate verify failed"));
        let reason = "Disconnected: SSL connection closed by peer (after 1ms in state SSL_HANDSHAKE)";
        let plaintext = timed_out().because(RDKafkaErrorCode::BrokerTransportFailure, reason);
        assert_eq!(plaintext.trouble(), Trouble::Tls);
        let sasl = timed_out().because(RDKafkaErrorCode::Authentication, "invalid credentials");
        assert_eq!(sasl.trouble(), Trouble::Sasl);
        let down = timed_out().because(RDKafkaErrorCode::AllBrokersDown, "1/1 brokers are down");
        assert_eq!(down.trouble(), Trouble::Unreachable);
        assert_eq!(down.trouble().may_pass(), Passing::MayPass);
    }

    #[test]
    fn an_answer_is_not_renamed_by_an_older_connection_error() {
        let refused = KafkaFailure::from_code("create topic a", RDKafkaErrorCode::PolicyViolation, "too few replicas");
        assert_eq!(refused.clone().because(RDKafkaErrorCode::SSL, "old"), refused);
        assert_eq!(refused.trouble(), Trouble::Refused);
    }
}
