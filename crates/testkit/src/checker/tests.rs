use super::*;

fn source(id: &str, topic: &str, offset: i64, append_ms: i64, delay_ms: i64) -> SourceRecord {
    SourceRecord { id: id.into(), topic: topic.into(), partition: 0, offset, append_ms, delay_ms }
}

fn delivered(id: &str, offset: i64, append_ms: i64) -> Delivered {
    Delivered {
        id: id.into(),
        topic: "orders".into(),
        partition: 0,
        offset,
        append_ms,
        due_header_ms: None,
        key: Some(b"k".to_vec()),
        payload_hash: 7,
    }
}

fn sent(id: &str) -> Sent {
    Sent::new(id, "orders", 0)
}

/// Two records on 5s, appended at 1000 and 2000.
fn two() -> ([Sent; 2], [SourceRecord; 2]) {
    let sources = [source("a", "delay-5s", 0, 1_000, 5_000), source("b", "delay-5s", 1, 2_000, 5_000)];
    ([sent("a"), sent("b")], sources)
}

#[test]
fn a_good_run_is_clean_and_measured() {
    let (s, src) = two();
    let v = judge(&s, &src, &[delivered("a", 0, 6_000), delivered("b", 1, 7_009)]);
    assert!(v.is_clean(), "{v}");
    assert_eq!((v.sent, v.released, v.duplicates), (2, 2, 0));
    assert_eq!((v.lateness.min_ms, v.lateness.p50_ms, v.lateness.max_ms), (0, 0, 9));
    assert_eq!(v.levels.len(), 1);
    assert_eq!(v.levels[0].level, "delay-5s");
}

#[test]
fn one_millisecond_early_is_early() {
    let (s, src) = two();
    let v = judge(&s, &src, &[delivered("a", 0, 5_999), delivered("b", 1, 7_000)]);
    assert_eq!(v.early, [Early { id: "a".into(), due_ms: 6_000, append_ms: 5_999 }]);
    assert!(!v.is_clean());
}

#[test]
fn a_missing_record_is_lost() {
    let (s, src) = two();
    let v = judge(&s, &src, &[delivered("b", 0, 7_000)]);
    assert_eq!(v.lost, ["a"]);
    assert_eq!(v.released, 1);
    assert!(!v.is_clean());
}

#[test]
fn the_second_copy_is_a_duplicate_and_may_not_be_early_either() {
    let (s, src) = two();
    let copies = [delivered("a", 0, 6_000), delivered("b", 1, 7_000), delivered("a", 2, 8_000)];
    let v = judge(&s, &src, &copies);
    assert_eq!((v.duplicates, v.released), (1, 2));
    assert!(v.is_clean());
    let v = judge(&s, &src, &[delivered("a", 0, 5_000), delivered("b", 1, 7_000), delivered("a", 2, 5_500)]);
    assert_eq!(v.early.len(), 2);
}

#[test]
fn what_should_not_be_there_is_unexpected() {
    let (s, src) = two();
    let mut elsewhere = delivered("a", 2, 9_000);
    elsewhere.topic = "payments".into();
    let list = [delivered("a", 0, 6_000), delivered("b", 1, 7_000), delivered("x", 2, 9_000), elsewhere];
    let flaws: Vec<_> = judge(&s, &src, &list).unexpected.iter().map(|u| u.flaw).collect();
    assert_eq!(flaws, [Flaw::NeverSent, Flaw::WrongTopic]);
    let v = judge(&s, &src[..1], &list[..2]);
    assert_eq!(v.unexpected[0].flaw, Flaw::NoSource);
    assert_eq!(v.unexpected[0].place, "orders-0@1");
}

#[test]
fn a_changed_value_is_unexpected_but_not_lost() {
    let (mut s, src) = two();
    s[0].payload_hash = Some(8);
    s[1].payload_hash = Some(7);
    let v = judge(&s, &src, &[delivered("a", 0, 6_000), delivered("b", 1, 7_000)]);
    assert_eq!(v.unexpected.iter().map(|u| (u.id.as_str(), u.flaw)).collect::<Vec<_>>(), [("a", Flaw::Changed)]);
    assert!(v.lost.is_empty());
}

