//! Administration and questions against a real broker: `dev/with-kafka cargo test -p dwell-kafka`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_kafka::{Admin, ClientSettings, Creation, Lookup, TopicState, Trouble};
use dwell_levels::topics::{FoundTopic, TopicKind, TopicSpec};
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{Offset, TopicPartitionList};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(15);

fn brokers() -> String {
    std::env::var("BROKERS").expect("no broker: run through dev/with-kafka")
}

fn settings() -> ClientSettings {
    ClientSettings::plain(&brokers()).unwrap()
}

fn admin() -> Admin {
    Admin::connect(&settings()).unwrap()
}

fn lookup() -> Lookup {
    Lookup::open(&settings(), "test-lookup", TIMEOUT).unwrap()
}

fn unique(what: &str) -> String {
    format!("t-{what}-{}", uuid::Uuid::now_v7())
}

fn spec(name: &str, partitions: u32, config: &[(&str, &str)]) -> TopicSpec {
    let config = config.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    TopicSpec {
        name: name.to_owned(),
        kind: TopicKind::Clock,
        partitions,
        replication_factor: -1,
        retention_needed: dwell_levels::Delay::from_millis(0),
        config,
    }
}

fn created(admin: &Admin, what: &str, partitions: u32, config: &[(&str, &str)]) -> String {
    let name = unique(what);
    let results = admin.create(&[spec(&name, partitions, config)]);
    assert_eq!(results, vec![(name.clone(), Ok(Creation::Created))]);
    name
}

fn found(admin: &Admin, topic: &str) -> Option<FoundTopic> {
    admin.describe(&[topic]).unwrap().remove(topic).expect("every topic asked for is in the answer")
}

fn setting(admin: &Admin, topic: &str, key: &str) -> String {
    found(admin, topic).unwrap().config[key].clone()
}

#[test]
fn a_topic_is_created_as_asked_and_only_once() {
    let admin = admin();
    let topic =
        created(&admin, "new", 3, &[("message.timestamp.type", "LogAppendTime"), ("retention.ms", "777777777")]);
    let topic_now = found(&admin, &topic).unwrap();
    assert_eq!(topic_now.partitions, 3);
    assert!(topic_now.replication_factor >= 1);
    assert_eq!(topic_now.config["message.timestamp.type"], "LogAppendTime");
    assert_eq!(topic_now.config["cleanup.policy"], "delete", "settings left at their default are told as well");
    let again = admin.create(&[spec(&topic, 5, &[])]);
    assert_eq!(again, vec![(topic.clone(), Ok(Creation::AlreadyThere))]);
    assert_eq!(found(&admin, &topic), Some(topic_now), "a topic that is there stays as it is");
}

#[test]
fn one_bad_topic_does_not_stop_its_neighbours() {
    let admin = admin();
    let (good, bad) = (unique("good"), unique("bad"));
    let results = admin.create(&[spec(&bad, 1, &[("retention.ms", "soon")]), spec(&good, 1, &[])]);
    assert_eq!(results[0].0, bad);
    let failure = results[0].1.as_ref().unwrap_err();
    assert_eq!(failure.trouble(), Trouble::Refused);
    assert!(failure.to_string().contains("retention.ms"), "the broker's own words are told: {failure}");
    assert_eq!(results[1], (good.clone(), Ok(Creation::Created)));
    let both = admin.describe(&[&bad, &good, &good]).unwrap();
    assert!(both[&bad].is_none() && both[&good].is_some());
}

#[test]
fn altering_one_setting_leaves_the_others_alone() {
    let admin = admin();
    let topic = created(&admin, "alter", 1, &[("retention.ms", "777777777"), ("segment.bytes", "33554432")]);
    admin.alter(&topic, &[("max.message.bytes", "2000000"), ("segment.bytes", "67108864")]).unwrap();
    assert_eq!(setting(&admin, &topic, "max.message.bytes"), "2000000");
    assert_eq!(setting(&admin, &topic, "segment.bytes"), "67108864");
    assert_eq!(setting(&admin, &topic, "retention.ms"), "777777777", "not named, so not changed");
    let failure = admin.alter(&topic, &[("retention.ms", "soon")]).unwrap_err();
    assert_eq!(failure.trouble(), Trouble::Refused, "{failure}");
    assert_eq!(setting(&admin, &topic, "retention.ms"), "777777777");
    let missing = admin.alter(&unique("none"), &[("retention.ms", "1000")]).unwrap_err();
    assert_eq!(missing.trouble(), Trouble::UnknownTopic, "{missing}");
}

#[test]
fn partitions_grow_and_never_shrink() {
    let admin = admin();
    let topic = created(&admin, "grow", 2, &[]);
    admin.add_partitions(&topic, 4).unwrap();
    assert_eq!(found(&admin, &topic).unwrap().partitions, 4);
    let failure = admin.add_partitions(&topic, 3).unwrap_err();
    assert_eq!(failure.trouble(), Trouble::Refused, "{failure}");
}

