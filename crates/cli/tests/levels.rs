//! `dwell levels`: what other programs read of it, and how it ends.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use support::{Ran, TABLE, TableFile, dwell, ran, run};

fn plan(args: &[&str]) -> Ran {
    let file = TableFile::new(TABLE);
    run(&[&["levels", "plan", "--levels", file.arg()], args].concat())
}

#[test]
fn a_plan_is_printed_exactly_as_the_contract_says() {
    for (args, expected) in [
        (&["45m"][..], r#"{"asked_ms":2700000,"hops":["1h"],"topic":"delay-1h","late_ms":900000}"#),
        (&["0"], r#"{"asked_ms":0,"hops":[],"topic":null,"late_ms":0}"#),
        (&["0s"], r#"{"asked_ms":0,"hops":[],"topic":null,"late_ms":0}"#),
        (&["3s"], r#"{"asked_ms":3000,"hops":["5s"],"topic":"delay-5s","late_ms":2000}"#),
        (&["5001ms"], r#"{"asked_ms":5001,"hops":["10s"],"topic":"delay-10s","late_ms":4999}"#),
        (
            &["16s", "--rounding", "exact"],
            r#"{"asked_ms":16000,"hops":["10s","5s","1s"],"topic":"delay-10s","late_ms":0}"#,
        ),
        (&["16s", "--rounding", "up"], r#"{"asked_ms":16000,"hops":["30s"],"topic":"delay-30s","late_ms":14000}"#),
        (&["5h"], r#"{"asked_ms":18000000,"hops":["2h","2h","1h"],"topic":"delay-2h","late_ms":0}"#),
    ] {
        for format in ["json", "jsonl"] {
            let Ran { code, out, err } = plan(&[args, &["-o", format]].concat());
            assert_eq!((code, out.as_str(), err.as_str()), (0, format!("{expected}\n").as_str(), ""));
        }
    }
}

#[test]
fn the_standard_table_plans_45_minutes_on_one_hour() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../levels.yaml");
    let Ran { code, out, .. } = run(&["levels", "plan", "45m", "-o", "json", "--levels", file]);
    let expected = r#"{"asked_ms":2700000,"hops":["1h"],"topic":"delay-1h","late_ms":900000}"#;
    assert_eq!((code, out.trim_end()), (0, expected));
}

#[test]
fn a_plan_for_people_counts_repeated_hops() {
    let Ran { code, out, .. } = plan(&["9h"]);
    assert_eq!((code, out.as_str()), (0, "9h: 2h × 4, 1h, on time; send to delay-2h\n"));
    assert_eq!(plan(&["0"]).out, "0s: straight to the target\n");
    assert_eq!(plan(&["45m"]).out, "45m: 1h, 15m late; send to delay-1h\n");
}

#[test]
fn a_delay_that_cannot_be_is_a_usage_error() {
    for (delay, says) in
        [("10h1ms", "ask for at most 10h"), ("45", "not a duration"), ("5M", "not a duration"), ("4000d", "too long")]
    {
        let Ran { code, out, err } = plan(&[delay, "-o", "json"]);
        assert_eq!((code, out.as_str()), (2, ""), "{delay}");
        assert!(err.contains(says), "{delay}: {err}");
    }
    assert_eq!(plan(&["10h"]).code, 0);
    assert_eq!(plan(&["5s", "--rounding", "down"]).code, 2);
}

#[test]
fn show_prints_every_level_with_its_topic_and_group() {
    let file = TableFile::new(TABLE);
    let Ran { code, out, err } = run(&["levels", "show", "--levels", file.arg()]);
    assert_eq!((code, err.as_str()), (0, ""));
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[0], ["LEVEL", "DELAY", "STATE", "TOPIC", "GROUP", "PARTITIONS", "RETENTION"]);
    assert_eq!(rows[3], ["10s", "10s", "active", "delay-10s", "dwell-roller-10s", "12", "7d10s"]);
    assert_eq!(rows[7][..3], ["4h", "4h", "draining"]);

    let Ran { out, .. } = run(&["levels", "show", "-o", "jsonl", "--levels", file.arg()]);
    let first: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((&first["level"], &first["delay_ms"]), (&"1s".into(), &1000.into()));
    let Ran { out, .. } = run(&["levels", "show", "-o", "json", "--levels", file.arg()]);
    let all: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(all["levels"].as_array().unwrap().len(), 7);
}

#[test]
fn check_counts_what_a_valid_file_holds() {
    let file = TableFile::new(TABLE);
    let Ran { code, out, err } = run(&["levels", "check", "--levels", file.arg()]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains(": ok: 7 levels (6 active, 1 draining), 2 target patterns, 0 groups"), "{out}");
    let Ran { out, .. } = run(&["levels", "check", "-o", "json", "--levels", file.arg()]);
    assert_eq!(out, "{\"ok\":true,\"levels\":7,\"active\":6,\"draining\":1,\"targets\":2,\"groups\":0}\n");
}

#[test]
fn every_fault_of_a_file_is_printed_with_its_place() {
    let file = TableFile::new("targets: [orders]\nlevels:\n  5x: {}\n  5s: {partitons: 3}\n");
    let places = [format!("{}:3:3: ", file.arg()), format!("{}:4:8: ", file.arg())];
    for command in [&["levels", "check"][..], &["levels", "show"], &["levels", "plan", "5s"]] {
        let Ran { code, out, err } = run(&[command, &["--levels", file.arg()]].concat());
        assert_eq!((code, out.as_str()), (2, ""));
        for (line, place) in err.lines().zip(&places) {
            assert!(line.starts_with(place), "{err}");
        }
        assert_eq!(err.lines().count(), 2, "{err}");
    }
    let Ran { code, out, .. } = run(&["levels", "check", "-o", "json", "--levels", file.arg()]);
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &found["ok"]), (2, &false.into()));
    assert_eq!(found["faults"][1]["line"], 4);
}

#[test]
fn the_file_comes_from_flag_environment_or_the_current_directory() {
    let file = TableFile::new(TABLE);
    let here = file.path.parent().unwrap();
    assert_eq!(ran(dwell(&["levels", "check"]).current_dir(here)).code, 0);
    assert_eq!(ran(dwell(&["levels", "check"]).env("DWELL_LEVELS", &file.path)).code, 0);
    let absent = ran(dwell(&["levels", "check", "--levels", "/nowhere.yaml"]).env("DWELL_LEVELS", &file.path));
    assert_eq!(absent.code, 2);
    assert!(absent.err.contains("cannot read /nowhere.yaml"), "{}", absent.err);
}
