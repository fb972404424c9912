//! The header contract of delayed records: what a record that waits carries, and how each step changes it.
//!
//! [`decode`] reads the headers of a record on a level topic into a [`Control`], strictly and within fixed bounds.
//! Four steps then write the headers of its copy:
//!
//! | step | when | what it does |
//! |---|---|---|
//! | [`release`] | the record is due and nothing of its delay remains | takes the delaying headers off |
//! | [`hop`] | part of its delay remains | keeps everything, notes the requested time and the hop |
//! | [`set_aside`] | its target cannot be reached now | keeps everything, counts the wait |
//! | [`park`] | it can never be released as it is | keeps everything as evidence, says why and where it was |
//!
//! User headers (all that do not start with `dwell-`) pass every step byte for byte and in order, and are written
//! before the control headers. Every step takes time linear in the headers, and those for good records do not
//! allocate. Nothing here reads a clock, does I/O or panics on what a record holds.
//!
//! ```
//! use dwell_wire::{Place, RawHeader, decode, names, release};
//!
//! let headers = [
//!     RawHeader { name: b"traceparent", value: Some(b"00-4bf9") },
//!     RawHeader { name: names::TARGET.as_bytes(), value: Some(b"orders") },
//! ];
//! let control = decode(headers.iter().copied())?;
//! assert_eq!(control.target, "orders");
//!
//! let place = Place { topic: "delay-5s", partition: 2, offset: 41, append_ms: 1_700_000_000_000 };
//! let mut copy: Vec<(Vec<u8>, Option<Vec<u8>>)> = Vec::new();
//! release(headers.iter().copied(), &control, &place, "5s", 1_700_000_005_000, &mut copy);
//! let names: Vec<_> = copy.iter().map(|(name, _)| String::from_utf8_lossy(name)).collect();
//! assert_eq!(names, ["traceparent", "dwell-id", "dwell-trail", "dwell-due"]);
//! # Ok::<(), dwell_wire::BadRecord>(())
//! ```

mod contract;
mod control;
mod decode;
mod encode;
mod field;
mod forward;
mod header;
mod inline;
pub mod limits;
mod park;
mod reason;
mod slots;
mod trail;

pub use contract::{is_control, names};
pub use control::{Control, requested_at_ms};
pub use decode::decode;
pub use encode::{Request, When, encode};
pub use forward::{hop, release, set_aside};
pub use header::{HeaderSink, Place, RawHeader, fallback_id};
pub use inline::Inline;
pub use park::park;
pub use reason::{BadRecord, Reason, UnknownReason};
pub use trail::{Trail, push_trail};
