//! A wrong wall clock for one process: a small library, compiled here and preloaded there.

use crate::Fleet;
use crate::roller::Roller;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

/// The clock of one host, which is wrong by whole seconds.
pub struct WrongClock {
    library: String,
    shift: String,
}

impl WrongClock {
    /// Compiles the library into a directory, which must last as long as the processes with this clock.
    pub fn new(dir: &Path, seconds: i64) -> WrongClock {
        let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
        let clock = WrongClock { library: path("clock_shim.so"), shift: path("clock_shift") };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/clock_shim.c");
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", &clock.library]).arg(source).arg("-ldl");
        let output = cc.output().expect("a C compiler, as for building librdkafka");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        clock.step_to(seconds);
        clock
    }

    /// From now on the clock is wrong by so much, in running processes too.
    pub fn step_to(&self, seconds: i64) {
        // Written in place: processes have the file mapped.
        let file = std::fs::OpenOptions::new().write(true).create(true).truncate(false).open(&self.shift).unwrap();
        file.write_all_at(&seconds.to_ne_bytes(), 0).unwrap();
    }

    /// What a process on a host with this clock finds in its environment.
    pub fn environment(&self) -> [(&str, &str); 2] {
        [("LD_PRELOAD", self.library.as_str()), ("CLOCK_SHIM", self.shift.as_str())]
    }

    /// A roller on a host with this clock, ready.
    pub fn roller(&self, fleet: &Fleet, levels: &[&str]) -> Roller {
        let roller = Roller::spawn(&fleet.file(), fleet.settings.brokers(), levels, &[], &self.environment());
        roller.wait_ready();
        roller
    }
}
