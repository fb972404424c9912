//! A roller process under test.

use crate::bins;
use crate::wait::within;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// A running `dwell-roller`; killed when dropped.
pub struct Roller {
    child: Child,
    listen: SocketAddr,
    log: PathBuf,
}

impl Roller {
    pub fn spawn(file: &Path, brokers: &str, levels: &[&str], more: &[&str], env: &[(&str, &str)]) -> Roller {
        let mut command = bins::program("dwell-roller").unwrap();
        let listen = free_address();
        command.arg("--levels").arg(file).args(["--brokers", brokers, "--listen", &listen.to_string()]);
        for level in levels {
            command.args(["--level", level]);
        }
        command.args(more).envs(env.iter().copied());
        Roller::start(command, listen, file)
    }

    /// A roller that learns everything from its environment, where it listens too.
    pub fn from_environment(file: &Path, env: &[(&str, &str)]) -> Roller {
        let mut command = bins::program("dwell-roller").unwrap();
        let listen = free_address();
        command.env("DWELL_LEVELS", file).env("DWELL_LISTEN", listen.to_string()).envs(env.iter().copied());
        Roller::start(command, listen, file)
    }

    fn start(mut command: Command, listen: SocketAddr, file: &Path) -> Roller {
        let log = file.with_file_name(format!("roller-{}.log", listen.port()));
        let out = std::fs::File::create(&log).unwrap();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(out).spawn().unwrap();
        Roller { child, listen, log }
    }

    pub fn wait_ready(&self) {
        within(Duration::from_secs(60), "the roller is ready", || (self.get("/readyz").0 == 200).then_some(()));
        // Ready means that it may roll; it is of use once the group has given it partitions.
        within(Duration::from_secs(60), "the roller has partitions", || self.log().contains("assigned").then_some(()));
    }

    /// Status and body of one of its HTTP paths; status 0 if nobody listens.
    pub fn get(&self, path: &str) -> (u16, String) {
        http_get(self.listen, path).unwrap_or((0, String::new()))
    }

    /// The sum of a metric over all its series whose labels contain `labels`.
    pub fn metric(&self, name: &str, labels: &str) -> f64 {
        let (_, body) = self.get("/metrics");
        body.lines()
            .filter(|l| l.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' '])) && l.contains(labels))
            .filter_map(|l| l.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name, as in `TERM`.
    pub fn signal(&self, name: &str) {
        let status = std::process::Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status();
        assert!(status.unwrap().success());
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// SIGTERM, then the exit status, within `patience`.
    pub fn stop(&mut self, patience: Duration) -> ExitStatus {
        self.signal("TERM");
        self.wait(patience)
    }

    pub fn wait(&mut self, patience: Duration) -> ExitStatus {
        let log = self.log.clone();
        within(patience, &format!("the roller ends (log: {})", log.display()), || self.child.try_wait().unwrap())
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Roller {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.kill();
        }
        if std::thread::panicking() {
            eprintln!("--- log of roller {} ---\n{}", self.child.id(), self.log());
        }
    }
}

/// Ended by its own decision, with this code.
pub fn code(status: ExitStatus) -> Option<i32> {
    assert_eq!(status.signal(), None);
    status.code()
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn http_get(to: SocketAddr, path: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&to, Duration::from_secs(2))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let status = text.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let body = text.split_once("\r\n\r\n").map_or(String::new(), |(_, b)| b.to_owned());
    Ok((status, body))
}
