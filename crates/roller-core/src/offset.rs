//! Offsets. What was read and what is committed differ by one, and only here.

use std::fmt;

/// The offset of one record in a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset(i64);

/// The offset from which reading goes on: one past the last record. This is what Kafka commits, and what an
/// end offset is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NextOffset(i64);

impl Offset {
    /// Wraps a record's offset as the client gives it.
    pub const fn new(offset: i64) -> Offset {
        Offset(offset)
    }

    /// The offset as Kafka counts it.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Where reading goes on after this record. The only `+ 1` on offsets in the workspace.
    pub const fn next(self) -> NextOffset {
        NextOffset(self.0.saturating_add(1))
    }
}

impl NextOffset {
    /// Wraps a committed or an end offset as the client gives it.
    pub const fn new(offset: i64) -> NextOffset {
        NextOffset(offset)
    }

    /// The offset as Kafka counts it.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Whether a record lies before this position.
    pub const fn is_beyond(self, record: Offset) -> bool {
        self.0 > record.0
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for NextOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
