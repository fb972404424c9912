//! Three brokers of a test's own, each of which may be hurt, and one of which may have a wrong clock.

use crate::bins;
use crate::clock_shim::WrongClock;
use crate::wait::within;
use dwell_levels::topics::TopicSpec;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// Three brokers keep a small machine busy: one cluster at a time.
static ONE: Mutex<()> = Mutex::new(());

/// Runs until it is dropped or this process ends. Broker 1 is the controller too: hurt one of the others.
pub struct OwnCluster {
    dir: TempDir,
    address: String,
    _one: MutexGuard<'static, ()>,
}

impl OwnCluster {
    /// All clocks are right.
    pub fn start() -> OwnCluster {
        OwnCluster::launch(TempDir::new().unwrap(), &[])
    }

    /// The clock of broker 3 is wrong by so much.
    pub fn with_wrong_clock(seconds: i64) -> OwnCluster {
        let dir = TempDir::new().unwrap();
        let clock = WrongClock::new(dir.path(), seconds);
        let env: Vec<String> = clock.environment().iter().map(|(key, value)| format!("3:{key}={value}")).collect();
        OwnCluster::launch(dir, &env)
    }

    fn launch(dir: TempDir, env: &[String]) -> OwnCluster {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut command = kafka("cluster", dir.path().join("kafka"));
        command.args(["--owner", &std::process::id().to_string()]);
        for each in env {
            command.args(["--env", each]);
        }
        // Made before it starts: what did come up is ended where something did not.
        let mut cluster = OwnCluster { dir, address: String::new(), _one: one };
        cluster.address = said(&mut command).trim().trim_start_matches("BROKERS=").to_owned();
        cluster
    }

    /// All three.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Some of them, for clients that must not wait for the others.
    pub fn address_of(&self, ids: &[usize]) -> String {
        let all: Vec<&str> = self.address.split(',').collect();
        ids.iter().map(|id| all[id - 1]).collect::<Vec<_>>().join(",")
    }

    pub fn broker(&self, id: i32) -> Broker {
        Broker { dir: self.dir.path().join("kafka").join(id.to_string()) }
    }

    /// Creates one of a table's topics with these brokers as the replicas of each partition, the leader first.
    pub fn create(&self, spec: &TopicSpec, replicas: &[i32]) {
        self.place(&spec.name, spec.partitions, replicas, &spec.config);
    }

    /// Creates a topic with the broker's append time on these brokers, and returns its name.
    pub fn target(&self, name: String, partitions: u32, replicas: &[i32], config: &[(&str, &str)]) -> String {
        let append_time = [("message.timestamp.type", "LogAppendTime")];
        let config: Vec<_> =
            append_time.iter().chain(config).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        self.place(&name, partitions, replicas, &config);
        name
    }

    fn place(&self, name: &str, partitions: u32, replicas: &[i32], config: &[(String, String)]) {
        let each = replicas.iter().map(i32::to_string).collect::<Vec<_>>().join(":");
        let placed = vec![each; usize::try_from(partitions).unwrap()].join(",");
        let mut command = self.tool("org.apache.kafka.tools.TopicCommand");
        command.args(["--create", "--topic", name, "--replica-assignment", &placed]);
        for (key, value) in config {
            command.args(["--config", &format!("{key}={value}")]);
        }
        said(&mut command);
    }

    /// Makes a broker the leader of all partitions of a topic, as its first replica.
    pub fn move_leaders(&self, topic: &str, partitions: u32, replicas: &[i32]) {
        let each = |partition| serde_json::json!({"topic": topic, "partition": partition, "replicas": replicas});
        let plan = serde_json::json!({"version": 1, "partitions": (0..partitions).map(each).collect::<Vec<_>>()});
        let path = self.dir.path().join("plan.json");
        std::fs::write(&path, plan.to_string()).unwrap();
        let mut command = self.tool("org.apache.kafka.tools.reassign.ReassignPartitionsCommand");
        said(command.arg("--reassignment-json-file").arg(&path).arg("--execute"));
        let path = self.dir.path().join("elect.json");
        std::fs::write(&path, plan.to_string()).unwrap();
        let mut command = self.tool("org.apache.kafka.tools.LeaderElectionCommand");
        command.args(["--election-type", "preferred", "--path-to-json-file"]).arg(&path);
        said(&mut command);
        self.await_leader(topic, replicas[0]);
    }

    /// Until this broker leads every partition of a topic.
    pub fn await_leader(&self, topic: &str, leader: i32) {
        self.await_each(topic, &format!("Leader: {leader}\t"));
    }

    /// Until it is known that nobody leads any partition of a topic.
    pub fn await_leaderless(&self, topic: &str) {
        self.await_each(topic, "Leader: none\t");
    }

    fn await_each(&self, topic: &str, wanted: &str) {
        within(Duration::from_secs(60), &format!("{wanted}for {topic}"), || {
            let text = said(self.tool("org.apache.kafka.tools.TopicCommand").args(["--describe", "--topic", topic]));
            text.lines().filter(|line| line.contains("Leader: ")).all(|line| line.contains(wanted)).then_some(())
        });
    }

    fn tool(&self, class: &str) -> Command {
        let class_path = said(Command::new(bins::root().join("dev/kafka")).arg("cp"));
        let mut command = Command::new("java");
        command.args(["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", class_path.trim(), class]);
        command.args(["--bootstrap-server", &self.address]);
        command
    }
}

impl Drop for OwnCluster {
    fn drop(&mut self) {
        // A frozen process dies of SIGKILL as well.
        let _ = kafka("kill", self.dir.path().join("kafka")).output();
    }
}

/// One of the three.
pub struct Broker {
    dir: PathBuf,
}

impl Broker {
    /// Connections stay open, nothing answers.
    pub fn freeze(&self) {
        self.does("freeze");
    }

    pub fn thaw(&self) {
        self.does("thaw");
    }

    /// Ends without a word, as in a power cut.
    pub fn kill(&self) {
        self.does("kill");
    }

    /// Ends in good order: its leaders move first.
    pub fn stop(&self) {
        self.does("stop");
    }

    /// Up again on the same data and address.
    pub fn restart(&self) {
        self.does("restart");
    }

    fn does(&self, verb: &str) {
        said(&mut kafka(verb, self.dir.clone()));
    }
}

fn kafka(verb: &str, dir: PathBuf) -> Command {
    let mut command = Command::new(bins::root().join("dev/kafka"));
    command.arg(verb).arg("--dir").arg(dir);
    command
}

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    assert!(output.status.success(), "{command:?}: {text}");
    String::from_utf8(output.stdout).unwrap()
}
