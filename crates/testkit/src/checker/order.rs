//! The promised order: first deliveries of the distinct ids of one key, as they lay on one level partition.

use super::{Delivered, SourceRecord, Swapped};
use std::collections::HashMap;

/// Records that must keep their order: one key, from one level partition, at one target partition.
type Lane<'a> = (&'a str, i32, &'a [u8], &'a str, i32);

/// Neighbours in a lane that changed places. Ids with several source records (hops, set aside, sent twice) and
/// records without a key have no promised order and are left out.
pub(super) fn swapped<'a>(source: &'a [SourceRecord], firsts: impl Iterator<Item = &'a Delivered>) -> Vec<Swapped> {
    let mut at: HashMap<&str, Option<&SourceRecord>> = HashMap::new();
    for s in source {
        at.entry(s.id.as_str()).and_modify(|known| *known = None).or_insert(Some(s));
    }
    let mut lanes: HashMap<Lane<'_>, Vec<(i64, i64, &str)>> = HashMap::new();
    for d in firsts {
        let (Some(key), Some(Some(s))) = (d.key.as_deref(), at.get(d.id.as_str())) else {
            continue;
        };
        let lane = (s.topic.as_str(), s.partition, key, d.topic.as_str(), d.partition);
        lanes.entry(lane).or_default().push((s.offset, d.offset, &d.id));
    }
    let mut found = Vec::new();
    for lane in lanes.values_mut() {
        lane.sort_unstable();
        for pair in lane.windows(2) {
            if let [(_, first_at, first), (_, second_at, second)] = pair
                && second_at < first_at
            {
                found.push(Swapped { first: (*first).to_owned(), second: (*second).to_owned() });
            }
        }
    }
    found.sort_by(|a, b| a.first.cmp(&b.first));
    found
}
