//! The router with a producer of its own.

mod blocking;
mod builder;
mod receipt;
mod send_error;
mod watch;

pub use blocking::Blocking;
pub use builder::{ConnectError, RouterBuilder};
pub use receipt::Receipt;
pub use send_error::{Retry, SendError};
pub use watch::{Hook, Outcome};

use crate::delayed::Delayed;
use crate::route::{Route, Routing};
use dwell_kafka::clock::wall_ms;
use dwell_kafka::sender::{Outstanding, Pending};
use dwell_kafka::{Letter, Sender};
use dwell_levels::LevelTable;
use std::sync::Arc;
use uuid::Uuid;
use watch::Watch;

/// Sends delayed records. Cheap to clone; all clones share one producer. Make one per process.
///
/// Dropping the last clone waits a few seconds at most for what is under way. In an async program drop it where
/// blocking is allowed, or await every send first: then nothing is waited for.
#[derive(Clone, Debug)]
pub struct Router {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    table: Arc<LevelTable>,
    record_limit: usize,
    watch: Arc<Watch>,
    sender: Sender,
}

/// A record that is on its way, or was refused before.
enum Started {
    Refused(Box<SendError>),
    Sent(Pending<Receipt, SendError>),
}

impl Started {
    async fn answer(self) -> Result<Receipt, SendError> {
        match self {
            Started::Refused(error) => Err(*error),
            Started::Sent(pending) => pending.await,
        }
    }
}

impl Router {
    /// Starts to describe a router for this table.
    pub fn builder(table: impl Into<Arc<LevelTable>>) -> RouterBuilder {
        RouterBuilder::new(table.into())
    }

    /// Routes a record, sends it and waits for the brokers' acknowledgement.
    ///
    /// Records are sent in the order in which these futures are first polled. Where the buffer is full, the future
    /// waits for its turn. Dropping the future before it is done withdraws the record if it still waits for its turn;
    /// later it goes on, and only the hook learns how it ended.
    ///
    /// # Errors
    /// [`SendError`], one for each cause; [`SendError::retry`] says whether sending again can help.
    pub async fn send(&self, record: Delayed) -> Result<Receipt, SendError> {
        self.start(record).answer().await
    }

    /// Sends many records, each to the level its own delay asks for, without waiting for one before sending the next.
    /// The results have the order of the records; one that fails does not stop the others.
    pub async fn send_all(&self, records: Vec<Delayed>) -> Vec<Result<Receipt, SendError>> {
        let started: Vec<Started> = records.into_iter().map(|record| self.start(record)).collect();
        let mut results = Vec::with_capacity(started.len());
        for sent in started {
            results.push(sent.answer().await);
        }
        results
    }

    /// The same for plain threads: each call blocks until it is answered.
    #[must_use]
    pub fn blocking(&self) -> Blocking<'_> {
        Blocking::new(self)
    }

    /// The table that records are routed by.
    #[must_use]
    pub fn table(&self) -> &LevelTable {
        &self.inner.table
    }

    /// Records that wait for their turn, and records with the client.
    #[must_use]
    pub fn outstanding(&self) -> Outstanding {
        self.inner.sender.outstanding()
    }

    fn start(&self, record: Delayed) -> Started {
        let inner = &self.inner;
        let routing = Routing::new(&inner.table).record_limit(inner.record_limit);
        let made = Uuid::now_v7().to_string();
        match routing.route(&record, wall_ms(), &made) {
            Ok(route) => Started::Sent(self.hand_in(record, route)),
            Err(refused) => {
                let id = record.id.as_deref().unwrap_or(&made);
                let refused = SendError::from(refused);
                inner.watch.refused(id, &record.target, &refused);
                Started::Refused(Box::new(refused))
            }
        }
    }

    fn hand_in(&self, record: Delayed, mut route: Route) -> Pending<Receipt, SendError> {
        let headers = std::mem::take(&mut route.headers);
        let letter = Letter { topic: route.topic.as_str().into(), key: record.key, payload: record.payload, headers };
        let (table, watch, target) = (self.inner.table.clone(), self.inner.watch.clone(), record.target);
        self.inner.sender.send_then(letter, move |result| {
            let result = match result {
                Ok(written) => Ok(Receipt::of(&route, &table, &written)),
                Err(failure) => Err(SendError::of(&route, &failure)),
            };
            watch.answered(&route, &target, result.as_ref());
            result
        })
    }
}
