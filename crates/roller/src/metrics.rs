//! The roller's metrics: names, help texts, and the handles of one level.

use crate::level_loop::Effect;
use dwell_roller_core::{Claim, Doing, Failure, Outcome};
use dwell_wire::Reason;
use metrics::{Counter, Gauge, Histogram, Unit, counter, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Bounds of the lateness histogram, in seconds. A healthy level is in the first few.
pub(crate) const LATENESS_BUCKETS: [f64; 16] =
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 900.0];

const LATENESS: &str = "dwell_roller_release_lateness_seconds";

/// Installs the recorder; its handle renders `/metrics`.
pub(crate) fn install() -> anyhow::Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full(LATENESS.to_owned()), &LATENESS_BUCKETS)?
        .install_recorder()?;
    describe();
    gauge!("dwell_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    Ok(handle)
}

fn describe() {
    use metrics::{describe_counter as c, describe_gauge as g, describe_histogram as h};
    g!("dwell_build_info", "Always 1; the version is a label.");
    g!("dwell_level_delay_seconds", Unit::Seconds, "The level's delay.");
    c!("dwell_roller_consumed_total", "Records read.");
    c!(
        "dwell_roller_released_total",
        "Records acknowledged where they went: delivered (to the target), retried (to another level), dead_lettered (parked)."
    );
    h!(LATENESS, Unit::Seconds, "Acknowledgement by the target minus due time.");
    c!(
        "dwell_roller_early_releases_total",
        "Records that a target's broker stamped before they were due. Must stay 0."
    );
    c!("dwell_roller_release_errors_total", "Copies that were not written, by reason.");
    c!("dwell_roller_invalid_records_total", "Records parked, by reason.");
    c!("dwell_roller_set_aside_total", "Records sent to wait because their target did not take them.");
    g!("dwell_roller_partitions", "Owned partitions, by what they do.");
    g!("dwell_roller_in_flight_records", "Copies with the producer.");
    g!("dwell_roller_loop_timestamp_seconds", Unit::Seconds, "When the loop last turned, by the host's clock.");
    c!("dwell_roller_rebalances_total", "Rebalance steps, by event.");
    c!("dwell_roller_commits_total", "Commits of partitions, by result.");
    c!("dwell_roller_offset_resets_total", "Positions that did not exist, by what that does to records. Must stay 0.");
    g!("dwell_roller_next_due_seconds", Unit::Seconds, "Time until the next head is due; -1 without one.");
    g!("dwell_roller_clock_uncertainty_seconds", Unit::Seconds, "Width of what is known of the brokers' clocks.");
    g!("dwell_roller_clock_offset_seconds", Unit::Seconds, "Brokers' clock minus this host's.");
    g!("dwell_roller_shutdown_duration_seconds", Unit::Seconds, "How long the last stop took.");
    g!("dwell_roller_fetched_bytes", Unit::Bytes, "Bytes received by the consumer since it started.");
    g!("dwell_roller_prefetched_records", "Records in the client's queues.");
}

/// Handles of one level, looked up once.
pub(crate) struct LevelMetrics {
    level: String,
    pub(crate) consumed: Counter,
    delivered: Counter,
    retried: Counter,
    dead_lettered: Counter,
    set_aside: Counter,
    lateness: Histogram,
    pub(crate) early: Counter,
    pub(crate) in_flight: Gauge,
    pub(crate) loop_timestamp: Gauge,
    pub(crate) next_due: Gauge,
    pub(crate) clock_uncertainty: Gauge,
    pub(crate) clock_offset: Gauge,
}