#[test]
fn a_deleted_topic_is_missing() {
    let admin = admin();
    let topic = created(&admin, "gone", 1, &[]);
    admin.delete_topic(&topic).unwrap();
    assert_eq!(found(&admin, &topic), None);
    assert_eq!(admin.delete_topic(&topic).unwrap_err().trouble(), Trouble::UnknownTopic);
}

/// Means most where the broker has `auto.create.topics.enable=true`.
#[test]
fn asking_for_a_topic_does_not_create_it() {
    let (admin, lookup, topic) = (admin(), lookup(), unique("asked"));
    for _ in 0..3 {
        assert_eq!(lookup.topic_state(&topic), TopicState::Missing);
        assert_eq!(found(&admin, &topic), None);
        assert!(lookup.end_offsets(&topic, &[0]).is_err());
        assert_eq!(lookup.committed(&unique("group"), &topic, &[0]), Ok(vec![(0, None)]));
    }
    let there = created(&admin, "there", 2, &[]);
    let states = lookup.topic_states(&[&there, &topic, "not a name", ""]);
    let states: Vec<TopicState> = states.into_iter().map(|(_, state)| state).collect();
    let illegal = TopicState::Illegal;
    assert_eq!(states, [TopicState::Exists { partitions: 2 }, TopicState::Missing, illegal.clone(), illegal]);
}

fn write(topic: &str, partition: i32, records: usize) {
    let producer: BaseProducer = ClientConfig::new().set("bootstrap.servers", brokers()).create().unwrap();
    for _ in 0..records {
        producer.send(BaseRecord::<(), str>::to(topic).partition(partition).payload("x")).unwrap();
    }
    producer.flush(TIMEOUT).unwrap();
}

#[test]
fn offsets_by_edge_and_by_time() {
    let (admin, lookup) = (admin(), lookup());
    let topic = created(&admin, "offsets", 3, &[("message.timestamp.type", "LogAppendTime")]);
    write(&topic, 0, 5);
    write(&topic, 2, 2);
    assert_eq!(lookup.end_offsets(&topic, &[2, 0, 1]).unwrap(), [(0, 5), (1, 0), (2, 2)]);
    assert_eq!(lookup.start_offsets(&topic, &[0, 1, 2]).unwrap(), [(0, 0), (1, 0), (2, 0)]);
    let late = i64::MAX / 2;
    let times = lookup.offsets_for_times(&topic, &[(0, 0), (1, 0), (2, late)]).unwrap();
    assert_eq!(times, [(0, Some(0)), (1, None), (2, None)]);
    admin.delete_records(&topic, &[(0, 3)]).unwrap();
    assert_eq!(lookup.start_offsets(&topic, &[0]).unwrap(), [(0, 3)]);
    assert_eq!(lookup.end_offsets(&topic, &[0]).unwrap(), [(0, 5)]);
    assert!(lookup.end_offsets(&topic, &[0, 9]).is_err(), "a partition that is not there is no zero");
    assert_eq!(lookup.end_offsets(&topic, &[]).unwrap(), []);
}

#[test]
fn committed_offsets_of_a_group_without_members() {
    let (admin, lookup) = (admin(), lookup());
    let topic = created(&admin, "committed", 2, &[]);
    let group = unique("group");
    assert_eq!(lookup.committed(&group, &topic, &[0, 1]).unwrap(), [(0, None), (1, None)]);
    let consumer: BaseConsumer =
        ClientConfig::new().set("bootstrap.servers", brokers()).set("group.id", &group).create().unwrap();
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(&topic, 1, Offset::Offset(42)).unwrap();
    consumer.commit(&list, CommitMode::Sync).unwrap();
    assert_eq!(lookup.committed(&group, &topic, &[1, 0]).unwrap(), [(0, None), (1, Some(42))]);
}

#[test]
fn the_cluster_names_itself() {
    let cluster = admin().cluster().unwrap();
    assert!(!cluster.brokers.is_empty() && cluster.id.is_some_and(|id| !id.is_empty()));
}

#[test]
fn a_wrong_address_and_a_wrong_protocol_are_told_apart() {
    let short = Duration::from_secs(2);
    let nobody = ClientSettings::plain("127.0.0.1:1").unwrap();
    let failure = Admin::with_timeout(&nobody, short).unwrap_err();
    assert_eq!(failure.trouble(), Trouble::Unreachable, "{failure}");
    assert!(failure.to_string().contains("refused"), "{failure}");
    let state = Lookup::open(&nobody, "t", short).unwrap().topic_state("a");
    assert!(matches!(state, TopicState::Unknown(f) if f.trouble() == Trouble::Unreachable));

    let tls = ["security.protocol=ssl".to_owned()];
    let tls = ClientSettings::resolve(&brokers(), &tls, [], &dwell_kafka::settings::read_file).unwrap();
    let failure = Admin::with_timeout(&tls, short).unwrap_err();
    assert_eq!(failure.trouble(), Trouble::Tls, "{failure}");
}
