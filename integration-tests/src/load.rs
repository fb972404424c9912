//! Traffic that goes on while something else happens.

use crate::audit::asked;
use crate::{Fleet, Producer, rec};
use dwell_testkit::checker::Sent;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Records of forty keys, in order, by the hundred.
pub fn batch(target: &str, from: usize) -> Vec<crate::produce::Rec> {
    (from..from + 100).map(|i| rec(target, &format!("k{}", i % 40), &i.to_string())).collect()
}

/// A producer that sends to one level until it is told to stop.
pub struct Load {
    enough: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Sent>>,
}

impl Load {
    /// A hundred records each time, a pause in between.
    pub fn start(fleet: &Fleet, level: &str, target: &str, pause: Duration) -> Load {
        let enough = Arc::new(AtomicBool::new(false));
        let (settings, topic, target) = (fleet.settings.clone(), fleet.level_topic(level), target.to_owned());
        let stop = enough.clone();
        let thread = std::thread::spawn(move || {
            let mut producer = Producer::connect(&settings);
            let mut sent = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let written = producer.send(&topic, &batch(&target, sent.len()));
                sent.extend(asked(&topic, &target, 0, &written));
                std::thread::sleep(pause);
            }
            sent
        });
        Load { enough, thread }
    }

    /// Ends it; returns what was sent.
    pub fn finish(self) -> Vec<Sent> {
        self.enough.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}