impl LevelMetrics {
    pub(crate) fn new(level: &str, delay_seconds: f64) -> LevelMetrics {
        let l = || level.to_owned();
        gauge!("dwell_level_delay_seconds", "level" => l(), "state" => "active").set(delay_seconds);
        let released =
            |outcome: &'static str| counter!("dwell_roller_released_total", "level" => l(), "outcome" => outcome);
        let m = LevelMetrics {
            level: l(),
            consumed: counter!("dwell_roller_consumed_total", "level" => l()),
            delivered: released("delivered"),
            retried: released("retried"),
            dead_lettered: released("dead_lettered"),
            set_aside: counter!("dwell_roller_set_aside_total", "level" => l()),
            lateness: histogram!(LATENESS, "level" => l()),
            early: counter!("dwell_roller_early_releases_total", "level" => l()),
            in_flight: gauge!("dwell_roller_in_flight_records", "level" => l()),
            loop_timestamp: gauge!("dwell_roller_loop_timestamp_seconds", "level" => l()),
            next_due: gauge!("dwell_roller_next_due_seconds", "level" => l()),
            clock_uncertainty: gauge!("dwell_roller_clock_uncertainty_seconds", "level" => l()),
            clock_offset: gauge!("dwell_roller_clock_offset_seconds", "level" => l()),
        };
        m.start_series();
        m
    }

    /// Known series start at 0, so that a first increase is seen as one.
    fn start_series(&self) {
        for event in ["assigned", "revoked", "lost"] {
            self.rebalances(event, 0);
        }
        for result in ["ok", "error"] {
            self.commits(result, 0);
        }
        for reason in ["refused", "retriable", "unknown_topic", "forbidden", "too_large", "rejected", "fatal"] {
            self.errors(reason, 0);
        }
        for effect in Effect::ALL {
            self.resets(effect, 0);
        }
        self.early.increment(0);
    }

    pub(crate) fn completed(&self, outcome: &Outcome, lateness_seconds: f64) {
        match outcome {
            Outcome::Released { .. } => {
                self.delivered.increment(1);
                self.lateness.record(lateness_seconds.max(0.0));
            }
            Outcome::Hopped => self.retried.increment(1),
            Outcome::SetAside => {
                self.retried.increment(1);
                self.set_aside.increment(1);
            }
            Outcome::Parked(reason) => {
                self.dead_lettered.increment(1);
                self.invalid(*reason);
            }
        }
    }

    fn invalid(&self, reason: Reason) {
        let reason = reason.as_str();
        counter!("dwell_roller_invalid_records_total", "level" => self.level.clone(), "reason" => reason).increment(1);
    }

    pub(crate) fn failed(&self, failure: &Failure) {
        self.errors(failure_name(failure), 1);
    }

    fn errors(&self, reason: &'static str, by: u64) {
        counter!("dwell_roller_release_errors_total", "level" => self.level.clone(), "reason" => reason).increment(by);
    }

    pub(crate) fn rebalances(&self, event: &'static str, by: u64) {
        counter!("dwell_roller_rebalances_total", "level" => self.level.clone(), "event" => event).increment(by);
    }

    pub(crate) fn commits(&self, result: &'static str, by: u64) {
        counter!("dwell_roller_commits_total", "level" => self.level.clone(), "result" => result).increment(by);
    }

    pub(crate) fn offset_reset(&self, effect: Effect) {
        self.resets(effect, 1);
    }

    fn resets(&self, effect: Effect, by: u64) {
        counter!("dwell_roller_offset_resets_total", "level" => self.level.clone(), "effect" => effect.name())
            .increment(by);
    }

    pub(crate) fn partitions(&self, census: &[(Claim, Doing)]) {
        let states = [
            ("empty", Doing::Empty),
            ("waiting", Doing::Waiting),
            ("releasing", Doing::Releasing),
            ("blocked", Doing::Blocked),
        ];
        for (name, doing) in states {
            let count = census.iter().filter(|(_, d)| *d == doing).count();
            gauge!("dwell_roller_partitions", "level" => self.level.clone(), "state" => name).set(count as f64);
        }
    }

    /// From the client's own statistics.
    pub(crate) fn client(&self, fetched_bytes: f64, prefetched: f64) {
        gauge!("dwell_roller_fetched_bytes", "level" => self.level.clone()).set(fetched_bytes);
        gauge!("dwell_roller_prefetched_records", "level" => self.level.clone()).set(prefetched);
    }
}

fn failure_name(failure: &Failure) -> &'static str {
    match failure {
        Failure::Refused => "refused",
        Failure::Retriable => "retriable",
        Failure::UnknownTopic => "unknown_topic",
        Failure::Forbidden => "forbidden",
        Failure::TooLarge => "too_large",
        Failure::Rejected(_) => "rejected",
        Failure::Fatal(_) => "fatal",
    }
}
