//! What is told of every record: counters, the hook, and a log line for what is new.

use super::receipt::Receipt;
use super::send_error::SendError;
use crate::route::Route;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The label of records that wait on no level.
const NO_LEVEL: &str = "none";

/// How a record ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome<'a> {
    /// The record's id.
    pub id: &'a str,
    /// The topic it is for in the end.
    pub target: &'a str,
    /// The receipt, or why there is none.
    pub result: Result<&'a Receipt, &'a SendError>,
}

/// Called once for every record, also where nobody awaits it any more. Runs on the router's own thread, mostly: it
/// must not block.
pub type Hook = Arc<dyn Fn(&Outcome<'_>) + Send + Sync>;

#[derive(Default)]
pub(super) struct Watch {
    hook: Option<Hook>,
    told: AtomicU32,
}

impl Watch {
    pub(super) fn new(hook: Option<Hook>) -> Watch {
        Watch { hook, told: AtomicU32::new(0) }
    }

    /// A record that was not sent.
    pub(super) fn refused(&self, id: &str, target: &str, error: &SendError) {
        count(NO_LEVEL, "rejected");
        self.log(id, error);
        self.tell(&Outcome { id, target, result: Err(error) });
    }

    /// A record that was sent, or should have been.
    pub(super) fn answered(&self, route: &Route, target: &str, result: Result<&Receipt, &SendError>) {
        let level = route.level.as_ref().map_or(NO_LEVEL, |level| level.as_str());
        match result {
            Ok(_) => {
                count(level, "ok");
                if route.level.is_some() {
                    metrics::histogram!("dwell_router_rounding_seconds", "level" => level.to_owned())
                        .record(std::time::Duration::from_millis(route.rounding_ms).as_secs_f64());
                }
                self.told.store(0, Ordering::Relaxed);
            }
            Err(error) => {
                count(level, "error");
                self.log(&route.id, error);
            }
        }
        self.tell(&Outcome { id: &route.id, target, result });
    }

    /// Each kind of error once, until a record goes through again. The caller hears of every one.
    fn log(&self, id: &str, error: &SendError) {
        let bit = 1 << error.kind();
        if self.told.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            tracing::warn!(id, %error, "a delayed record was not sent; more of the kind are only counted until one goes through");
        }
    }

    fn tell(&self, outcome: &Outcome<'_>) {
        let Some(hook) = &self.hook else { return };
        if catch_unwind(AssertUnwindSafe(|| hook(outcome))).is_err() {
            tracing::error!(id = outcome.id, "the router's hook panicked");
        }
    }
}

fn count(level: &str, result: &'static str) {
    metrics::counter!("dwell_router_records_total", "level" => level.to_owned(), "result" => result).increment(1);
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("hook", &self.hook.is_some()).finish_non_exhaustive()
    }
}
