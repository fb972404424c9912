//! Runs the built program with an environment of its own.
#![allow(dead_code)] // each test file uses a part

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The program, without any `DWELL_` variable of the shell that runs the tests.
pub(crate) fn dwell(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dwell"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("DWELL_") {
            command.env_remove(name);
        }
    }
    command.args(args).stdin(Stdio::null());
    command
}

pub(crate) fn ran(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().unwrap();
    Ran {
        code: status.code().expect("ended by a signal"),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

pub(crate) fn run(args: &[&str]) -> Ran {
    ran(&mut dwell(args))
}

/// A file in a directory that goes with the value.
pub(crate) struct TableFile {
    _dir: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl TableFile {
    pub(crate) fn new(text: &str) -> TableFile {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("levels.yaml");
        std::fs::write(&path, text).unwrap();
        TableFile { _dir: dir, path }
    }

    pub(crate) fn arg(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

/// The table most tests use.
pub(crate) const TABLE: &str = "targets: [orders, 'payments.*']
maxDelay: 10h
levels: {1s: {}, 5s: {}, 10s: {partitions: 12}, 30s: {}, 1h: {}, 2h: {}, 4h: {state: draining}}
";
