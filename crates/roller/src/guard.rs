//! What must be right before a level is rolled.
//!
//! A topic that could lose waiting records is not rolled: the process stays alive and not ready, and says the
//! command that puts it right.

use crate::args::StartFrom;
use dwell_kafka::{Admin, BrokerClock, ClientSettings, ClockTopic, KafkaFailure, Lookup};
use dwell_levels::topics::{DEFAULT_RECORD_LIMIT, Finding, FoundTopic, Severity, check, parked_spec, wanted};
use dwell_levels::{Level, LevelTable};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A record overdue by more than this, in a partition without a committed offset, was probably released long ago
/// by a group that is lost.
const LONG_OVERDUE_MS: i64 = 3_600_000;

/// Checks one level.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) table: Arc<LevelTable>,
    pub(crate) level: Level,
    pub(crate) settings: ClientSettings,
    pub(crate) start_from: Option<StartFrom>,
}

/// What a guard found.
#[derive(Debug)]
pub(crate) enum Found {
    /// Roll; partitions named here start from there instead of from a committed offset.
    Good(BTreeMap<i32, i64>),
    /// Do not roll, or no longer be ready: why, and what to do.
    Bad(String),
    /// Nothing is wrong, the first measurement of the brokers' clocks is under way: ask again in a moment.
    NotYet,
}

impl Guard {
    /// Asks the brokers. Blocks for some seconds where they do not answer.
    pub(crate) fn check(&self, clock: &BrokerClock) -> Found {
        match self.faults(clock) {
            Err(failure) => Found::Bad(failure.to_string()),
            Ok(faults) if !faults.is_empty() => Found::Bad(faults.join("; ")),
            Ok(_) if !clock.read().is_measured() => Found::NotYet,
            Ok(_) => match self.starts(clock) {
                Ok(found) => found,
                Err(failure) => Found::Bad(failure.to_string()),
            },
        }
    }

    /// The topics only; for the checks while rolling.
    pub(crate) fn faults(&self, clock: &BrokerClock) -> Result<Vec<String>, KafkaFailure> {
        let own = self.table.topic_of(&self.level);
        let needed = [own.as_str(), &self.table.parked_topic(), &self.table.clock_topic()];
        let found = Admin::connect(&self.settings)?.describe(&needed)?;
        // What this level takes, the parked topic must take with its reasons.
        let own_found = found.get(&own).and_then(Option::as_ref);
        let limit = own_found.and_then(FoundTopic::record_limit);
        let parked = parked_spec(&self.table, limit.unwrap_or(DEFAULT_RECORD_LIMIT));
        let mut specs = wanted(&self.table);
        specs.retain(|s| needed.contains(&s.name.as_str()) && s.name != parked.name);
        specs.push(parked);
        let findings = specs.iter().flat_map(|s| check(s, found.get(&s.name).and_then(Option::as_ref)));
        let mut faults: Vec<String> = findings
            .filter(|f| matches!(f.severity, Severity::Loss | Severity::Missing))
            .map(|f| self.sentence(&f))
            .collect();
        if clock.topic() == ClockTopic::NotAppendTime {
            faults.push(format!("{} does not return the broker's append time", self.table.clock_topic()));
        }
        Ok(faults)
    }

    fn sentence(&self, f: &Finding) -> String {
        let what = match f.severity {
            Severity::Missing => format!("topic {} is missing", f.topic),
            _ => format!("topic {} has {}={}, must be {}: {}", f.topic, f.key, f.found, f.wanted, f.why),
        };
        format!("{what}; fix: {}", f.fix.command(self.settings.brokers()))
    }

    /// Where partitions without a committed offset start, if they hold records overdue for long.
    fn starts(&self, clock: &BrokerClock) -> Result<Found, KafkaFailure> {
        let topic = self.table.topic_of(&self.level);
        let lookup = Lookup::open(&self.settings, "dwell-guard", Duration::from_secs(5))?;
        let dwell_kafka::TopicState::Exists { partitions } = lookup.topic_state(&topic) else {
            return Ok(Found::Bad(format!("topic {topic} has just gone")));
        };
        let all: Vec<i32> = (0..i32::try_from(partitions).unwrap_or(i32::MAX)).collect();
        let committed = lookup.committed(&self.table.group_of(&self.level), &topic, &all)?;
        let fresh: Vec<i32> = committed.iter().filter(|(_, o)| o.is_none()).map(|(p, _)| *p).collect();
        if fresh.is_empty() {
            return Ok(Found::Good(BTreeMap::new()));
        }
        let due_before = clock.read().earliest.floor_millis() - delay_ms(&self.level);
        let lost = overdue(&lookup, &topic, &fresh, due_before - LONG_OVERDUE_MS)?;
        if lost.is_empty() || self.start_from == Some(StartFrom::Earliest) {
            self.tell_repeats(&overdue(&lookup, &topic, &fresh, due_before)?, &topic);
        }
        match (lost.is_empty(), self.start_from) {
            (true, _) | (false, Some(StartFrom::Earliest)) => Ok(Found::Good(BTreeMap::new())),
            (false, Some(StartFrom::Now)) => {
                let times: Vec<_> = lost.iter().map(|&p| (p, due_before)).collect();
                Ok(Found::Good(first_offsets(&lookup, &topic, &times)?))
            }
            (false, None) => Ok(Found::Bad(format!(
                "group {} has no committed offset for partitions {lost:?} of {topic}, but records there are overdue by \
                 more than an hour: they may have been released before under another group. Restart with --start-from \
                 earliest to release them all, or --start-from now to go on with what is not yet due",
                self.table.group_of(&self.level)
            ))),
        }
    }

    /// Records that are due already start from the earliest: on a new level that is right, after a loss of offsets
    /// it repeats.
    fn tell_repeats(&self, partitions: &[i32], topic: &str) {
        if partitions.is_empty() {
            return;
        }
        let (level, group) = (self.level.name.as_str(), self.table.group_of(&self.level));
        tracing::warn!(
            level,
            ?partitions,
            "group {group} has no committed offset for partitions of {topic} that hold records already due. They are \
             released from the earliest on: right where nothing was released yet; if the group has lost its offsets, \
             what was released before is released again"
        );
    }
}

/// Those of `partitions` whose first record was appended before `time`, epoch milliseconds.
fn overdue(lookup: &Lookup, topic: &str, partitions: &[i32], time: i64) -> Result<Vec<i32>, KafkaFailure> {
    let starts: BTreeMap<_, _> = lookup.start_offsets(topic, partitions)?.into_iter().collect();
    let times: Vec<_> = partitions.iter().map(|&p| (p, time)).collect();
    let first = first_offsets(lookup, topic, &times)?;
    Ok(partitions.iter().copied().filter(|p| first.get(p) > starts.get(p)).collect())
}

/// The first offset at or after each time; the end where there is none.
fn first_offsets(lookup: &Lookup, topic: &str, times: &[(i32, i64)]) -> Result<BTreeMap<i32, i64>, KafkaFailure> {
    let partitions: Vec<i32> = times.iter().map(|(p, _)| *p).collect();
    let ends: BTreeMap<_, _> = lookup.end_offsets(topic, &partitions)?.into_iter().collect();
    let found = lookup.offsets_for_times(topic, times)?;
    Ok(found.into_iter().filter_map(|(p, o)| Some((p, o.or_else(|| ends.get(&p).copied())?))).collect())
}

fn delay_ms(level: &Level) -> i64 {
    i64::try_from(level.delay.as_millis()).unwrap_or(i64::MAX)
}
