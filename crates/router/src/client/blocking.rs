//! The router for plain threads.

use super::{Receipt, Router, SendError};
use crate::delayed::Delayed;
use futures::executor::block_on;

/// Sends and blocks until the answer is there. Not for async code, which it would hold up.
#[derive(Clone, Copy, Debug)]
pub struct Blocking<'r> {
    router: &'r Router,
}

impl<'r> Blocking<'r> {
    pub(super) fn new(router: &'r Router) -> Blocking<'r> {
        Blocking { router }
    }

    /// See [`Router::send`].
    ///
    /// # Errors
    /// [`SendError`], one for each cause.
    pub fn send(self, record: Delayed) -> Result<Receipt, SendError> {
        block_on(self.router.send(record))
    }

    /// See [`Router::send_all`].
    #[must_use]
    pub fn send_all(self, records: Vec<Delayed>) -> Vec<Result<Receipt, SendError>> {
        block_on(self.router.send_all(records))
    }
}
