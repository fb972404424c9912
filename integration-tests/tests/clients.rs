//! Any Kafka client can send a delayed record: the examples in `docs/clients`, as they are printed there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::{Fleet, bins};
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(90);

/// The program that `dev/tools` installs or finds.
fn tool(name: &str) -> String {
    let output = Command::new(bins::root().join("dev/tools")).arg(name).output().unwrap();
    assert!(output.status.success(), "dev/tools {name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn run(mut command: Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Sends through an example with a key that is not ASCII and two more headers, and checks what arrives.
fn sends_a_delayed_record(mut example: Command) {
    let fleet = Fleet::new("{1s: {}}", "");
    let target = fleet.target("orders", 12);
    let _roller = fleet.roller(&["1s"]);
    let level = fleet.level_topic("1s");
    example.args([fleet.settings.brokers(), &level, &target, "schlüssel", "später", "dwell-id=order-1", "tenant=a"]);
    run(example);
    let got = &fleet.read_until(&target, 1, PATIENCE)[0];
    let source = &fleet.read(&level)[0];
    assert_eq!(got.payload.as_deref(), Some("später".as_bytes()));
    assert_eq!(got.key.as_deref(), Some("schlüssel".as_bytes()));
    assert_eq!((got.header("dwell-id"), got.header("tenant")), (Some("order-1"), Some("a")));
    assert!(got.timestamp_ms >= source.timestamp_ms + 1000, "early");
}

#[test]
fn kcat() {
    let kcat = tool("kcat");
    let mut example = Command::new("bash");
    example.arg(bins::root().join("docs/clients/kcat.sh"));
    let path = std::path::Path::new(&kcat).parent().unwrap().display().to_string();
    example.env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap()));
    sends_a_delayed_record(example);
}

#[test]
fn python() {
    let mut example = Command::new(tool("python"));
    example.arg(bins::root().join("docs/clients/produce.py"));
    sends_a_delayed_record(example);
}