#[test]
fn a_requested_delay_counts_from_the_first_append() {
    let s = [Sent::new("a", "orders", 8_000)];
    let hops = [source("a", "delay-1s", 4, 6_010, 1_000), source("a", "delay-5s", 0, 1_000, 5_000)];
    let v = judge(&s, &hops, &[delivered("a", 0, 7_500)]);
    assert_eq!(v.early[0].due_ms, 9_000);
    let v = judge(&s, &hops, &[delivered("a", 0, 9_004)]);
    assert!(v.is_clean());
    assert_eq!(v.lateness.max_ms, 4);
}

#[test]
fn a_requested_time_counts_from_no_append() {
    let s = [Sent { deliver_at_ms: Some(20_000), ..sent("a") }];
    let src = [source("a", "delay-5s", 0, 1_000, 5_000)];
    assert_eq!(judge(&s, &src, &[delivered("a", 0, 19_999)]).early[0].due_ms, 20_000);
    assert!(judge(&s, &src, &[delivered("a", 0, 20_000)]).is_clean());
}

#[test]
fn the_last_hop_counts_too() {
    let s = [sent("a")];
    let hops = [source("a", "delay-5s", 0, 1_000, 5_000), source("a", "delay-1s", 4, 6_010, 1_000)];
    assert_eq!(judge(&s, &hops, &[delivered("a", 0, 7_009)]).early[0].due_ms, 7_010);
    assert!(judge(&s, &hops, &[delivered("a", 0, 7_010)]).is_clean());
}

#[test]
fn the_due_header_tells_copies_of_several_hops_apart() {
    // Set aside to 30s after the first copy had been written after all: both are on time.
    let s = [sent("a")];
    let hops = [source("a", "delay-5s", 0, 1_000, 5_000), source("a", "delay-30s", 0, 36_000, 30_000)];
    let mut copies = [delivered("a", 0, 6_001), delivered("a", 1, 66_002)];
    copies[0].due_header_ms = Some(6_000);
    copies[1].due_header_ms = Some(66_000);
    let v = judge(&s, &hops, &copies);
    assert!(v.is_clean(), "{v}");
    assert_eq!(v.duplicates, 1);
    copies[1].append_ms = 65_999;
    assert_eq!(judge(&s, &hops, &copies).early.len(), 1);
}

#[test]
fn order_is_that_of_first_deliveries_of_one_key() {
    let (s, src) = two();
    let v = judge(&s, &src, &[delivered("b", 0, 7_000), delivered("a", 1, 7_001)]);
    assert_eq!(v.out_of_order, [Swapped { first: "a".into(), second: "b".into() }]);
    // A repeated suffix is no disorder, and neither are records without a key.
    let repeated = [delivered("a", 0, 7_000), delivered("b", 1, 7_001), delivered("a", 2, 7_002)];
    assert!(judge(&s, &src, &repeated).is_clean());
    let keyless = [delivered("b", 0, 7_000), delivered("a", 1, 7_001)].map(|d| Delivered { key: None, ..d });
    assert!(judge(&s, &src, &keyless).is_clean());
}

#[test]
fn percentiles_are_nearest_ranks() {
    let l = Lateness::of((1..=1000).rev().collect());
    assert_eq!((l.min_ms, l.p50_ms, l.p90_ms, l.p99_ms, l.p999_ms, l.max_ms), (1, 500, 900, 990, 999, 1000));
    assert_eq!(Lateness::of(vec![7]).p999_ms, 7);
    assert_eq!(Lateness::of(vec![]), Lateness::default());
}

#[test]
fn levels_are_listed_shortest_first_under_the_name_given() {
    let s = [Sent { level: Some("10s".into()), ..sent("a") }, Sent { level: Some("5s".into()), ..sent("b") }];
    let src = [source("a", "delay-10s", 0, 0, 10_000), source("b", "delay-5s", 0, 0, 5_000)];
    let v = judge(&s, &src, &[delivered("a", 1, 10_000), delivered("b", 0, 5_000)]);
    assert_eq!(v.levels.iter().map(|l| l.level.as_str()).collect::<Vec<_>>(), ["5s", "10s"]);
}

#[test]
fn the_table_names_what_failed() {
    let (s, src) = two();
    let text = judge(&s, &src, &[delivered("a", 0, 5_000)]).to_string();
    for part in ["sent 2", "lost 1", "early 1", "delay-5s", "lost: \"b\"", "due_ms: 6000"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let many: Vec<_> = (0..9).map(|n| sent(&n.to_string())).collect();
    assert!(judge(&many, &[], &[]).to_string().contains("and 4 more"));
}
