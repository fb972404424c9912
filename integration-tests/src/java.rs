//! What the Java client's default partitioner does, from a fixture that the Java client wrote.

use std::collections::BTreeMap;

/// Partition by number of partitions, by key.
pub type JavaPartitions = BTreeMap<Vec<u8>, BTreeMap<u32, i32>>;

/// Keys, and for each number of partitions the one that the Java client takes.
pub fn partitions() -> JavaPartitions {
    let mut all = JavaPartitions::new();
    for line in include_str!("../fixtures/java-partitions.tsv").lines().filter(|l| !l.starts_with('#')) {
        let [key, count, partition] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let bytes = (0..key.len()).step_by(2).map(|i| u8::from_str_radix(&key[i..i + 2], 16).unwrap()).collect();
        all.entry(bytes).or_default().insert(count.parse().unwrap(), partition.parse().unwrap());
    }
    all
}
