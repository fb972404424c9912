//! A native header list being written.

use dwell_wire::HeaderSink;
use rdkafka_sys as sys;

/// The headers of a copy, in the client's own form, so that nothing is copied twice.
pub struct HeaderList {
    raw: *mut sys::rd_kafka_headers_t,
}

// SAFETY: a header list has no ties to a thread.
unsafe impl Send for HeaderList {}

impl HeaderList {
    /// An empty list with room for `expected` headers.
    pub fn with_room(expected: usize) -> HeaderList {
        // SAFETY: allocates; destroyed in `drop` or handed to the client.
        HeaderList { raw: unsafe { sys::rd_kafka_headers_new(expected) } }
    }

    /// Number of headers.
    pub fn len(&self) -> usize {
        // SAFETY: the list is alive.
        unsafe { sys::rd_kafka_header_cnt(self.raw) }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn into_raw(self) -> *mut sys::rd_kafka_headers_t {
        let raw = self.raw;
        std::mem::forget(self);
        raw
    }
}

impl HeaderSink for HeaderList {
    fn put(&mut self, name: &[u8], value: Option<&[u8]>) {
        let (bytes, size) = match value {
            // An empty value needs a pointer that is not null; a null pointer is a null value.
            Some(v) => (v.as_ptr().cast(), isize::try_from(v.len()).unwrap_or(isize::MAX)),
            None => (std::ptr::null(), 0),
        };
        let name_size = isize::try_from(name.len()).unwrap_or(isize::MAX);
        // SAFETY: the list is alive; name and value are readable for the sizes given, which are copied.
        let err = unsafe { sys::rd_kafka_header_add(self.raw, name.as_ptr().cast(), name_size, bytes, size) };
        debug_assert!(err == sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR);
    }
}

impl Drop for HeaderList {
    fn drop(&mut self) {
        // SAFETY: made by `with_room` and not handed over (that forgets self).
        unsafe { sys::rd_kafka_headers_destroy(self.raw) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_nulls_empties_and_duplicates() {
        let mut list = HeaderList::with_room(1);
        assert!(list.is_empty());
        list.put(b"a", None);
        list.put(b"a", Some(b""));
        list.put(b"\xff\xfe", Some(b"x"));
        assert_eq!(list.len(), 3);
    }
}
