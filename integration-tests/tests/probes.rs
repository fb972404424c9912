//! What a roller says from outside: exit codes, probes, metrics and log.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::{Fleet, Roller, bins, rec, roller, within};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
/// Of an end with nothing under way; generous.
const SOON: Duration = Duration::from_secs(10);

/// A file in a directory of its own.
fn table(text: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("levels.yaml");
    std::fs::write(&file, text).unwrap();
    (dir, file.to_str().unwrap().to_owned())
}

const GOOD: &str = "targets: [orders]\nlevels: {1s: {}, 5s: {}}\n";

/// Runs a command that must end by itself soon; returns its exit code and what it wrote to stdout and stderr.
fn ended(mut command: Command) -> (Option<i32>, String, String) {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() && begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Without effect on one that has ended.
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Runs it with a table and more; it must refuse, naming all of this. Returns what it said.
fn refused(text: &str, args: &[&str], env: &[(&str, &str)], says: &[&str]) -> String {
    let (_dir, file) = table(text);
    let mut command = bins::program("dwell-roller").unwrap();
    command.args(["--levels", &file, "--brokers", "127.0.0.1:1"]).args(args).envs(env.iter().copied());
    let (code, out, said) = ended(command);
    assert_eq!(code, Some(2), "{args:?} {env:?}: {said}");
    assert_eq!(out, "", "nothing on stdout");
    for part in says {
        assert!(said.contains(part), "{part:?} in: {said}");
    }
    said
}

#[test]
fn an_unknown_variable_is_refused_and_the_known_ones_are_named() {
    let wrong = [("DWELL_BROKRES", "x:1"), ("DWELL_X", "y")];
    refused(GOOD, &["--level", "1s"], &wrong, &["DWELL_BROKRES", "DWELL_X", "DWELL_BROKERS", "DWELL_KAFKA_"]);
    let twice = [("DWELL_LISTEN", "x"), ("DWELL_LISTEN_FILE", "/dev/null")];
    refused(GOOD, &["--level", "1s"], &twice, &["DWELL_LISTEN is set twice"]);
    let unreadable = [("DWELL_INSTANCE_ID_FILE", "/nowhere/id")];
    refused(GOOD, &["--level", "1s"], &unreadable, &["DWELL_INSTANCE_ID_FILE", "/nowhere/id"]);
}

#[test]
fn an_unknown_level_is_refused_and_the_known_ones_are_named() {
    refused(GOOD, &["--level", "7s"], &[], &["--level 7s", "it has 1s 5s"]);
    refused(GOOD, &["--level", "1s", "--level", "1s"], &[], &["--level 1s twice"]);
    refused(GOOD, &[], &[], &["--level"]);
}

#[test]
fn every_fault_of_a_table_is_told_with_its_place() {
    let text =
        "targets: []\nmaxDelay: 5x\nlevels:\n  1s: {}\n  1s: {}\n  2q: {}\n  5s: {partitions: many}\ncolour: red\n";
    let said = refused(text, &["--level", "1s"], &[], &[]);
    let places: Vec<_> = said.lines().filter_map(|l| l.split_once("levels.yaml:").map(|(_, rest)| rest)).collect();
    for (line, part) in [(1, "targets"), (2, "maxDelay"), (5, "1s"), (6, "2q"), (7, "partitions"), (8, "colour")] {
        let here = places.iter().find(|p| p.starts_with(&format!("{line}:")) && p.contains(part));
        let column = here.and_then(|p| p.split(':').nth(1)).and_then(|c| c.parse::<u32>().ok());
        assert!(column.is_some_and(|c| c >= 1), "line {line}, {part}: {said}");
    }
}

#[test]
fn what_is_no_table_is_told_in_one_line() {
    let mut command = bins::program("dwell-roller").unwrap();
    command.args(["--levels", "/nowhere/levels.yaml", "--level", "1s", "--brokers", "127.0.0.1:1"]);
    let (code, _, said) = ended(command);
    assert_eq!((code, said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("/nowhere/levels.yaml"), "{said}");
}

#[test]
fn client_settings_that_cannot_be_are_refused_together() {
    let args = ["--level", "1s", "-X", "no.such.key=1", "-X", "acks=0", "-X", "sasl.password=geheim", "-X", "novalue"];
    let env = [("DWELL_KAFKA_LINGER_MS", "soon")];
    let says = ["no.such.key", "acks", "DWELL_KAFKA_SASL_PASSWORD", "novalue", "DWELL_KAFKA_LINGER_MS"];
    let said = refused(GOOD, &args, &env, &says);
    assert!(!said.contains("geheim"), "{said}");
}

#[test]
fn an_address_that_is_none_or_is_taken_is_told() {
    refused(GOOD, &["--level", "1s", "--listen", "everywhere"], &[], &["--listen", "everywhere"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (_dir, file) = table(GOOD);
    let mut command = bins::program("dwell-roller").unwrap();
    command.args(["--levels", &file, "--brokers", "127.0.0.1:1", "--level", "1s", "--listen", &address]);
    let (code, _, said) = ended(command);
    assert_eq!(code, Some(1), "it could be free the next time: {said}");
    assert!(said.contains(&address) && said.contains("--listen"), "{said}");
}

/// Delivers one record on each level.
fn rolls(fleet: &Fleet, roller: &Roller, levels: &[&str]) {
    roller.wait_ready();
    let target = fleet.target("orders", 1);
    for level in levels {
        fleet.producer().send(&fleet.level_topic(level), &[rec(&target, "k", level)]);
    }
    assert_eq!(fleet.read_until(&target, levels.len(), PATIENCE).len(), levels.len());
}

#[test]
fn the_environment_is_enough() {
    let fleet = Fleet::new("{1s: {}, 3s: {}, 5s: {}}", "");
    let brokers = fleet.settings.brokers();
    let env = [("DWELL_LEVEL", "1s, 3s"), ("DWELL_BROKERS", brokers), ("DWELL_KAFKA_CLIENT_RACK", "a")];
    let mut both = Roller::from_environment(&fleet.file(), &env);
    rolls(&fleet, &both, &["1s", "3s"]);
    assert_eq!(both.metric("dwell_level_delay_seconds", ""), 4.0, "these two levels and no other");
    assert_eq!(roller::code(both.stop(PATIENCE)), Some(0));
}

#[test]
fn the_environment_may_name_files() {
    let fleet = Fleet::new("{1s: {}, 3s: {}}", "");
    let file = |name: &str, text: &str| {
        let path = fleet.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let brokers = file("brokers", &format!("{}\n", fleet.settings.brokers()));
    let rack = file("rack", "a\n");
    let env = [("DWELL_ALL", "true"), ("DWELL_BROKERS_FILE", &brokers[..]), ("DWELL_KAFKA_CLIENT_RACK_FILE", &rack)];
    let all = Roller::from_environment(&fleet.file(), &env);
    rolls(&fleet, &all, &["1s", "3s"]);
}

/// The names in the tables of docs/metrics.md.
fn documented() -> BTreeSet<String> {
    let text = std::fs::read_to_string(bins::root().join("docs/metrics.md")).unwrap();
    let rows = text.lines().filter_map(|l| l.strip_prefix('|')).filter_map(|l| l.split('|').next().map(str::to_owned));
    let quoted: Vec<String> = rows.flat_map(|cell| cell.split('`').map(str::to_owned).collect::<Vec<_>>()).collect();
    quoted.into_iter().filter(|name| name.starts_with("dwell_")).collect()
}

#[test]
fn metrics_are_those_of_the_document_and_all_are_numbers() {
    let fleet = Fleet::new("{1s: {}, 2s: {}}", "");
    let target = fleet.target("orders", 1);
    let roller = fleet.roller(&["1s", "2s"]);
    // One of each: delivered, on to another level, set aside, parked.
    let records = [
        rec(&target, "k", "plain"),
        rec(&target, "k", "further").with("dwell-delay", "3000"),
        rec(&fleet.target_name("nowhere"), "k", "set aside"),
        rec("elsewhere", "k", "parked"),
    ];
    fleet.producer().send(&fleet.level_topic("1s"), &records);
    fleet.read_until(&target, 2, PATIENCE);
    within(PATIENCE, "it is set aside", || (roller.metric("dwell_roller_set_aside_total", "") >= 1.0).then_some(()));
    let statistics = "dwell_roller_fetched_bytes{";
    let body = within(PATIENCE, "the client has told its statistics", || {
        let (status, body) = roller.get("/metrics");
        assert_eq!(status, 200);
        body.contains(statistics).then_some(body)
    });
    let types: Vec<(&str, &str)> = body
        .lines()
        .filter_map(|l| l.strip_prefix("# TYPE ")?.split_once(' '))
        .filter(|(n, _)| n.starts_with("dwell_"))
        .collect();
    let names: BTreeSet<String> = types.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut expected = documented();
    assert!(expected.len() > 15, "{expected:?}");
    assert!(expected.remove("dwell_roller_shutdown_duration_seconds"), "there only once it stops");
    assert_eq!(names, expected);
    for (name, kind) in types {
        let by_name = match name {
            _ if name.ends_with("_total") => "counter",
            "dwell_roller_release_lateness_seconds" => "histogram",
            _ => "gauge",
        };
        assert_eq!(kind, by_name, "{name}");
        assert!(body.contains(&format!("# HELP {name} ")), "{name} is explained");
    }
    for sample in body.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        let value: f64 = sample.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(value.is_finite(), "{sample}");
    }
    assert!(body.contains("le=\"0.001\"") && body.contains("le=\"+Inf\""));
    for (outcome, least) in [("delivered", 2.0), ("retried", 2.0), ("dead_lettered", 1.0)] {
        assert!(roller.metric("dwell_roller_released_total", outcome) >= least, "{outcome}: {body}");
    }
    assert_eq!(roller.metric("dwell_roller_early_releases_total", ""), 0.0);
    assert_eq!(roller.metric("dwell_roller_release_lateness_seconds_count", ""), 2.0);
}

#[test]
fn a_json_log_is_json_line_by_line() {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 1);
    // With much from the client library too, which logs in its own way.
    let noisy = ["--log-format", "json", "-X", "debug=broker,topic,cgrp"];
    let env = [("RUST_LOG", "debug")];
    let mut roller = Roller::spawn(&fleet.file(), fleet.settings.brokers(), &["1s"], &noisy, &env);
    roller.wait_ready();
    let odd = rec("else\"where", "k", "parked").with("dwell-type", "line\nbreak");
    fleet.producer().send(&fleet.level_topic("1s"), &[odd, rec(&target, "k", "plain")]);
    fleet.read_until(&target, 1, PATIENCE);
    assert_eq!(roller::code(roller.stop(PATIENCE)), Some(0));
    let log = roller.log();
    assert!(log.lines().count() > 20, "{log}");
    for line in log.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert!(entry["level"].is_string() && entry["timestamp"].is_string() && entry["fields"].is_object(), "{line}");
    }
    assert!(log.contains("\"message\":\"assigned\""), "{log}");
}

/// Live and not ready; returns what it says once that is more than "starting".
fn is_patient(roller: &Roller) -> String {
    let said = within(PATIENCE, "it says what is wrong", || {
        let (status, body) = roller.get("/readyz");
        assert!(matches!(status, 0 | 503), "{status} {body}");
        (status == 503 && !body.contains("starting")).then_some(body)
    });
    assert_eq!(roller.get("/livez").0, 200, "brokers that are away are no reason to be restarted");
    assert_eq!(roller.get("/metrics").0, 200);
    said
}

fn leaves_soon(mut roller: Roller) {
    let begin = Instant::now();
    assert_eq!(roller::code(roller.stop(SOON)), Some(0), "{}", roller.log());
    assert!(begin.elapsed() < SOON);
}

fn is_patient_and_leaves(brokers: &str) {
    let (_dir, file) = table(GOOD);
    let start = || Roller::spawn(Path::new(&file), brokers, &["1s", "5s"], &[], &[]);
    let roller = start();
    let said = is_patient(&roller);
    assert!(said.starts_with("1s: ") && said.contains("\n5s: "), "{said}");
    leaves_soon(roller);
    // In the middle of its first question.
    let roller = start();
    within(PATIENCE, "it listens", || (roller.get("/livez").0 == 200).then_some(()));
    leaves_soon(roller);
}

#[test]
fn brokers_that_refuse_leave_it_live_and_not_ready() {
    is_patient_and_leaves(&TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string());
}

#[test]
fn brokers_that_are_silent_leave_it_live_and_not_ready() {
    // Connections are taken, and nothing is ever said.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    is_patient_and_leaves(&silent.local_addr().unwrap().to_string());
}

#[test]
fn brokers_without_an_address_leave_it_live_and_not_ready() {
    is_patient_and_leaves("no-such-host.invalid:9092");
}

#[test]
fn secrets_are_not_told_to_anyone() {
    let fleet = Fleet::new("{1s: {}}", "");
    let (secret, other) = ("s3cr3t-of-the-variable", "s3cr3t-of-the-file");
    let file = fleet.dir.path().join("key-password");
    std::fs::write(&file, format!("{other}\n")).unwrap();
    let env = [
        ("RUST_LOG", "trace"),
        ("DWELL_KAFKA_SECURITY_PROTOCOL", "SASL_PLAINTEXT"),
        ("DWELL_KAFKA_SASL_MECHANISM", "PLAIN"),
        ("DWELL_KAFKA_SASL_USERNAME", "dwell"),
        ("DWELL_KAFKA_SASL_PASSWORD", secret),
        ("DWELL_KAFKA_SSL_KEY_PASSWORD_FILE", file.to_str().unwrap()),
    ];
    // The broker speaks PLAINTEXT: it cannot log in.
    let mut roller = Roller::spawn(&fleet.file(), fleet.settings.brokers(), &["1s"], &["-X", "debug=all"], &env);
    let said = is_patient(&roller);
    let (_, metrics) = roller.get("/metrics");
    let arguments = std::fs::read_to_string(format!("/proc/{}/cmdline", roller.pid())).unwrap();
    assert_eq!(roller::code(roller.stop(SOON)), Some(0));
    let log = roller.log();
    assert!(log.to_lowercase().contains("sasl"), "the log is of the right kind: {log}");
    for (place, text) in [("/readyz", said), ("/metrics", metrics), ("the arguments", arguments), ("the log", log)] {
        assert!(!text.contains(secret) && !text.contains(other), "a secret is in {place}");
    }
}
