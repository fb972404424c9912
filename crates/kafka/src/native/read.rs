//! Reading answers of the C interface.
#![allow(unsafe_code)]

use super::Owned;
use crate::errors::{KafkaFailure, Trouble};
use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;
use std::ffi::{CStr, c_char};

/// The answer to a request, as one of the client's events.
pub(crate) struct Answer {
    asked: String,
    event: Owned<sys::rd_kafka_event_t>,
}

impl Answer {
    pub(super) fn check(asked: &str, event: Owned<sys::rd_kafka_event_t>) -> Result<Answer, KafkaFailure> {
        // SAFETY: the event is alive; its error text, if any, lives as long as the event.
        let (code, said) = unsafe {
            let code = RDKafkaErrorCode::from(sys::rd_kafka_event_error(event.ptr()));
            (code, text_or_empty(sys::rd_kafka_event_error_string(event.ptr())))
        };
        match code {
            RDKafkaErrorCode::NoError => Ok(Answer { asked: asked.to_owned(), event }),
            code => Err(KafkaFailure::from_code(asked, code, &said)),
        }
    }

    /// The result inside the event, by the accessor of its type.
    ///
    /// # Safety
    /// `accessor` is one of the `rd_kafka_event_…_result` functions. The pointer is valid while `self` lives.
    pub(crate) unsafe fn result<R>(
        &self,
        accessor: unsafe extern "C" fn(*mut sys::rd_kafka_event_t) -> *const R,
    ) -> Result<*const R, KafkaFailure> {
        // SAFETY: the event is alive, the accessor checks its type and returns null for another.
        let result = unsafe { accessor(self.event.ptr()) };
        if result.is_null() {
            return Err(KafkaFailure::plain(&self.asked, Trouble::Other, "the answer belongs to another request"));
        }
        Ok(result)
    }
}

/// An array the C interface returns with its length.
///
/// # Safety
/// `get` returns null or an array of as many valid pointers as it stores in its argument; they outlive `'a`.
pub(crate) unsafe fn slice<'a, T>(get: impl FnOnce(*mut usize) -> *mut *const T) -> &'a [*const T] {
    let mut count = 0;
    let first = get(&mut count);
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// A text of the C interface, `None` for a null pointer.
///
/// # Safety
/// `ptr` is null or points to text that ends with a zero byte.
pub(crate) unsafe fn text(ptr: *const c_char) -> Option<String> {
    // SAFETY: as promised by the caller.
    (!ptr.is_null()).then(|| unsafe { CStr::from_ptr(ptr) }.to_string_lossy().into_owned())
}

/// As [`text`], with nothing for null.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn text_or_empty(ptr: *const c_char) -> String {
    // SAFETY: as promised by the caller.
    unsafe { text(ptr) }.unwrap_or_default()
}

/// Code and text of an error object that may be null (no error).
///
/// # Safety
/// `error` is null or a valid error object.
pub(crate) unsafe fn code_of_error(error: *const sys::rd_kafka_error_t) -> Option<(RDKafkaErrorCode, String)> {
    if error.is_null() {
        return None;
    }
    // SAFETY: the error is valid; its text lives as long as it does.
    let (code, said) = unsafe {
        (RDKafkaErrorCode::from(sys::rd_kafka_error_code(error)), text_or_empty(sys::rd_kafka_error_string(error)))
    };
    (code != RDKafkaErrorCode::NoError).then_some((code, said))
}
