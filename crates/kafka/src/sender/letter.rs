//! A record handed in, and the one who waits for its answer.

use super::failure::{SendFailure, SendTrouble};
use crate::producer::{Fate, HeaderList, Written};
use dwell_wire::HeaderSink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What a record takes beside its own bytes, here and in the client, roughly.
const RECORD_OVERHEAD: usize = 512;
const HEADER_OVERHEAD: usize = 64;

/// A record to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// To which topic.
    pub topic: Arc<str>,
    /// `None` and empty are different things, here and below.
    pub key: Option<Vec<u8>>,
    /// The value.
    pub payload: Option<Vec<u8>>,
    /// All headers, in order.
    pub headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Letter {
    /// What the record counts against the sender's bounds.
    pub(super) fn size(&self) -> usize {
        let length = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len);
        let headers = self.headers.iter().map(|(name, value)| name.len() + length(value) + HEADER_OVERHEAD);
        RECORD_OVERHEAD + length(&self.key) + length(&self.payload) + headers.sum::<usize>()
    }

    /// The headers in the client's form.
    pub(super) fn header_list(&self) -> HeaderList {
        let mut list = HeaderList::with_room(self.headers.len());
        for (name, value) in &self.headers {
            list.put(name, value.as_deref());
        }
        list
    }
}

type Answer = Box<dyn FnOnce(Result<Written, SendFailure>) + Send>;

/// Owes one answer, and gives it on drop at the latest.
pub(super) struct Reply {
    topic: Arc<str>,
    answer: Option<Answer>,
}

impl Reply {
    pub(super) fn new(topic: Arc<str>, answer: impl FnOnce(Result<Written, SendFailure>) + Send + 'static) -> Reply {
        Reply { topic, answer: Some(Box::new(answer)) }
    }

    pub(super) fn written(mut self, written: Written) {
        self.give(Ok(written));
    }

    pub(super) fn failed(mut self, trouble: SendTrouble, fate: Fate) {
        let failure = SendFailure::new(self.topic.clone(), trouble, fate);
        self.give(Err(failure));
    }

    /// Somebody else's function must not end the thread that serves everybody.
    fn give(&mut self, result: Result<Written, SendFailure>) {
        let Some(answer) = self.answer.take() else { return };
        if catch_unwind(AssertUnwindSafe(|| answer(result))).is_err() {
            tracing::error!(topic = %self.topic, "the function that takes the answer of a record panicked");
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        let failure = SendFailure::new(self.topic.clone(), SendTrouble::Closed, Fate::MayBeWritten);
        self.give(Err(failure));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_reply_is_given_once_and_at_the_latest_on_drop() {
        let (tell, told) = mpsc::channel();
        let reply = |tell: mpsc::Sender<_>| {
            Reply::new("orders".into(), move |r: Result<Written, SendFailure>| {
                let _ = tell.send(r.map_err(|f| f.fate()));
            })
        };
        reply(tell.clone()).failed(SendTrouble::Withdrawn, Fate::NotWritten);
        drop(reply(tell));
        let all: Vec<_> = told.into_iter().collect();
        assert_eq!(all, [Err(Fate::NotWritten), Err(Fate::MayBeWritten)]);
    }

    #[test]
    fn a_panic_in_an_answer_stays_there() {
        #[allow(clippy::panic)]
        Reply::new("orders".into(), |_| panic!("the caller's fault")).failed(SendTrouble::Closed, Fate::NotWritten);
    }

    #[test]
    fn everything_counts() {
        let empty = Letter { topic: "t".into(), key: None, payload: None, headers: Vec::new() };
        let mut full = empty.clone();
        full.key = Some(vec![0; 10]);
        full.payload = Some(vec![0; 100]);
        full.headers = vec![(vec![0; 3], None), (vec![0; 3], Some(vec![0; 4]))];
        assert_eq!(full.size() - empty.size(), 10 + 100 + 3 + 7 + 2 * HEADER_OVERHEAD);
    }
}
