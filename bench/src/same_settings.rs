//! The client settings of a roller of a level up to a minute, for everything that is compared with it.
//!
//! What all of Dwell's clients share comes from `dwell-kafka` itself. What it keeps to itself, the tuning of a level's
//! consumer and producer, is repeated here, and a test holds it against the source.

use dwell_kafka::{ClientSettings, Role};
use rdkafka::ClientConfig;

const CONSUMER: &[(&str, &str)] = &[
    ("fetch.wait.max.ms", "50"),
    ("fetch.queue.backoff.ms", "5"),
    ("fetch.max.bytes", "16777216"),
    ("queued.min.messages", "20000"),
    ("queued.max.messages.kbytes", "4096"),
    ("session.timeout.ms", "6000"),
    ("heartbeat.interval.ms", "500"),
    ("topic.metadata.refresh.interval.ms", "5000"),
    ("max.poll.interval.ms", "60000"),
    ("statistics.interval.ms", "5000"),
];

const PRODUCER: &[(&str, &str)] = &[
    ("batch.num.messages", "10000"),
    ("compression.type", "lz4"),
    ("queue.buffering.max.messages", "200000"),
    ("queue.buffering.max.kbytes", "262144"),
    ("message.max.bytes", "104857600"),
    ("batch.size", "1000000"),
];

/// As a roller reads, but for how it commits.
pub(crate) fn consumer(settings: &ClientSettings, group: &str) -> ClientConfig {
    let mut config = settings.to_tuned_client_config(Role::Consumer, "dwell-bench-copy", CONSUMER);
    config.set("group.id", group);
    config
}

/// As a roller writes.
pub(crate) fn producer(settings: &ClientSettings, linger_ms: u32) -> ClientConfig {
    let mut config = settings.to_tuned_client_config(Role::Producer, "dwell-bench", PRODUCER);
    config.set("linger.ms", linger_ms.to_string());
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    const TUNING: &str = include_str!("../../crates/kafka/src/consumer/tuning.rs");
    const OUTBOX: &str = include_str!("../../crates/kafka/src/producer/mod.rs");

    #[test]
    fn the_producer_is_the_rollers() {
        for (key, value) in PRODUCER {
            let said = OUTBOX.lines().find(|l| l.contains(&format!("(\"{key}\""))).unwrap();
            let same = said.contains(&format!("\"{value}\"")) || said.contains("batch_records");
            assert!(same, "{key}: {value} here, there {said}");
        }
        let listed = OUTBOX.lines().filter(|l| l.trim_start().starts_with("(\"")).count();
        assert_eq!(listed, PRODUCER.len() + 1, "linger.ms is an argument, all others are repeated");
    }

    #[test]
    fn the_consumer_is_that_of_a_short_level() {
        let short = TUNING.split("} else {").next().unwrap();
        for line in [
            "fetch_wait: Duration::from_millis(50)",
            "fetch_backoff: Duration::from_millis(5)",
            "queued_records: 20_000",
            "queued_kib: 4096",
            "session: Duration::from_secs(6)",
            "heartbeat: Duration::from_millis(500)",
            "metadata_refresh: Duration::from_secs(5)",
        ] {
            assert!(short.contains(line), "no longer so: {line}");
        }
        for (key, _) in CONSUMER {
            assert!(TUNING.contains(&format!("(\"{key}\"")), "{key} is not set there");
        }
        let listed = TUNING.lines().filter(|l| l.trim_start().starts_with("(\"")).count();
        assert_eq!(listed, CONSUMER.len(), "all are repeated");
    }
}
