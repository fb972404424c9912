//! What holds for every command: the environment, exit codes, and readers that go away.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::process::Stdio;
use support::{Ran, TABLE, TableFile, dwell, ran, run};

#[test]
fn an_unknown_variable_is_refused_by_name() {
    let file = TableFile::new(TABLE);
    let mut command = dwell(&["levels", "check", "--levels", file.arg()]);
    let Ran { code, out, err } = ran(command.env("DWELL_LEVLES", "x").env("DWELL_TEST_DIR", "y"));
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("DWELL_LEVLES: ") && err.contains("DWELL_TEST_DIR: "), "{err}");
}

#[test]
fn the_rollers_variables_and_client_properties_are_no_mistake() {
    let file = TableFile::new(TABLE);
    let mut command = dwell(&["levels", "check", "--levels", file.arg()]);
    let known = [("DWELL_LEVEL", "5s"), ("DWELL_INSTANCE_ID", "a"), ("DWELL_KAFKA_CLIENT_RACK", "r1")];
    assert_eq!(ran(command.envs(known)).code, 0);
}

#[test]
fn usage_errors_end_with_2() {
    for args in
        [&[][..], &["levels"], &["levels", "chekc"], &["topics", "plan", "--execute"], &["levels", "show", "-o", "xml"]]
    {
        let Ran { code, out, err } = run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(!err.is_empty());
    }
}

#[test]
fn help_and_version_are_data() {
    for args in [&["--help"][..], &["--version"], &["topics", "apply", "--help"]] {
        let Ran { code, out, err } = run(args);
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        assert!(!out.is_empty());
    }
}

#[test]
fn wrong_client_settings_are_all_told_at_once() {
    let file = TableFile::new(TABLE);
    let mut command =
        dwell(&["topics", "plan", "--levels", file.arg(), "-b", "127.0.0.1:1", "-X", "acks=1", "-X", "nonsense"]);
    let Ran { code, out, err } = ran(command.env("DWELL_KAFKA_GROUP_ID", "g"));
    assert_eq!((code, out.as_str()), (2, ""));
    for part in ["acks", "nonsense", "DWELL_KAFKA_GROUP_ID"] {
        assert!(err.contains(part), "{part}: {err}");
    }
}

#[test]
fn a_command_that_needs_brokers_says_so() {
    let file = TableFile::new(TABLE);
    let Ran { code, err, .. } = run(&["topics", "plan", "--levels", file.arg()]);
    assert_eq!(code, 2);
    assert!(err.contains("--brokers") && err.contains("DWELL_BROKERS"), "{err}");
}

#[test]
fn a_cluster_that_does_not_answer_ends_with_1() {
    let file = TableFile::new(TABLE);
    let args = ["topics", "check", "--levels", file.arg(), "-b", "127.0.0.1:1", "--timeout", "300ms"];
    let Ran { code, out, err } = run(&args);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("could not describe the cluster") && err.contains("--brokers"), "{err}");
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    // More than a pipe holds, so that writing meets the closed end.
    let levels: Vec<String> = (1..2_000).map(|s| format!("{s}s: {{}}")).collect();
    let file = TableFile::new(&format!("targets: [orders]\nlevels: {{{}}}\n", levels.join(", ")));
    for format in ["table", "json", "jsonl"] {
        let mut command = dwell(&["levels", "show", "-o", format, "--levels", file.arg()]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), said.as_str()), (Some(0), ""), "{format}");
    }
}
