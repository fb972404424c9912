//! The few figures Dwell needs of librdkafka's statistics.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A client's statistics at one moment. Counters count from the client's start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Stats {
    /// The client's name.
    pub name: String,
    /// Records in the producer's queues.
    pub msg_cnt: u64,
    /// Their bytes.
    pub msg_size: u64,
    /// Requests sent.
    pub tx: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Answers received.
    pub rx: u64,
    /// Bytes received: what fetching really costs, compressed.
    pub rx_bytes: u64,
    /// Brokers by name.
    pub brokers: BTreeMap<String, BrokerStats>,
    /// Topics by name.
    pub topics: BTreeMap<String, TopicStats>,
}

/// A connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct BrokerStats {
    /// The broker's id; −1 for an address not yet known to be a broker.
    pub nodeid: i32,
    /// `UP`, `DOWN`, `CONNECT`, `TRY_CONNECT`, `AUTH_REQ` and others.
    pub state: String,
    /// Bytes received.
    pub rxbytes: u64,
    /// Bytes sent.
    pub txbytes: u64,
    /// Requests that ran out of time.
    pub req_timeouts: u64,
}

impl BrokerStats {
    /// Whether the connection carries requests.
    pub fn is_up(&self) -> bool {
        matches!(self.state.as_str(), "UP" | "UPDATE")
    }
}

/// A topic's partitions, by number. `-1` is the client's own and holds nothing of interest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TopicStats {
    /// Partitions by number.
    pub partitions: BTreeMap<i32, PartitionStats>,
}

/// A partition. Offsets the client does not know are negative.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PartitionStats {
    /// The partition's leader, −1 without one.
    pub leader: i32,
    /// The end of the partition.
    pub hi_offset: i64,
    /// The end of what a `read_committed` reader sees. `hi_offset − ls_offset` records wait for a transaction.
    pub ls_offset: i64,
    /// Records between the next one to be consumed and the end.
    pub consumer_lag: i64,
    /// Records fetched and not yet taken.
    pub fetchq_cnt: u64,
    /// Their bytes.
    pub fetchq_size: u64,
    /// Records waiting to be sent to this partition.
    pub msgq_cnt: u64,
}

impl Default for PartitionStats {
    fn default() -> PartitionStats {
        PartitionStats {
            leader: -1,
            hi_offset: -1,
            ls_offset: -1,
            consumer_lag: -1,
            fetchq_cnt: 0,
            fetchq_size: 0,
            msgq_cnt: 0,
        }
    }
}

/// The statistics could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the client's statistics: {0}; expected librdkafka's JSON")]
pub struct StatsError(#[from] serde_json::Error);

impl Stats {
    /// Reads the JSON that `ClientContext::stats_raw` is given.
    pub fn parse(json: &[u8]) -> Result<Stats, StatsError> {
        Ok(serde_json::from_slice(json)?)
    }

    /// Real partitions with their topics.
    pub fn partitions(&self) -> impl Iterator<Item = (&str, i32, &PartitionStats)> {
        self.topics.iter().flat_map(|(topic, stats)| {
            stats.partitions.iter().filter(|(p, _)| **p >= 0).map(move |(p, s)| (topic.as_str(), *p, s))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const SAMPLE: &str = r#"{"name":"rdkafka#consumer-1","ts":5,"msg_cnt":3,"msg_size":600,"tx":9,"tx_bytes":90,"rx":8,
        "rx_bytes":80,"brokers":{"127.0.0.1:9092/1":{"name":"x","nodeid":1,"state":"UP","rxbytes":70,"txbytes":60,
        "req_timeouts":2,"toppars":{"a-0":{"topic":"a","partition":0}}}},
        "topics":{"a":{"topic":"a","age":1,"partitions":{
          "0":{"partition":0,"leader":1,"hi_offset":10,"ls_offset":7,"consumer_lag":4,"fetchq_cnt":2,"fetchq_size":44,
               "msgq_cnt":1,"query_offset":-1001},
          "-1":{"partition":-1,"leader":-1,"hi_offset":-1001}}}}}"#;

    #[test]
    fn the_figures_are_found_and_the_rest_is_ignored() {
        let stats = Stats::parse(SAMPLE.as_bytes()).unwrap();
        assert_eq!((stats.msg_cnt, stats.rx_bytes, stats.tx), (3, 80, 9));
        let broker = &stats.brokers["127.0.0.1:9092/1"];
        assert!(broker.is_up());
        assert_eq!((broker.rxbytes, broker.req_timeouts), (70, 2));
        let partitions: Vec<_> = stats.partitions().collect();
        assert_eq!(partitions.len(), 1, "the client's own partition is left out");
        let (topic, partition, p) = partitions[0];
        assert_eq!((topic, partition, p.hi_offset - p.ls_offset, p.fetchq_size), ("a", 0, 3, 44));
    }

    #[test]
    fn what_is_missing_is_unknown_and_what_is_broken_is_an_error() {
        let stats = Stats::parse(br#"{"topics":{"a":{"partitions":{"0":{}}}}}"#).unwrap();
        assert_eq!(stats.topics["a"].partitions[&0], PartitionStats::default());
        assert!(Stats::parse(b"{").unwrap_err().to_string().contains("statistics"));
    }
}
