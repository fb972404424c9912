//! Offsets by edge and by time.
#![allow(unsafe_code)]

use crate::errors::KafkaFailure;
use crate::native::PartitionList;
use crate::side::Side;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;
use std::time::Duration;

/// Which offset of a partition is asked for. On the wire all three are a timestamp.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seek {
    Start,
    End,
    /// The first record of this epoch millisecond or later.
    Time(i64),
}

impl Seek {
    fn on_the_wire(self) -> i64 {
        match self {
            Seek::End => -1,
            Seek::Start => -2,
            Seek::Time(at) => at.max(0),
        }
    }
}

/// Asks the leaders of all partitions at once.
pub(super) fn seek(
    side: &Side,
    timeout: Duration,
    topic: &str,
    asks: impl Iterator<Item = (i32, Seek)>,
) -> Result<Vec<(i32, i64)>, KafkaFailure> {
    let asked = format!("find offsets of topic {topic}");
    let list = PartitionList::new(&asked, topic, asks.map(|(partition, seek)| (partition, seek.on_the_wire())))?;
    if list.read().is_empty() {
        return Ok(Vec::new());
    }
    side.drain();
    let ms = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: client and list are alive for the call, which writes the answers into the list.
    let code = unsafe { sys::rd_kafka_offsets_for_times(side.native_ptr(), list.ptr(), ms) };
    side.drain();
    let result = match RDKafkaErrorCode::from(code) {
        RDKafkaErrorCode::NoError => plain(&asked, list.read()),
        code => Err(KafkaFailure::from_code(&asked, code, "")),
    };
    side.explain(result)
}

/// Elements without errors, in order of the partitions.
pub(super) fn plain(asked: &str, elements: Vec<(i32, i64, RDKafkaErrorCode)>) -> Result<Vec<(i32, i64)>, KafkaFailure> {
    let mut offsets = Vec::with_capacity(elements.len());
    for (partition, offset, code) in elements {
        if code != RDKafkaErrorCode::NoError {
            return Err(KafkaFailure::from_code(format!("{asked}, partition {partition}"), code, ""));
        }
        offsets.push((partition, offset));
    }
    offsets.sort_unstable();
    Ok(offsets)
}
