//! The bounds of a sender.

use std::time::Duration;

/// How a sender works. Start from the default and change what differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderOptions {
    /// The client's name in the brokers' logs and quotas.
    pub client_id: String,
    /// How long a record may wait in line, and then how long it may be with the client.
    pub timeout: Duration,
    /// Bytes with the client at once. A larger record goes alone.
    pub max_bytes: usize,
    /// Records with the client at once; at least one.
    pub max_records: usize,
    /// How long records may gather into a batch. The user's `linger.ms` wins.
    pub linger: Duration,
    /// How long dropping the sender waits for what is under way.
    pub farewell: Duration,
    /// A topic to ask for at the start: a cold producer takes half a second for its first record.
    pub warm_up: Option<String>,
}

impl Default for SenderOptions {
    fn default() -> SenderOptions {
        SenderOptions {
            client_id: "dwell-sender".to_owned(),
            timeout: Duration::from_secs(30),
            max_bytes: 32 * 1024 * 1024,
            max_records: 100_000,
            linger: Duration::from_millis(1),
            farewell: Duration::from_secs(5),
            warm_up: None,
        }
    }
}

impl SenderOptions {
    /// What the client itself is set to, whatever the user says.
    pub(super) fn fixed(&self) -> Vec<(&'static str, String)> {
        vec![
            // Zero would mean for ever.
            ("message.timeout.ms", self.timeout.as_millis().clamp(1, 900_000_000).to_string()),
            // How long a topic nobody knows may be hoped for; a new one is known sooner.
            ("topic.metadata.propagation.max.ms", "5000".to_owned()),
        ]
    }
}
