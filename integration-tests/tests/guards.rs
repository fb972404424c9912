//! Topics that could lose waiting records are not rolled: live, not ready, and the way out is told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::produce::Rec;
use dwell_integration_tests::same::by_id;
use dwell_integration_tests::shell::Shell;
use dwell_integration_tests::{Fleet, Roller, rec, roller, within};
use dwell_kafka::clock::wall_ms;
use dwell_kafka::reader::StampedBy;
use dwell_levels::topics::wanted;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// All topics of the fleet but these.
fn create_all_but(fleet: &Fleet, missing: &[String]) {
    let specs: Vec<_> = wanted(&fleet.table).into_iter().filter(|s| !missing.contains(&s.name)).collect();
    for (topic, result) in fleet.admin.create(&specs) {
        result.unwrap_or_else(|e| panic!("{topic}: {e}"));
    }
}

/// What `/readyz` says of one level, once it is more than "starting".
fn why_not(roller: &Roller, level: &str) -> String {
    told(roller, level, "fix: ")
}

/// What `/readyz` says of one level, once it contains this.
fn told(roller: &Roller, level: &str, part: &str) -> String {
    let line = within(PATIENCE, &format!("{level}: not ready, with {part:?}"), || {
        assert_ne!(roller.get("/livez").0, 503, "alive, whatever the topics");
        line_of(roller, level).filter(|line| line.contains(part))
    });
    assert_eq!(roller.get("/livez").0, 200);
    line
}

/// The level's line of `/readyz`, if the level is not ready.
fn line_of(roller: &Roller, level: &str) -> Option<String> {
    let (status, body) = roller.get("/readyz");
    assert!(status == 503 || status == 200 || status == 0, "{status}");
    (status != 200).then(|| body.lines().find(|l| l.starts_with(&format!("{level}: "))).map(str::to_owned)).flatten()
}

/// The commands that a line of `/readyz` tells to run.
fn commands(line: &str) -> Vec<&str> {
    line.split("; ").filter_map(|part| part.strip_prefix("fix: ")).collect()
}

#[test]
fn a_level_whose_topic_could_lose_records_is_rolled_only_when_what_it_prints_was_run() {
    let wrong = [
        ("1s", "message.timestamp.type", "CreateTime"),
        ("2s", "retention.ms", "60000"),
        ("3s", "cleanup.policy", "compact"),
        ("4s", "retention.bytes", "1000000"),
    ];
    let fleet = Fleet::without_topics("{1s: {}, 2s: {}, 3s: {}, 4s: {}, 5s: {}, 6s: {}}", "");
    let missing = fleet.level_topic("5s");
    create_all_but(&fleet, std::slice::from_ref(&missing));
    for (level, key, value) in wrong {
        fleet.admin.alter(&fleet.level_topic(level), &[(key, value)]).unwrap();
    }
    let target = fleet.target("orders", 1);
    let roller = fleet.roller_unready(&["1s", "2s", "3s", "4s", "5s", "6s"], &[]);
    let mut fixes = Vec::new();
    for (level, key, value) in wrong {
        let line = why_not(&roller, level);
        let topic = fleet.level_topic(level);
        assert!(line.contains(&format!("topic {topic} has {key}={value}, must be ")), "{line}");
        assert_eq!(commands(&line).len(), 1, "{line}");
        assert!(line.contains(&format!("--entity-name {topic} --add-config {key}=")), "{line}");
        fixes.extend(commands(&line).into_iter().map(str::to_owned));
    }
    let line = why_not(&roller, "5s");
    assert!(line.contains(&format!("topic {missing} is missing")), "{line}");
    fixes.extend(commands(&line).into_iter().map(str::to_owned));
    within(PATIENCE, "the good level is ready", || line_of(&roller, "6s").is_none().then_some(()));
    assert_eq!(roller.get("/readyz").0, 503, "one level that is not ready is enough");

    // The good level rolls; the others, which are due sooner, do not.
    let mut producer = fleet.producer();
    let mut send = |level: &str| {
        producer.send(&fleet.level_topic(level), &[rec(&target, level, level).with("dwell-id", level)]);
    };
    let levels = ["1s", "2s", "3s", "4s", "6s"];
    levels.into_iter().for_each(&mut send);
    let got = fleet.read_until(&target, 1, PATIENCE);
    assert_eq!((got.len(), got[0].header("dwell-id")), (1, Some("6s")));
    assert_eq!(roller.log().matches("assigned").count(), 1, "only one level has joined its group");

    let shell = Shell::new(&fleet);
    for fix in fixes {
        shell.run(&fix);
    }
    roller.wait_ready();
    send("5s");
    let got = fleet.read_until(&target, 6, PATIENCE);
    for level in ["1s", "2s", "3s", "4s", "5s", "6s"] {
        assert_eq!(by_id(&got, level).header("dwell-trail"), Some(level));
    }
}

