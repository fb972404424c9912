//! `dwell topics` on a real Kafka: `dev/with-kafka cargo test -p dwell-integration-tests --test cli`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::bins;
use dwell_kafka::{Admin, ClientSettings};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

fn brokers() -> String {
    std::env::var("BROKERS").expect("no broker: run through dev/with-kafka")
}

fn admin() -> Admin {
    Admin::connect(&ClientSettings::plain(&brokers()).unwrap()).unwrap()
}

/// A fleet of its own: a prefix no other test has, and its table in a file.
struct Fleet {
    prefix: String,
    dir: tempfile::TempDir,
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Fleet {
    fn new(levels: &str) -> Fleet {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let since = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("cli-{}-{count}-", since.as_micros());
        let fleet = Fleet {
            prefix,
            dir: tempfile::tempdir().unwrap(),
        };
        fleet.write(levels);
        fleet
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("levels.yaml")
    }

    fn write(&self, levels: &str) {
        let prefix = &self.prefix;
        let text =
            format!("topicPrefix: {prefix}\ntargets: ['orders*']\nmaxDelay: 10h\n{levels}\n");
        std::fs::write(self.file(), text).unwrap();
    }

    fn topic(&self, level: &str) -> String {
        format!("{}{level}", self.prefix)
    }

    fn dwell(&self, args: &[&str]) -> Ran {
        let mut command = bins::program("dwell").unwrap();
        command
            .args(args)
            .arg("--levels")
            .arg(self.file())
            .args(["--brokers", &brokers()]);
        let ended = command.output().unwrap();
        Ran {
            code: ended.status.code().unwrap(),
            out: String::from_utf8(ended.stdout).unwrap(),
            err: String::from_utf8(ended.stderr).unwrap(),
        }
    }

    /// A run that must end so, and its JSON.
    fn json(&self, args: &[&str], code: i32) -> Value {
        let ran = self.dwell(&[args, &["-o", "json"]].concat());
        assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
        serde_json::from_str(&ran.out).unwrap()
    }

    fn setting(&self, level: &str, key: &str) -> String {
        let topic = self.topic(level);
        admin()
            .describe(&[&topic])
            .unwrap()
            .remove(&topic)
            .unwrap()
            .unwrap()
            .config[key]
            .clone()
    }

    fn partitions(&self, level: &str) -> u32 {
        let topic = self.topic(level);
        admin()
            .describe(&[&topic])
            .unwrap()
            .remove(&topic)
            .unwrap()
            .unwrap()
            .partitions
    }
}

/// One value of each row.
fn column<'v>(rows: &'v Value, key: &str) -> Vec<&'v str> {
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row[key].as_str().unwrap())
        .collect()
}

const TWO: &str = "levelDefaults: {partitions: 2, replicationFactor: 1}\nlevels: {1s: {}, 1h: {}}";

#[test]
fn a_plan_is_applied_once_and_then_nothing_is_left() {
    let fleet = Fleet::new(TWO);
    let topics = ["1s", "1h", "parked", "clock"].map(|level| fleet.topic(level));
    let planned = fleet.json(&["topics", "plan"], 3);
    assert_eq!(column(&planned["changes"], "topic"), topics);
    assert_eq!(column(&planned["changes"], "action"), ["create"; 4]);

    let shown = fleet.json(&["topics", "apply"], 0);
    assert_eq!(column(&shown["changes"], "result"), ["dry-run"; 4]);
    assert_eq!(
        fleet.json(&["topics", "plan"], 3),
        planned,
        "a dry run changes nothing"
    );

    let done = fleet.json(&["topics", "apply", "--execute"], 0);
    assert_eq!(column(&done["changes"], "result"), ["done"; 4]);
    assert_eq!(
        fleet.json(&["topics", "check"], 0)["findings"],
        Value::Array(vec![])
    );
    assert_eq!(
        fleet.json(&["topics", "plan"], 0)["changes"],
        Value::Array(vec![])
    );
    assert_eq!(
        fleet.json(&["topics", "apply", "--execute"], 0)["changes"],
        Value::Array(vec![])
    );

    assert_eq!(fleet.partitions("1s"), 2);
    assert_eq!(
        fleet.partitions("clock") as usize,
        admin().brokers().unwrap().len()
    );
    assert_eq!(
        fleet.setting("1h", "message.timestamp.type"),
        "LogAppendTime"
    );
    assert_eq!(
        fleet.setting("1h", "retention.ms"),
        (7 * 86_400_000 + 3_600_000).to_string()
    );
}

