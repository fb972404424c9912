//! Creating, describing and changing topics. Every call blocks, and none longer than the handle's timeout.

mod cluster;
mod create;
mod describe;
mod remove;
mod results;
mod settle;

pub use cluster::Cluster;
pub use create::Creation;

pub use describe::TopicId;
pub(crate) use describe::{resource, shapes};

use crate::errors::KafkaFailure;
use crate::settings::{ClientSettings, Role};
use crate::side::Side;
use dwell_levels::topics::{FoundTopic, TopicSpec};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a request may take unless [`Admin::with_timeout`] says otherwise.
const TIMEOUT: Duration = Duration::from_secs(15);

/// A handle for the administration of topics. Calls block; use it from a plain thread.
///
/// Dropping it takes up to a second where no broker can be reached.
pub struct Admin {
    side: Side,
    timeout: Duration,
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Admin").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl Admin {
    /// Opens a handle and asks the cluster who is there, so that a wrong address, certificate or password shows now.
    pub fn connect(settings: &ClientSettings) -> Result<Admin, KafkaFailure> {
        Admin::with_timeout(settings, TIMEOUT)
    }

    /// As [`Admin::connect`], with a bound for each request, the first included.
    pub fn with_timeout(settings: &ClientSettings, timeout: Duration) -> Result<Admin, KafkaFailure> {
        let admin = Admin { side: Side::open(settings, Role::Admin, "dwell-admin")?, timeout };
        admin.cluster()?;
        Ok(admin)
    }

    /// The cluster's id and its live brokers.
    pub fn cluster(&self) -> Result<Cluster, KafkaFailure> {
        cluster::describe(&self.side, self.timeout)
    }

    /// The ids of the live brokers, ascending.
    pub fn brokers(&self) -> Result<Vec<i32>, KafkaFailure> {
        Ok(self.cluster()?.brokers)
    }

    /// The topics of these names with all their settings in effect; `None` for one that does not exist.
    ///
    /// The replication factor is that of the partition with the fewest replicas. A topic this user may not see, or
    /// whose settings it may not see, is an error with [`crate::Trouble::Forbidden`] that names it.
    pub fn describe(&self, topics: &[&str]) -> Result<BTreeMap<String, Option<FoundTopic>>, KafkaFailure> {
        describe::describe(&self.side, self.timeout, topics)
    }

    /// Creates topics and waits until each of their partitions has a leader, in the order given.
    ///
    /// A topic that is there already is left as it is, whatever its settings.
    pub fn create(&self, specs: &[TopicSpec]) -> Vec<(String, Result<Creation, KafkaFailure>)> {
        create::create(&self.side, self.timeout, specs)
    }

    /// Raises the number of partitions of a topic to `to`. Keys move to other partitions from then on.
    pub fn add_partitions(&self, topic: &str, to: u32) -> Result<(), KafkaFailure> {
        create::add_partitions(&self.side, self.timeout, topic, to)
    }

    /// Changes these settings of a topic and no other, and waits a moment until the brokers show them.
    pub fn alter<K: AsRef<str>, V: AsRef<str>>(&self, topic: &str, set: &[(K, V)]) -> Result<(), KafkaFailure> {
        crate::alter::alter(&self.side, self.timeout, topic, set)?;
        self.await_settings(topic, set);
        Ok(())
    }

    /// Deletes a topic and all its records.
    pub fn delete_topic(&self, topic: &str) -> Result<(), KafkaFailure> {
        remove::delete_topic(&self.side, self.timeout, topic)
    }

    /// Deletes the records of a topic below an offset in each partition. Offsets of what remains do not change.
    pub fn delete_records(&self, topic: &str, below: &[(i32, i64)]) -> Result<(), KafkaFailure> {
        remove::delete_records(&self.side, self.timeout, topic, below)
    }

    /// A second for the change to be seen. It is made in any case, and brokers may spell a value in their own way.
    fn await_settings<K: AsRef<str>, V: AsRef<str>>(&self, topic: &str, set: &[(K, V)]) {
        for _ in 0..20 {
            let Ok(Some(Some(found))) = self.describe(&[topic]).map(|mut all| all.remove(topic)) else {
                return;
            };
            let shows = |(key, value): &(K, V)| found.config.get(key.as_ref()).is_some_and(|v| v == value.as_ref());
            if set.iter().all(shows) {
                return;
            }
            self.side.serve(settle::LOOK_EVERY);
        }
    }
}
