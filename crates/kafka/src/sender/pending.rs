//! The caller's end of a record.

use super::failure::{SendFailure, SendTrouble};
use super::line::{Line, Ticket};
use crate::producer::Fate;
use futures::channel::oneshot;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The answer of one record, to be awaited. Needs no particular runtime.
///
/// Dropping it withdraws the record if it still waits in line; a record that is with the client goes on.
#[must_use = "dropping it withdraws a record that still waits in line"]
pub struct Pending<T, E> {
    told: oneshot::Receiver<Result<T, E>>,
    line: Arc<Line>,
    ticket: Option<Ticket>,
    topic: Arc<str>,
}

impl<T, E> Pending<T, E> {
    pub(super) fn new(
        told: oneshot::Receiver<Result<T, E>>,
        line: Arc<Line>,
        ticket: Option<Ticket>,
        topic: Arc<str>,
    ) -> Pending<T, E> {
        Pending { told, line, ticket, topic }
    }
}

impl<T, E: From<SendFailure>> Future for Pending<T, E> {
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, E>> {
        Pin::new(&mut self.told).poll(context).map(|told| {
            self.ticket = None;
            // Only the caller's own function can lose the answer, by a panic.
            told.unwrap_or_else(|_| {
                Err(SendFailure::new(self.topic.clone(), SendTrouble::Closed, Fate::MayBeWritten).into())
            })
        })
    }
}

impl<T, E> Drop for Pending<T, E> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.line.withdraw(ticket);
        }
    }
}

impl<T, E> fmt::Debug for Pending<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("topic", &self.topic).finish_non_exhaustive()
    }
}
