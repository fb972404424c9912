//! A program under measurement.

use anyhow::{Context, Result, ensure};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// A running program; killed when dropped.
pub(crate) struct Process {
    child: Child,
    log: PathBuf,
    /// Just before it was started, epoch milliseconds.
    pub(crate) started_ms: i64,
}

impl Process {
    pub(crate) fn start(mut command: Command, dir: &Path) -> Result<Process> {
        let log = dir.join(format!("process-{}.log", COUNTER.fetch_add(1, Ordering::Relaxed)));
        let out = std::fs::File::create(&log)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(out);
        let started_ms = wall_ms()?;
        let child = command.spawn().with_context(|| format!("start {:?}", command.get_program()))?;
        Ok(Process { child, log, started_ms })
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// An error with its log if it has ended.
    pub(crate) fn check_alive(&mut self) -> Result<()> {
        let ended = self.child.try_wait()?;
        ensure!(ended.is_none(), "it ended ({ended:?}); its log:\n{}", self.log());
        Ok(())
    }

    /// CPU time used so far, user and system.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The command name before the last bracket may hold blanks.
        let (_, rest) = stat.rsplit_once(')').context("/proc/PID/stat has brackets")?;
        let ticks: u64 = rest.split_whitespace().skip(11).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
        // The kernel's unit towards programs is 1/100 s on every architecture that Kafka runs on.
        Ok(Duration::from_millis(ticks * 10))
    }

    /// Ends it at once.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// A program of the product that lies next to this one. It does not inherit this process's DWELL_ variables.
pub(crate) fn program(name: &str) -> Result<Command> {
    let path = std::env::current_exe()?.with_file_name(name);
    ensure!(path.is_file(), "{} is missing; `make bench` builds it", path.display());
    let mut command = Command::new(path);
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("DWELL_") {
            command.env_remove(variable);
        }
    }
    Ok(command)
}

pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// The host's clock, which the broker on this host shares.
pub(crate) fn wall_ms() -> Result<i64> {
    Ok(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?)
}
