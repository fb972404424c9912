//! Tests on a real Kafka.