#[test]
fn drift_is_found_and_put_right_and_no_other_setting_is_touched() {
    let fleet = Fleet::new(TWO);
    fleet.json(&["topics", "apply", "--execute"], 0);
    let wrong = [
        ("message.timestamp.type", "CreateTime"),
        ("retention.ms", "60000"),
        ("segment.ms", "3600123"),
        ("compression.type", "lz4"),
    ];
    admin().alter(&fleet.topic("1h"), &wrong).unwrap();

    let found = fleet.json(&["topics", "check"], 3);
    assert_eq!(
        column(&found["findings"], "key"),
        ["message.timestamp.type", "retention.ms"]
    );
    assert_eq!(column(&found["findings"], "severity"), ["loss", "loss"]);
    assert_eq!(
        found["findings"][0]["fix"],
        format!(
            "kafka-configs.sh --bootstrap-server {} --alter --entity-type topics --entity-name {} --add-config \
             message.timestamp.type=LogAppendTime",
            brokers(),
            fleet.topic("1h")
        )
    );
    let done = fleet.json(&["topics", "apply", "--execute"], 0);
    assert_eq!(
        column(&done["changes"], "action"),
        ["alter"],
        "one change for all settings of a topic"
    );
    fleet.json(&["topics", "check"], 0);
    assert_eq!(
        fleet.setting("1h", "message.timestamp.type"),
        "LogAppendTime"
    );
    assert_eq!(fleet.setting("1h", "segment.ms"), "3600123");
    assert_eq!(fleet.setting("1h", "compression.type"), "lz4");
}

#[test]
fn partitions_are_added_and_never_taken_away() {
    let fleet = Fleet::new(TWO);
    fleet.json(&["topics", "apply", "--execute"], 0);
    fleet.write("levelDefaults: {partitions: 1, replicationFactor: 1}\nlevels: {1s: {}, 1h: {partitions: 5}}");
    let done = fleet.json(&["topics", "apply", "--execute"], 0);
    assert_eq!(column(&done["changes"], "action"), ["add-partitions"]);
    assert_eq!((fleet.partitions("1s"), fleet.partitions("1h")), (2, 5));
    fleet.json(&["topics", "check"], 0);
}

#[test]
fn a_level_that_left_the_table_keeps_its_topic() {
    let fleet = Fleet::new(TWO);
    fleet.json(&["topics", "apply", "--execute"], 0);
    fleet.write("levelDefaults: {replicationFactor: 1, partitions: 2}\nlevels: {1s: {}}");
    fleet.json(&["topics", "apply", "--execute"], 0);
    assert_eq!(fleet.partitions("1h"), 2);
}

#[test]
fn what_cannot_be_done_is_told_while_the_rest_is_done() {
    // More replicas than there are brokers.
    let fleet = Fleet::new(
        "levelDefaults: {partitions: 1, replicationFactor: 1}\nlevels: {1s: {}, 1h: {replicationFactor: 99}}",
    );
    let done = fleet.json(&["topics", "apply", "--execute"], 1);
    assert_eq!(
        column(&done["changes"], "result"),
        ["done", "failed", "done", "done"]
    );
    let error = done["changes"][1]["error"].as_str().unwrap();
    assert!(
        error.contains(&fleet.topic("1h")) && error.contains("eplication"),
        "{error}"
    );
    let found = fleet.json(&["topics", "check"], 3);
    assert_eq!(column(&found["findings"], "topic"), [fleet.topic("1h")]);
}
