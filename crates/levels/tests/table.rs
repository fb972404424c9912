//! What the table answers: planning, names, targets.
#![allow(clippy::unwrap_used)]

use dwell_levels::{
    Delay, Delivery, LevelName, LevelState, LevelTable, LoadError, Next, PollInterval, Rounding, TargetRefusal,
};

fn standard() -> LevelTable {
    LevelTable::standard(&["orders", "payments.*", "*.retry"]).unwrap()
}

fn delay(text: &str) -> Delay {
    text.parse().unwrap()
}

/// The names of the hops and the lateness.
fn path(table: &LevelTable, asked: &str, rounding: Rounding) -> (Vec<String>, u64) {
    let path = table.path(delay(asked), rounding);
    (path.hops().map(|level| level.name.to_string()).collect(), path.late_ms())
}

#[test]
fn up_goes_to_the_smallest_level_that_is_not_shorter() {
    let table = standard();
    for (asked, hops, late_ms) in [
        ("0s", vec![], 0),
        ("1ms", vec!["1s"], 999),
        ("3s", vec!["5s"], 2_000),
        ("5000ms", vec!["5s"], 0),
        ("5001ms", vec!["10s"], 4_999),
        ("45m", vec!["1h"], 900_000),
        ("2h", vec!["2h"], 0),
        ("2h1s", vec!["2h", "1s"], 0),
        ("2h1ms", vec!["2h", "1s"], 999),
        ("4h", vec!["2h", "2h"], 0),
        ("5h", vec!["2h", "2h", "1h"], 0),
    ] {
        assert_eq!(path(&table, asked, Rounding::Up), (hops.iter().map(ToString::to_string).collect(), late_ms));
    }
}

#[test]
fn exact_goes_through_several_levels() {
    let table = standard();
    for (asked, hops, late_ms) in [
        ("0s", vec![], 0),
        ("300ms", vec!["1s"], 700),
        ("3s", vec!["1s", "1s", "1s"], 0),
        ("4499ms", vec!["1s", "1s", "1s", "1s", "1s"], 501),
        ("4500ms", vec!["5s"], 500),
        ("45m", vec!["30m", "10m", "5m"], 0),
        ("2h1s", vec!["2h", "1s"], 0),
        ("3h", vec!["2h", "1h"], 0),
    ] {
        assert_eq!(path(&table, asked, Rounding::Exact), (hops.iter().map(ToString::to_string).collect(), late_ms));
    }
}

#[test]
fn nothing_left_means_the_target() {
    let table = standard();
    for rounding in [Rounding::Up, Rounding::Exact] {
        for remaining in [0, -1, i64::MIN] {
            assert_eq!(table.plan(remaining, rounding), Next::Target);
        }
        assert_eq!(table.plan(1, rounding), Next::Level(table.shortest_active()));
        assert_eq!(table.plan(i64::MAX, rounding), Next::Level(table.longest_active()));
    }
}

#[test]
fn a_path_of_ten_years_takes_no_room() {
    let table = LevelTable::parse("targets: [a]\nlevels: {1ms: }\nmaxDelay: 3650d").unwrap();
    for rounding in [Rounding::Up, Rounding::Exact] {
        let path = table.path(Delay::MAX, rounding);
        assert_eq!((path.hop_count(), path.late_ms()), (Delay::MAX.as_millis(), 0));
        assert!(table.path(Delay::from_millis(u64::MAX), rounding).hop_count() > 0);
    }
    assert_eq!(table.max_hops(), u32::MAX);
}

#[test]
fn the_standard_table_has_its_levels_and_defaults() {
    let table = standard();
    let names: Vec<_> = table.levels().iter().map(|level| level.name.as_str()).collect();
    let expected = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h";
    assert_eq!(names.join(" "), expected);
    assert_eq!((table.max_hops(), table.max_delay()), (2 * 480 + 64, delay("40d")));
    assert_eq!(table.set_aside_level().name.as_str(), "30s");
    let level = table.get("5s").unwrap();
    assert_eq!((table.topic_of(level), table.group_of(level)), ("delay-5s".into(), "dwell-roller-5s".into()));
    assert_eq!((table.parked_topic(), table.clock_topic()), ("delay-parked".into(), "delay-clock".into()));
    assert_eq!(table.get("15s"), None);
    assert!(LevelTable::standard(&[]).is_err());
    assert!(LevelTable::standard(&["a b"]).is_err());
}

