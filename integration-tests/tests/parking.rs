//! Records that cannot be delivered are parked, whole and with the reason; their neighbours are on time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::produce::Rec;
use dwell_integration_tests::same::{assert_punctual, assert_same, by_id, noise, producer_with};
use dwell_integration_tests::{Fleet, rec, within};
use dwell_kafka::clock::wall_ms;
use dwell_kafka::producer::Written;
use dwell_kafka::reader::WholeRecord;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const DAY: i64 = 86_400_000;

/// A record that cannot be delivered as it is.
struct Bad {
    what: String,
    record: Rec,
    reason: &'static str,
    /// What its error must name.
    says: Vec<String>,
}

fn bad(what: &str, reason: &'static str, says: &[&str], record: Rec) -> Bad {
    Bad { what: what.to_owned(), record, reason, says: says.iter().map(|s| (*s).to_owned()).collect() }
}

/// A body and headers that must still be there afterwards. One key: all are in one partition, in order.
fn bare() -> Rec {
    Rec { key: Some(b"k".to_vec()), payload: Some(b"body".to_vec()), ..Rec::default() }
        .with("trace", "1")
        .raw(b"trace", None)
        .raw(b"\xff", Some(b"\xfe"))
}

fn bad_headers(target: &str) -> Vec<Bad> {
    let good = || bare().with("dwell-target", target);
    let header = |what: &str, name: &str, value: &[u8]| {
        bad(what, "BAD_HEADER", &[name], good().raw(name.as_bytes(), Some(value)))
    };
    let of_target =
        |what: &str, value: &[u8]| bad(what, "BAD_HEADER", &["dwell-target"], bare().raw(b"dwell-target", Some(value)));
    let in_a_year = (wall_ms() + 365 * DAY).to_string();
    vec![
        bad("no target", "NO_TARGET", &["dwell-target", "missing"], bare()),
        bad("null target", "NO_TARGET", &["dwell-target", "null"], bare().raw(b"dwell-target", None)),
        bad("empty target", "NO_TARGET", &["dwell-target", "empty"], bare().raw(b"dwell-target", Some(b""))),
        bad("good target, then none", "NO_TARGET", &["empty"], good().raw(b"dwell-target", Some(b""))),
        of_target("target with a space", b"or ders"),
        of_target("target of one dot", b"."),
        of_target("target too long", "x".repeat(250).as_bytes()),
        of_target("target not UTF-8", b"orders\xff"),
        header("16 digits", "dwell-delay", b"1000000000000000"),
        header("negative", "dwell-delay", b"-1"),
        header("letters", "dwell-delay", b"5s"),
        header("empty number", "dwell-deliver-at", b""),
        header("number not UTF-8", "dwell-deliver-at", b"\xff1"),
        header("other digits", "dwell-deliver-at", "١٢".as_bytes()),
        bad("null number", "BAD_HEADER", &["dwell-delay", "null"], good().raw(b"dwell-delay", None)),
        header("over-long id", "dwell-id", "i".repeat(257).as_bytes()),
        header("empty id", "dwell-id", b""),
        header("id not UTF-8", "dwell-id", b"\xc3\x28"),
        header("rounding", "dwell-rounding", b"down"),
        header("type too long", "dwell-type", "t".repeat(129).as_bytes()),
        header("trail too long", "dwell-trail", "1s,".repeat(200).as_bytes()),
        header("hops that are none", "dwell-hops", b"many"),
        header("version 0", "dwell-v", b"0"),
        bad(
            "version 2",
            "UNSUPPORTED_VERSION",
            &["dwell-v", "2"],
            good().with("dwell-v", "2").with("dwell-delay", "x"),
        ),
        bad("too long", "TOO_LONG", &["3600001", "maxDelay", "1h"], good().with("dwell-delay", "3600001")),
        bad("too late", "TOO_LONG", &["maxDelay"], good().with("dwell-deliver-at", &in_a_year)),
        // 2 × maxDelay / longest level + 64, which is 1h, 3s.
        bad("too many hops", "TOO_MANY_HOPS", &["2465", "2464"], good().with("dwell-hops", "2465")),
    ]
}

