//! The only crate that names rdkafka.
pub mod admin;
mod alter;
mod broker_clock;
pub mod clock;
pub mod consumer;
pub mod errors;
pub mod log;
pub mod lookup;
mod native;
pub mod producer;
pub mod reader;
pub mod record;
pub mod sender;
pub mod settings;
mod side;
pub mod stats;

pub use admin::{Admin, Cluster, Creation, TopicId};
pub use broker_clock::{BrokerClock, ClockGuard, ClockTopic, Pace};
pub use errors::{FailureClass, KafkaFailure, Passing, Trouble, classify_produce};
pub use log::LogBridge;
pub use lookup::{Lookup, TopicState};
pub use sender::{Letter, Sender, SenderOptions};
pub use settings::{ClientSettings, Role, SettingsError};
pub use stats::Stats;
