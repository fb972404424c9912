//! Changing some settings of a topic and leaving all others alone.
//!
//! The protocol has two requests: the old AlterConfigs replaces all settings of a topic and so resets those it does
//! not name; IncrementalAlterConfigs changes exactly those it names. Only the second is used.
#![allow(unsafe_code)]

use crate::admin::resource;
use crate::errors::{KafkaFailure, Trouble};
use crate::native::{Owned, Request, c_string, code_of_error, slice, text_or_empty};
use crate::side::Side;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;
use std::time::Duration;

pub(crate) fn alter<K: AsRef<str>, V: AsRef<str>>(
    side: &Side,
    timeout: Duration,
    topic: &str,
    set: &[(K, V)],
) -> Result<(), KafkaFailure> {
    if set.is_empty() {
        return Ok(());
    }
    let asked = format!("change the settings of topic {topic}");
    let change = resource(&asked, topic)?;
    for (key, value) in set {
        add(&asked, &change, key.as_ref(), value.as_ref())?;
    }
    let mut array = [change.ptr()];
    let op = sys::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_INCREMENTALALTERCONFIGS;
    // SAFETY: resource and wires are alive while the request is issued, which copies the resource.
    let answer = Request { asked: &asked, op, timeout }.run(side, |w| unsafe {
        sys::rd_kafka_IncrementalAlterConfigs(w.client, array.as_mut_ptr(), 1, w.options, w.queue);
    })?;
    // SAFETY: the accessor fits the request; what is read lives as long as the answer.
    let (code, said) = unsafe {
        let result = answer.result(sys::rd_kafka_event_IncrementalAlterConfigs_result)?;
        let resources = slice(|count| sys::rd_kafka_IncrementalAlterConfigs_result_resources(result, count));
        let Some(changed) = resources.first() else {
            return Err(KafkaFailure::plain(asked, Trouble::Other, "the answer does not name the topic"));
        };
        let code = RDKafkaErrorCode::from(sys::rd_kafka_ConfigResource_error(*changed));
        (code, text_or_empty(sys::rd_kafka_ConfigResource_error_string(*changed)))
    };
    if code == RDKafkaErrorCode::NoError { Ok(()) } else { Err(KafkaFailure::from_code(asked, code, &said)) }
}

fn add(
    asked: &str,
    change: &Owned<sys::rd_kafka_ConfigResource_t>,
    key: &str,
    value: &str,
) -> Result<(), KafkaFailure> {
    let (key, value) = (c_string(asked, key)?, c_string(asked, value)?);
    let set = sys::rd_kafka_AlterConfigOpType_t::RD_KAFKA_ALTER_CONFIG_OP_TYPE_SET;
    // SAFETY: all arguments are alive, key and value are copied; an error returned is ours and freed by `Owned`.
    unsafe {
        let error =
            sys::rd_kafka_ConfigResource_add_incremental_config(change.ptr(), key.as_ptr(), set, value.as_ptr());
        let error = Owned::new(error, sys::rd_kafka_error_destroy);
        match error.and_then(|e| code_of_error(e.ptr())) {
            None => Ok(()),
            Some((code, said)) => Err(KafkaFailure::from_code(asked, code, &said)),
        }
    }
}
