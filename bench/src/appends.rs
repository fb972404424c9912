//! When records arrived in a topic, by the broker's own append time.

use crate::cluster::Cluster;
use anyhow::{Context, Result, ensure};
use dwell_kafka::Role;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{Message, Offset, Timestamp, TopicPartitionList};
use std::time::{Duration, Instant};

/// Longer than any read takes that goes on at all.
const PATIENCE: Duration = Duration::from_secs(120);

/// Append times of the first and the last record of a topic, over all partitions.
pub(crate) fn first_and_last(cluster: &Cluster, topic: &str) -> Result<(i64, i64)> {
    let edges: Vec<_> = cluster.edges(topic)?.into_iter().filter(|(_, start, end)| end > start).collect();
    let consumer = consumer(cluster)?;
    let starts: Vec<_> = edges.iter().map(|&(p, start, _)| (p, start)).collect();
    let lasts: Vec<_> = edges.iter().map(|&(p, _, end)| (p, end - 1)).collect();
    let first = append_times(&consumer, topic, &starts)?.into_iter().min().context("the topic is empty")?;
    let last = append_times(&consumer, topic, &lasts)?.into_iter().max().context("the topic is empty")?;
    Ok((first, last))
}

/// Append times of all records by the number that they begin with, 0 to `count - 1`; each must be there exactly once.
pub(crate) fn by_number(cluster: &Cluster, topic: &str, count: u64) -> Result<Vec<i64>> {
    let consumer = consumer(cluster)?;
    let edges = cluster.edges(topic)?;
    assign(&consumer, topic, &edges.iter().map(|&(p, start, _)| (p, start)).collect::<Vec<_>>())?;
    let mut times = vec![None; usize::try_from(count)?];
    let mut missing = times.len();
    let begin = Instant::now();
    while missing > 0 {
        ensure!(begin.elapsed() < PATIENCE, "{missing} records are missing in {topic}");
        let Some(message) = consumer.poll(Duration::from_millis(100)) else { continue };
        let message = message?;
        let number = message.payload().and_then(|p| p.first_chunk()).map(|n| u64::from_be_bytes(*n));
        let number = number.context("a record without a number")?;
        let time =
            times.get_mut(usize::try_from(number)?).with_context(|| format!("record {number} was never sent"))?;
        ensure!(time.replace(append_ms(message.timestamp())?).is_none(), "record {number} is there twice");
        missing -= 1;
    }
    Ok(times.into_iter().flatten().collect())
}

/// Append times of these records, one per partition.
fn append_times(consumer: &BaseConsumer, topic: &str, at: &[(i32, i64)]) -> Result<Vec<i64>> {
    at.iter()
        .map(|&(partition, offset)| {
            assign(consumer, topic, &[(partition, offset)])?;
            let begin = Instant::now();
            loop {
                ensure!(begin.elapsed() < PATIENCE, "no record at {topic}-{partition} offset {offset}");
                let Some(message) = consumer.poll(Duration::from_millis(100)) else { continue };
                let message = message?;
                if (message.partition(), message.offset()) == (partition, offset) {
                    return append_ms(message.timestamp());
                }
            }
        })
        .collect()
}

fn append_ms(timestamp: Timestamp) -> Result<i64> {
    match timestamp {
        Timestamp::LogAppendTime(ms) => Ok(ms),
        other => anyhow::bail!("a topic without the broker's append time: {other:?}"),
    }
}

fn consumer(cluster: &Cluster) -> Result<BaseConsumer> {
    let mut config = cluster.settings.to_client_config(Role::Consumer, "dwell-bench-reader");
    // The client wants a group for a consumer; without subscribe or commit it is never joined.
    config.set("group.id", "dwell-bench-reader").set("enable.auto.commit", "false").set("fetch.wait.max.ms", "20");
    Ok(config.create()?)
}

fn assign(consumer: &BaseConsumer, topic: &str, starts: &[(i32, i64)]) -> Result<()> {
    let mut list = TopicPartitionList::new();
    for &(partition, offset) in starts {
        list.add_partition_offset(topic, partition, Offset::Offset(offset))?;
    }
    Ok(consumer.assign(&list)?)
}
