//! What topics must be like, and what is said about those that are not.
#![allow(clippy::unwrap_used)]

use dwell_levels::LevelTable;
use dwell_levels::topics::{Finding, Fix, FoundTopic, Severity, TopicKind, TopicSpec, check, level_spec, wanted};

fn table(defaults: &str) -> LevelTable {
    let text = format!("targets: [orders]\nlevelDefaults: {{{defaults}}}\nlevels: {{5s: , 30d: {{partitions: 3}}}}");
    LevelTable::parse(&text).unwrap()
}

fn spec(defaults: &str, name: &str) -> TopicSpec {
    wanted(&table(defaults)).into_iter().find(|spec| spec.name == name).unwrap()
}

/// A topic exactly as created.
fn created(spec: &TopicSpec, replication_factor: u16) -> FoundTopic {
    FoundTopic { partitions: spec.partitions, replication_factor, config: spec.config.iter().cloned().collect() }
}

fn with(spec: &TopicSpec, replicas: u16, key: &str, value: &str) -> Vec<Finding> {
    let mut found = created(spec, replicas);
    found.config.insert(key.to_owned(), value.to_owned());
    check(spec, Some(&found))
}

#[test]
fn every_level_and_helper_topic_is_wanted() {
    let specs = wanted(&table("replicationFactor: 3"));
    let names: Vec<_> = specs.iter().map(|spec| (spec.name.as_str(), spec.partitions)).collect();
    assert_eq!(names, [("delay-5s", 6), ("delay-30d", 3), ("delay-parked", 1), ("delay-clock", 6)]);
    assert_eq!(specs[0].setting("retention.ms"), Some("604805000"));
    assert_eq!(specs[1].setting("retention.ms"), Some(&*(37_u64 * 86_400_000).to_string()));
    assert_eq!(specs[0].setting("min.insync.replicas"), Some("2"));
    assert_eq!(specs[2].setting("max.message.bytes"), Some("1114124"));
    assert_eq!(specs[3].setting("retention.ms"), Some("3600000"));
    assert!(specs.iter().all(|spec| spec.setting("message.timestamp.type") == Some("LogAppendTime")));
    assert_eq!(spec("outageBudget: 1h", "delay-5s").setting("retention.ms"), Some("604800000"));
    for factor in ["", "replicationFactor: 2"] {
        assert_eq!(spec(factor, "delay-5s").setting("min.insync.replicas"), None);
    }
}

#[test]
fn a_topic_as_created_has_no_findings() {
    for (factor, replicas) in [("1", 1), ("3", 3), ("-1", 3)] {
        for spec in wanted(&table(&format!("replicationFactor: {factor}"))) {
            let mut found = created(&spec, replicas);
            found.config.insert("min.insync.replicas".to_owned(), "2".to_owned());
            found.partitions += 1;
            assert_eq!(check(&spec, Some(&found)), [], "{}", spec.name);
        }
    }
}

#[test]
fn what_could_lose_or_release_early_stops_the_roller() {
    let spec = spec("replicationFactor: 3", "delay-5s");
    for (key, value) in [
        ("message.timestamp.type", "CreateTime"),
        ("cleanup.policy", "compact"),
        ("cleanup.policy", "compact,delete"),
        ("retention.ms", "604804999"),
        ("retention.ms", "?"),
        ("retention.bytes", "1073741824"),
        ("min.insync.replicas", "1"),
        ("unclean.leader.election.enable", "true"),
    ] {
        let findings = with(&spec, 3, key, value);
        assert_eq!(findings.len(), 1, "{key}={value}");
        assert_eq!((findings[0].severity, findings[0].key.as_str()), (Severity::Loss, key));
        assert_eq!(findings[0].found, value);
        let expected = Fix::Alter {
            topic: "delay-5s".to_owned(),
            set: vec![(key.to_owned(), spec.setting(key).unwrap().to_owned())],
        };
        assert_eq!(findings[0].fix, expected);
    }
    assert_eq!(with(&spec, 3, "retention.ms", "604805000"), []);
    assert_eq!(with(&spec, 3, "retention.ms", "-1"), []);
}

#[test]
fn a_setting_that_was_not_described_has_the_brokers_default() {
    let spec = spec("replicationFactor: 3", "delay-5s");
    let bare = FoundTopic { partitions: 6, replication_factor: 3, ..FoundTopic::default() };
    let keys: Vec<_> = check(&spec, Some(&bare)).into_iter().map(|finding| finding.key).collect();
    assert_eq!(keys, ["message.timestamp.type", "retention.ms", "min.insync.replicas"]);
}

#[test]
fn replicas_and_partitions() {
    for (factor, replicas, severity) in [
        ("3", 1, Some(Severity::Loss)),
        ("3", 2, Some(Severity::Drift)),
        ("2", 3, None),
        ("-1", 1, Some(Severity::Warn)),
        ("-1", 2, None),
        ("1", 1, None),
    ] {
        let spec = spec(&format!("replicationFactor: {factor}"), "delay-5s");
        let findings = with(&spec, replicas, "min.insync.replicas", "2");
        let found = findings.iter().find(|finding| finding.key == "replication.factor");
        assert_eq!(found.map(|finding| finding.severity), severity, "{factor} {replicas}");
    }
    let spec = spec("", "delay-5s");
    let fewer = FoundTopic { partitions: 2, ..created(&spec, 2) };
    let findings = check(&spec, Some(&fewer));
    assert_eq!(findings[0].fix, Fix::AddPartitions { topic: "delay-5s".to_owned(), to: 6 });
    assert_eq!(findings[0].severity, Severity::Drift);
}

#[test]
fn the_parked_topic_takes_what_a_level_takes() {
    let spec = spec("", "delay-parked");
    assert_eq!(spec.kind, TopicKind::Parked);
    let findings = with(&spec, 2, "max.message.bytes", "1114123");
    assert_eq!((findings[0].severity, findings[0].wanted.as_str()), (Severity::Loss, "1114124"));
    assert_eq!(with(&spec, 2, "max.message.bytes", "2000000"), []);
}

#[test]
fn fixes_are_commands() {
    let table = table("replicationFactor: 3");
    let spec = level_spec(&table, table.get("5s").unwrap());
    let missing = check(&spec, None);
    assert_eq!((missing.len(), missing[0].severity), (1, Severity::Missing));
    assert_eq!(
        missing[0].fix.command("b1:9092,b2:9092"),
        "kafka-topics.sh --bootstrap-server b1:9092,b2:9092 --create --topic delay-5s --partitions 6 \
         --replication-factor 3 --config cleanup.policy=delete --config message.timestamp.type=LogAppendTime \
         --config retention.ms=604805000 --config retention.bytes=-1 --config min.insync.replicas=2 \
         --config unclean.leader.election.enable=false"
    );
    assert_eq!(
        with(&spec, 3, "retention.bytes", "5")[0].fix.command("b:1; x"),
        "kafka-configs.sh --bootstrap-server 'b:1; x' --alter --entity-type topics --entity-name delay-5s \
         --add-config retention.bytes=-1"
    );
    let add = Fix::AddPartitions { topic: "t".to_owned(), to: 9 };
    assert_eq!(add.command("b:1"), "kafka-topics.sh --bootstrap-server b:1 --alter --topic t --partitions 9");
}