/// Sends each bad record between two good ones, all to one partition, and looks where each of them ends.
fn all_are_parked_while_neighbours_are_on_time(fleet: &Fleet, level: &str, target: &str, bads: &[Bad]) {
    let good = |i: usize| rec(target, "k", &i.to_string()).with("dwell-id", &format!("good {i}"));
    let mut records = vec![good(0)];
    for (i, bad) in bads.iter().enumerate() {
        records.extend([bad.record.clone(), good(i + 1)]);
    }
    let written = fleet.producer().send(&fleet.level_topic(level), &records);
    assert!(written.iter().all(|w| w.partition == written[0].partition), "one key, one partition");
    fleet.read_until(&fleet.table.parked_topic(), bads.len(), PATIENCE);
    let got = fleet.read_until(target, bads.len() + 1, PATIENCE);
    assert_eq!(got.len(), bads.len() + 1, "good ones arrive, each once, and no bad one");
    for (i, written) in written.iter().step_by(2).enumerate() {
        let id = format!("good {i}");
        assert_punctual(&id, fleet, level, written, by_id(&got, &id));
    }
    if bads.iter().all(|b| b.reason != "TOO_LARGE") {
        // What is refused only by the target may be passed by what was on its way already.
        let order: Vec<_> = got.iter().map(|r| r.payload.clone().unwrap()).collect();
        let sent: Vec<_> = (0..=bads.len()).map(|i| i.to_string().into_bytes()).collect();
        assert_eq!(order, sent, "in order");
    }
    let parked = fleet.parked();
    assert_eq!(parked.len(), bads.len(), "nothing else is parked");
    for (bad, written) in bads.iter().zip(written.iter().skip(1).step_by(2)) {
        assert_parked(&bad.what, bad.reason, &bad.says, fleet, level, written, &parked);
        assert_same(&bad.what, &bad.record, from(&parked, written));
        assert_evidence(&bad.what, &bad.record, from(&parked, written));
    }
}

/// The parked record that stood there.
fn from<'r>(parked: &'r [WholeRecord], written: &Written) -> &'r WholeRecord {
    let place = (Some(written.partition.to_string()), Some(written.offset.to_string()));
    let of = |r: &WholeRecord| {
        ["dwell-parked-partition", "dwell-parked-offset"].map(|name| r.header(name).map(str::to_owned)).into()
    };
    parked.iter().find(|r| place == of(r)).unwrap_or_else(|| panic!("nothing parked from {written:?}"))
}

fn assert_parked(
    what: &str,
    reason: &str,
    says: &[String],
    fleet: &Fleet,
    level: &str,
    written: &Written,
    parked: &[WholeRecord],
) {
    let record = from(parked, written);
    assert_eq!(record.header("dwell-reason"), Some(reason), "{what}: {:?}", record.header("dwell-error"));
    let error = record.header("dwell-error").unwrap();
    assert!(says.iter().all(|part| error.contains(part)), "{what}: {says:?} in: {error}");
    assert!(error.len() <= 1024, "{what}: {error}");
    assert_eq!(record.header("dwell-parked-topic"), Some(fleet.level_topic(level).as_str()), "{what}");
    let append = written.append_ms.unwrap().to_string();
    assert_eq!(record.header("dwell-parked-timestamp"), Some(append.as_str()), "{what}");
    for name in ["dwell-reason", "dwell-error", "dwell-parked-topic", "dwell-parked-partition", "dwell-parked-offset"] {
        assert_eq!(record.header_count(name), 1, "{what}: {name}");
    }
}

/// Dwell's headers too are kept as they came, malformed ones included.
fn assert_evidence(what: &str, sent: &Rec, got: &WholeRecord) {
    let (begin, marks) = got.headers.split_at(sent.headers.len());
    assert_eq!(begin, sent.headers, "{what}");
    let has_id = |headers: &[(Vec<u8>, Option<Vec<u8>>)]| headers.iter().any(|(name, _)| name == b"dwell-id");
    assert_eq!(has_id(marks), !has_id(begin), "{what}: an id is given to what has none");
}

#[test]
fn each_bad_header_is_parked_with_its_reason() {
    let fleet = Fleet::new("{3s: {}}", "maxDelay: 1h");
    let target = fleet.target("orders", 2);
    let roller = fleet.roller(&["3s"]);
    let bads = bad_headers(&target);
    all_are_parked_while_neighbours_are_on_time(&fleet, "3s", &target, &bads);
    for reason in ["NO_TARGET", "BAD_HEADER", "UNSUPPORTED_VERSION", "TOO_LONG", "TOO_MANY_HOPS"] {
        let count = bads.iter().filter(|b| b.reason == reason).count() as f64;
        assert_eq!(roller.metric("dwell_roller_invalid_records_total", reason), count, "{reason}");
    }
}

