//! Topics, and one roller per level up to 30s; one process rolls all longer ones.

use crate::programs::{Roller, program};
use anyhow::{Context, Result, ensure};
use dwell_kafka::{Admin, ClientSettings};
use dwell_levels::topics::{TopicKind, TopicSpec};
use dwell_levels::{Delay, LevelTable};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Levels up to this have a process each.
const OWN_PROCESS: Duration = Duration::from_secs(30);
/// Where the demo's records go.
pub(crate) const TARGETS: [&str; 2] = ["orders", "payments"];

pub(crate) struct Fleet {
    pub(crate) table: LevelTable,
    pub(crate) settings: ClientSettings,
    pub(crate) targets: Vec<String>,
    dir: TempDir,
    rollers: Vec<Roller>,
    /// Someone else's cluster: its topics get names of their own, and are removed at the end.
    guest: bool,
}

impl Fleet {
    /// Writes the table and creates all topics, with the command a user would use.
    pub(crate) fn prepare(brokers: &str) -> Result<Fleet> {
        let guest = std::env::var_os("TEST_KAFKA_DIR").is_none();
        let prefix = if guest { format!("dwell-demo-{}-", std::process::id()) } else { String::new() };
        let targets: Vec<String> = TARGETS.iter().map(|t| format!("{prefix}{t}")).collect();
        let text = levels_yaml(&prefix, &targets);
        let table = LevelTable::parse(&text).context("the demo's table")?;
        let dir = TempDir::with_prefix("dwell-demo-")?;
        std::fs::write(dir.path().join("levels.yaml"), &text)?;
        let settings = ClientSettings::plain(brokers)?;
        let fleet = Fleet { table, settings, targets, dir, rollers: Vec::new(), guest };
        fleet.create_topics()?;
        Ok(fleet)
    }

    fn create_topics(&self) -> Result<()> {
        println!("$ dwell topics apply --execute --levels {} --brokers {}", self.file().display(), self.brokers());
        let output = self.dwell()?.args(["topics", "apply", "--execute"]).output()?;
        ensure!(
            output.status.success(),
            "dwell topics apply failed:\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let specs: Vec<_> = self.targets.iter().map(|name| target(name)).collect();
        for (name, result) in Admin::connect(&self.settings)?.create(&specs) {
            result.with_context(|| format!("create {name}"))?;
        }
        println!("{} topics are there.", self.table.levels().len() + 2 + specs.len());
        Ok(())
    }

    /// `dwell` with this fleet's table and cluster.
    fn dwell(&self) -> Result<Command> {
        let mut command = program("dwell")?;
        command.arg("--levels").arg(self.file()).args(["--brokers", self.brokers()]);
        Ok(command)
    }

    /// Starts all rollers and waits until they are ready.
    pub(crate) fn start(&mut self) -> Result<()> {
        let begin = Instant::now();
        let own = |l: &&dwell_levels::Level| Duration::from_millis(l.delay.as_millis()) <= OWN_PROCESS;
        let (short, long): (Vec<_>, Vec<_>) = self.table.levels().iter().partition(own);
        let mut groups: Vec<Vec<String>> = short.iter().map(|l| vec![l.name.to_string()]).collect();
        groups.push(long.iter().map(|l| l.name.to_string()).collect());
        for levels in groups {
            let name = if levels.len() == 1 { levels.join("") } else { "longer".to_owned() };
            let mut command = program("dwell-roller")?;
            command.arg("--levels").arg(self.file()).args(["--brokers", self.brokers()]);
            command.args(levels.iter().flat_map(|l| ["--level", l]));
            self.rollers.push(Roller::start(&name, command, self.dir.path().join(format!("roller-{name}.log")))?);
        }
        self.wait_ready()?;
        let names: Vec<_> = self.rollers.iter().map(|r| r.name.as_str()).collect();
        println!(
            "{} rollers ({}) are ready after {:.1} s.",
            names.len(),
            names.join(", "),
            begin.elapsed().as_secs_f64()
        );
        Ok(())
    }

    fn wait_ready(&mut self) -> Result<()> {
        let begin = Instant::now();
        loop {
            self.check_alive()?;
            let waiting: Vec<_> =
                self.rollers.iter().filter(|r| !is_ready(r)).map(|r| format!("{}:\n{}", r.name, r.log())).collect();
            if waiting.is_empty() {
                return Ok(());
            }
            ensure!(begin.elapsed() < Duration::from_secs(60), "not ready after a minute: {}", waiting.join("\n"));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn check_alive(&mut self) -> Result<()> {
        self.rollers.iter_mut().try_for_each(Roller::check_alive)
    }

    /// Ends all rollers in good order, and removes what was created on someone else's cluster.
    pub(crate) fn stop(&mut self) -> Result<()> {
        self.rollers.iter().try_for_each(Roller::ask_to_stop)?;
        for roller in &mut self.rollers {
            roller.wait(Duration::from_secs(20))?;
        }
        if self.guest {
            let admin = Admin::connect(&self.settings)?;
            let levels = self.table.levels().iter().map(|l| self.table.topic_of(l));
            let others = [self.table.parked_topic(), self.table.clock_topic()];
            for topic in levels.chain(others).chain(self.targets.iter().cloned()) {
                admin.delete_topic(&topic)?;
            }
        }
        Ok(())
    }

    pub(crate) fn brokers(&self) -> &str {
        self.settings.brokers()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.dir.path().join("levels.yaml")
    }

    /// Commands to try by hand.
    pub(crate) fn hints(&self) -> Result<Vec<String>> {
        let dwell = program("dwell")?.get_program().to_string_lossy().into_owned();
        let (file, brokers, target) = (self.file(), self.brokers(), &self.targets[0]);
        let topic = self.table.topic_of(self.table.get("5s").context("the table has 5s")?);
        let mut hints = vec![
            format!("{dwell} --levels {} --brokers {brokers} send --to {target} --in 5s hello", file.display()),
            format!("echo hello | kcat -b {brokers} -P -t {topic} -H dwell-target={target} -X acks=all"),
            format!("kcat -b {brokers} -C -t {target} -o end -f '%T %h %s\\n'"),
        ];
        hints
            .extend(self.rollers.iter().map(|r| format!("curl -s http://{}/metrics    # roller {}", r.listen, r.name)));
        Ok(hints)
    }
}

fn levels_yaml(prefix: &str, targets: &[String]) -> String {
    let levels = ["1s", "5s", "10s", "30s", "1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "10m"]
        .into_iter()
        .chain(["20m", "30m", "1h", "2h"])
        .map(|l| format!("  {l}: {{}}\n"))
        .collect::<String>();
    format!(
        "topicPrefix: {prefix}delay-\ngroupPrefix: {prefix}dwell-roller-\ntargets: [{}]\n\
         levelDefaults: {{partitions: 3, replicationFactor: 1}}\nlevels:\n{levels}",
        targets.join(", ")
    )
}

/// A business topic; with the broker's append time, so that the checker can see when records arrived.
fn target(name: &str) -> TopicSpec {
    TopicSpec {
        name: name.to_owned(),
        kind: TopicKind::Clock,
        partitions: 3,
        replication_factor: 1,
        retention_needed: Delay::ZERO,
        config: vec![("message.timestamp.type".to_owned(), "LogAppendTime".to_owned())],
    }
}

fn is_ready(roller: &Roller) -> bool {
    ready(roller).unwrap_or(false) && roller.log().contains("assigned")
}

fn ready(roller: &Roller) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&roller.listen, Duration::from_secs(1))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text.starts_with("HTTP/1.1 200"))
}
