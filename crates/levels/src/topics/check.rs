//! Comparing a topic with what it must be.

use super::{Finding, Fix, FoundTopic, Severity, TopicKind, TopicSpec};

/// Kafka's own defaults, for settings that a broker did not describe.
const DEFAULTS: [(&str, &str); 7] = [
    ("cleanup.policy", "delete"),
    ("message.timestamp.type", "CreateTime"),
    ("retention.ms", "604800000"),
    ("retention.bytes", "-1"),
    ("min.insync.replicas", "1"),
    ("unclean.leader.election.enable", "false"),
    ("max.message.bytes", "1048588"),
];

/// Everything in which a topic is not what it must be; nothing if it is fine. More partitions than wanted are fine.
#[must_use]
pub fn check(spec: &TopicSpec, found: Option<&FoundTopic>) -> Vec<Finding> {
    let Some(found) = found else {
        return vec![missing(spec)];
    };
    let comparison = Comparison { spec, found };
    [
        comparison.timestamps(),
        comparison.cleanup(),
        comparison.retention(),
        comparison.size_retention(),
        comparison.in_sync(),
        comparison.unclean_election(),
        comparison.record_size(),
        comparison.replicas(),
        comparison.partitions(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn missing(spec: &TopicSpec) -> Finding {
    Finding {
        topic: spec.name.clone(),
        severity: Severity::Missing,
        key: "topic".to_owned(),
        found: "none".to_owned(),
        wanted: "present".to_owned(),
        why: "nothing can be written to it or read from it".to_owned(),
        fix: Fix::Create(spec.clone()),
    }
}

struct Comparison<'c> {
    spec: &'c TopicSpec,
    found: &'c FoundTopic,
}

impl Comparison<'_> {
    fn value(&self, key: &str) -> &str {
        let default = DEFAULTS.iter().find(|(name, _)| *name == key).map_or("", |(_, value)| *value);
        self.found.config.get(key).map_or(default, |value| value.trim())
    }

    /// A whole number; -1 = no limit. Nothing if it is neither.
    fn limit(&self, key: &str) -> Option<u64> {
        match self.value(key) {
            "-1" => Some(u64::MAX),
            value => value.parse().ok(),
        }
    }

    fn setting(&self, key: &str, wanted: &str, severity: Severity, why: &str) -> Finding {
        let fix = Fix::Alter { topic: self.spec.name.clone(), set: vec![(key.to_owned(), wanted.to_owned())] };
        self.finding(key, self.value(key).to_owned(), wanted.to_owned(), severity, why, fix)
    }

    fn finding(&self, key: &str, found: String, wanted: String, severity: Severity, why: &str, fix: Fix) -> Finding {
        let topic = self.spec.name.clone();
        Finding { topic, severity, key: key.to_owned(), found, wanted, why: why.to_owned(), fix }
    }

    fn timestamps(&self) -> Option<Finding> {
        let (severity, why) = match self.spec.kind {
            TopicKind::Level(_) => (Severity::Loss, "a producer's clock would decide when records are due and expire"),
            TopicKind::Clock => {
                (Severity::Loss, "a roller would take its own clock for the broker's and release early")
            }
            TopicKind::Parked => (Severity::Drift, "a producer's clock would decide when parked records expire"),
        };
        let key = "message.timestamp.type";
        (self.value(key) != "LogAppendTime").then(|| self.setting(key, "LogAppendTime", severity, why))
    }

    fn cleanup(&self) -> Option<Finding> {
        let why = "compaction removes all but the last record of a key, whether it was released or not";
        let key = "cleanup.policy";
        (self.value(key) != "delete").then(|| self.setting(key, "delete", Severity::Loss, why))
    }

    fn retention(&self) -> Option<Finding> {
        let (severity, why) = match self.spec.kind {
            TopicKind::Level(_) => {
                (Severity::Loss, "records could expire before they are released: delay and outage budget do not fit")
            }
            TopicKind::Parked => (Severity::Drift, "parked records would be gone sooner than the table says"),
            TopicKind::Clock => (Severity::Drift, "other than the table says; nothing is lost"),
        };
        let key = "retention.ms";
        let enough = self.limit(key).is_some_and(|kept| kept >= self.spec.retention_needed.as_millis());
        let wanted = self.spec.setting(key)?;
        (!enough).then(|| self.setting(key, wanted, severity, why))
    }

    fn size_retention(&self) -> Option<Finding> {
        let severity = if self.spec.kind == TopicKind::Clock { Severity::Drift } else { Severity::Loss };
        let why = "a busy hour would push out records that still wait";
        let key = "retention.bytes";
        (self.value(key) != "-1").then(|| self.setting(key, "-1", severity, why))
    }

    fn in_sync(&self) -> Option<Finding> {
        let key = "min.insync.replicas";
        let enough = self.value(key).parse::<u32>().is_ok_and(|replicas| replicas >= 2);
        let matters = self.found.replication_factor >= 3 && self.spec.kind != TopicKind::Clock;
        let why = "a record could be acknowledged by one broker only and be lost with it";
        (matters && !enough).then(|| self.setting(key, "2", Severity::Loss, why))
    }

    fn unclean_election(&self) -> Option<Finding> {
        let key = "unclean.leader.election.enable";
        let matters = self.found.replication_factor > 1 && self.spec.kind != TopicKind::Clock;
        let why = "a replica that lags could become leader and drop acknowledged records";
        (matters && self.value(key) != "false").then(|| self.setting(key, "false", Severity::Loss, why))
    }

    /// Only the parked topic has a limit to keep.
    fn record_size(&self) -> Option<Finding> {
        let key = "max.message.bytes";
        let wanted = self.spec.setting(key)?;
        let needed: u64 = wanted.parse().ok()?;
        let enough = self.value(key).parse::<u64>().is_ok_and(|limit| limit >= needed);
        let why = "the largest record of a level could not be parked with its reason, and would lose its body";
        (!enough).then(|| self.setting(key, wanted, Severity::Loss, why))
    }

    fn replicas(&self) -> Option<Finding> {
        if self.spec.kind == TopicKind::Clock {
            return None;
        }
        let found = self.found.replication_factor;
        let wanted = self.spec.replication_factor;
        let (severity, wanted) = match u16::try_from(wanted) {
            Err(_) if found < 2 => (Severity::Warn, "2 or more".to_owned()),
            Ok(wanted) if found < 2 && wanted >= 2 => (Severity::Loss, wanted.to_string()),
            Ok(wanted) if found < wanted => (Severity::Drift, wanted.to_string()),
            _ => return None,
        };
        let why = if found < 2 {
            "the records are lost with the one broker that has them"
        } else {
            "fewer brokers may fail than the table says"
        };
        let fix = Fix::Manual(self.more_replicas());
        Some(self.finding("replication.factor", found.to_string(), wanted, severity, why, fix))
    }

    fn more_replicas(&self) -> String {
        let topic = &self.spec.name;
        match self.spec.replication_factor {
            -1 => format!(
                "give {topic} more replicas with kafka-reassign-partitions.sh, or set replicationFactor: 1 if one is meant"
            ),
            wanted => format!("give {topic} {wanted} replicas with kafka-reassign-partitions.sh"),
        }
    }

    fn partitions(&self) -> Option<Finding> {
        let (found, to) = (self.found.partitions, self.spec.partitions);
        let fix = Fix::AddPartitions { topic: self.spec.name.clone(), to };
        let why = "fewer rollers can share the work than the table says";
        (found < to).then(|| self.finding("partitions", found.to_string(), to.to_string(), Severity::Drift, why, fix))
    }
}