#[test]
fn the_example_says_what_it_says() {
    let table = LevelTable::load(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/levels.yaml")).unwrap();
    assert_eq!(table.longest_active().name.as_str(), "5s");
    assert_eq!(table.set_aside_level().name.as_str(), "5s");
    assert_eq!(table.get("5s").unwrap().partitions, 12);
    let draining = table.get("2h").unwrap();
    assert!(!draining.is_active());
    assert_eq!((draining.poll_interval, draining.delivery), (PollInterval::Auto, Delivery::AtLeastOnce));
    let billing = table.groups().get("billing").unwrap();
    assert_eq!((billing.topics.join(","), billing.critical), ("orders".to_owned(), true));
    assert_eq!(table.max_hops(), 2 * 40 * 86_400 / 5 + 64);
}

#[test]
fn the_file_at_the_root_is_the_standard_table() {
    let table = LevelTable::load(concat!(env!("CARGO_MANIFEST_DIR"), "/../../levels.yaml")).unwrap();
    assert_eq!(table, standard());
}

#[test]
fn set_aside_takes_the_smallest_level_of_half_a_minute_or_the_longest() {
    for (levels, expected) in
        [("{1s: , 29s: , 30s: , 1m: }", "30s"), ("{1s: , 30s: {state: draining}, 1m: }", "1m"), ("{1s: , 5s: }", "5s")]
    {
        let table = LevelTable::parse(&format!("targets: [a]\nlevels: {levels}")).unwrap();
        assert_eq!(table.set_aside_level().name.as_str(), expected);
    }
}

#[test]
fn targets_are_on_the_list_and_outside_every_fleet() {
    let text = "targets: [\"*\"]\nsiblingPrefixes: [slow-]\nlevels: {5s: {}}";
    let open = LevelTable::parse(text).unwrap();
    assert_eq!(open.check_target("orders"), Ok(()));
    for topic in ["delay-5s", "delay-parked", "delay-", "slow-1s"] {
        assert!(matches!(open.check_target(topic), Err(TargetRefusal::IsLevel { .. })), "{topic}");
    }
    assert!(matches!(open.check_target("__consumer_offsets"), Err(TargetRefusal::Internal { .. })));
    for topic in ["", "..", "a b", "a\0", &"a".repeat(250)] {
        assert!(matches!(open.check_target(topic), Err(TargetRefusal::Illegal(_))), "{topic}");
    }
    let table = standard();
    for topic in ["orders", "payments.eu", "billing.retry"] {
        assert_eq!(table.check_target(topic), Ok(()), "{topic}");
    }
    for topic in ["orders2", "payments", "billing.retry.x", "Orders"] {
        assert!(matches!(table.check_target(topic), Err(TargetRefusal::NotAllowed { .. })), "{topic}");
    }
}

#[test]
fn loading_is_bounded_and_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("big.yaml");
    std::fs::write(&file, vec![b'#'; 1024 * 1024 + 1]).unwrap();
    assert!(matches!(LevelTable::load(&file), Err(LoadError::TooLarge { .. })));
    std::fs::write(&file, [0xff, 0xfe]).unwrap();
    assert!(matches!(LevelTable::load(&file), Err(LoadError::NotText { .. })));
    std::fs::write(&file, "levels: {5x: }").unwrap();
    let message = LevelTable::load(&file).unwrap_err().to_string();
    assert!(message.contains("big.yaml:1:10: levels.5x: not a duration: \"5x\""), "{message}");
    assert!(matches!(LevelTable::load(dir.path().join("none")), Err(LoadError::Io { .. })));
}

#[test]
fn only_regular_files_are_opened() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [dir.path(), &pipe, std::path::Path::new("/dev/null")] {
        let error = LevelTable::load(path).unwrap_err();
        assert!(matches!(error, LoadError::NotAFile { .. }), "{error}");
    }
    let (file, link) = (dir.path().join("levels.yaml"), dir.path().join("link"));
    std::fs::write(&file, "targets: [a]\nlevels: {5s: }").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert!(LevelTable::load(&link).is_ok());
}

#[test]
fn texts_go_through_serde_and_back() {
    let table = LevelTable::parse("targets: [a]\nlevels: {slow: {delay: 1h30m, pollInterval: 9s}}").unwrap();
    let level = &table.levels()[0];
    let shown = (&level.name, level.delay, level.state, level.delivery, level.poll_interval, Rounding::Exact);
    let text = serde_yaml::to_string(&shown).unwrap();
    assert_eq!(text, "- slow\n- 1h30m\n- active\n- at-least-once\n- 9s\n- exact\n");
    let read: (LevelName, Delay, LevelState, Delivery, PollInterval, Rounding) = serde_yaml::from_str(&text).unwrap();
    assert_eq!((&read.0, read.1, read.2, read.3, read.4, read.5), shown);
}

#[test]
fn every_field_of_the_file_arrives() {
    let text = "\u{feff}\
topicPrefix: wait-
groupPrefix: crew-
targets: [a]
levelDefaults: {delivery: exactly-once}
levels: {5s: , 6s: {delivery: at-least-once}}
parked: {partitions: 4, retention: 2d}
groups: {billing: {retryPartitions: 9, dlqRetention: 3d}}
";
    let table = LevelTable::parse(text).unwrap();
    let [first, second] = table.levels() else { unreachable!() };
    assert_eq!((table.topic_of(first), table.group_of(first)), ("wait-5s".into(), "crew-5s".into()));
    assert_eq!((first.delivery, second.delivery), (Delivery::ExactlyOnce, Delivery::AtLeastOnce));
    assert_eq!((table.parked().partitions, table.parked().retention), (4, delay("2d")));
    let billing = &table.groups()["billing"];
    assert_eq!((billing.retry_partitions, billing.dlq_retention), (9, delay("3d")));
}
