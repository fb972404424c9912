//! A producer for many callers: each record comes with an answer of its own.
//!
//! Callers hand records in from any thread or task. One thread of the sender's own passes them to the client in the
//! order of the calls and reads the delivery reports. At most so many records and bytes are with the client at once;
//! beyond that records wait in line, in order, with the caller that awaits them. Nothing is dropped in silence: every
//! record gets exactly one answer.
//!
//! The answer comes within twice [`SenderOptions::timeout`]: that long a record may wait in line, and that long it may
//! be with the client. While it is there, the client sends it again by itself where that can help, without writing it
//! twice. A record that fails does not hold up those behind it; whoever needs them in order awaits each answer before
//! the next call.

mod failure;
mod letter;
mod line;
mod options;
mod pending;
mod worker;

pub use failure::{SendFailure, SendTrouble};
pub use letter::Letter;
pub use options::SenderOptions;
pub use pending::Pending;

use crate::errors::{KafkaFailure, Trouble};
use crate::producer::Written;
use crate::settings::ClientSettings;
use futures::channel::oneshot;
use letter::Reply;
use line::Line;
use std::fmt;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use worker::Worker;

/// An idempotent, `acks=all` producer for many callers. Share it behind an `Arc`.
///
/// Dropping it waits up to [`SenderOptions::farewell`] for what is under way; what is left then is answered with
/// [`SendTrouble::Closed`].
pub struct Sender {
    line: Arc<Line>,
    farewell: Duration,
    thread: Option<JoinHandle<()>>,
}

/// Records and bytes at one place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Number of records.
    pub records: usize,
    /// Their bytes.
    pub bytes: usize,
}

/// What is under way in a sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outstanding {
    /// In line, not yet with the client.
    pub waiting: usize,
    /// With the client, not yet answered. Within the bounds of [`SenderOptions`].
    pub sent: Load,
}

impl Sender {
    /// Creates the client and starts the thread. No broker is waited for.
    ///
    /// # Errors
    /// [`KafkaFailure`] if the client refuses its settings or the thread cannot be started.
    pub fn connect(settings: &ClientSettings, options: &SenderOptions) -> Result<Sender, KafkaFailure> {
        let line = Arc::new(Line::new(options));
        let worker = Worker::connect(settings, options, line.clone())?;
        let thread = std::thread::Builder::new()
            .name(options.client_id.clone())
            .spawn(move || worker.run())
            .map_err(|e| KafkaFailure::plain("start the thread of a sender", Trouble::Other, e.to_string()))?;
        Ok(Sender { line, farewell: options.farewell, thread: Some(thread) })
    }

    /// Hands a record in, behind all that were handed in before. The record is on its way when this returns; dropping
    /// the future withdraws it if it still waits in line, and no longer afterwards.
    pub fn send(&self, letter: Letter) -> Pending<Written, SendFailure> {
        self.send_then(letter, |result| result)
    }

    /// As [`Sender::send`], with a function that makes the caller's answer of the sender's. It runs exactly once,
    /// whether or not somebody still waits for the answer, mostly on the sender's own thread: it must not block.
    pub fn send_then<T, E, F>(&self, letter: Letter, answer: F) -> Pending<T, E>
    where
        T: Send + 'static,
        E: From<SendFailure> + Send + 'static,
        F: FnOnce(Result<Written, SendFailure>) -> Result<T, E> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        let topic = letter.topic.clone();
        let reply = Reply::new(topic.clone(), move |result| {
            // An error here says that the caller went away, which is its right.
            let _ = tell.send(answer(result));
        });
        let ticket = self.line.join(letter, reply);
        Pending::new(told, self.line.clone(), ticket, topic)
    }

    /// What is under way.
    pub fn outstanding(&self) -> Outstanding {
        self.line.outstanding()
    }

    /// Takes no more records, waits up to `patience` for what is under way, and answers the rest with
    /// [`SendTrouble::Closed`]. Blocks.
    pub fn close(mut self, patience: Duration) {
        self.end(patience);
    }

    fn end(&mut self, patience: Duration) {
        let Some(thread) = self.thread.take() else { return };
        self.line.close(patience);
        if thread.thread().id() == std::thread::current().id() {
            // The last owner was an answer's own function. The thread ends by itself when that returns.
            return;
        }
        if thread.join().is_err() {
            tracing::error!("the thread of a sender panicked");
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.end(self.farewell);
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("outstanding", &self.outstanding()).finish_non_exhaustive()
    }
}
