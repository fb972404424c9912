//! From three lists to a verdict.

use super::lateness::{Lateness, LevelLateness};
use super::{Delivered, Early, Flaw, Sent, SourceRecord, Unexpected, Verdict, order};
use std::collections::{BTreeMap, HashMap};

/// Everything known about one id.
#[derive(Default)]
struct Case<'a> {
    sources: Vec<&'a SourceRecord>,
    /// Deliveries at the target that was asked for.
    deliveries: Vec<&'a Delivered>,
}

/// Judges a run that has ended. Lists may come in any order; records are matched by id.
///
/// A delivery is early if its append is before the due time of the source record it is a copy of, or before the
/// requested delay after the first source append. Which source record that is: the one whose due time the
/// `dwell-due` header names; else the last, if there is one delivery; else (copies of several hops, some of them
/// repeated) the one that was due first.
pub fn judge(sent: &[Sent], source: &[SourceRecord], delivered: &[Delivered]) -> Verdict {
    let asked: HashMap<&str, &Sent> = sent.iter().map(|s| (s.id.as_str(), s)).collect();
    let mut verdict = Verdict { sent: asked.len(), ..Verdict::default() };
    let mut cases: HashMap<&str, Case<'_>> = asked.keys().map(|&id| (id, Case::default())).collect();
    for s in source {
        if let Some(case) = cases.get_mut(s.id.as_str()) {
            case.sources.push(s);
        }
    }
    for d in delivered {
        take_delivery(d, &asked, &mut cases, &mut verdict);
    }
    let mut samples: BTreeMap<(i64, &str), Vec<i64>> = BTreeMap::new();
    let mut ids: Vec<&str> = asked.keys().copied().collect();
    ids.sort_unstable();
    for id in ids {
        if let (Some(case), Some(sent)) = (cases.get_mut(id), asked.get(id)) {
            settle(case, sent, &mut verdict, &mut samples);
        }
    }
    verdict.out_of_order = order::swapped(source, cases.into_values().filter_map(|c| c.deliveries.first().copied()));
    verdict.lateness = Lateness::of(samples.values().flatten().copied().collect());
    let level = |((_, name), values): ((i64, &str), Vec<i64>)| LevelLateness {
        level: name.to_owned(),
        lateness: Lateness::of(values),
    };
    verdict.levels = samples.into_iter().map(level).collect();
    verdict
}

fn take_delivery<'a>(
    d: &'a Delivered,
    asked: &HashMap<&str, &Sent>,
    cases: &mut HashMap<&str, Case<'a>>,
    verdict: &mut Verdict,
) {
    let mut flaw = |flaw| {
        let place = format!("{}-{}@{}", d.topic, d.partition, d.offset);
        verdict.unexpected.push(Unexpected { id: d.id.clone(), place, flaw });
    };
    let Some(sent) = asked.get(d.id.as_str()) else {
        return flaw(Flaw::NeverSent);
    };
    if sent.target != d.topic {
        return flaw(Flaw::WrongTopic);
    }
    if sent.payload_hash.is_some_and(|hash| hash != d.payload_hash) {
        flaw(Flaw::Changed);
    }
    if let Some(case) = cases.get_mut(d.id.as_str()) {
        case.deliveries.push(d);
    }
}

fn settle<'a>(
    case: &mut Case<'a>,
    sent: &'a Sent,
    verdict: &mut Verdict,
    samples: &mut BTreeMap<(i64, &'a str), Vec<i64>>,
) {
    case.sources.sort_by_key(|s| s.append_ms);
    case.deliveries.sort_by_key(|d| (d.append_ms, d.partition, d.offset));
    let Some(&first) = case.deliveries.first() else {
        verdict.lost.push(sent.id.clone());
        return;
    };
    verdict.released += 1;
    verdict.duplicates += case.deliveries.len() - 1;
    let Some(&start) = case.sources.first() else {
        let place = format!("{}-{}@{}", first.topic, first.partition, first.offset);
        verdict.unexpected.push(Unexpected { id: sent.id.clone(), place, flaw: Flaw::NoSource });
        return;
    };
    for (nth, d) in case.deliveries.iter().enumerate() {
        let due_ms = due(case, d, sent, start);
        if d.append_ms < due_ms {
            verdict.early.push(Early { id: sent.id.clone(), due_ms, append_ms: d.append_ms });
        }
        if nth == 0 {
            let level = sent.level.as_deref().unwrap_or(&start.topic);
            samples.entry((start.delay_ms, level)).or_default().push(d.append_ms - due_ms);
        }
    }
}

fn due(case: &Case<'_>, d: &Delivered, sent: &Sent, start: &SourceRecord) -> i64 {
    let dues = || case.sources.iter().map(|s| s.append_ms + s.delay_ms);
    let of_copy = match d.due_header_ms {
        Some(claimed) if dues().any(|due| due == claimed) => claimed,
        _ if case.deliveries.len() == 1 => dues().max().unwrap_or(0),
        _ => dues().min().unwrap_or(0),
    };
    let requested = sent.deliver_at_ms.unwrap_or(start.append_ms + sent.asked_ms);
    of_copy.max(requested)
}
