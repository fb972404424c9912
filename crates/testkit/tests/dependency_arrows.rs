//! The architecture's arrows, held by a test: who may depend on whom, and where a clock may be read.
//! ARCHITECTURE.md draws the picture that `ARROWS` repeats.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Every crate of the product with the crates of the product that it may name in `[dependencies]`.
const ARROWS: &[(&str, &[&str])] = &[
    ("dwell-levels", &[]),
    ("dwell-wire", &["dwell-levels"]),
    ("dwell-roller-core", &["dwell-levels", "dwell-wire"]),
    ("dwell-kafka", &["dwell-levels", "dwell-wire", "dwell-roller-core"]),
    ("dwell-router", &["dwell-levels", "dwell-wire", "dwell-kafka"]),
    ("dwell-roller", &["dwell-levels", "dwell-wire", "dwell-roller-core", "dwell-kafka"]),
    ("dwell-retry", &["dwell-levels", "dwell-wire", "dwell-router", "dwell-kafka"]),
    ("dwell-cli", &["dwell-levels", "dwell-wire", "dwell-router", "dwell-kafka"]),
    ("dwell-testkit", &["dwell-levels", "dwell-wire", "dwell-roller-core"]),
];

/// Crates without clock and I/O: these must not be reachable from them, however indirectly.
const PURE: &[&str] = &["dwell-levels", "dwell-wire", "dwell-roller-core"];
const IMPURE: &[&str] = &["tokio", "rdkafka", "rdkafka-sys", "mio", "socket2", "dwell-kafka"];

/// Programs that judge the product from outside; they may use every library crate.
const OUTSIDE: &[&str] = &["dwell-bench", "dwell-demo", "dwell-integration-tests"];
/// Who may name the client library. The benchmarks compare the product with the bare client.
const DOORS: &[&str] = &["dwell-kafka", "dwell-bench"];

const CLOCK_FILE: &str = "crates/kafka/src/clock.rs";
const CLOCK_READS: &[&str] = &["Instant::now", "SystemTime::now"];

/// Name of a package, and the names of what it depends on outside its tests.
type Arrows = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("crates/testkit lies two folders below the root").to_path_buf()
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("cargo and rustc are there, or this test would not have been built");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// This machine's platform: the packages of others may not have been downloaded.
fn host() -> String {
    let version = output(Command::new("rustc").arg("-vV").current_dir(root()));
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc -vV has a line `host:`").to_owned()
}

fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", &host()]);
    serde_json::from_str(&output(command.current_dir(root()))).unwrap()
}

fn is_outside_tests(dependency: &Value) -> bool {
    dependency["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"] != "dev")
}

fn arrows(metadata: &Value) -> Arrows {
    let packages = metadata["packages"].as_array().unwrap();
    let names: BTreeMap<&str, &str> =
        packages.iter().map(|p| (p["id"].as_str().unwrap(), p["name"].as_str().unwrap())).collect();
    let name_of = |id: &Value| names[id.as_str().unwrap()].to_owned();
    let mut arrows = Arrows::new();
    for node in metadata["resolve"]["nodes"].as_array().unwrap() {
        let dependencies = node["deps"].as_array().unwrap().iter().filter(|d| is_outside_tests(d));
        arrows.entry(name_of(&node["id"])).or_default().extend(dependencies.map(|d| name_of(&d["pkg"])));
    }
    arrows
}

fn reachable(arrows: &Arrows, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![from.to_owned()];
    while let Some(name) = todo.pop() {
        for next in &arrows[&name] {
            if seen.insert(next.clone()) {
                todo.push(next.clone());
            }
        }
    }
    seen
}

#[test]
fn crates_name_only_the_crates_below_them() {
    let arrows = arrows(&metadata());
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let ours = arrows.keys().filter(|name| name.starts_with("dwell-") && !OUTSIDE.contains(&name.as_str()));
    for name in ours {
        let allowed = allowed.get(name.as_str());
        let allowed = allowed.unwrap_or_else(|| panic!("{name} is new: give it a line in ARROWS"));
        for dependency in arrows[name].iter().filter(|d| d.starts_with("dwell-")) {
            assert!(
                allowed.contains(&dependency.as_str()),
                "{name} depends on {dependency}; it may depend on {allowed:?} (see ARCHITECTURE.md)"
            );
        }
    }
}

#[test]
fn the_core_reaches_neither_runtime_nor_client() {
    let arrows = arrows(&metadata());
    for name in PURE {
        let reachable = reachable(&arrows, name);
        for impure in IMPURE {
            assert!(!reachable.contains(*impure), "{name} reaches {impure}; it has to stay free of clock and I/O");
        }
    }
}

#[test]
fn only_the_kafka_crate_and_its_benchmark_name_the_client_library() {
    let arrows = arrows(&metadata());
    for (name, dependencies) in arrows.iter().filter(|(name, _)| name.starts_with("dwell-")) {
        let named: Vec<_> = dependencies.iter().filter(|d| d.starts_with("rdkafka")).collect();
        assert!(
            named.is_empty() || DOORS.contains(&name.as_str()),
            "{name} depends on {named:?}; go through dwell-kafka"
        );
    }
    assert!(arrows["dwell-kafka"].contains("rdkafka"), "the check looks at the right names");
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn one_file_reads_the_clock() {
    let root = root();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        let sources = entry.unwrap().path().join("src");
        if sources.is_dir() {
            rust_files(&sources, &mut files);
        }
    }
    let reads_clock = |file: &&PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        CLOCK_READS.iter().any(|read| text.contains(read))
    };
    let readers: Vec<_> = files.iter().filter(reads_clock).map(|file| file.strip_prefix(&root).unwrap()).collect();
    assert_eq!(readers, [Path::new(CLOCK_FILE)], "time is an argument everywhere but in {CLOCK_FILE}");
}
