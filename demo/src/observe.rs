//! Reads level and target topics itself: what waits, what is due next, what has arrived, how late.

use crate::fleet::Fleet;
use crate::traffic::Everything;
use anyhow::Result;
use dwell_kafka::reader::{Reader, WholeRecord};
use dwell_testkit::checker::{Delivered, Lateness, SourceRecord, Verdict, judge};
use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const PATIENCE: Duration = Duration::from_secs(20);
/// Records that are due later than this after the demo's start wait on purpose.
const LONG_MS: i64 = 60_000;

/// One row of the live table.
pub(crate) struct LevelRow {
    pub(crate) level: String,
    pub(crate) waiting: usize,
    pub(crate) next_due_ms: Option<i64>,
    pub(crate) released: usize,
    pub(crate) lateness: Lateness,
}

struct Source {
    level: String,
    delay_ms: i64,
    topic: String,
    reader: Reader,
}

/// Independent of every roller and router.
pub(crate) struct Observer {
    sources: Vec<Source>,
    targets: Vec<(String, Reader)>,
    read: Vec<SourceRecord>,
    arrived: Vec<Delivered>,
}

impl Observer {
    pub(crate) fn open(fleet: &Fleet) -> Result<Observer> {
        let sources = fleet.table.levels().iter().map(|level| {
            let topic = fleet.table.topic_of(level);
            let reader = Reader::open(&fleet.settings, &topic)?;
            let delay_ms = i64::try_from(level.delay.as_millis())?;
            Ok(Source { level: level.name.to_string(), delay_ms, topic, reader })
        });
        let targets = fleet.targets.iter().map(|t| Ok((t.clone(), Reader::open(&fleet.settings, t)?)));
        Ok(Observer {
            sources: sources.collect::<Result<_>>()?,
            targets: targets.collect::<Result<_>>()?,
            read: Vec::new(),
            arrived: Vec::new(),
        })
    }

    /// Reads what is new. Levels first, so that nothing seems to arrive without having waited.
    pub(crate) fn read(&mut self) -> Result<()> {
        for s in &mut self.sources {
            for r in s.reader.read_to_end(PATIENCE)? {
                // The router gives every record an id; one without is none of the demo's.
                let Some(id) = id(&r) else { continue };
                self.read.push(SourceRecord {
                    id,
                    topic: s.topic.clone(),
                    partition: r.partition,
                    offset: r.offset,
                    append_ms: r.timestamp_ms,
                    delay_ms: s.delay_ms,
                });
            }
        }
        for (topic, reader) in &mut self.targets {
            let new = reader.read_to_end(PATIENCE)?;
            self.arrived.extend(new.into_iter().map(|r| delivered(topic, r)));
        }
        Ok(())
    }

    /// Rows for the levels that were used, and how they stand.
    pub(crate) fn levels(&self) -> Vec<LevelRow> {
        let arrivals: HashMap<&str, &Delivered> = self.arrived.iter().map(|d| (d.id.as_str(), d)).collect();
        let last_hop = self.last_hops();
        let row = |s: &Source| {
            let here = self.read.iter().filter(|r| r.topic == s.topic);
            let is_last =
                |r: &&SourceRecord| last_hop.get(r.id.as_str()) == Some(&(r.topic.as_str(), r.offset, r.partition));
            let waiting: Vec<i64> = here
                .clone()
                .filter(|r| is_last(r) && !arrivals.contains_key(r.id.as_str()))
                .map(|r| r.append_ms + r.delay_ms)
                .collect();
            let late: Vec<i64> = here
                .clone()
                .filter(is_last)
                .filter_map(|r| Some(arrivals.get(r.id.as_str())?.append_ms - r.append_ms - r.delay_ms))
                .collect();
            let passed = here.filter(|r| !is_last(r)).count();
            LevelRow {
                level: s.level.clone(),
                waiting: waiting.len(),
                next_due_ms: waiting.iter().min().map(|due| due - now_ms()),
                released: late.len() + passed,
                lateness: Lateness::of(late),
            }
        };
        self.sources.iter().map(row).collect()
    }

    /// For each id, the level record that was appended last.
    fn last_hops(&self) -> HashMap<&str, (&str, i64, i32)> {
        let mut last: HashMap<&str, &SourceRecord> = HashMap::new();
        for r in &self.read {
            let newest = last.entry(&r.id).or_insert(r);
            if r.append_ms >= newest.append_ms {
                *newest = r;
            }
        }
        last.into_iter().map(|(id, r)| (id, (r.topic.as_str(), r.offset, r.partition))).collect()
    }

    /// How many records on short levels have not arrived yet.
    pub(crate) fn outstanding(&self) -> usize {
        let arrivals: HashMap<&str, ()> = self.arrived.iter().map(|d| (d.id.as_str(), ())).collect();
        let short = self.read.iter().filter(|r| r.delay_ms <= LONG_MS);
        short.filter(|r| !arrivals.contains_key(r.id.as_str())).count()
    }

    /// The verdict over everything that was to arrive during the demo.
    pub(crate) fn judge(&self, sent: &Everything) -> Verdict {
        judge(&sent.near, &self.read, &self.arrived)
    }
}

fn delivered(topic: &str, r: WholeRecord) -> Delivered {
    Delivered {
        id: id(&r).unwrap_or_else(|| format!("without id at {}-{}", r.partition, r.offset)),
        topic: topic.to_owned(),
        partition: r.partition,
        offset: r.offset,
        append_ms: r.timestamp_ms,
        due_header_ms: r.header("dwell-due").and_then(|d| d.parse().ok()),
        payload_hash: payload_hash(r.payload.as_deref()),
        key: r.key,
    }
}

/// Enough to notice a changed payload.
pub(crate) fn payload_hash(payload: Option<&[u8]>) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    payload.hash(&mut hasher);
    hasher.finish()
}

fn id(r: &WholeRecord) -> Option<String> {
    r.header("dwell-id").map(str::to_owned)
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}
