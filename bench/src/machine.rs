//! What the figures were measured on.

use serde::Serialize;
use std::process::Command;

/// The machine, and what else it was doing.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    cpu: String,
    cores: usize,
    memory_gib: f64,
    kernel: String,
    commit: String,
    /// Runnable tasks in the last minute. More than a few before a run: figures of a busy machine.
    load_before: f64,
}

impl Machine {
    pub(crate) fn look() -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|l| l.starts_with(name)).unwrap_or_default();
            line.split_once(':').map_or(String::new(), |(_, v)| v.trim().to_owned())
        };
        let first = |text: &str| text.split_whitespace().next().and_then(|w| w.parse::<f64>().ok()).unwrap_or(0.0);
        Machine {
            cpu: field(&read("/proc/cpuinfo"), "model name"),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_gib: (first(&field(&read("/proc/meminfo"), "MemTotal")) / f64::from(1 << 20) * 10.0).round() / 10.0,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            commit: commit(),
            load_before: first(&read("/proc/loadavg")),
        }
    }

    pub(crate) fn line(&self) -> String {
        let Machine { cpu, cores, memory_gib, kernel, commit, load_before } = self;
        let cpu = if cpu.is_empty() { "unknown CPU" } else { cpu };
        format!("{cores} cores ({cpu}), {memory_gib} GiB, Linux {kernel}; commit {commit}; load before {load_before}")
    }
}

fn commit() -> String {
    let output = Command::new("git").args(["describe", "--always", "--dirty"]).output();
    let text = output.ok().filter(|o| o.status.success()).map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    text.unwrap_or_else(|| "unknown".to_owned())
}
