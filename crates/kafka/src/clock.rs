//! The only place in the workspace that reads a clock.
#![allow(clippy::disallowed_methods)]

use dwell_roller_core::Mono;
use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

static START: OnceLock<Instant> = OnceLock::new();

/// Time on the process's monotonic clock, counted from its first reading.
pub fn mono() -> Mono {
    let start = *START.get_or_init(Instant::now);
    Mono::from_micros(u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX))
}

/// The host's own idea of the time, epoch milliseconds. Good for information and for a producer's "at 12:00";
/// no due time of a waiting record depends on it.
pub fn wall_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(d) => i64::try_from(d.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    }
}

/// Sleeps precisely, for waits of less than a scheduler tick. Only the roller's own thread uses it.
pub fn sleep_exactly(d: std::time::Duration) {
    std::thread::sleep(d);
}
