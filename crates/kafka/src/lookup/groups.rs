//! Offsets that groups have committed.
//!
//! The client can ask for the offsets of any group on any handle (ListConsumerGroupOffsets), but on a handle without
//! a group of its own it crashes when the coordinator has just moved. So every group asked about gets a handle that
//! carries the group's name. It never subscribes, and so never becomes a member.

use super::offsets::plain;
use crate::errors::{KafkaFailure, Trouble};
use crate::native::PartitionList;
use crate::settings::{ClientSettings, Role};
use crate::side::Side;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A coordinator that loads needs tens of milliseconds, a new one up to seconds.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Handles by group, opened when first needed.
pub(super) struct Groups {
    settings: ClientSettings,
    client_id: String,
    open: Mutex<BTreeMap<String, Arc<Side>>>,
}

impl Groups {
    pub(super) fn new(settings: &ClientSettings, client_id: &str) -> Groups {
        Groups { settings: settings.clone(), client_id: client_id.to_owned(), open: Mutex::default() }
    }

    pub(super) fn committed(
        &self,
        timeout: Duration,
        group: &str,
        topic: &str,
        partitions: &[i32],
    ) -> Result<Vec<(i32, Option<i64>)>, KafkaFailure> {
        if partitions.is_empty() {
            return Ok(Vec::new());
        }
        let asked = format!("read the offsets group {group} has committed for topic {topic}");
        if group.is_empty() {
            return Err(KafkaFailure::plain(asked, Trouble::Settings, "the group has no name"));
        }
        let list = PartitionList::new(&asked, topic, partitions.iter().map(|partition| (*partition, -1)))?;
        let side = self.handle(group)?;
        let result = ask(&asked, &side, &list, timeout);
        let offsets = side.explain(result)?;
        Ok(offsets.into_iter().map(|(partition, offset)| (partition, (offset >= 0).then_some(offset))).collect())
    }

    fn handle(&self, group: &str) -> Result<Arc<Side>, KafkaFailure> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(side) = open.get(group) {
            return Ok(Arc::clone(side));
        }
        let side = Arc::new(Side::open_named(&self.settings, Role::Side, &self.client_id, Some(group))?);
        open.insert(group.to_owned(), Arc::clone(&side));
        Ok(side)
    }
}

/// Asks, and asks again while the coordinator says that it is loading or moving.
fn ask(asked: &str, side: &Side, list: &PartitionList, timeout: Duration) -> Result<Vec<(i32, i64)>, KafkaFailure> {
    let mut tries = timeout.as_millis() / ASK_AGAIN_AFTER.as_millis();
    loop {
        side.drain();
        let result = list.fill_committed(asked, side.native_ptr(), timeout).and_then(|()| plain(asked, list.read()));
        side.drain();
        match result {
            Err(failure) if failure.trouble() == Trouble::Unavailable && tries > 0 => tries -= 1,
            settled => return settled,
        }
        side.serve(ASK_AGAIN_AFTER);
    }
}
