//! `dwell topics` and `dwell send` on a real Kafka: `dev/with-kafka cargo test -p dwell-integration-tests --test cli`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::bins;
use dwell_integration_tests::fleet::brokers;
use dwell_kafka::reader::{Reader, WholeRecord};
use dwell_kafka::{Admin, ClientSettings};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

fn admin() -> Admin {
    Admin::connect(&settings()).unwrap()
}

fn settings() -> ClientSettings {
    ClientSettings::plain(&brokers()).unwrap()
}

/// Everything in a topic, in the order of offsets.
fn read(topic: &str) -> Vec<WholeRecord> {
    Reader::open(&settings(), topic).unwrap().read_to_end(Duration::from_secs(60)).unwrap()
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
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("cli-{}-{count}-", since.as_micros());
        let fleet = Fleet { prefix, dir: tempfile::tempdir().unwrap() };
        fleet.write(levels);
        fleet
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("levels.yaml")
    }

    fn write(&self, levels: &str) {
        let prefix = &self.prefix;
        let text = format!("topicPrefix: {prefix}\ntargets: ['orders*']\nmaxDelay: 10h\n{levels}\n");
        std::fs::write(self.file(), text).unwrap();
    }

    fn topic(&self, level: &str) -> String {
        format!("{}{level}", self.prefix)
    }

    fn dwell(&self, args: &[&str]) -> Ran {
        let mut command = bins::program("dwell").unwrap();
        command.args(args).arg("--levels").arg(self.file()).args(["--brokers", &brokers()]);
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
        admin().describe(&[&topic]).unwrap().remove(&topic).unwrap().unwrap().config[key].clone()
    }

    fn partitions(&self, level: &str) -> u32 {
        let topic = self.topic(level);
        admin().describe(&[&topic]).unwrap().remove(&topic).unwrap().unwrap().partitions
    }
}

/// One value of each row.
fn column<'v>(rows: &'v Value, key: &str) -> Vec<&'v str> {
    rows.as_array().unwrap().iter().map(|row| row[key].as_str().unwrap()).collect()
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
    assert_eq!(fleet.json(&["topics", "plan"], 3), planned, "a dry run changes nothing");

    let done = fleet.json(&["topics", "apply", "--execute"], 0);
    assert_eq!(column(&done["changes"], "result"), ["done"; 4]);
    assert_eq!(fleet.json(&["topics", "check"], 0)["findings"], Value::Array(vec![]));
    assert_eq!(fleet.json(&["topics", "plan"], 0)["changes"], Value::Array(vec![]));
    assert_eq!(fleet.json(&["topics", "apply", "--execute"], 0)["changes"], Value::Array(vec![]));

    assert_eq!(fleet.partitions("1s"), 2);
    assert_eq!(fleet.partitions("clock") as usize, admin().brokers().unwrap().len());
    assert_eq!(fleet.setting("1h", "message.timestamp.type"), "LogAppendTime");
    assert_eq!(fleet.setting("1h", "retention.ms"), (7 * 86_400_000 + 3_600_000).to_string());
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
    assert_eq!(column(&found["findings"], "key"), ["message.timestamp.type", "retention.ms"]);
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
    assert_eq!(column(&done["changes"], "action"), ["alter"], "one change for all settings of a topic");
    fleet.json(&["topics", "check"], 0);
    assert_eq!(fleet.setting("1h", "message.timestamp.type"), "LogAppendTime");
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
    assert_eq!(column(&done["changes"], "result"), ["done", "failed", "done", "done"]);
    let error = done["changes"][1]["error"].as_str().unwrap();
    assert!(error.contains(&fleet.topic("1h")) && error.contains("eplication"), "{error}");
    let found = fleet.json(&["topics", "check"], 3);
    assert_eq!(column(&found["findings"], "topic"), [fleet.topic("1h")]);
}

/// A fleet whose topics are there; one partition, so that offsets are in order.
fn ready() -> Fleet {
    let fleet = Fleet::new("levelDefaults: {partitions: 1, replicationFactor: 1}\nlevels: {1s: {}, 5s: {}, 1h: {}}");
    fleet.json(&["topics", "apply", "--execute"], 0);
    fleet
}

#[test]
fn a_sent_record_is_where_its_receipt_says() {
    let fleet = ready();
    let args = ["send", "--to", "orders", "--in", "45m", "--key", "k", "--header", "a=1", "--header", "a=2"];
    let more = ["--type", "reminder", "--id", "i-1", "-o", "json", "hello"];
    let ran = fleet.dwell(&[&args[..], &more].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);

    let records = read(&fleet.topic("1h"));
    let [record] = records.as_slice() else { panic!("{records:?}") };
    let due = record.timestamp_ms + 3_600_000;
    let expected = format!(
        r#"{{"id":"i-1","level":"1h","topic":"{}","partition":{},"offset":{},"due_ms":{due}}}"#,
        fleet.topic("1h"),
        record.partition,
        record.offset
    );
    assert_eq!(ran.out.trim_end(), expected);
    assert_eq!((record.key.as_deref(), record.payload.as_deref()), (Some(&b"k"[..]), Some(&b"hello"[..])));
    for (name, value) in
        [("dwell-target", "orders"), ("dwell-delay", "2700000"), ("dwell-id", "i-1"), ("dwell-type", "reminder")]
    {
        assert_eq!(record.header(name), Some(value), "{name}");
    }
    let own: Vec<_> = record.headers.iter().filter(|(name, _)| name == b"a").collect();
    assert_eq!(own.len(), 2);
}

#[test]
fn many_lines_go_each_to_its_level_with_a_receipt_each() {
    let fleet = ready();
    let input = fleet.dir.path().join("input.jsonl");
    let lines = r#"{"payload":"1","in":"500ms"}
{"payload":"2","in":"3s"}
{"payload":"3"}
"#;
    std::fs::write(&input, lines).unwrap();
    let file = input.to_str().unwrap();
    let ran = fleet.dwell(&["send", "--to", "orders", "--in", "1h", "--jsonl", "--file", file, "-o", "jsonl"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let levels: Vec<String> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["level"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(levels, ["1s", "5s", "1h"]);
    for (level, payload) in [("1s", "1"), ("5s", "2"), ("1h", "3")] {
        let records = read(&fleet.topic(level));
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].payload.as_deref(), Some(payload.as_bytes()));
    }
}

#[test]
fn repeated_records_have_ids_of_their_own() {
    let fleet = ready();
    let args = ["send", "--to", "orders", "--in", "1h", "--repeat", "2500", "-o", "jsonl", "x"];
    let ran = fleet.dwell(&args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ids: std::collections::BTreeSet<String> =
        ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].to_string()).collect();
    assert_eq!((ids.len(), read(&fleet.topic("1h")).len()), (2500, 2500));
}

#[test]
fn what_cannot_be_written_is_told_and_ends_with_1() {
    let fleet = ready();
    // Straight to a target that does not exist.
    let ran = fleet.dwell(&["send", "--to", "orders-nowhere", "--in", "0", "--timeout", "2s", "x"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("orders-nowhere"), "{}", ran.err);
}

#[test]
fn without_level_topics_sending_names_them_and_what_creates_them() {
    let fleet = Fleet::new(TWO);
    let ran = fleet.dwell(&["send", "--to", "orders", "--in", "5m", "x"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    for part in [fleet.topic("1h").as_str(), "dwell topics apply --execute"] {
        assert!(ran.err.contains(part), "{}", ran.err);
    }
}
