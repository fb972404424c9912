//! The bounds of one roller.

use std::time::Duration;

/// What a roller may hold, and for how long. The defaults are the ones documented in `docs/guarantees.md`.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Copies with the producer, over all partitions of the level.
    pub in_flight_records: usize,
    /// Bytes of key and value in those copies.
    pub in_flight_bytes: usize,
    /// Records of one partition that are sent or released but not committed. Bounds what a crash repeats.
    pub uncommitted: usize,
    /// The oldest uncommitted record is committed after this.
    pub commit_after: Duration,
    /// An idle partition commits after this.
    pub commit_idle: Duration,
    /// A head that waits longer is copied out of the fetch buffer.
    pub detach_after: Duration,
    /// A target that acknowledges nothing for this long, while others do, is silent.
    pub target_silence: Duration,
    /// How often a record is set aside because of its target, before it is parked.
    pub target_waits: u32,
    /// How soon a missing or forbidden topic, or an unanswered question, is asked for again.
    pub recheck: Duration,
    /// One answer of the cluster proves at most this much time of being alive.
    pub evidence_cap: Duration,
    /// On a revoke or stop, how long acknowledgements are waited for.
    pub drain_acks: Duration,
    /// After that, how long the last commit is waited for.
    pub drain_commit: Duration,
    /// Copies to silent topics that no longer count as in flight, at most.
    pub stranded: usize,
    /// The consumer's `fetch.wait.max.ms`: a resumed partition may wait for it twice.
    pub fetch_wait: Duration,
    /// First and longest pause before a failed copy is sent again.
    pub backoff: (Duration, Duration),
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            in_flight_records: 20_000,
            in_flight_bytes: 32 << 20,
            uncommitted: 10_000,
            commit_after: Duration::from_secs(1),
            commit_idle: Duration::from_millis(100),
            detach_after: Duration::from_millis(5),
            target_silence: Duration::from_secs(30),
            target_waits: 5,
            recheck: Duration::from_secs(5),
            evidence_cap: Duration::from_secs(3),
            drain_acks: Duration::from_secs(5),
            drain_commit: Duration::from_secs(2),
            stranded: 50_000,
            fetch_wait: Duration::from_millis(100),
            backoff: (Duration::from_millis(100), Duration::from_secs(30)),
        }
    }
}

impl Limits {
    /// How long before its due time a paused partition is resumed, so that the records behind its head are
    /// there in time: librdkafka's broker thread may sleep a second and then finish a long poll.
    pub fn resume_lead(&self) -> Duration {
        Duration::from_secs(1) + 2 * self.fetch_wait
    }

    /// The pause before the n-th repetition (counted from 0) of a failed copy.
    pub fn backoff_after(&self, failures: u8) -> Duration {
        let (first, longest) = self.backoff;
        first.saturating_mul(1 << u32::from(failures.min(16))).min(longest)
    }
}
