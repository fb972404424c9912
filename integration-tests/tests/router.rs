//! The router against a real broker: what it sends arrives as it was given, receipts are true, and trouble has a name.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::own_broker::OwnBroker;
use dwell_integration_tests::{Fleet, bins, fleet};
use dwell_router::{ConnectError, Delayed, Fate, Router, RouterBuilder, SendError};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const DELAY: Duration = Duration::from_secs(3);

fn builder(fleet: &Fleet) -> RouterBuilder {
    Router::builder(fleet.table.clone()).brokers(fleet.settings.brokers())
}

fn router(fleet: &Fleet) -> Router {
    builder(fleet).connect_blocking().unwrap()
}

/// Bytes that no codec makes smaller.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

#[test]
fn keys_reach_the_partition_a_java_client_chooses() {
    let file = bins::root().join("integration-tests/fixtures/java-partitions.tsv");
    let mut by_count: BTreeMap<u32, Vec<(Vec<u8>, i32)>> = BTreeMap::new();
    for line in std::fs::read_to_string(file).unwrap().lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let key = (0..fields[0].len()).step_by(2).map(|i| u8::from_str_radix(&fields[0][i..i + 2], 16).unwrap());
        by_count.entry(fields[1].parse().unwrap()).or_default().push((key.collect(), fields[2].parse().unwrap()));
    }
    assert!(by_count.len() >= 4, "{:?}", by_count.keys());
    let fleet = Fleet::new("{5s: {partitions: 6}}", "");
    let router = router(&fleet);
    for (count, keys) in by_count {
        assert!(keys.iter().any(|(key, _)| key.is_empty()) && keys.iter().any(|(key, _)| !key.is_ascii()));
        let target = fleet.target(&format!("keys-{count}"), count);
        let direct: Vec<_> =
            keys.iter().map(|(key, _)| Delayed::to(&target).after(Duration::ZERO).key(key.clone())).collect();
        // The target's partitions, and those of a level with as many.
        let mut runs = vec![direct];
        if count == 6 {
            runs.push(keys.iter().map(|(key, _)| Delayed::to(&target).after(DELAY).key(key.clone())).collect());
        }
        for run in runs {
            for (result, (key, partition)) in router.blocking().send_all(run).into_iter().zip(&keys) {
                let receipt = result.unwrap();
                assert_eq!(receipt.partition, *partition, "key {key:?} of {} bytes on {}", key.len(), receipt.topic);
            }
        }
    }
}

#[test]
fn a_record_arrives_on_its_level_as_it_was_given_and_the_receipt_is_true() {
    let fleet = Fleet::new("{5s: {}, 1h: {}}", "");
    let target = fleet.target("orders", 2);
    let router = router(&fleet);
    let noise = noise(900_000);
    let to = || Delayed::to(&target).after(DELAY);
    let requests = vec![
        to().payload("null key"),
        to().key("").payload("empty key"),
        to().key("k"),
        to().key("k").payload(""),
        to().key("k").payload(noise.clone()),
        to().key("k").payload("x").header("a", "1").header("a", "2").null_header("a").header("", "").header("b", ""),
        Delayed::to(&target).after(Duration::from_secs(45 * 60)).id("mine").record_type("reminder").payload("1h"),
    ];
    let body = |payload: Option<&Vec<u8>>| payload.map(|p| p.len());
    let results = router.blocking().send_all(requests);
    let topics = ["5s", "1h"].map(|level| (level, fleet.read(&fleet.level_topic(level))));
    let expected: [(Option<&str>, Option<usize>); 7] = [
        (None, Some(8)),
        (Some(""), Some(9)),
        (Some("k"), None),
        (Some("k"), Some(0)),
        (Some("k"), Some(900_000)),
        (Some("k"), Some(1)),
        (None, Some(2)),
    ];
    for (i, result) in results.into_iter().enumerate() {
        let receipt = result.unwrap();
        let level = if i == 6 { "1h" } else { "5s" };
        assert_eq!(receipt.level.as_ref().unwrap().as_str(), level, "mixed delays are each routed");
        assert_eq!(receipt.topic, fleet.level_topic(level));
        let records = &topics.iter().find(|(name, _)| *name == level).unwrap().1;
        let here =
            |r: &&dwell_kafka::reader::WholeRecord| (r.partition, r.offset) == (receipt.partition, receipt.offset);
        let found = records.iter().find(here).expect("the receipt's place holds a record");
        assert_eq!(found.header("dwell-id"), Some(receipt.id.as_str()));
        assert_eq!(receipt.due_ms, found.timestamp_ms + fleet.delay_ms(level), "append + delay");
        let (key, size) = expected[i];
        assert_eq!((found.key.as_deref(), body(found.payload.as_ref())), (key.map(str::as_bytes), size), "{i}");
        match i {
            4 => assert!(found.payload.as_ref() == Some(&noise), "byte for byte"),
            5 => {
                let given: Vec<(&[u8], Option<&[u8]>)> =
                    vec![(b"a", Some(b"1")), (b"a", Some(b"2")), (b"a", None), (b"", Some(b"")), (b"b", Some(b""))];
                let got = found.headers.iter().map(|(name, value)| (name.as_slice(), value.as_deref()));
                assert_eq!(got.take(5).collect::<Vec<_>>(), given);
                assert_eq!(found.header("dwell-target"), Some(target.as_str()));
                assert_eq!(found.header("dwell-delay"), Some("3000"));
            }
            6 => assert_eq!((receipt.id.as_str(), found.header("dwell-type")), ("mine", Some("reminder"))),
            _ => {}
        }
    }
}

