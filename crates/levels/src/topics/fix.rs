//! What puts a topic right, as a command that can be pasted.

use super::TopicSpec;

/// What puts a topic right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Create the topic.
    Create(TopicSpec),
    /// Change settings, leaving all others as they are.
    Alter {
        /// The topic.
        topic: String,
        /// Settings and their new values.
        set: Vec<(String, String)>,
    },
    /// Add partitions. Keys move to other partitions by that, so their order is interrupted once.
    AddPartitions {
        /// The topic.
        topic: String,
        /// The new number of partitions.
        to: u32,
    },
    /// Something that only a person can do or decide.
    Manual(String),
}

impl Fix {
    /// The exact command, with Kafka's own tools, against `brokers`; of [`Fix::Manual`] its text.
    #[must_use]
    pub fn command(&self, brokers: &str) -> String {
        let brokers = quote(brokers);
        match self {
            Fix::Create(spec) => create(spec, &brokers),
            Fix::Alter { topic, set } => {
                let set: Vec<String> = set.iter().map(|(key, value)| format!("{key}={}", bracket(value))).collect();
                format!(
                    "kafka-configs.sh --bootstrap-server {brokers} --alter --entity-type topics --entity-name {} \
                     --add-config {}",
                    quote(topic),
                    quote(&set.join(","))
                )
            }
            Fix::AddPartitions { topic, to } => {
                format!(
                    "kafka-topics.sh --bootstrap-server {brokers} --alter --topic {} --partitions {to}",
                    quote(topic)
                )
            }
            Fix::Manual(text) => text.clone(),
        }
    }
}

fn create(spec: &TopicSpec, brokers: &str) -> String {
    let mut command = format!(
        "kafka-topics.sh --bootstrap-server {brokers} --create --topic {} --partitions {}",
        quote(&spec.name),
        spec.partitions
    );
    if spec.replication_factor > 0 {
        command.push_str(&format!(" --replication-factor {}", spec.replication_factor));
    }
    for (key, value) in &spec.config {
        command.push_str(&format!(" --config {}", quote(&format!("{key}={value}"))));
    }
    command
}

/// Kafka's tool splits at commas unless the value stands in brackets.
fn bracket(value: &str) -> String {
    if value.contains(',') { format!("[{value}]") } else { value.to_owned() }
}

/// A word of a POSIX shell, in quotes only where it needs them.
fn quote(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':' | ',' | '=' | '/' | '@');
    if !word.is_empty() && word.chars().all(safe) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
