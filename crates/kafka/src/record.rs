//! A record as it was read, either still in the client's fetch buffer or copied out of it.
#![allow(unsafe_code)]

use crate::consumer::context::GroupContext;
use dwell_roller_core::{Offset, Stamp};
use dwell_wire::RawHeader;
use rdkafka::Message;
use rdkafka::Timestamp;
use rdkafka::consumer::BaseConsumer;
use rdkafka::message::BorrowedMessage;
use rdkafka_sys as sys;
use std::ffi::CStr;
use std::sync::Arc;

/// A record read from a level topic.
pub enum Record {
    /// Points into the fetch buffer, which it keeps alive: cheap, but only for a short time.
    Fetched(Fetched),
    /// A copy of its own.
    Detached(Box<Detached>),
}

/// A record in the client's fetch buffer.
pub struct Fetched {
    // Declared, and so dropped, before the consumer it points into.
    message: BorrowedMessage<'static>,
    _consumer: Arc<BaseConsumer<GroupContext>>,
}

/// A record copied out of the fetch buffer.
pub struct Detached {
    offset: Offset,
    stamp: Stamp,
    key: Option<Vec<u8>>,
    payload: Option<Vec<u8>>,
    headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Fetched {
    /// Extends the borrow of a message from one of `consumer`'s queues to the life of the consumer.
    pub(crate) fn new(message: BorrowedMessage<'_>, consumer: Arc<BaseConsumer<GroupContext>>) -> Fetched {
        // SAFETY: the lifetime parameter of BorrowedMessage is a phantom that stands for "the client has not been
        // destroyed"; the message owns its event. `consumer` is the client it came from, is kept by this struct,
        // and is dropped after the message.
        let message = unsafe { std::mem::transmute::<BorrowedMessage<'_>, BorrowedMessage<'static>>(message) };
        Fetched { message, _consumer: consumer }
    }
}

impl Record {
    /// Its offset.
    pub fn offset(&self) -> Offset {
        match self {
            Record::Fetched(f) => Offset::new(f.message.offset()),
            Record::Detached(d) => d.offset,
        }
    }

    /// Its timestamp, and whether the broker or a producer set it.
    pub fn stamp(&self) -> Stamp {
        match self {
            Record::Fetched(f) => match f.message.timestamp() {
                Timestamp::LogAppendTime(ms) => Stamp::Append(ms),
                Timestamp::CreateTime(_) | Timestamp::NotAvailable => Stamp::Other,
            },
            Record::Detached(d) => d.stamp,
        }
    }

    /// Whatever time the record carries, epoch milliseconds; 0 if none.
    pub fn timestamp_ms(&self) -> i64 {
        match self {
            Record::Fetched(f) => f.message.timestamp().to_millis().unwrap_or(0),
            Record::Detached(d) => match d.stamp {
                Stamp::Append(ms) => ms,
                Stamp::Other => 0,
            },
        }
    }

    /// The key; `None` and empty are different things.
    pub fn key(&self) -> Option<&[u8]> {
        match self {
            Record::Fetched(f) => f.message.key(),
            Record::Detached(d) => d.key.as_deref(),
        }
    }

    /// The value; `None` (a tombstone) and empty are different things.
    pub fn payload(&self) -> Option<&[u8]> {
        match self {
            Record::Fetched(f) => f.message.payload(),
            Record::Detached(d) => d.payload.as_deref(),
        }
    }

    /// Bytes of key and value.
    pub fn bytes(&self) -> usize {
        self.key().map_or(0, <[u8]>::len) + self.payload().map_or(0, <[u8]>::len)
    }

    /// The headers, in order, names as bytes.
    pub fn headers(&self) -> Headers<'_> {
        match self {
            Record::Fetched(f) => Headers::of_message(&f.message),
            Record::Detached(d) => Headers::Owned(d.headers.iter()),
        }
    }

    /// Copies the record out of the fetch buffer, so that the buffer can be freed.
    pub fn detach(&mut self) {
        if let Record::Fetched(_) = self {
            let owned = |b: &[u8]| b.to_vec();
            *self = Record::Detached(Box::new(Detached {
                offset: self.offset(),
                stamp: self.stamp(),
                key: self.key().map(owned),
                payload: self.payload().map(owned),
                headers: self.headers().map(|h| (h.name.to_vec(), h.value.map(owned))).collect(),
            }));
        }
    }
}

/// Iterates over the headers of a record.
///
/// rdkafka's own iterator panics on a name that is not UTF-8, which any producer may write; this one hands out
/// bytes. A name is cut at a NUL byte, because the client exposes names as C strings.
#[derive(Clone)]
pub enum Headers<'a> {
    /// Of a fetched record: the native list and the next index.
    Native(*const sys::rd_kafka_headers_t, usize, std::marker::PhantomData<&'a u8>),
    /// Of a detached record.
    Owned(std::slice::Iter<'a, (Vec<u8>, Option<Vec<u8>>)>),
}

impl<'a> Headers<'a> {
    pub(crate) fn of_message(message: &'a BorrowedMessage<'_>) -> Headers<'a> {
        let mut list = std::ptr::null_mut();
        // SAFETY: the message is valid for 'a; the list it yields is owned by it and lives as long.
        let err = unsafe { sys::rd_kafka_message_headers(message.ptr(), &mut list) };
        let list =
            if err == sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR { list } else { std::ptr::null_mut() };
        Headers::Native(list, 0, std::marker::PhantomData)
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = RawHeader<'a>;

    fn next(&mut self) -> Option<RawHeader<'a>> {
        match self {
            Headers::Owned(iter) => iter.next().map(|(name, value)| RawHeader { name, value: value.as_deref() }),
            Headers::Native(list, index, _) => {
                let header = native_header(*list, *index)?;
                *index += 1;
                Some(header)
            }
        }
    }
}

fn native_header<'a>(list: *const sys::rd_kafka_headers_t, index: usize) -> Option<RawHeader<'a>> {
    if list.is_null() {
        return None;
    }
    let (mut name, mut value, mut size) = (std::ptr::null(), std::ptr::null(), 0);
    // SAFETY: the list is not null and outlives 'a (see `of_message`); the call checks the index and fills the
    // three out-parameters on success.
    let err = unsafe { sys::rd_kafka_header_get_all(list, index, &mut name, &mut value, &mut size) };
    if err != sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR {
        return None;
    }
    // SAFETY: name is a C string and value either null or `size` bytes, both owned by the list.
    unsafe {
        let name = CStr::from_ptr(name).to_bytes();
        let value = (!value.is_null()).then(|| std::slice::from_raw_parts(value.cast::<u8>(), size));
        Some(RawHeader { name, value })
    }
}
