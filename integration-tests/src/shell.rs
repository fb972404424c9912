//! The commands that Dwell prints, run as a reader would paste them.

use crate::Fleet;
use crate::bins;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// Kafka's own tools by the names they have in its distribution, and the class behind each.
const TOOLS: [(&str, &str); 2] =
    [("kafka-topics.sh", "org.apache.kafka.tools.TopicCommand"), ("kafka-configs.sh", "kafka.admin.ConfigCommand")];

/// A shell whose path leads to Kafka's tools.
pub struct Shell {
    bin: PathBuf,
}

impl Shell {
    pub fn new(fleet: &Fleet) -> Shell {
        let bin = fleet.dir.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        let output = Command::new(bins::root().join("dev/kafka")).arg("cp").output().unwrap();
        let class_path = String::from_utf8(output.stdout).unwrap();
        for (name, class) in TOOLS {
            let file = bin.join(name);
            let text = format!("#!/bin/sh\nexec java -Xshare:auto -cp '{}' {class} \"$@\"\n", class_path.trim());
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Shell { bin }
    }

    /// Runs a line; panics with what it said if it fails.
    pub fn run(&self, line: &str) {
        let path = format!("{}:{}", self.bin.display(), std::env::var("PATH").unwrap_or_default());
        let output = Command::new("sh").args(["-c", line]).env("PATH", path).output().unwrap();
        let said = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
        assert!(output.status.success(), "{line}\n{said}");
    }
}
