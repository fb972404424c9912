//! The product's programs, started as a user would.

use anyhow::{Context, Result, ensure};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program next to this one, or in $DWELL_BIN_DIR; it does not inherit this process's DWELL_ variables.
pub(crate) fn program(name: &str) -> Result<Command> {
    let dir = match std::env::var_os("DWELL_BIN_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => std::env::current_exe()?.parent().context("this program lies nowhere")?.to_owned(),
    };
    let path = dir.join(name);
    ensure!(path.is_file(), "{} is missing; `make demo` builds it", path.display());
    let mut command = Command::new(path);
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("DWELL_") {
            command.env_remove(variable);
        }
    }
    Ok(command)
}

/// A running roller; killed when dropped.
pub(crate) struct Roller {
    pub(crate) name: String,
    pub(crate) listen: SocketAddr,
    child: Child,
    log: PathBuf,
}

impl Roller {
    pub(crate) fn start(name: &str, mut command: Command, log: PathBuf) -> Result<Roller> {
        let listen = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let out = std::fs::File::create(&log)?;
        let child = command
            .args(["--listen", &listen.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(out)
            .spawn()
            .with_context(|| format!("start roller {name}"))?;
        Ok(Roller { name: name.to_owned(), listen, child, log })
    }

    pub(crate) fn check_alive(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            let log = std::fs::read_to_string(&self.log).unwrap_or_default();
            anyhow::bail!("roller {} ended ({status}); its log:\n{log}", self.name);
        }
        Ok(())
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub(crate) fn ask_to_stop(&self) -> Result<()> {
        let status = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        ensure!(status.success(), "cannot signal roller {}", self.name);
        Ok(())
    }

    /// Waits for its end after `ask_to_stop`; it must end with 0.
    pub(crate) fn wait(&mut self, patience: Duration) -> Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < patience {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "roller {} ended with {status}", self.name);
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        anyhow::bail!("roller {} did not stop within {patience:?}", self.name)
    }
}

impl Drop for Roller {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
