//! The broker that everything runs on, and questions to it.

use anyhow::{Context, Result, ensure};
use dwell_kafka::{Admin, ClientSettings, Lookup, TopicState};
use dwell_levels::Delay;
use dwell_levels::topics::{TopicKind, TopicSpec};
use std::time::{Duration, Instant};

/// A cluster with nobody else on it.
pub(crate) struct Cluster {
    pub(crate) settings: ClientSettings,
    pub(crate) admin: Admin,
    lookup: Lookup,
}

impl Cluster {
    pub(crate) fn connect(brokers: &str) -> Result<Cluster> {
        let settings = ClientSettings::plain(brokers)?;
        let admin = Admin::connect(&settings)?;
        let lookup = Lookup::open(&settings, "dwell-bench", Duration::from_secs(10))?;
        Ok(Cluster { settings, admin, lookup })
    }

    pub(crate) fn brokers(&self) -> &str {
        self.settings.brokers()
    }

    /// A topic with the broker's append time, whose files go soon after it is deleted.
    pub(crate) fn create(&self, name: &str, partitions: u32) -> Result<()> {
        let config = [("message.timestamp.type", "LogAppendTime"), ("file.delete.delay.ms", "1000")];
        self.create_all(&[TopicSpec {
            name: name.to_owned(),
            kind: TopicKind::Clock,
            partitions,
            replication_factor: 1,
            retention_needed: Delay::ZERO,
            config: config.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        }])
    }

    pub(crate) fn create_all(&self, specs: &[TopicSpec]) -> Result<()> {
        for (name, result) in self.admin.create(specs) {
            result.with_context(|| format!("create {name}"))?;
        }
        Ok(())
    }

    /// An empty topic, whether or not there was one.
    pub(crate) fn recreate(&self, name: &str, partitions: u32) -> Result<()> {
        if matches!(self.lookup.topic_state(name), TopicState::Exists { .. }) {
            self.admin.delete_topic(name)?;
            let gone = || Ok(matches!(self.lookup.topic_state(name), TopicState::Missing).then_some(()));
            within(Duration::from_secs(20), &format!("{name} is deleted"), gone)?;
        }
        self.create(name, partitions)?;
        let there = || Ok(self.count(name).ok().filter(|&n| n == 0).map(drop));
        within(Duration::from_secs(20), &format!("{name} has leaders"), there)
    }

    /// First and end offset of each partition.
    pub(crate) fn edges(&self, topic: &str) -> Result<Vec<(i32, i64, i64)>> {
        let TopicState::Exists { partitions } = self.lookup.topic_state(topic) else {
            anyhow::bail!("topic {topic} is not there");
        };
        let all: Vec<i32> = (0..i32::try_from(partitions)?).collect();
        let starts = self.lookup.start_offsets(topic, &all)?;
        let ends = self.lookup.end_offsets(topic, &all)?;
        Ok(starts.into_iter().zip(ends).map(|((p, start), (_, end))| (p, start, end)).collect())
    }

    /// Records in a topic.
    pub(crate) fn count(&self, topic: &str) -> Result<u64> {
        self.edges(topic)?.iter().map(|(_, start, end)| Ok(u64::try_from(end - start)?)).sum()
    }

    /// Waits until the topic holds exactly so many records.
    pub(crate) fn await_count(&self, topic: &str, wanted: u64, patience: Duration) -> Result<()> {
        within(patience, &format!("{wanted} records in {topic}"), || {
            let count = self.count(topic)?;
            ensure!(count <= wanted, "{topic} has {count} records, {wanted} were to come");
            Ok((count == wanted).then_some(()))
        })
    }
}

/// Asks every 50 ms until there is an answer.
pub(crate) fn within<T>(patience: Duration, what: &str, mut ask: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        ensure!(begin.elapsed() < patience, "not within {patience:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