#[test]
fn each_target_that_may_not_be_one_is_parked_with_its_reason() {
    let fleet = Fleet::new("{3s: {}}", "siblingPrefixes: [sibling-delay-]");
    let target = fleet.target("orders", 2);
    let _roller = fleet.roller(&["3s"]);
    let to = |what: &str, reason: &'static str, target: &str| {
        bad(what, reason, &[target], bare().with("dwell-target", target))
    };
    let bads = [
        to("not on the list", "TARGET_NOT_ALLOWED", "elsewhere"),
        to("only the beginning is on the list", "TARGET_NOT_ALLOWED", &fleet.name),
        to("of the broker", "TARGET_NOT_ALLOWED", "__consumer_offsets"),
        to("its own level", "TARGET_IS_LEVEL", &fleet.level_topic("3s")),
        to("the parked topic", "TARGET_IS_LEVEL", &fleet.table.parked_topic()),
        to("the clock", "TARGET_IS_LEVEL", &fleet.table.clock_topic()),
        to("of another fleet", "TARGET_IS_LEVEL", "sibling-delay-5s"),
    ];
    all_are_parked_while_neighbours_are_on_time(&fleet, "3s", &target, &bads);
}

#[test]
fn what_is_too_large_for_its_target_is_parked_and_small_neighbours_of_its_batch_arrive() {
    let fleet = Fleet::new("{3s: {}}", "");
    let target = fleet.target_with("small", 1, &[("max.message.bytes", "10000")]);
    let _roller = fleet.roller(&["3s"]);
    let large = |size| Rec { payload: Some(noise(size)), ..bare() }.with("dwell-target", &target);
    let bads = [
        bad("twice the limit", "TOO_LARGE", &["larger"], large(20_000)),
        bad("100 times the limit", "TOO_LARGE", &["larger"], large(1_000_000)),
    ];
    all_are_parked_while_neighbours_are_on_time(&fleet, "3s", &target, &bads);
}

#[test]
fn what_is_too_large_only_by_the_headers_of_its_way_is_parked_whole() {
    let fleet = Fleet::new("{3s: {}}", "");
    let target = fleet.target("orders", 1);
    let _roller = fleet.roller(&["3s"]);
    // The largest that a topic with the level's limit takes.
    let sized = |size| Rec { payload: Some(noise(size)), ..bare() }.with("dwell-target", &target);
    let (like_level, mut producer) = (fleet.target("probe", 1), fleet.producer());
    let fits = |size: &usize| producer.try_send(&like_level, &[sized(*size)])[0].is_ok();
    let largest = (1_048_000..1_048_588).rev().step_by(8).find(fits).unwrap();
    let bads = [bad("largest", "TOO_LARGE", &["larger"], sized(largest))];
    all_are_parked_while_neighbours_are_on_time(&fleet, "3s", &target, &bads);
}

#[test]
fn small_records_that_are_too_large_together_all_arrive() {
    let fleet = Fleet::new("{3s: {}}", "");
    let target = fleet.target_with("small", 1, &[("max.message.bytes", "10000")]);
    let other = fleet.target("other", 1);
    let _roller = fleet.roller(&["3s"]);
    let sized = |size: usize| Rec { payload: Some(noise(size)), ..rec(&target, "k", "") };
    let mut records: Vec<_> = (3000..3400).map(sized).collect();
    records.insert(100, sized(50_000));
    records.insert(200, rec(&other, "k", "elsewhere"));
    fleet.producer().send(&fleet.level_topic("3s"), &records);
    let got = fleet.read_until(&target, 400, PATIENCE);
    let mut sizes: Vec<_> = got.iter().map(|r| r.payload.as_ref().unwrap().len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, (3000..3400).collect::<Vec<_>>(), "each once");
    assert_eq!(fleet.read_until(&other, 1, PATIENCE).len(), 1);
    let parked = fleet.read_until(&fleet.table.parked_topic(), 1, PATIENCE);
    assert_eq!(parked.len(), 1, "its neighbours are innocent");
    assert_eq!(parked[0].header("dwell-reason"), Some("TOO_LARGE"));
    assert!(parked[0].payload == Some(noise(50_000)));
}

