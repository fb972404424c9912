//! From settings to a client configuration.

use super::ClientSettings;
use rdkafka::config::ClientConfig;

/// What a client is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Reads records as a member of a group.
    Consumer,
    /// Writes records.
    Producer,
    /// Creates, describes and changes topics.
    Admin,
    /// Answers small questions (ends, offsets, which topics exist) next to a consumer that is busy fetching.
    Side,
}

/// Connections: a broker that restarts is missed for a second at most, and a dead connection is noticed.
const CONNECTION: &[(&str, &str)] = &[
    ("socket.keepalive.enable", "true"),
    ("reconnect.backoff.ms", "50"),
    ("reconnect.backoff.max.ms", "1000"),
    ("socket.connection.setup.timeout.ms", "10000"),
    ("socket.timeout.ms", "30000"),
    ("topic.metadata.refresh.interval.ms", "60000"),
    // Brokers close idle connections all the time.
    ("log.connection.close", "false"),
];

/// Records leave in order, once, acknowledged by all replicas, and none is given up by the client.
const PRODUCER: &[(&str, &str)] =
    &[("enable.idempotence", "true"), ("acks", "all"), ("partitioner", "murmur2_random"), ("message.timeout.ms", "0")];

const CONSUMER: &[(&str, &str)] = &[
    ("auto.offset.reset", "earliest"),
    ("enable.auto.offset.store", "false"),
    ("partition.assignment.strategy", "cooperative-sticky"),
    ("isolation.level", "read_committed"),
];

/// A handle without a group; it must see the true end of a partition, past open transactions.
const SIDE: &[(&str, &str)] = &[("enable.auto.commit", "false"), ("isolation.level", "read_uncommitted")];

impl Role {
    fn fixed(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Role::Consumer => CONSUMER,
            Role::Producer => PRODUCER,
            Role::Admin | Role::Side => SIDE,
        }
    }
}

impl ClientSettings {
    /// A client configuration for a role, with the connection settings all of Dwell's clients share.
    pub fn to_client_config(&self, role: Role, client_id: &str) -> ClientConfig {
        self.to_tuned_client_config::<&str>(role, client_id, &[])
    }

    /// As [`Self::to_client_config`], with defaults of the caller's own.
    ///
    /// A property the user set wins over `tuning` and over the shared defaults; what Dwell's promises rest on wins
    /// over everything but what the caller sets on the result.
    pub fn to_tuned_client_config<V: AsRef<str>>(
        &self,
        role: Role,
        client_id: &str,
        tuning: &[(&str, V)],
    ) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("client.id", client_id);
        for (key, value) in CONNECTION {
            config.set(*key, *value);
        }
        for (key, value) in tuning {
            config.set(*key, value.as_ref());
        }
        for (key, value) in &self.properties {
            config.set(key, value);
        }
        for (key, value) in role.fixed() {
            config.set(*key, *value);
        }
        config.set("bootstrap.servers", &self.brokers);
        config.set("allow.auto.create.topics", "false");
        config
    }
}
