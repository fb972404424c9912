//! Admin requests straight through librdkafka's C interface: one call, one answer, always with a deadline.
//!
//! The wrapper crate's own admin client drops per-topic errors of a describe, has only the old alter call (which
//! resets every setting it is not told about), and never reads its handle's log. Everything here runs on an ordinary
//! client handle instead.
#![allow(unsafe_code)]

mod list;
mod read;

pub(crate) use list::PartitionList;
pub(crate) use read::{Answer, code_of_error, slice, text, text_or_empty};

use crate::errors::{KafkaFailure, Trouble};
use crate::side::Side;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;
use std::ffi::{CString, c_char};
use std::ptr::NonNull;
use std::time::Duration;

/// How much longer than the request's own deadline its answer is waited for; the client reports the timeout itself.
const GRACE: Duration = Duration::from_secs(2);
/// Room for the error text of a constructor.
const ERROR_TEXT: usize = 256;

/// A C object that is destroyed when dropped.
pub(crate) struct Owned<T> {
    ptr: NonNull<T>,
    destroy: unsafe extern "C" fn(*mut T),
}

impl<T> Owned<T> {
    /// Takes a fresh object over; `None` for a null pointer.
    ///
    /// # Safety
    /// `ptr` is null or owned by nobody else, and `destroy` is the function that frees it.
    pub(crate) unsafe fn new(ptr: *mut T, destroy: unsafe extern "C" fn(*mut T)) -> Option<Owned<T>> {
        NonNull::new(ptr).map(|ptr| Owned { ptr, destroy })
    }

    pub(crate) fn ptr(&self) -> *mut T {
        self.ptr.as_ptr()
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer came with this destructor and nobody else owns it.
        unsafe { (self.destroy)(self.ptr.as_ptr()) }
    }
}

/// Builds an object whose constructor reports errors as text.
pub(crate) fn build<T>(
    asked: &str,
    destroy: unsafe extern "C" fn(*mut T),
    constructor: impl FnOnce(*mut c_char, usize) -> *mut T,
) -> Result<Owned<T>, KafkaFailure> {
    let mut said = [0 as c_char; ERROR_TEXT];
    let built = constructor(said.as_mut_ptr(), said.len());
    // SAFETY: constructors return null or a fresh object that the caller owns.
    let owned = unsafe { Owned::new(built, destroy) };
    // SAFETY: the buffer outlives the call; constructors end their text with a zero byte, and it was all zeros.
    owned.ok_or_else(|| KafkaFailure::plain(asked, Trouble::Settings, unsafe { text_or_empty(said.as_ptr()) }))
}

/// A name or value as C wants it.
pub(crate) fn c_string(asked: &str, value: &str) -> Result<CString, KafkaFailure> {
    let refused = |_| KafkaFailure::plain(asked, Trouble::Settings, format!("{value:?} holds a zero byte"));
    CString::new(value).map_err(refused)
}

/// One admin request.
pub(crate) struct Request<'a> {
    pub(crate) asked: &'a str,
    pub(crate) op: sys::rd_kafka_admin_op_t,
    pub(crate) timeout: Duration,
}

/// What a request is issued with.
pub(crate) struct Wires {
    pub(crate) client: *mut sys::rd_kafka_t,
    pub(crate) options: *const sys::rd_kafka_AdminOptions_t,
    pub(crate) queue: *mut sys::rd_kafka_queue_t,
}

impl Request<'_> {
    /// Issues the request and waits for its answer.
    ///
    /// `issue` hands the request to the client exactly once, with the wires it is given.
    pub(crate) fn run(&self, side: &Side, issue: impl FnOnce(Wires)) -> Result<Answer, KafkaFailure> {
        side.drain();
        let result = self.ask(side, issue);
        side.drain();
        side.explain(result)
    }

    fn ask(&self, side: &Side, issue: impl FnOnce(Wires)) -> Result<Answer, KafkaFailure> {
        let client = side.native_ptr();
        let options = self.options(client)?;
        // SAFETY: the client outlives this call (`side` is borrowed); the queue is ours alone.
        let queue = unsafe { Owned::new(sys::rd_kafka_queue_new(client), sys::rd_kafka_queue_destroy) };
        let queue = queue.ok_or_else(|| self.other("no reply queue"))?;
        issue(Wires { client, options: options.ptr(), queue: queue.ptr() });
        let wait = i32::try_from((self.timeout + GRACE).as_millis()).unwrap_or(i32::MAX);
        // SAFETY: the queue is alive; the event returned is ours and freed by `Owned`.
        let event = unsafe { Owned::new(sys::rd_kafka_queue_poll(queue.ptr(), wait), sys::rd_kafka_event_destroy) };
        let event =
            event.ok_or_else(|| KafkaFailure::from_code(self.asked, RDKafkaErrorCode::OperationTimedOut, ""))?;
        Answer::check(self.asked, event)
    }

    fn options(&self, client: *mut sys::rd_kafka_t) -> Result<Owned<sys::rd_kafka_AdminOptions_t>, KafkaFailure> {
        let ms = i32::try_from(self.timeout.as_millis()).unwrap_or(i32::MAX).max(1);
        // SAFETY: the client is alive; the options are ours and freed by `Owned`.
        let options =
            unsafe { Owned::new(sys::rd_kafka_AdminOptions_new(client, self.op), sys::rd_kafka_AdminOptions_destroy) };
        let options = options.ok_or_else(|| self.other("the client does not know this request"))?;
        let mut said = [0 as c_char; ERROR_TEXT];
        // SAFETY: options and buffer are alive for the calls.
        let codes = unsafe {
            let request =
                sys::rd_kafka_AdminOptions_set_request_timeout(options.ptr(), ms, said.as_mut_ptr(), said.len());
            let operation = if self.is_done_by_the_controller() {
                sys::rd_kafka_AdminOptions_set_operation_timeout(options.ptr(), ms / 2, said.as_mut_ptr(), said.len())
            } else {
                sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR
            };
            [request, operation]
        };
        match codes.into_iter().map(RDKafkaErrorCode::from).find(|code| *code != RDKafkaErrorCode::NoError) {
            None => Ok(options),
            // SAFETY: the buffer is zero-terminated (see `build`).
            Some(code) => Err(KafkaFailure::from_code(self.asked, code, &unsafe { text_or_empty(said.as_ptr()) })),
        }
    }

    /// Requests the controller may take its time for; without an own timeout they return before they are done.
    fn is_done_by_the_controller(&self) -> bool {
        use sys::rd_kafka_admin_op_t as Op;
        matches!(
            self.op,
            Op::RD_KAFKA_ADMIN_OP_CREATETOPICS
                | Op::RD_KAFKA_ADMIN_OP_DELETETOPICS
                | Op::RD_KAFKA_ADMIN_OP_CREATEPARTITIONS
                | Op::RD_KAFKA_ADMIN_OP_DELETERECORDS
        )
    }

    fn other(&self, said: &str) -> KafkaFailure {
        KafkaFailure::plain(self.asked, Trouble::Other, said)
    }
}
