//! Every fault of a file, at its place.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use dwell_levels::{Faults, LevelTable};

const GOOD: &str = "targets: [orders]\nlevels: {5s: {}}\n";

fn faults(text: &str) -> Faults {
    LevelTable::parse(text).expect_err(text)
}

/// The single fault of a text, as `line:column: path: message`.
fn only(text: &str) -> String {
    let faults = faults(text);
    assert_eq!(faults.iter().count(), 1, "{faults}");
    faults.iter().next().unwrap().to_string()
}

#[test]
fn all_faults_come_at_once_with_their_places() {
    let text = "\
topicPrefix: \"delay topics\"
targets: [orders, \"a b\", \"delay-*\"]
rounding: down
maxDelay: 0s
levelDefaults: {partitons: 3}
levels:
  5s: {}
  5s: {}
  5000ms: {}
  5x: {}
  1m: {partitions: 0, replicationFactor: \"3\", trim: yes, pollInterval: -5s}
  parked: {delay: 7s}
parked: []
";
    let shown = faults(text).to_string();
    let places: Vec<&str> = shown.lines().map(|line| line.split(": ").next().unwrap()).collect();
    let expected = [
        "1:14", "2:19", "2:26", "3:11", "4:11", "5:17", "8:3", "9:3", "10:3", "11:20", "11:42", "11:53", "11:72",
        "12:3", "13:9",
    ];
    let expected: Vec<String> = expected.iter().map(|place| format!("levels.yaml:{place}")).collect();
    assert_eq!(places, expected, "{shown}");
    for part in [
        "levels.yaml:5:17: levelDefaults.partitons: unknown key; did you mean partitions?",
        "levels.yaml:10:3: levels.5x: not a duration: \"5x\"; write a whole number with ms, s, m, h or d, such as 5s",
        "levels.5000ms: the same delay as level 5s: 5s",
        "levels.parked: a level may not be called \"parked\"",
        "parked: expected a map of keys and values, found a list",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[test]
fn what_is_required_is_asked_for() {
    assert!(only("levels: {5s: {}}").contains("targets: no targets"));
    assert!(only("targets: []\nlevels: {5s: {}}").contains("the list is empty"));
    assert!(only("targets: ~\nlevels: {5s: {}}").contains("no targets"));
    assert!(only("targets: [a]").contains("no levels"));
    assert!(only("targets: [a]\nlevels: {}").contains("no level is active"));
    assert!(only("targets: [a]\nlevels: {5s: {state: draining}}").contains("no level is active"));
    assert_eq!(faults("").iter().count(), 2);
}

#[test]
fn yaml_that_a_table_does_not_use_is_refused() {
    for (text, part) in [
        ("- a", "expected a map"),
        ("targets: [a]\nlevels: {5s: {}}\ntargets: [b]", "3:1: targets: this key is written twice"),
        ("a: [", "not valid YAML"),
        ("targets: [a]\nlevels:\n\t5s: {}", "not valid YAML"),
        ("targets: [a]\nlevels: {5s: {}}\n---\na: b", "3:1: a second YAML document"),
        ("targets: [!!str a]\nlevels: {5s: {}}", "found a tag"),
        ("targets: [&x a, *x]\nlevels: {5s: {}}", "found an alias"),
        ("targets: [a]\nlevels: {1s: &x {}, 5s: *x}", "levels.5s: expected a map of keys and values, found an alias"),
        ("targets: [a]\nlevels: {5s: {}}\nmaxDelay: {}", "expected a duration"),
        ("targets: [12]\nlevels: {5s: {}}", "quote it: \"12\""),
        ("targets: [no]\nlevels: {5s: {}}", "quote it: \"no\""),
        ("targets: a\nlevels: {5s: {}}", "expected a list"),
        ("targets: [a]\nlevels: [5s]", "expected a map"),
        ("targets: [a]\nlevels: {5s: {}}\nextra: 1", "unknown key; allowed are"),
        ("targets: [a]\nlevels: {5s: {}}\nlevelDefaults: {state: active}", "levelDefaults.state: unknown key"),
        ("targets: [a]\nlevels: {5s: {}, X: {delay: 5s}}", "not a level name"),
    ] {
        let shown = only(text);
        assert!(shown.contains(part), "{text}\n{shown}");
    }
}

#[test]
fn depth_and_size_are_bounded() {
    let deep = |depth: usize| format!("a: {}", "[".repeat(depth));
    assert!(only(&deep(20)).contains("nested deeper than 16"));
    assert!(only(&deep(100_000)).contains("recursion limit"));
    let nested = |depth: usize| {
        let lists = format!("{}{}", "[".repeat(depth - 2), "]".repeat(depth - 2));
        format!("{GOOD}levelDefaults: {{deploy: {lists}}}")
    };
    assert!(LevelTable::parse(&nested(16)).is_ok());
    assert!(only(&nested(17)).contains("nested deeper than 16"));
    let big = format!("{GOOD}#{}", "x".repeat(1024 * 1024));
    assert!(only(&big).contains("larger than 1 MiB"));
    let many: String = (0..5_000).map(|i| format!("k{i}: 1\n")).collect();
    let shown = faults(&many).to_string();
    assert!(shown.lines().count() == 101 && shown.ends_with("more"), "{shown}");
}

#[test]
fn deploy_is_not_looked_into() {
    let text = "targets: [a]\nlevelDefaults: {deploy: {x: &a [1], y: *a, z: !t 2}}\nlevels: {5s: {deploy: [[1]]}, 1m: , 2m: ~}";
    assert_eq!(LevelTable::parse(text).unwrap().levels().len(), 3);
}

#[test]
fn names_fit_into_topics_and_groups() {
    let long = "p".repeat(245);
    let text = |key: &str, level: &str| format!("targets: [a]\n{key}: {long}\nlevels: {{{level}: {{}}}}");
    assert!(LevelTable::parse(&text("topicPrefix", "100s")).is_ok());
    assert!(only(&text("topicPrefix", "1000s")).contains("topicPrefix and name are 250 bytes together"));
    assert!(only(&text("groupPrefix", "1000s")).contains("groupPrefix and name are 250 bytes together"));
    let group = |length: usize| format!("{GOOD}groups: {{{}: {{}}}}", "g".repeat(length));
    assert!(LevelTable::parse(&group(239)).is_ok());
    assert!(only(&group(240)).contains("not a group that topics can be named after"));
    assert!(only(&format!("{GOOD}groups: {{delay-x: {{}}}}")).contains("never a target"));
}

#[test]
fn prefixes_make_sense() {
    assert!(only(&format!("{GOOD}topicPrefix: \"\"")).contains("not a prefix"));
    assert!(only(&format!("{GOOD}topicPrefix: __x")).contains("not a prefix"));
    assert!(only(&format!("{GOOD}siblingPrefixes: [delay-]")).contains("own topicPrefix"));
    assert!(only(&format!("{GOOD}siblingPrefixes: [x-, x-]")).contains("twice"));
    assert!(only(&format!("{GOOD}siblingPrefixes: [delay-5]")).contains("rename the level"));
    assert!(only(&format!("{GOOD}siblingPrefixes: [ord]")).contains("names that start with \"ord\""));
    assert!(LevelTable::parse(&format!("{GOOD}siblingPrefixes: [delay-slow-, del]")).is_ok());
}

#[test]
fn a_level_may_be_named_freely_and_stand_anywhere() {
    let text = "targets: [a]\nlevels: {slow: {delay: 1h 30m}, 5s: {}, 3m: {delay: 4m}}";
    let table = LevelTable::parse(text).unwrap();
    let levels: Vec<_> = table.levels().iter().map(|level| format!("{}={}", level.name, level.delay)).collect();
    assert_eq!(levels, ["5s=5s", "3m=4m", "slow=1h30m"]);
    assert!(only("targets: [a]\nlevels: {slow: {}}").ends_with("or keep the name and add delay: under it"));
}

#[test]
fn exact_as_the_default_must_not_end_in_parking() {
    let table = |rounding: &str, levels: &str, max: &str| {
        LevelTable::parse(&format!("targets: [a]\nmaxDelay: {max}\nlevels: {levels}\nrounding: {rounding}\n"))
    };
    let sparse = "{1s: {}, 2h: {}, 10m: {state: draining}}";
    let shown = table("exact", sparse, "40d").unwrap_err().to_string();
    let expected = "levels.yaml:4:11: rounding: exact takes 7679 hops for a delay of 39d23h59m59s499ms, \
                    and a record is parked after 1024; add levels in between";
    assert!(shown.starts_with(expected), "{shown}");
    assert!(table("up", sparse, "40d").is_ok());
    assert!(table("exact", "{1s: {}, 1m: {}, 2h: {}}", "40d").is_ok());
    // 64 hops to spare on one level; one level of 1 ms needs as many hops as there are milliseconds.
    assert!(table("exact", "{1s: {}, 1h: {}}", "66s").is_err());
    assert!(table("exact", "{1s: {}, 1h: {}}", "64s").is_ok());
    assert!(table("exact", "{1ms: {}}", "3650d").is_err());
    assert!(table("exact", "{1ms: {}, 400ms: {}, 501ms: {}}", "1s").is_ok());
}
