//! Lists of partitions with an offset each.
#![allow(unsafe_code)]

use super::{Owned, c_string};
use crate::errors::{KafkaFailure, Trouble};
use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;
use std::time::Duration;

/// Partitions of one topic with an offset (or a time, or a wish) each.
pub(crate) struct PartitionList(Owned<sys::rd_kafka_topic_partition_list_t>);

impl PartitionList {
    pub(crate) fn new(
        asked: &str,
        topic: &str,
        partitions: impl IntoIterator<Item = (i32, i64)>,
    ) -> Result<PartitionList, KafkaFailure> {
        let topic = c_string(asked, topic)?;
        // SAFETY: a fresh list, freed by `Owned`.
        let list = unsafe {
            Owned::new(sys::rd_kafka_topic_partition_list_new(16), sys::rd_kafka_topic_partition_list_destroy)
        };
        let list = list.ok_or_else(|| KafkaFailure::plain(asked, Trouble::Other, "out of memory"))?;
        for (partition, offset) in partitions {
            // SAFETY: list and name are alive; add copies the name and returns an element of the list.
            unsafe {
                let added = sys::rd_kafka_topic_partition_list_add(list.ptr(), topic.as_ptr(), partition);
                (*added).offset = offset;
            }
        }
        Ok(PartitionList(list))
    }

    pub(crate) fn ptr(&self) -> *mut sys::rd_kafka_topic_partition_list_t {
        self.0.ptr()
    }

    /// Puts the offsets in place that the group of this handle has committed; negative where it has none.
    pub(crate) fn fill_committed(
        &self,
        asked: &str,
        client: *mut sys::rd_kafka_t,
        timeout: Duration,
    ) -> Result<(), KafkaFailure> {
        let ms = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: the caller holds the client, the list is ours; both are alive for the call.
        match RDKafkaErrorCode::from(unsafe { sys::rd_kafka_committed(client, self.0.ptr(), ms) }) {
            RDKafkaErrorCode::NoError => Ok(()),
            code => Err(KafkaFailure::from_code(asked, code, "")),
        }
    }

    /// Partition, offset and error of each element, in the list's order.
    pub(crate) fn read(&self) -> Vec<(i32, i64, RDKafkaErrorCode)> {
        // SAFETY: the list is alive and ours.
        unsafe { Self::read_raw(self.0.ptr()) }
    }

    /// As [`Self::read`], of a list that belongs to an answer.
    ///
    /// # Safety
    /// `list` is null or a valid list.
    pub(crate) unsafe fn read_raw(
        list: *const sys::rd_kafka_topic_partition_list_t,
    ) -> Vec<(i32, i64, RDKafkaErrorCode)> {
        if list.is_null() {
            return Vec::new();
        }
        // SAFETY: a valid list has `cnt` elements.
        let elements = unsafe {
            let count = usize::try_from((*list).cnt).unwrap_or(0);
            if count == 0 { &[] } else { std::slice::from_raw_parts((*list).elems, count) }
        };
        elements.iter().map(|e| (e.partition, e.offset, RDKafkaErrorCode::from(e.err))).collect()
    }
}
