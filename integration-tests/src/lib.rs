//! Tests on a real Kafka: a cluster from the environment, fleets of real roller processes, and independent readers.
//!
//! Run with `dev/with-kafka cargo test -p dwell-integration-tests`; `make test` does that. All tests share one
//! cluster and use topic names of their own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

pub mod audit;
pub mod bins;
pub mod chance;
pub mod clock_shim;
pub mod fleet;
pub mod java;
pub mod load;
pub mod own_broker;
pub mod own_cluster;
pub mod produce;
pub mod roller;
pub mod same;
pub mod shell;
pub mod wait;

pub use fleet::Fleet;
pub use produce::{Producer, rec};
pub use roller::Roller;
pub use wait::{eventually, within};
