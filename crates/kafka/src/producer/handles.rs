//! Topic handles, kept: the client's own look-up by name is a linear search under a lock.

use super::NativeClient;
use rdkafka_sys as sys;
use std::collections::HashMap;
use std::ffi::CString;

/// More handles than this are let go and made again; names come from headers.
const KEPT: usize = 4096;

#[derive(Default)]
pub(super) struct TopicHandles {
    by_name: HashMap<String, *mut sys::rd_kafka_topic_t>,
}

// SAFETY: librdkafka's topic handles may be used from any thread.
unsafe impl Send for TopicHandles {}

impl TopicHandles {
    pub(super) fn get(&mut self, client: &NativeClient, name: &str) -> Option<*mut sys::rd_kafka_topic_t> {
        if let Some(&handle) = self.by_name.get(name) {
            return Some(handle);
        }
        if self.by_name.len() >= KEPT {
            self.release();
        }
        let c_name = CString::new(name).ok()?;
        // SAFETY: the client is alive, the name a C string; a null configuration means the client's defaults.
        let handle = unsafe { sys::rd_kafka_topic_new(client.native_ptr(), c_name.as_ptr(), std::ptr::null_mut()) };
        if handle.is_null() {
            return None;
        }
        self.by_name.insert(name.to_owned(), handle);
        Some(handle)
    }

    /// Gives all handles back; must happen before the client is destroyed. Records under way hold their own.
    pub(super) fn release(&mut self) {
        for (_, handle) in self.by_name.drain() {
            // SAFETY: made by `get`, given back once; the client is still alive.
            unsafe { sys::rd_kafka_topic_destroy(handle) }
        }
    }
}