#[test]
fn a_missing_level_topic_is_refused_at_the_start_and_named_later() {
    let fleet = Fleet::without_topics("{5s: {}, 1h: {}}", "");
    let refused = builder(&fleet).connect_blocking().unwrap_err();
    let ConnectError::LevelTopics { missing, hidden } = &refused else { panic!("{refused}") };
    assert_eq!((missing.as_slice(), hidden.len()), ([fleet.level_topic("5s"), fleet.level_topic("1h")].as_slice(), 0));
    assert!(refused.to_string().contains("dwell topics apply --execute"), "{refused}");

    fleet.create_topics();
    let router = router(&fleet);
    fleet.admin.delete_topic(&fleet.level_topic("1h")).unwrap();
    let to = |delay| Delayed::to(fleet.target_name("orders")).after(Duration::from_secs(delay)).payload("x");
    let results = router.blocking().send_all(vec![to(3), to(3000), to(0)]);
    assert!(results[0].is_ok(), "a neighbour goes through: {results:?}");
    assert!(matches!(&results[1], Err(SendError::UnknownLevelTopic { topic }) if *topic == fleet.level_topic("1h")));
    assert!(matches!(&results[2], Err(SendError::UnknownTarget { topic }) if *topic == fleet.target_name("orders")));
}

#[test]
fn every_result_reaches_the_hook_and_refusals_send_nothing() {
    let fleet = Fleet::new("{5s: {}}", "");
    let target = fleet.target_with("small", 1, &[("max.message.bytes", "2000")]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let hooked = builder(&fleet).on_result(move |outcome| {
        log.lock().unwrap().push((outcome.id.to_owned(), outcome.result.is_ok()));
    });
    let router = hooked.connect_blocking().unwrap();
    let requests = vec![
        Delayed::to(&target).after(DELAY).id("good"),
        Delayed::to(fleet.level_topic("5s")).after(DELAY).id("level"),
        Delayed::to("elsewhere").after(DELAY).id("elsewhere"),
        Delayed::to(&target).after(Duration::ZERO).id("large").payload(noise(5_000)),
    ];
    let results = router.blocking().send_all(requests);
    assert!(matches!(results[1], Err(SendError::Refused(_))) && matches!(results[2], Err(SendError::Refused(_))));
    assert!(matches!(&results[3], Err(SendError::TooLarge { topic }) if *topic == target), "{results:?}");
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    let expected = [("elsewhere", false), ("good", true), ("large", false), ("level", false)];
    assert_eq!(seen, expected.map(|(id, ok)| (id.to_owned(), ok)));
    assert_eq!(fleet.read(&fleet.level_topic("5s")).len(), 1);
    assert!(fleet.read(&target).is_empty());
}

#[test]
fn a_small_buffer_holds_back_and_keeps_the_order() {
    const RECORDS: usize = 3000;
    let fleet = Fleet::new("{5s: {}}", "");
    let target = fleet.target_name("orders");
    for (client_queue, bytes, records) in [("100000", 20_000, 50), ("3", 32 << 20, 100_000)] {
        let router = builder(&fleet)
            .property("queue.buffering.max.messages", client_queue)
            .buffer(bytes, records)
            .connect_blocking()
            .unwrap();
        let (done, most) = (AtomicBool::new(false), AtomicUsize::new(0));
        let requests = (0..RECORDS).map(|i| {
            Delayed::to(&target).after(DELAY).key("one").payload(format!("{i:0500}")).record_type(client_queue)
        });
        let requests: Vec<_> = requests.collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let sent = router.outstanding().sent;
                    assert!(sent.bytes <= bytes && sent.records <= records, "{sent:?}");
                    most.fetch_max(sent.records, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_micros(200));
                }
            });
            let results = router.blocking().send_all(requests);
            done.store(true, Ordering::Relaxed);
            assert!(results.iter().all(Result::is_ok), "{:?}", results.iter().find(|r| r.is_err()));
        });
        assert!(most.load(Ordering::Relaxed) > 0, "the sampler saw records under way");
        let mut got = fleet.read(&fleet.level_topic("5s"));
        got.retain(|r| r.header("dwell-type") == Some(client_queue));
        got.sort_by_key(|r| (r.partition, r.offset));
        let numbers: Vec<usize> =
            got.iter().map(|r| String::from_utf8_lossy(r.payload.as_ref().unwrap()).parse().unwrap()).collect();
        assert_eq!(numbers, (0..RECORDS).collect::<Vec<_>>(), "each once and in order");
    }
}

