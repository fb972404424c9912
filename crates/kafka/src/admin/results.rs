//! Answers that hold a verdict per topic.
#![allow(unsafe_code)]

use crate::errors::{KafkaFailure, Trouble};
use crate::native::{Answer, Owned, Request, Wires, build, c_string, slice, text_or_empty};
use crate::side::Side;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};

/// The verdict on each topic; a topic without a verdict is absent.
pub(super) type Verdicts = BTreeMap<String, Result<(), (RDKafkaErrorCode, String)>>;

/// Reads verdicts.
///
/// # Safety
/// `get` returns the topic results of an answer that is alive.
pub(super) unsafe fn verdicts(get: impl FnOnce(*mut usize) -> *mut *const sys::rd_kafka_topic_result_t) -> Verdicts {
    // SAFETY: as promised by the caller; names and texts live as long as the answer.
    unsafe {
        let results = slice(get).iter().map(|result| {
            let code = RDKafkaErrorCode::from(sys::rd_kafka_topic_result_error(*result));
            let said = text_or_empty(sys::rd_kafka_topic_result_error_string(*result));
            let verdict = if code == RDKafkaErrorCode::NoError { Ok(()) } else { Err((code, said)) };
            (text_or_empty(sys::rd_kafka_topic_result_name(*result)), verdict)
        });
        results.collect()
    }
}

/// A change of one topic: its request object, how it is issued, and how its answer is read.
pub(super) struct TopicChange<'a, T> {
    pub(super) request: Request<'a>,
    pub(super) topic: &'a str,
    pub(super) destroy: unsafe extern "C" fn(*mut T),
}

impl<T> TopicChange<'_, T> {
    /// Builds the object, issues the request and returns the verdict on the topic.
    pub(super) fn run(
        &self,
        side: &Side,
        constructor: impl FnOnce(&CStr, *mut c_char, usize) -> *mut T,
        issue: impl FnOnce(&Wires, *mut *mut T),
        read: impl FnOnce(&Answer) -> Result<Verdicts, KafkaFailure>,
    ) -> Result<(), KafkaFailure> {
        let asked = self.request.asked;
        let name = c_string(asked, self.topic)?;
        let object: Owned<T> = build(asked, self.destroy, |said, room| constructor(&name, said, room))?;
        let mut array = [object.ptr()];
        let answer = self.request.run(side, |wires| issue(&wires, array.as_mut_ptr()))?;
        match read(&answer)?.remove(self.topic) {
            Some(Ok(())) => Ok(()),
            Some(Err((code, said))) => Err(KafkaFailure::from_code(asked, code, &said)),
            None => Err(KafkaFailure::plain(asked, Trouble::Other, "the answer does not name the topic")),
        }
    }
}
