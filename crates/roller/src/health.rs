//! What the probes and the watchdog know of the loops.

use dwell_kafka::clock::mono;
use dwell_roller_core::Mono;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A loop that has not turned for this long is dead.
pub(crate) const DEAD_AFTER: Duration = Duration::from_secs(30);

/// One level's state, written by its loop.
pub(crate) struct Health {
    pub(crate) level: String,
    heartbeat: AtomicU64,
    not_ready: Mutex<Option<String>>,
}

impl Health {
    pub(crate) fn new(level: &str) -> Health {
        Health {
            level: level.to_owned(),
            heartbeat: AtomicU64::new(mono().as_micros()),
            not_ready: Mutex::new(Some("starting".to_owned())),
        }
    }

    /// The loop turns.
    pub(crate) fn beat(&self, now: Mono) {
        self.heartbeat.store(now.as_micros(), Ordering::Relaxed);
    }

    /// Time since the loop last turned.
    pub(crate) fn silence(&self, now: Mono) -> Duration {
        now.since(Mono::from_micros(self.heartbeat.load(Ordering::Relaxed)))
    }

    /// Ready, whatever the number of partitions.
    pub(crate) fn ready(&self) {
        self.set(None);
    }

    /// Not ready, and why; logged when the reason changes.
    pub(crate) fn not_ready(&self, why: &str) {
        if self.set(Some(why.to_owned())) {
            tracing::warn!(level = self.level, "not ready: {why}");
        }
    }

    fn set(&self, why: Option<String>) -> bool {
        let Ok(mut current) = self.not_ready.lock() else { return false };
        let changed = *current != why;
        if changed && why.is_none() {
            tracing::info!(level = self.level, "ready");
        }
        *current = why;
        changed
    }

    pub(crate) fn why_not_ready(&self) -> Option<String> {
        self.not_ready.lock().map_or_else(|_| Some("a thread has panicked".to_owned()), |w| w.clone())
    }
}
