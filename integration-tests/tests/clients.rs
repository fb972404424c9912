//! The examples of docs/clients.md, as a reader would run them: foreign clients and nothing of Dwell in them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_integration_tests::produce::Rec;
use dwell_integration_tests::same::{Headers, noise, user_headers};
use dwell_integration_tests::{Fleet, bins, java};
use dwell_kafka::reader::WholeRecord;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// What `dev/tools` knows of a client.
fn tool(name: &str) -> PathBuf {
    let output = Command::new(bins::root().join("dev/tools")).arg(name).output().unwrap();
    assert!(output.status.success(), "dev/tools {name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().into()
}

fn example(name: &str) -> PathBuf {
    bins::root().join("docs/clients").join(name)
}

/// `docs/clients/kcat.sh`, with kcat on its path.
fn kcat_sh() -> Command {
    let kcat = tool("kcat");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(example("kcat.sh"));
    command.env("PATH", format!("{}:{path}", kcat.parent().unwrap().display()));
    command
}

fn produce_py() -> Command {
    let mut command = Command::new(tool("python"));
    command.arg(example("produce.py"));
    command
}

fn run(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// For which the Java client takes different partitions, of six and of twelve.
const KEYS: [&str; 3] = ["order-4711", "ключ", "注文"];

fn sends_like_java(client: impl Fn() -> Command) {
    let fleet = Fleet::new("{1s: {partitions: 6}}", "");
    let target = fleet.target("orders", 12);
    let _roller = fleet.roller(&["1s"]);
    let topic = fleet.level_topic("1s");
    for key in KEYS {
        let mut command = client();
        command.args([fleet.settings.brokers(), &topic, &target, key, "hello, größe"]);
        command.args(["a=1", "b=x=y", "a=2", "empty=", &format!("dwell-id=of {key}")]);
        run(command);
    }
    let waited = fleet.read(&topic);
    assert_eq!(waited.len(), KEYS.len(), "acknowledged when the client ends");
    let got = fleet.read_until(&target, KEYS.len(), PATIENCE);
    assert_eq!(got.len(), KEYS.len());
    let java = java::partitions();
    for key in KEYS {
        let java = &java[key.as_bytes()];
        let keyed = |r: &&WholeRecord| r.key.as_deref() == Some(key.as_bytes());
        assert_eq!(waited.iter().find(keyed).unwrap().partition, java[&6], "{key} on the level");
        let record = got.iter().find(keyed).unwrap();
        assert_eq!(record.partition, java[&12], "{key} at the target");
        assert_eq!(record.payload.as_deref(), Some("hello, größe".as_bytes()));
        assert_eq!(record.header("dwell-id"), Some(format!("of {key}").as_str()));
        assert_eq!(record.header("dwell-trail"), Some("1s"));
        let users = user_headers(&record.headers);
        let sent = [("a", "1"), ("b", "x=y"), ("a", "2"), ("empty", "")];
        let sent: Headers = sent.map(|(name, value)| (name.into(), Some(value.into()))).into();
        assert_eq!(users, sent);
    }
    assert_eq!(fleet.parked(), []);
}

#[test]
fn kcat_sends_through_a_roller() {
    sends_like_java(kcat_sh);
}

#[test]
fn python_sends_through_a_roller() {
    sends_like_java(produce_py);
}

/// A text that is hard on a shell and on a client that splits lines.
#[test]
fn any_text_is_one_record() {
    let fleet = Fleet::new("{1s: {}}", "");
    let topic = fleet.level_topic("1s");
    let payload = "two\nlines: a:b\tc 'd' \"e\" $HOME \\n %s\n";
    for client in [kcat_sh, produce_py] {
        let mut command = client();
        run({
            command.args([fleet.settings.brokers(), &topic, "t", "key: with 'signs'", payload]);
            command
        });
    }
    let got = fleet.read(&topic);
    assert_eq!(got.len(), 2, "{got:?}");
    for record in got {
        assert_eq!(record.key.as_deref(), Some(&b"key: with 'signs'"[..]));
        assert_eq!(record.payload.as_deref(), Some(payload.as_bytes()));
        assert_eq!(user_headers(&record.headers), []);
    }
}

#[test]
fn a_client_whose_record_was_refused_fails() {
    let fleet = Fleet::new("{1s: {}}", "");
    let topic = fleet.level_topic("1s");
    fleet.admin.alter(&topic, &[("max.message.bytes", "1000")]).unwrap();
    let large = String::from_utf8(noise(20_000).iter().map(|byte| b'a' + byte % 26).collect()).unwrap();
    for client in [kcat_sh, produce_py] {
        let mut command = client();
        let output = command.args([fleet.settings.brokers(), &topic, "t", "k", &large]).output().unwrap();
        assert!(!output.status.success(), "{}", command.get_program().display());
        let mut command = client();
        let output = command.args([fleet.settings.brokers(), &topic]).output().unwrap();
        assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("LEVEL_TOPIC"));
    }
    assert_eq!(fleet.read(&topic), []);
}

/// What kcat, another reader than that of these tests, sees at a target.
fn seen_by_kcat(fleet: &Fleet, topic: &str) -> String {
    let kcat: &Path = &tool("kcat");
    let mut command = Command::new(kcat);
    command.args(["-C", "-q", "-e", "-b", fleet.settings.brokers(), "-t", topic, "-f", r"%K %S %h\n"]);
    run(command)
}

#[test]
fn another_reader_sees_null_and_empty_as_they_were_sent() {
    let fleet = Fleet::new("{1s: {partitions: 1}}", "");
    let target = fleet.target("orders", 1);
    let _roller = fleet.roller(&["1s"]);
    let to = |key: Option<&str>, payload: Option<&str>| {
        let bytes = |text: Option<&str>| text.map(|t| t.as_bytes().to_vec());
        Rec { key: bytes(key), payload: bytes(payload), ..Rec::default() }.with("dwell-target", &target).raw(b"n", None)
    };
    let records = [to(None, None), to(Some(""), Some("")), to(Some("k"), None), to(None, Some("v"))];
    fleet.producer().send(&fleet.level_topic("1s"), &records);
    fleet.read_until(&target, records.len(), PATIENCE);
    let seen = seen_by_kcat(&fleet, &target);
    let sizes: Vec<_> = seen.lines().map(|l| l.rsplit_once(' ').unwrap().0).collect();
    assert_eq!(sizes, ["-1 -1", "0 0", "1 -1", "-1 1"], "{seen}");
    assert!(seen.lines().all(|l| l.contains(" n=NULL,dwell-id=")), "{seen}");
}