#[tokio::test]
async fn futures_work_in_an_async_program_and_a_dropped_one_is_no_loss_of_its_neighbours() {
    let fleet = tokio::task::spawn_blocking(|| Fleet::new("{5s: {}}", "")).await.unwrap();
    let router = builder(&fleet).connect().await.unwrap();
    let target = fleet.target_name("orders");
    let request = |id: &str| Delayed::to(&target).after(DELAY).id(id).key("k");
    drop(router.send(request("never polled")));
    let (a, b) = tokio::join!(router.send(request("a")), router.send(request("b")));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert!(a.partition == b.partition && a.offset < b.offset);
    let topic = fleet.level_topic("5s");
    let records = tokio::task::spawn_blocking(move || {
        drop(router);
        fleet.read(&topic).len()
    });
    assert_eq!(records.await.unwrap(), 2, "a future that nobody polls sends nothing");
}

fn timed_out(result: &Result<dwell_router::Receipt, SendError>) -> Fate {
    let Err(SendError::Timeout { id, fate, .. }) = result else { panic!("{result:?}") };
    assert_eq!(id, "late", "the error names the id to send again with");
    *fate
}

#[test]
fn a_broker_that_is_away_is_a_timeout_that_says_whether_the_record_may_be_there() {
    // Fails here, and not later, where the shared cluster is missing too.
    fleet::brokers();
    let broker = OwnBroker::start();
    let fleet = Fleet::on(broker.address(), "{5s: {}}", "");
    fleet.create_topics();
    let timeout = Duration::from_secs(4);
    let router = builder(&fleet).timeout(timeout).buffer(1 << 20, 1).connect_blocking().unwrap();
    let late = || Delayed::to(fleet.target_name("orders")).after(DELAY).id("late");
    let begin = Instant::now();
    router.blocking().send(late()).unwrap();
    assert!(begin.elapsed() < timeout);

    broker.freeze();
    let begin = Instant::now();
    let results = router.blocking().send_all(vec![late(), late()]);
    let took = begin.elapsed();
    assert_eq!(timed_out(&results[0]), Fate::MayBeWritten, "it was on the wire: {results:?}");
    assert_eq!(timed_out(&results[1]), Fate::NotWritten, "it never left the line: {results:?}");
    assert!(took < 2 * timeout + Duration::from_secs(5), "{took:?}");

    broker.thaw();
    broker.kill();
    // The client has to notice first that the connection is gone.
    std::thread::sleep(Duration::from_secs(1));
    let result = router.blocking().send(late());
    assert_eq!(timed_out(&result), Fate::NotWritten, "nobody was there: {result:?}");

    broker.restart();
    let begin = Instant::now();
    while router.blocking().send(late()).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the router finds the broker again");
    }
    let begin = Instant::now();
    drop(router);
    assert!(begin.elapsed() < Duration::from_secs(3), "nothing is under way, so closing is quick");
}