#[test]
fn what_even_the_parked_topic_does_not_take_is_parked_without_its_body() {
    let fleet = Fleet::new("{3s: {}}", "");
    let target = fleet.target("orders", 1);
    let _roller = fleet.roller(&["3s"]);
    // After the guards have looked.
    fleet.admin.alter(&fleet.level_topic("3s"), &[("max.message.bytes", "5000000")]).unwrap();
    let huge = Rec { payload: Some(noise(2_000_000)), ..bare() };
    let good = |id: &str| rec(&target, "k", "good").with("dwell-id", id);
    let mut producer = producer_with(&fleet, &[("batch.size", "4000000")]);
    let written = producer.send(&fleet.level_topic("3s"), &[good("before"), huge.clone(), good("after")]);
    let got = fleet.read_until(&target, 2, PATIENCE);
    for (id, written) in [("before", written[0]), ("after", written[2])] {
        assert_punctual(id, &fleet, "3s", &written, by_id(&got, id));
    }
    let parked = fleet.read_until(&fleet.table.parked_topic(), 1, PATIENCE);
    assert_eq!(parked.len(), 1);
    assert_parked("huge", "NO_TARGET", &["dwell-target".to_owned()], &fleet, "3s", &written[1], &parked);
    assert_eq!((&parked[0].key, &parked[0].payload), (&None, &None), "left out");
    assert_evidence("huge", &huge, &parked[0]);
}

#[test]
fn a_target_that_does_not_exist_is_set_aside_and_then_parked() {
    let fleet = Fleet::new("{1s: {}, 2s: {}}", "");
    let target = fleet.target("orders", 2);
    let nowhere = fleet.target_name("nowhere");
    let roller = fleet.roller_unready(&["1s", "2s"], &["--target-waits", "1"]);
    roller.wait_ready();
    let good = |id: &str| rec(&target, "k", "good").with("dwell-id", id);
    let lost = bare().with("dwell-target", &nowhere).with("dwell-id", "lost");
    let written = fleet.producer().send(&fleet.level_topic("1s"), &[good("before"), lost.clone(), good("after")]);
    let parked = fleet.read_until(&fleet.table.parked_topic(), 1, PATIENCE);
    let record = by_id(&parked, "lost");
    let waited = fleet.read(&fleet.level_topic("2s"));
    let waited = by_id(&waited, "lost");
    assert_same("lost", &lost, record);
    assert_eq!(record.header("dwell-reason"), Some("TARGET_UNKNOWN"));
    let error = record.header("dwell-error").unwrap();
    assert!(error.contains(&nowhere) && error.contains("waited for 1 times"), "{error}");
    assert_eq!(record.header("dwell-target-waits"), Some("1"));
    assert_eq!(record.header("dwell-hops"), None, "waiting for a target is no hop");
    assert_eq!(record.header("dwell-parked-topic"), Some(fleet.level_topic("2s").as_str()));
    assert_eq!(record.header("dwell-parked-offset"), Some(waited.offset.to_string().as_str()));
    assert!(record.timestamp_ms >= waited.timestamp_ms + 2000, "it waited indeed");
    let got = fleet.read_until(&target, 2, PATIENCE);
    for (id, written) in [("before", written[0]), ("after", written[2])] {
        assert_punctual(id, &fleet, "1s", &written, by_id(&got, id));
    }
    within(PATIENCE, "it is counted", || (roller.metric("dwell_roller_set_aside_total", "") == 1.0).then_some(()));
}

#[test]
fn a_target_that_is_created_while_its_records_are_set_aside_receives_them() {
    let fleet = Fleet::new("{1s: {}, 2s: {}}", "");
    let roller = fleet.roller_unready(&["1s", "2s"], &["--target-waits", "30"]);
    roller.wait_ready();
    let record = bare().with("dwell-target", &fleet.target_name("later")).with("dwell-id", "early bird");
    fleet.producer().send(&fleet.level_topic("1s"), std::slice::from_ref(&record));
    within(PATIENCE, "it is set aside", || (roller.metric("dwell_roller_set_aside_total", "") >= 2.0).then_some(()));
    let target = fleet.target("later", 1);
    let got = fleet.read_until(&target, 1, PATIENCE);
    assert_eq!(got.len(), 1);
    assert_same("early bird", &record, &got[0]);
    assert!(got[0].header("dwell-trail").is_some_and(|trail| trail.starts_with("1s,2s")), "{:?}", got[0].headers);
    assert_eq!(got[0].header("dwell-target-waits"), None, "taken off on release");
    assert_eq!(fleet.parked(), []);
}
