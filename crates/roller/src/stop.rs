//! Ends the process: on a signal in order, when a level fails with an error, and by force if a close hangs.

use crate::args::Args;
use crate::health::Health;
use crate::level_loop::End;
use anyhow::Context;
use dwell_kafka::clock::{mono, sleep_exactly};
use dwell_roller_core::{Limits, Mono};
use metrics::gauge;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Beyond the bounds of the core: leaving the group takes a second, and librdkafka can hang.
const CLOSE: Duration = Duration::from_secs(8);
/// How often the threads are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A running level.
pub(crate) struct LevelThread {
    pub(crate) level: String,
    pub(crate) handle: JoinHandle<End>,
    pub(crate) health: Arc<Health>,
}

/// How the process ends.
pub(crate) enum Ended {
    /// It was told to.
    AsAsked,
    /// A level cannot go on.
    Failed(String, End),
    /// A level's thread panicked.
    Panicked(String),
}

/// The request to stop.
pub(crate) struct Stop {
    flag: Arc<AtomicBool>,
    bound: Duration,
}

impl Stop {
    pub(crate) fn new(args: &Args) -> Stop {
        let acks = Duration::from_millis(args.stop_after.as_millis());
        Stop { flag: Arc::default(), bound: acks + Limits::default().drain_commit + CLOSE }
    }

    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }

    /// SIGTERM and SIGINT set the flag.
    pub(crate) fn on_signals(&self, runtime: &tokio::runtime::Runtime) -> anyhow::Result<()> {
        let _context = runtime.enter();
        for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
            let mut stream = signal(kind).context("listen for signals")?;
            let flag = self.flag.clone();
            runtime.spawn(async move {
                while stream.recv().await.is_some() {
                    tracing::info!("stopping: acknowledgements and commits are waited for, due times are not");
                    flag.store(true, Ordering::Relaxed);
                }
            });
        }
        Ok(())
    }

    /// Waits for the levels. The first failure stops the others; a stop that exceeds its bound is cut short.
    pub(crate) fn wait_for(&self, mut threads: Vec<LevelThread>) -> Ended {
        let mut ended = Ended::AsAsked;
        let mut asked_at: Option<Mono> = None;
        while !threads.is_empty() {
            sleep_exactly(LOOK);
            while let Some(at) = threads.iter().position(|t| t.handle.is_finished()) {
                let thread = threads.swap_remove(at);
                if let Some(failure) = self.verdict(thread) {
                    self.flag.store(true, Ordering::Relaxed);
                    if matches!(ended, Ended::AsAsked) {
                        ended = failure;
                    }
                }
            }
            if self.flag.load(Ordering::Relaxed) {
                let since = *asked_at.get_or_insert_with(mono);
                if mono().since(since) > self.bound {
                    self.cut_short(&threads);
                }
            }
        }
        if let Some(since) = asked_at {
            let took = mono().since(since);
            gauge!("dwell_roller_shutdown_duration_seconds").set(took.as_secs_f64());
            tracing::info!("stopped after {} ms", took.as_millis());
        }
        ended
    }

    fn verdict(&self, thread: LevelThread) -> Option<Ended> {
        thread.health.not_ready("stopped");
        match thread.handle.join() {
            Ok(End::Stopped) if self.flag.load(Ordering::Relaxed) => None,
            Ok(end) => Some(Ended::Failed(thread.level, end)),
            Err(_) => Some(Ended::Panicked(thread.level)),
        }
    }

    /// Nothing is lost by this: what was not committed is released again by the next owner.
    fn cut_short(&self, threads: &[LevelThread]) {
        let open: Vec<_> = threads.iter().map(|t| t.level.as_str()).collect();
        tracing::error!("the stop exceeded {:?}; ending without {}", self.bound, open.join(", "));
        std::process::exit(1);
    }
}
