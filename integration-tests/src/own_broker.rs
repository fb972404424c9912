//! A broker of a test's own, which may be hurt.

use crate::bins;
use std::process::Command;
use tempfile::TempDir;

/// Runs until it is dropped or this process ends.
pub struct OwnBroker {
    dir: TempDir,
    address: String,
}

impl OwnBroker {
    pub fn start() -> OwnBroker {
        let dir = TempDir::new().unwrap();
        let owner = std::process::id().to_string();
        let said = said(command("start", &dir).args(["--owner", &owner]));
        let address = said.trim().trim_start_matches("BROKERS=").to_owned();
        OwnBroker { dir, address }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Connections stay open, nothing answers.
    pub fn freeze(&self) {
        said(&mut command("freeze", &self.dir));
    }

    pub fn thaw(&self) {
        said(&mut command("thaw", &self.dir));
    }

    /// Ends without a word, as in a power cut.
    pub fn kill(&self) {
        said(&mut command("kill", &self.dir));
    }

    /// Up again on the same data and address.
    pub fn restart(&self) {
        said(&mut command("restart", &self.dir));
    }
}

impl Drop for OwnBroker {
    fn drop(&mut self) {
        // It may be gone already. A frozen process dies of SIGKILL as well.
        let _ = command("kill", &self.dir).output();
    }
}

fn command(verb: &str, dir: &TempDir) -> Command {
    let mut command = Command::new(bins::root().join("dev/kafka"));
    command.arg(verb).arg("--dir").arg(dir.path());
    command
}

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
