//! The topics as they are beside the topics as they must be.

use dwell_kafka::{Admin, KafkaFailure};
use dwell_levels::LevelTable;
use dwell_levels::topics::{
    DEFAULT_RECORD_LIMIT, Finding, FoundTopic, TopicKind, TopicSpec, check, parked_spec, wanted,
};
use std::collections::BTreeMap;

type Found = BTreeMap<String, Option<FoundTopic>>;

/// Every difference between the table's topics and the cluster's, in the table's order.
pub(super) fn findings(admin: &Admin, table: &LevelTable) -> Result<Vec<Finding>, KafkaFailure> {
    let specs = wanted(table);
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let found = admin.describe(&names)?;
    let brokers = admin.brokers()?.len();
    Ok(compare(&fit(specs, table, &found, brokers), &found))
}

fn compare(specs: &[TopicSpec], found: &Found) -> Vec<Finding> {
    let of = |spec: &TopicSpec| check(spec, found.get(&spec.name).and_then(Option::as_ref));
    specs.iter().flat_map(of).collect()
}

/// What depends on the cluster: the clock topic starts with a partition per broker and is then left as it is, and the
/// parked topic takes the largest record of any level.
fn fit(specs: Vec<TopicSpec>, table: &LevelTable, found: &Found, brokers: usize) -> Vec<TopicSpec> {
    let limit = record_limit(&specs, found);
    let fitted = |spec: TopicSpec| match spec.kind {
        TopicKind::Level(_) => spec,
        TopicKind::Parked => parked_spec(table, limit),
        TopicKind::Clock => {
            let there = found.get(&spec.name).and_then(Option::as_ref);
            let per_broker = u32::try_from(brokers).unwrap_or(u32::MAX).max(1);
            let partitions = there.map_or(per_broker, |topic| topic.partitions);
            TopicSpec { partitions, ..spec }
        }
    };
    specs.into_iter().map(fitted).collect()
}

/// The largest record that a level topic takes.
fn record_limit(specs: &[TopicSpec], found: &Found) -> u64 {
    specs
        .iter()
        .filter(|spec| matches!(spec.kind, TopicKind::Level(_)))
        .filter_map(|spec| found.get(&spec.name)?.as_ref()?.record_limit())
        .fold(DEFAULT_RECORD_LIMIT, u64::max)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use dwell_levels::topics::PARKED_HEADROOM;

    fn table() -> LevelTable {
        LevelTable::parse("targets: [orders]\nlevels: {5s: {}, 1h: {}}").unwrap()
    }

    /// Topics exactly as the table wants them.
    fn as_wanted(table: &LevelTable) -> Found {
        let topic = |spec: TopicSpec| {
            let found = FoundTopic {
                partitions: spec.partitions,
                replication_factor: 3,
                config: spec.config.into_iter().collect(),
            };
            (spec.name, Some(found))
        };
        wanted(table).into_iter().map(topic).collect()
    }

    fn fitted(table: &LevelTable, found: &Found, brokers: usize, name: &str) -> TopicSpec {
        let specs = fit(wanted(table), table, found, brokers);
        specs.into_iter().find(|spec| spec.name == name).unwrap()
    }

    #[test]
    fn the_clock_starts_with_a_partition_per_broker_and_stays_as_it_is() {
        let table = table();
        assert_eq!(fitted(&table, &Found::new(), 5, "delay-clock").partitions, 5);
        let mut found = as_wanted(&table);
        found.get_mut("delay-clock").unwrap().as_mut().unwrap().partitions = 2;
        assert_eq!(fitted(&table, &found, 5, "delay-clock").partitions, 2);
    }

    #[test]
    fn the_parked_topic_follows_the_largest_level() {
        let table = table();
        let mut found = as_wanted(&table);
        let level = found.get_mut("delay-5s").unwrap().as_mut().unwrap();
        level.config.insert("max.message.bytes".to_owned(), "5000000".to_owned());
        let limit = (5_000_000 + PARKED_HEADROOM).to_string();
        let spec = fitted(&table, &found, 1, "delay-parked");
        assert_eq!(spec.setting("max.message.bytes"), Some(limit.as_str()));
        let keys: Vec<String> = compare(&fit(wanted(&table), &table, &found, 1), &found)
            .into_iter()
            .filter(|finding| finding.topic == "delay-parked")
            .map(|finding| finding.key)
            .collect();
        assert!(keys.contains(&"max.message.bytes".to_owned()), "{keys:?}");
    }

    #[test]
    fn nothing_there_is_a_finding_per_topic() {
        let table = table();
        let findings = compare(&wanted(&table), &Found::new());
        assert_eq!(findings.len(), 4);
    }
}
