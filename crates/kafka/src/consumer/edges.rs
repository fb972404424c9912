//! What the client knows of a partition's ends without asking.
#![allow(unsafe_code)]

use super::context::GroupContext;
use dwell_roller_core::NextOffset;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka_sys as sys;
use std::ffi::CStr;

/// The end offset in the last fetch response; `None` before there was one.
pub(super) fn fetched_end(consumer: &BaseConsumer<GroupContext>, topic: &CStr, partition: i32) -> Option<NextOffset> {
    let (mut low, mut high) = (-1, -1);
    // SAFETY: the client is alive, the topic a C string; the call only writes the two out-parameters.
    let err = unsafe {
        let rk = consumer.client().native_ptr();
        sys::rd_kafka_get_watermark_offsets(rk, topic.as_ptr(), partition, &mut low, &mut high)
    };
    (err == sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0).then(|| NextOffset::new(high))
}
