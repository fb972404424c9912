//! The roller's surface: flags, environment, exit codes, probes, logs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::roller::code;
use dwell_integration_tests::{Fleet, Roller, bins, rec, within};
use std::path::Path;
use std::process::Output;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn refused(file: &Path, args: &[&str], env: &[(&str, &str)]) -> String {
    let mut command = bins::program("dwell-roller").unwrap();
    command.args(["--levels", file.to_str().unwrap(), "--listen", "127.0.0.1:0"]).args(args).envs(env.iter().copied());
    let Output { status, stderr, .. } = command.output().unwrap();
    let text = String::from_utf8_lossy(&stderr).into_owned();
    assert_eq!(status.code(), Some(2), "{args:?} {env:?}: {text}");
    text
}

#[test]
fn wrong_usage_is_refused_with_2_and_says_what_is_wrong() {
    let fleet = Fleet::without_topics("{1s: {}}", "");
    let good = ["--level", "1s", "--brokers", "127.0.0.1:1"];
    let file = fleet.file();
    let both = [("DWELL_LEVLE", "1s"), ("DWELL_X", "y")];
    let text = refused(&file, &good, &both);
    assert!(text.contains("DWELL_LEVLE") && text.contains("DWELL_X"), "{text}");
    assert!(refused(&file, &["--level", "7s", "--brokers", "b:1"], &[]).contains("7s"));
    assert!(refused(&file, &["--brokers", "b:1"], &[]).contains("--level"));
    assert!(refused(&file, &[&good[..], &["-X", "acks=1"]].concat(), &[]).contains("acks"));
    assert!(refused(&file, &[&good[..], &["-X", "nonsense"]].concat(), &[]).contains("nonsense"));
    let broken = fleet.dir.path().join("broken.yaml");
    std::fs::write(&broken, "targets: []\nlevels:\n  5x: {}\n  1s: {partitions: many}\n").unwrap();
    let text = refused(&broken, &good, &[]);
    assert!(text.contains(":1:") && text.contains(":3:") && text.contains(":4:"), "all faults with places: {text}");
}

#[test]
fn everything_can_come_from_the_environment() {
    let fleet = Fleet::new("{1s: {}, 3s: {}}", "");
    let secret = fleet.dir.path().join("brokers");
    std::fs::write(&secret, format!("{}\n", fleet.settings.brokers())).unwrap();
    let mut command = bins::program("dwell-roller").unwrap();
    let out = fleet.dir.path().join("log");
    let env = [
        ("DWELL_LEVELS", fleet.file().display().to_string()),
        ("DWELL_LEVEL", "1s,3s".to_owned()),
        ("DWELL_BROKERS_FILE", secret.display().to_string()),
        ("DWELL_LISTEN", "127.0.0.1:0".to_owned()),
        ("DWELL_LOG_FORMAT", "json".to_owned()),
        ("DWELL_KAFKA_CLIENT_RACK", "r1".to_owned()),
    ];
    let mut child = command.envs(env).stderr(std::fs::File::create(&out).unwrap()).spawn().unwrap();
    let log = || std::fs::read_to_string(&out).unwrap();
    within(PATIENCE, "both levels are assigned", || (log().matches("\"assigned\"").count() == 2).then_some(()));
    std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    for line in log().lines() {
        let parsed: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert!(parsed["level"].is_string() && parsed["timestamp"].is_string(), "{line}");
    }
}

#[test]
fn metrics_have_the_documented_names_and_no_nan() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 1);
    let roller = fleet.roller(&["1s"]);
    fleet.producer().send(&fleet.level_topic("1s"), &[rec(&target, "k", "v"), rec("nowhere", "k", "v")]);
    fleet.read_until(&target, 1, PATIENCE);
    within(PATIENCE, "one delivered, one parked", || {
        let count = |outcome: &str| roller.metric("dwell_roller_released_total", &format!("outcome=\"{outcome}\""));
        (count("delivered") == 1.0 && count("dead_lettered") == 1.0).then_some(())
    });
    let (_, text) = roller.get("/metrics");
    assert!(!text.contains("NaN"), "{text}");
    let docs = std::fs::read_to_string(bins::root().join("docs/metrics.md")).unwrap();
    let documented: Vec<&str> = docs.split('`').filter(|w| w.starts_with("dwell_")).collect();
    assert!(documented.len() > 15);
    // The client's own figures come with its first statistics; the last stop's duration with a stop.
    let later =
        ["dwell_roller_shutdown_duration_seconds", "dwell_roller_fetched_bytes", "dwell_roller_prefetched_records"];
    for name in documented.iter().filter(|n| !later.contains(n)) {
        assert!(text.contains(*name), "{name} is documented but not exported");
    }
    for line in text.lines().filter(|l| l.starts_with("# TYPE dwell_")) {
        let name = line.split(' ').nth(2).unwrap();
        assert!(documented.contains(&name), "{name} is exported but not documented");
    }
    assert_eq!(roller.metric("dwell_roller_early_releases_total", ""), 0.0);
    assert_eq!(roller.metric("dwell_roller_invalid_records_total", "TARGET_NOT_ALLOWED"), 1.0);
}

#[test]
fn without_brokers_it_is_live_not_ready_and_ends_at_once() {
    let fleet = Fleet::without_topics("{1s: {}}", "");
    let secret = ("DWELL_KAFKA_SASL_PASSWORD", "hunter2hunter2");
    let mut roller = Roller::spawn(&fleet.file(), "127.0.0.1:1", &["1s"], &[], &[secret]);
    within(PATIENCE, "it says that no broker answers", || {
        let (status, text) = roller.get("/readyz");
        (status == 503 && !text.contains("starting")).then_some(())
    });
    assert_eq!(roller.get("/livez").0, 200);
    let (_, metrics) = roller.get("/metrics");
    assert_eq!(code(roller.stop(Duration::from_secs(20))), Some(0));
    assert!(!roller.log().contains(secret.1) && !metrics.contains(secret.1), "a secret leaked");
}
