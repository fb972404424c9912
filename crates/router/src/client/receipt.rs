//! The brokers have it.

use crate::route::Route;
use dwell_kafka::clock::wall_ms;
use dwell_kafka::producer::Written;
use dwell_levels::{LevelName, LevelTable};

/// Where a record was written and when it will be delivered. All replicas have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The record's id.
    pub id: String,
    /// The level it waits on; none if it went straight to its target.
    pub level: Option<LevelName>,
    /// The topic it was written to.
    pub topic: String,
    /// The partition there.
    pub partition: i32,
    /// The offset there. Negative where the broker recognised a copy of a record it had already, and no longer knew
    /// where it was.
    pub offset: i64,
    /// When it is due at its target, epoch milliseconds: the broker's append time and the delays of the levels on its
    /// way.
    pub due_ms: i64,
}

impl Receipt {
    pub(super) fn of(route: &Route, table: &LevelTable, written: &Written) -> Receipt {
        // A target mostly keeps the producer's time and so tells no append time.
        let append_ms = written.append_ms.unwrap_or_else(wall_ms);
        Receipt {
            id: route.id.clone(),
            level: route.level.clone(),
            topic: route.topic.clone(),
            partition: written.partition,
            offset: written.offset,
            due_ms: route.due_after(table, append_ms),
        }
    }
}
