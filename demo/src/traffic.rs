//! Sends delayed records through the router, as an application would.

use crate::fleet::Fleet;
use crate::observe::payload_hash;
use anyhow::{Context, Result, anyhow};
use dwell_levels::Rounding;
use dwell_router::{Delayed, Router};
use dwell_testkit::checker::Sent;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Delays in the mix, in milliseconds: exactly a level, a little less, a little more, and straight through.
const MIX: [(u64, Rounding); 10] = [
    (1_000, Rounding::Up),
    (800, Rounding::Up),
    (3_000, Rounding::Up),
    (5_000, Rounding::Up),
    (5_001, Rounding::Up),
    (8_000, Rounding::Up),
    (10_000, Rounding::Up),
    (7_000, Rounding::Exact),
    (25_000, Rounding::Up),
    (30_000, Rounding::Up),
];
/// One in this many is asked for 45 minutes and does not arrive during the demo.
const ONE_FAR_IN: usize = 200;
const FAR: Duration = Duration::from_secs(45 * 60);
/// Records of one key, so that order can be seen.
const KEYS: usize = 64;
const STEP: Duration = Duration::from_millis(100);

/// What was sent.
pub(crate) struct Everything {
    /// To arrive during the demo.
    pub(crate) near: Vec<Sent>,
    /// To wait beyond it.
    pub(crate) far: Vec<Sent>,
}

/// Sending, in the background.
pub(crate) struct Traffic {
    thread: JoinHandle<Result<Everything>>,
    sent: Arc<AtomicUsize>,
    of: usize,
}

impl Traffic {
    pub(crate) fn start(fleet: &Fleet, records: u32, during: Duration) -> Result<Traffic> {
        let of = usize::try_from(records)?;
        let sent = Arc::new(AtomicUsize::new(0));
        let sender = Sender {
            table: fleet.table.clone(),
            brokers: fleet.brokers().to_owned(),
            targets: fleet.targets.clone(),
            sent: sent.clone(),
        };
        let thread = std::thread::Builder::new().name("traffic".into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(sender.run(of, during))
        })?;
        Ok(Traffic { thread, sent, of })
    }

    /// Sent, and of how many.
    pub(crate) fn progress(&self) -> (usize, usize) {
        (self.sent.load(Ordering::Relaxed), self.of)
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    pub(crate) fn finish(self) -> Result<Everything> {
        self.thread.join().map_err(|_| anyhow!("the sending thread panicked"))?
    }
}

struct Sender {
    table: dwell_levels::LevelTable,
    brokers: String,
    targets: Vec<String>,
    sent: Arc<AtomicUsize>,
}

impl Sender {
    async fn run(self, of: usize, during: Duration) -> Result<Everything> {
        let router = Router::builder(self.table.clone()).brokers(&self.brokers).connect().await?;
        let mut all = Everything { near: Vec::with_capacity(of), far: Vec::new() };
        let steps = usize::try_from(during.as_millis() / STEP.as_millis())?.max(1);
        let mut tick = tokio::time::interval(STEP);
        for step in 0..steps {
            tick.tick().await;
            self.batch(&router, step * of / steps..(step + 1) * of / steps, &mut all).await?;
        }
        Ok(all)
    }

    async fn batch(&self, router: &Router, range: std::ops::Range<usize>, all: &mut Everything) -> Result<()> {
        let (records, sent): (Vec<_>, Vec<_>) = range.map(|n| self.record(n)).unzip();
        let receipts = router.send_all(records).await;
        for (receipt, (mut sent, is_far)) in receipts.into_iter().zip(sent) {
            let receipt = receipt.context("a record could not be sent")?;
            sent.id = receipt.id;
            sent.level = receipt.level.map(|l| l.to_string());
            let to = if is_far { &mut all.far } else { &mut all.near };
            to.push(sent);
            self.sent.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn record(&self, n: usize) -> (Delayed, (Sent, bool)) {
        let target = &self.targets[n % self.targets.len()];
        let is_far = n % ONE_FAR_IN == ONE_FAR_IN - 1;
        let (ms, rounding) = MIX[n % MIX.len()];
        let delay = if is_far { FAR } else { Duration::from_millis(ms) };
        let payload = format!("{{\"order\":{n},\"delay_ms\":{}}}", delay.as_millis());
        let mut sent = Sent::new("", target, i64::try_from(delay.as_millis()).unwrap_or(i64::MAX));
        sent.payload_hash = Some(payload_hash(Some(payload.as_bytes())));
        let record =
            Delayed::to(target).after(delay).rounding(rounding).key(format!("customer-{}", n % KEYS)).payload(payload);
        (record, (sent, is_far))
    }
}
