//! A table of levels with topics of its own on the shared cluster.

use crate::produce::Producer;
use crate::roller::Roller;
use dwell_kafka::reader::{Reader, WholeRecord};
use dwell_kafka::{Admin, ClientSettings};
use dwell_levels::LevelTable;
use dwell_levels::topics::{TopicKind, TopicSpec, wanted};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// Levels, topics and a file that names them.
pub struct Fleet {
    pub name: String,
    pub table: LevelTable,
    pub settings: ClientSettings,
    pub dir: TempDir,
    pub admin: Admin,
}

/// The shared cluster's address.
pub fn brokers() -> String {
    std::env::var("BROKERS").expect("these tests need a Kafka: run them through dev/with-kafka, or set BROKERS")
}

impl Fleet {
    /// A fleet with these levels (YAML flow, as in `{1s: {}, 5s: {}}`) and all its topics, and any `*` target under
    /// its own prefix `<name>.`. `more` is added to the file.
    pub fn new(levels: &str, more: &str) -> Fleet {
        let fleet = Fleet::without_topics(levels, more);
        fleet.create_topics();
        fleet
    }

    pub fn without_topics(levels: &str, more: &str) -> Fleet {
        Fleet::on(&brokers(), levels, more)
    }

    /// On a cluster of its own.
    pub fn on(brokers: &str, levels: &str, more: &str) -> Fleet {
        let name = format!("t{}x{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let text = format!(
            "topicPrefix: {name}-delay-\ngroupPrefix: {name}-roller-\ntargets: [\"{name}.*\"]\n\
             levelDefaults: {{partitions: 4, replicationFactor: 1}}\nlevels: {levels}\n{more}\n"
        );
        let table = LevelTable::parse(&text).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("levels.yaml"), &text).unwrap();
        let settings = ClientSettings::plain(brokers).unwrap();
        let admin = Admin::connect(&settings).unwrap();
        Fleet { name, table, settings, dir, admin }
    }

    pub fn create_topics(&self) {
        self.create(&wanted(&self.table));
    }

    fn create(&self, specs: &[TopicSpec]) {
        for (topic, result) in self.admin.create(specs) {
            result.unwrap_or_else(|e| panic!("{topic}: {e}"));
        }
    }

    /// Creates `<name>.<suffix>` with the broker's append time, so that lateness can be seen; returns its name.
    pub fn target(&self, suffix: &str, partitions: u32) -> String {
        self.target_with(suffix, partitions, &[])
    }

    pub fn target_with(&self, suffix: &str, partitions: u32, config: &[(&str, &str)]) -> String {
        let name = self.target_name(suffix);
        let mut all = vec![("message.timestamp.type".to_owned(), "LogAppendTime".to_owned())];
        all.extend(config.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
        let kind = TopicKind::Clock;
        self.create(&[TopicSpec {
            name: name.clone(),
            kind,
            partitions,
            replication_factor: 1,
            retention_needed: dwell_levels::Delay::ZERO,
            config: all,
        }]);
        name
    }

    /// A name that the table allows, whether or not the topic exists.
    pub fn target_name(&self, suffix: &str) -> String {
        format!("{}.{suffix}", self.name)
    }

    pub fn level_topic(&self, level: &str) -> String {
        self.table.topic_of(self.table.get(level).unwrap())
    }

    pub fn delay_ms(&self, level: &str) -> i64 {
        i64::try_from(self.table.get(level).unwrap().delay.as_millis()).unwrap()
    }

    pub fn file(&self) -> PathBuf {
        self.dir.path().join("levels.yaml")
    }

    /// A roller process for these levels, ready.
    pub fn roller(&self, levels: &[&str]) -> Roller {
        let roller = self.roller_unready(levels, &[]);
        roller.wait_ready();
        roller
    }

    /// A roller process with more arguments, ready or not.
    pub fn roller_unready(&self, levels: &[&str], more: &[&str]) -> Roller {
        Roller::spawn(&self.file(), self.settings.brokers(), levels, more, &[])
    }

    pub fn producer(&self) -> Producer {
        Producer::connect(&self.settings)
    }

    /// Everything in a topic now.
    pub fn read(&self, topic: &str) -> Vec<WholeRecord> {
        Reader::open(&self.settings, topic).unwrap().read_to_end(Duration::from_secs(60)).unwrap()
    }

    /// Reads until there are `count` records or more, and returns them all.
    pub fn read_until(&self, topic: &str, count: usize, patience: Duration) -> Vec<WholeRecord> {
        let mut reader = Reader::open(&self.settings, topic).unwrap();
        let mut all = Vec::new();
        crate::within(patience, &format!("{count} records in {topic}"), || {
            all.extend(reader.read_to_end(Duration::from_secs(60)).unwrap());
            (all.len() >= count).then_some(())
        });
        all
    }

    pub fn parked(&self) -> Vec<WholeRecord> {
        self.read(&self.table.parked_topic())
    }

    /// Committed offsets of a level's group, by partition.
    pub fn committed(&self, level: &str) -> BTreeMap<i32, Option<i64>> {
        let l = self.table.get(level).unwrap();
        let topic = self.table.topic_of(l);
        let lookup = dwell_kafka::Lookup::open(&self.settings, "test", Duration::from_secs(10)).unwrap();
        let dwell_kafka::TopicState::Exists { partitions } = lookup.topic_state(&topic) else { panic!("{topic}") };
        let all: Vec<i32> = (0..i32::try_from(partitions).unwrap()).collect();
        lookup.committed(&self.table.group_of(l), &topic, &all).unwrap().into_iter().collect()
    }
}
