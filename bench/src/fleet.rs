//! A table of levels with topics of its own, and the programs that serve it.

use crate::cluster::Cluster;
use crate::process::{Process, free_address, program};
use anyhow::{Context, Result};
use dwell_levels::LevelTable;
use dwell_levels::topics::wanted;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// Level topics on the cluster. Each roller that is asked for may be the first of a new group: then it finds
/// everything undelivered.
pub(crate) struct Fleet {
    name: String,
    brokers: String,
    levels: Vec<String>,
    partitions: u32,
    dir: TempDir,
    table: LevelTable,
}

impl Fleet {
    /// Creates the topics.
    pub(crate) fn create(cluster: &Cluster, levels: &[&str], partitions: u32) -> Result<Fleet> {
        let name = format!("bench{}x{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let levels: Vec<String> = levels.iter().map(|l| (*l).to_owned()).collect();
        let table = parse(&yaml(&name, "0", &levels, partitions))?;
        cluster.create_all(&wanted(&table))?;
        let dir = TempDir::with_prefix("dwell-bench-")?;
        Ok(Fleet { name, brokers: cluster.brokers().to_owned(), levels, partitions, dir, table })
    }

    pub(crate) fn level_topic(&self, level: &str) -> Result<String> {
        Ok(self.table.topic_of(self.table.get(level).context("no such level")?))
    }

    /// A target the table allows.
    pub(crate) fn target(&self, suffix: &str) -> String {
        format!("{}.{suffix}", self.name)
    }

    /// The name of a group that nobody else has.
    pub(crate) fn group(&self, suffix: &str) -> String {
        format!("{}-{suffix}", self.name)
    }

    /// A roller process. Rollers with the same `generation` share their groups.
    pub(crate) fn roller(&self, generation: &str, levels: &[&str], more: &[&str]) -> Result<Process> {
        let file = self.file(generation)?;
        let listen = free_address()?;
        let mut command = program("dwell-roller")?;
        command.arg("--levels").arg(file).args(["--brokers", &self.brokers, "--listen", &listen.to_string()]);
        command.args(levels.iter().flat_map(|l| ["--level", l])).args(more);
        Process::start(command, self.dir.path())
    }

    /// The plain copy as a process.
    pub(crate) fn copy(&self, group: &str, from: &str, to: &str, linger_ms: u32) -> Result<Process> {
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.args(["copy", "--brokers", &self.brokers, "--from", from, "--to", to]);
        command.args(["--group", &self.group(group), "--linger-ms", &linger_ms.to_string()]);
        Process::start(command, self.dir.path())
    }

    fn file(&self, generation: &str) -> Result<PathBuf> {
        let path = self.dir.path().join(format!("levels-{generation}.yaml"));
        std::fs::write(&path, yaml(&self.name, generation, &self.levels, self.partitions))?;
        Ok(path)
    }
}

fn parse(text: &str) -> Result<LevelTable> {
    LevelTable::parse(text).context("the table of the benchmark")
}

fn yaml(name: &str, generation: &str, levels: &[String], partitions: u32) -> String {
    let levels: String = levels.iter().map(|l| format!("  {l}: {{}}\n")).collect();
    format!(
        "topicPrefix: {name}-delay-\ngroupPrefix: {name}-roller-{generation}-\ntargets: [\"{name}.*\"]\n\
         levelDefaults: {{partitions: {partitions}, replicationFactor: 1}}\nlevels:\n{levels}"
    )
}
