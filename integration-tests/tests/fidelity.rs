//! What a record is made of arrives as it was sent, and where a Java client would have put it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::produce::Rec;
use dwell_integration_tests::same::{assert_punctual, assert_same, by_id, noise, producer_with};
use dwell_integration_tests::{Fleet, java};
use dwell_kafka::reader::StampedBy;
use std::collections::BTreeMap;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn some(bytes: impl Into<Vec<u8>>) -> Option<Vec<u8>> {
    Some(bytes.into())
}

/// Everything that is easily lost or changed on the way, by name.
fn shapes() -> Vec<(&'static str, Rec)> {
    let plain = || Rec { key: some("key"), payload: some("text ".repeat(100)), ..Rec::default() };
    let all_bytes: Vec<u8> = (0..=255).collect();
    // A NUL would end a header's name on the way into the client.
    let odd_name: Vec<u8> = (1..=255).rev().collect();
    vec![
        ("plain", plain()),
        ("null key", Rec { key: None, ..plain() }),
        ("empty key", Rec { key: some(""), ..plain() }),
        ("tombstone", Rec { payload: None, ..plain() }),
        ("empty value", Rec { payload: some(""), ..plain() }),
        ("nothing at all", Rec::default()),
        ("binary key and value", Rec { key: some(all_bytes.clone()), payload: some(all_bytes.clone()), ..plain() }),
        ("900 KB that no codec shrinks", Rec { payload: Some(noise(900_000)), ..plain() }),
        ("900 KB that every codec shrinks", Rec { payload: some("0123456789".repeat(90_000)), ..plain() }),
        (
            "headers: repeated, null, empty, not UTF-8",
            plain()
                .with("a", "1")
                .with("b", "2")
                .with("a", "1")
                .raw(b"a", None)
                .raw(b"a", Some(b""))
                .raw(b"", Some(b"the empty name"))
                .raw(b"", None)
                .raw(b"\xff\xfe", Some(b"\xc3\x28\x00\xff"))
                .raw(&odd_name, Some(&all_bytes))
                .with("A", "names differ in case")
                .with("dwell", "no prefix")
                .with("Dwell-target", "not ours")
                .with("größe", "注文"),
        ),
        ("many headers", (0..300).fold(plain(), |r, i| r.with(&format!("h{}", i % 7), &i.to_string()))),
    ]
}

/// Dwell's own headers among the user's: first and last and in between.
fn addressed(shape: &Rec, id: &str, target: &str) -> Rec {
    let mut all = Rec { headers: Vec::new(), ..shape.clone() }.with("dwell-id", id);
    let half = shape.headers.len() / 2;
    all.headers.extend_from_slice(&shape.headers[..half]);
    all = all.with("dwell-target", target);
    all.headers.extend_from_slice(&shape.headers[half..]);
    all.with("dwell-type", "test")
}

#[test]
fn records_of_every_shape_and_compression_arrive_identical() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 4);
    let _roller = fleet.roller(&["1s"]);
    let mut expected = BTreeMap::new();
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let mut producer = producer_with(&fleet, &[("compression.type", codec)]);
        for (name, shape) in shapes() {
            let id = format!("{codec}: {name}");
            let written = producer.send(&fleet.level_topic("1s"), &[addressed(&shape, &id, &target)])[0];
            expected.insert(id, (shape, written));
        }
    }
    let got = fleet.read_until(&target, expected.len(), PATIENCE);
    assert_eq!(got.len(), expected.len(), "each once");
    for (id, (shape, written)) in &expected {
        let record = by_id(&got, id);
        assert_same(id, shape, record);
        assert_punctual(id, &fleet, "1s", written, record);
        let own: Vec<_> = record.headers.iter().filter(|(name, _)| name.starts_with(b"dwell-")).collect();
        let names: Vec<_> = own.iter().map(|(name, _)| std::str::from_utf8(name).unwrap()).collect();
        assert_eq!(names, ["dwell-id", "dwell-type", "dwell-trail", "dwell-due"], "{id}");
    }
}

#[test]
fn keys_choose_the_partitions_that_a_java_client_chooses() {
    // Different numbers, so that no partition is right because the record came from it.
    let fleet = Fleet::new("{1s: {partitions: 6}}", "");
    let targets = [(12, fleet.target("twelve", 12)), (3, fleet.target("three", 3))];
    let _roller = fleet.roller(&["1s"]);
    let keys = java::partitions();
    assert!(keys.len() > 80, "{} keys", keys.len());
    for (count, target) in &targets {
        let record = |key: &Vec<u8>| Rec { key: Some(key.clone()), ..Rec::default() }.with("dwell-target", target);
        let records: Vec<_> = keys.keys().map(record).collect();
        let written = fleet.producer().send(&fleet.level_topic("1s"), &records);
        for ((key, java), written) in keys.iter().zip(written) {
            assert_eq!(written.partition, java[&6], "level: {}", key.escape_ascii());
        }
        let got = fleet.read_until(target, keys.len(), PATIENCE);
        assert_eq!(got.len(), keys.len(), "each once");
        for record in got {
            let key = record.key.unwrap();
            assert_eq!(record.partition, keys[&key][count], "{target}: {}", key.escape_ascii());
        }
    }
}

#[test]
fn a_copy_carries_the_time_of_the_copy() {
    let fleet = Fleet::new("{5s: {}}", "");
    let target = fleet.target("orders", 1);
    fleet.admin.alter(&target, &[("message.timestamp.type", "CreateTime")]).unwrap();
    let _roller = fleet.roller(&["5s"]);
    let aged = Rec { timestamp_ms: 1_000_000_000_000, ..Rec::default() }.with("dwell-target", &target);
    let written = fleet.producer().send(&fleet.level_topic("5s"), &[aged])[0];
    let got = &fleet.read_until(&target, 1, PATIENCE)[0];
    assert_eq!(got.stamped_by, StampedBy::Producer, "the target shows what the roller wrote");
    assert_punctual("by the roller's stamp", &fleet, "5s", &written, got);
}
