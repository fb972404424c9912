//! Who the cluster is.
#![allow(unsafe_code)]

use crate::errors::KafkaFailure;
use crate::native::{Request, slice, text};
use crate::side::Side;
use rdkafka_sys as sys;
use std::time::Duration;

/// A cluster as one of its brokers describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The cluster's id, where the broker says one.
    pub id: Option<String>,
    /// The ids of the live brokers, ascending.
    pub brokers: Vec<i32>,
}

pub(super) fn describe(side: &Side, timeout: Duration) -> Result<Cluster, KafkaFailure> {
    let op = sys::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DESCRIBECLUSTER;
    let request = Request { asked: "describe the cluster", op, timeout };
    // SAFETY: the wires are alive while the request is issued.
    let answer = request.run(side, |w| unsafe { sys::rd_kafka_DescribeCluster(w.client, w.options, w.queue) })?;
    // SAFETY: the accessor fits the request; everything read lives as long as the answer.
    unsafe {
        let result = answer.result(sys::rd_kafka_event_DescribeCluster_result)?;
        let nodes = slice(|count| sys::rd_kafka_DescribeCluster_result_nodes(result, count));
        let mut brokers: Vec<i32> = nodes.iter().map(|node| sys::rd_kafka_Node_id(*node)).collect();
        brokers.sort_unstable();
        Ok(Cluster { id: text(sys::rd_kafka_DescribeCluster_result_cluster_id(result)), brokers })
    }
}
