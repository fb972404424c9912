//! The client library's log lines, as events of this program's log.
//!
//! A broker that is down makes librdkafka say the same thing many times a second. Each kind of line (level, facility
//! and text without its digits) is passed on once; its repetitions are counted and told every thirty seconds.

use dwell_roller_core::Mono;
use rdkafka::config::RDKafkaLogLevel;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long repetitions of a line are only counted.
const QUIET: Duration = Duration::from_secs(30);
/// Kinds of lines remembered at a time; lines can hold names from outside.
const MAX_KINDS: usize = 256;

/// Passes one client's log lines on. Shared by all threads that poll that client.
#[derive(Debug)]
pub struct LogBridge {
    client: String,
    repeats: Mutex<Repeats>,
}

impl LogBridge {
    /// A bridge for the client of this name.
    pub fn new(client: impl Into<String>) -> LogBridge {
        LogBridge { client: client.into(), repeats: Mutex::default() }
    }

    /// Passes a line on, or counts it; for `ClientContext::log`.
    pub fn line(&self, now: Mono, level: RDKafkaLogLevel, facility: &str, text: &str) {
        // Another thread that panicked inside left nothing half done that matters to counting.
        let said = self.repeats.lock().unwrap_or_else(PoisonError::into_inner).admit(now, level, facility, text);
        match said {
            Said::Now { repeated: 0 } => emit(&self.client, level, facility, text),
            Said::Now { repeated } => {
                emit(&self.client, level, facility, &format!("{text} (and {repeated} more like it)"));
            }
            Said::Counted => {}
        }
    }
}

/// What became of a line.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    /// To be passed on, with the number of lines like it that were only counted before.
    Now { repeated: u64 },
    /// Counted.
    Counted,
}

#[derive(Debug, Default)]
struct Repeats {
    kinds: HashMap<String, Kind>,
}

#[derive(Debug)]
struct Kind {
    told: Mono,
    counted: u64,
}

impl Repeats {
    fn admit(&mut self, now: Mono, level: RDKafkaLogLevel, facility: &str, text: &str) -> Said {
        let kind = kind_of(level, facility, text);
        if let Some(known) = self.kinds.get_mut(&kind) {
            if now.since(known.told) < QUIET {
                known.counted += 1;
                return Said::Counted;
            }
            let repeated = std::mem::take(&mut known.counted);
            known.told = now;
            return Said::Now { repeated };
        }
        if self.kinds.len() >= MAX_KINDS {
            self.kinds.retain(|_, known| now.since(known.told) < QUIET);
        }
        if self.kinds.len() < MAX_KINDS {
            self.kinds.insert(kind, Kind { told: now, counted: 0 });
        }
        Said::Now { repeated: 0 }
    }
}

/// Two lines are of one kind if they differ in numbers only (ports, times, counts).
fn kind_of(level: RDKafkaLogLevel, facility: &str, text: &str) -> String {
    let mut kind = format!("{} {facility} ", level as i32);
    kind.extend(text.chars().filter(|c| !c.is_ascii_digit()).take(512));
    kind
}

fn emit(client: &str, level: RDKafkaLogLevel, facility: &str, text: &str) {
    use RDKafkaLogLevel as L;
    match level {
        // Properties are given once for all clients of a process; that some do not concern this one is no news.
        L::Warning if facility == "CONFWARN" && text.contains("will be ignored by this") => {
            tracing::debug!(target: "librdkafka", client, facility, "{text}");
        }
        // What the client calls an error is mostly a connection it will open again by itself.
        L::Emerg | L::Alert | L::Critical => {
            tracing::error!(target: "librdkafka", client, facility, "{text}")
        }
        L::Error | L::Warning => tracing::warn!(target: "librdkafka", client, facility, "{text}"),
        L::Notice | L::Info => tracing::info!(target: "librdkafka", client, facility, "{text}"),
        L::Debug => tracing::debug!(target: "librdkafka", client, facility, "{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Mono {
        Mono::default().plus(Duration::from_secs(seconds))
    }

    fn admit(repeats: &mut Repeats, seconds: u64, text: &str) -> Said {
        repeats.admit(at(seconds), RDKafkaLogLevel::Error, "FAIL", text)
    }

    #[test]
    fn a_repeated_line_is_told_once_and_then_counted() {
        let mut repeats = Repeats::default();
        assert_eq!(admit(&mut repeats, 0, "connect to 10.0.0.1:9092 failed after 1ms"), Said::Now { repeated: 0 });
        for second in 1..30 {
            assert_eq!(admit(&mut repeats, second, "connect to 10.0.0.1:9092 failed after 22ms"), Said::Counted);
        }
        assert_eq!(admit(&mut repeats, 30, "connect to 10.0.0.1:9092 failed after 3ms"), Said::Now { repeated: 29 });
        assert_eq!(admit(&mut repeats, 31, "connect to 10.0.0.1:9092 failed after 3ms"), Said::Counted);
    }

    #[test]
    fn another_line_another_level_and_another_facility_are_told() {
        let mut repeats = Repeats::default();
        assert_eq!(admit(&mut repeats, 0, "a"), Said::Now { repeated: 0 });
        assert_eq!(admit(&mut repeats, 0, "b"), Said::Now { repeated: 0 });
        assert_eq!(repeats.admit(at(0), RDKafkaLogLevel::Info, "FAIL", "a"), Said::Now { repeated: 0 });
        assert_eq!(repeats.admit(at(0), RDKafkaLogLevel::Error, "OTHER", "a"), Said::Now { repeated: 0 });
    }

    #[test]
    fn many_kinds_do_not_grow_memory() {
        let mut repeats = Repeats::default();
        for i in 0..10_000_u32 {
            let name: String = i.to_string().bytes().map(|b| char::from(b - b'0' + b'a')).collect();
            admit(&mut repeats, u64::from(i) / 1000, &name);
        }
        assert!(repeats.kinds.len() <= MAX_KINDS);
        assert_eq!(admit(&mut repeats, 100, "later"), Said::Now { repeated: 0 });
        assert_eq!(repeats.kinds.len(), 1, "the old kinds went");
    }
}