#[test]
fn without_the_topics_that_all_levels_share_none_is_rolled() {
    let fleet = Fleet::without_topics("{1s: {}, 2s: {}}", "");
    let shared = [fleet.table.parked_topic(), fleet.table.clock_topic()];
    create_all_but(&fleet, &shared);
    let target = fleet.target("orders", 1);
    let roller = fleet.roller_unready(&["1s", "2s"], &[]);
    fleet.producer().send(&fleet.level_topic("1s"), &[rec(&target, "k", "waits")]);
    let shell = Shell::new(&fleet);
    let [parked, clock] = shared;
    for (missing, other) in [(&parked, Some(&clock)), (&clock, None)] {
        for level in ["1s", "2s"] {
            within(PATIENCE, &format!("{level} names {missing} as missing, and no longer what was mended"), || {
                let line = line_of(&roller, level)?;
                let named = |topic: &String| line.contains(&format!("topic {topic} is missing"));
                (named(missing) && other.is_none_or(named) && (missing == &parked || !named(&parked))).then_some(())
            });
        }
        assert_eq!(fleet.read(&target).len(), 0);
        let line = why_not(&roller, "1s");
        let fix = commands(&line).into_iter().find(|c| c.contains(missing)).unwrap();
        shell.run(fix);
    }
    roller.wait_ready();
    assert_eq!(fleet.read_until(&target, 1, PATIENCE).len(), 1);
}

#[test]
fn a_clock_that_is_not_the_brokers_is_not_believed() {
    let fleet = Fleet::new("{1s: {}}", "");
    let clock = fleet.table.clock_topic();
    fleet.admin.alter(&clock, &[("message.timestamp.type", "CreateTime")]).unwrap();
    let target = fleet.target("orders", 1);
    let roller = fleet.roller_unready(&["1s"], &[]);
    fleet.producer().send(&fleet.level_topic("1s"), &[rec(&target, "k", "waits")]);
    let line = why_not(&roller, "1s");
    assert!(line.contains(&format!("topic {clock} has message.timestamp.type=CreateTime")), "{line}");
    assert_eq!(fleet.read(&target).len(), 0);
    Shell::new(&fleet).run(commands(&line)[0]);
    roller.wait_ready();
    assert_eq!(fleet.read_until(&target, 1, PATIENCE).len(), 1);
}

/// A level with records that were due hours ago and that no group has ever committed; with its target.
fn long_overdue() -> (Fleet, String) {
    let fleet = Fleet::new("{1s: {partitions: 2}}", "");
    let target = fleet.target("orders", 1);
    let topic = fleet.level_topic("1s");
    fleet.admin.alter(&topic, &[("message.timestamp.type", "CreateTime")]).unwrap();
    let old = Rec { timestamp_ms: wall_ms() - 3 * 3_600_000, ..rec(&target, "k", "old") }.with("dwell-id", "old");
    fleet.producer().send(&topic, &[old]);
    fleet.admin.alter(&topic, &[("message.timestamp.type", "LogAppendTime")]).unwrap();
    let kinds: Vec<_> = fleet.read(&topic).iter().map(|r| r.stamped_by).collect();
    assert_eq!(kinds, [StampedBy::Producer], "stands there as if it were old");
    (fleet, target)
}

fn stop(mut r: Roller) {
    assert_eq!(roller::code(r.stop(PATIENCE)), Some(0));
}

#[test]
fn a_group_without_offsets_does_not_release_what_is_long_overdue_unasked() {
    let (fleet, target) = long_overdue();
    let asking = fleet.roller_unready(&["1s"], &[]);
    let line = told(&asking, "1s", "--start-from");
    let group = fleet.table.group_of(fleet.table.get("1s").unwrap());
    let partition = fleet.read(&fleet.level_topic("1s"))[0].partition;
    for part in [
        &format!("group {group} has no committed offset"),
        &format!("partitions [{partition}] of {}", fleet.level_topic("1s")),
        "--start-from earliest",
        "--start-from now",
    ] {
        assert!(line.contains(part), "{part:?} in: {line}");
    }
    assert_eq!(fleet.read(&target).len(), 0);
    assert!(!asking.log().contains("assigned"));
    stop(asking);

    fleet.producer().send(&fleet.level_topic("1s"), &[rec(&target, "k", "new").with("dwell-id", "new")]);
    let restarted = fleet.roller_unready(&["1s"], &["--start-from", "earliest"]);
    restarted.wait_ready();
    let got = fleet.read_until(&target, 2, PATIENCE);
    let order: Vec<_> = got.iter().map(|r| r.header("dwell-id").unwrap()).collect();
    assert_eq!(order, ["old", "new"]);
    stop(restarted);
    // From now on there are offsets.
    let later = fleet.roller(&["1s"]);
    fleet.producer().send(&fleet.level_topic("1s"), &[rec(&target, "k", "newer")]);
    assert_eq!(fleet.read_until(&target, 3, PATIENCE).len(), 3, "and nothing is repeated");
    drop(later);
}

#[test]
fn a_group_without_offsets_skips_what_is_overdue_when_told_so() {
    let (fleet, target) = long_overdue();
    let partition = fleet.read(&fleet.level_topic("1s"))[0].partition;
    let restarted = fleet.roller_unready(&["1s"], &["--start-from", "now"]);
    restarted.wait_ready();
    // Or the next start would ask again, and when told the same skip what came in between.
    within(PATIENCE, "the decision is kept", || (fleet.committed("1s")[&partition] == Some(1)).then_some(()));
    stop(restarted);
    assert_eq!(fleet.read(&target).len(), 0, "nothing was released yet");
    fleet.producer().send(&fleet.level_topic("1s"), &[rec(&target, "k", "new").with("dwell-id", "new")]);
    let _untold = fleet.roller(&["1s"]);
    let got = fleet.read_until(&target, 1, PATIENCE);
    assert_eq!((got.len(), got[0].header("dwell-id")), (1, Some("new")));
}
