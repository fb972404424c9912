//! Client settings by tier.

use dwell_levels::Level;
use std::time::Duration;

/// How a level's consumer is set.
#[derive(Debug, Clone)]
pub struct Tuning {
    fetch_wait: Duration,
    fetch_backoff: Duration,
    queued_records: u32,
    queued_kib: u32,
    session: Duration,
    heartbeat: Duration,
    metadata_refresh: Duration,
    instance_id: Option<String>,
}

impl Tuning {
    /// Levels up to a minute fail over in seconds and drain from deep queues; longer ones cost little.
    pub fn for_level(level: &Level) -> Tuning {
        if level.delay.as_millis() <= 60_000 {
            Tuning {
                fetch_wait: Duration::from_millis(50),
                fetch_backoff: Duration::from_millis(5),
                queued_records: 20_000,
                queued_kib: 4096,
                session: Duration::from_secs(6),
                heartbeat: Duration::from_millis(500),
                metadata_refresh: Duration::from_secs(5),
                instance_id: None,
            }
        } else {
            Tuning {
                fetch_wait: Duration::from_millis(250),
                fetch_backoff: Duration::from_millis(20),
                queued_records: 5_000,
                queued_kib: 1024,
                session: Duration::from_secs(10),
                heartbeat: Duration::from_secs(1),
                metadata_refresh: Duration::from_secs(30),
                instance_id: None,
            }
        }
    }

    /// A static member: back in a tenth of a second after a crash, at the price of slow scale-downs.
    pub fn with_instance_id(mut self, id: Option<String>) -> Tuning {
        self.instance_id = id;
        self
    }

    /// The consumer's long poll.
    pub fn fetch_wait(&self) -> Duration {
        self.fetch_wait
    }

    pub(crate) fn instance_id(&self) -> Option<&str> {
        self.instance_id.as_deref()
    }

    /// Defaults that a user may override with `-X`.
    pub(crate) fn properties(&self) -> Vec<(&'static str, String)> {
        let ms = |d: Duration| d.as_millis().to_string();
        vec![
            ("fetch.wait.max.ms", ms(self.fetch_wait)),
            ("fetch.queue.backoff.ms", ms(self.fetch_backoff)),
            ("fetch.max.bytes", (16 << 20).to_string()),
            ("queued.min.messages", self.queued_records.to_string()),
            ("queued.max.messages.kbytes", self.queued_kib.to_string()),
            ("session.timeout.ms", ms(self.session)),
            ("heartbeat.interval.ms", ms(self.heartbeat)),
            // Added partitions are rolled once they are seen.
            ("topic.metadata.refresh.interval.ms", ms(self.metadata_refresh)),
            ("max.poll.interval.ms", "60000".to_owned()),
            ("statistics.interval.ms", "5000".to_owned()),
        ]
    }
}
