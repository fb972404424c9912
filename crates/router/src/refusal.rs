//! Why a request is not routed.

use dwell_levels::{Delay, TargetRefusal};
use dwell_wire::BadRecord;

/// Why a request cannot be sent. The same request will be refused again: the caller has to change it, or an operator
/// the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// The target may not be a target: it is a level, belongs to the broker, is not on the list, or is no topic name.
    #[error(transparent)]
    Target(#[from] TargetRefusal),
    /// Nothing was said about when.
    #[error("no time asked for: say .after(delay) or .at(time); .after(Duration::ZERO) sends at once")]
    NoTime,
    /// Further away than the table allows.
    #[error(
        "a delay of {asked} is too long; this table allows {allowed}; ask for less or raise maxDelay in levels.yaml"
    )]
    TooLong {
        /// The delay asked for, or the time until the moment asked for.
        asked: Delay,
        /// The table's `maxDelay`.
        allowed: Delay,
    },
    /// No number of milliseconds can hold it.
    #[error("a delay of {asked_seconds} s is out of range; this table allows {allowed}; ask for less")]
    OutOfRange {
        /// The delay asked for, in whole seconds.
        asked_seconds: u64,
        /// The table's `maxDelay`.
        allowed: Delay,
    },
    /// The rollers would park the record on its way.
    #[error("a delay of {asked} takes {hops} hops with this rounding; {allowed} are allowed; round up, or add levels")]
    TooManyHops {
        /// The delay asked for.
        asked: Delay,
        /// How many levels it would pass.
        hops: u64,
        /// How many the table allows.
        allowed: u32,
    },
    /// The id is empty or too long.
    #[error("an id of {bytes} bytes; an id has 1 to {allowed}; shorten it or let the router make one")]
    Id {
        /// Its length.
        bytes: usize,
        /// The longest allowed.
        allowed: usize,
    },
    /// The business type is empty or too long.
    #[error("a record type of {bytes} bytes; it has 1 to {allowed}; shorten it or leave it out")]
    Type {
        /// Its length.
        bytes: usize,
        /// The longest allowed.
        allowed: usize,
    },
    /// A user header has a name of the contract.
    #[error("header {name:?} starts with dwell-, which is reserved; name it otherwise, or use the method of that name")]
    ReservedHeader {
        /// Its name.
        name: String,
    },
    /// The record has more bytes than can be sent.
    #[error(
        "a record of {bytes} bytes with its headers; {allowed} are allowed; keep the body elsewhere and send where it is"
    )]
    TooLarge {
        /// Key, value and headers together.
        bytes: usize,
        /// The most that is allowed.
        allowed: usize,
    },
    /// The headers would break the contract in another way.
    #[error(transparent)]
    Header(#[from] BadRecord),
}
