//! Gauges, sums for the log, errors of the clients.

use super::{BOOKKEEPING, End, IDENTITY_EVERY, LevelLoop};
use dwell_kafka::clock::wall_ms;
use dwell_kafka::{Pace, Stats};
use dwell_roller_core::Reading;

impl LevelLoop {
    /// Gauges, sums for the log, errors of the client.
    pub(super) fn keep_books(&mut self, now: &Reading) {
        if now.mono.since(self.booked) < BOOKKEEPING {
            return;
        }
        self.booked = now.mono;
        let m = &self.parts.metrics;
        m.in_flight.set(self.parts.core.in_flight() as f64);
        m.loop_timestamp.set(wall_ms() as f64 / 1e3);
        m.partitions(&self.parts.core.census(now));
        let next = self.parts.core.next_due(now);
        m.next_due.set(next.map_or(-1.0, |(_, _, wait)| wait.as_secs_f64()));
        m.clock_uncertainty.set(now.earliest.until(now.latest).as_secs_f64());
        m.clock_offset.set((now.latest.as_micros() - wall_ms() * 1000) as f64 / 1e6);
        self.chronicle.tell(now.mono);
        self.silence.look(now.mono);
        // An unanswered copy: is it one target, or the cluster? The clock's samples tell.
        let pace = if self.parts.core.awaits_reports() { Pace::Quick } else { Pace::Gentle };
        self.parts.clock.press(pace);
        self.ask_identity(now.mono, IDENTITY_EVERY);
        self.read_client();
    }

    pub(super) fn read_client(&mut self) {
        for error in self.parts.consumer.take_errors() {
            tracing::debug!(level = self.parts.level, %error, "client");
        }
        if let Some(json) = self.parts.consumer.take_statistics()
            && let Ok(stats) = Stats::parse(&json)
        {
            let queued: u64 = stats.partitions().map(|(_, _, p)| p.fetchq_cnt).sum();
            self.parts.metrics.client(stats.rx_bytes as f64, queued as f64);
        }
        if let Some(text) = self.parts.consumer.fatal().or_else(|| self.parts.sending.fatal()) {
            self.ending = Some(End::Failed(text));
        }
    }
}
