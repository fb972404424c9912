//! Decides what a roller does. No clock, no I/O, no async runtime, no Kafka client.
//!
//! [`Core`] is told what happens ([`Event`]) with the time at which it is handled ([`Reading`]) and answers what
//! is to be done ([`Action`]). The shell around it performs and decides nothing.
//!
//! # Why only heads matter
//! On a level every record waits equally long, and brokers append in time order, so due times do not decrease
//! along a partition. Watching the first record of each partition is enough: no heap, no scan, and memory that
//! does not depend on how many records wait.
//!
//! # Invariants
//! These hold after every event, for every order of events. They are checked by `tests/invariants.rs` on random
//! event lists and by the simulation in `dwell-testkit`.
//!
//! 1. **Never early.** No copy to a target or another level is sent before `append + delay` on the slowest
//!    broker's clock, unless the record was seen a whole delay ago (a broker's clock was ahead at the append).
//! 2. **Never past a gap.** A commit never passes a record that no copy of has been acknowledged.
//! 3. **Fenced.** Nothing is sent, committed or counted for a claim after a later claim on its partition, or
//!    after it was drained.
//! 4. **In order.** Within a claim, first copies are sent in offset order.
//! 5. **Awake.** While a head waits, a partition is paused or something is uncommitted, `next_wake` ends by the
//!    time it needs attention.
//! 6. **Bounded goodbye.** A revoked claim is drained within `drain_acks + drain_commit`, a lost one at once.
//! 7. **Bounded.** In flight ≤ its limits plus the stranded; sent or done but uncommitted ≤ `uncommitted` per
//!    partition.
//! 8. **Done means acknowledged.** A record that is parked or set aside counts as done only when that copy, or an
//!    earlier one to its target, was acknowledged.

mod clock;
mod commit;
mod core;
mod drain;
mod event;
mod flow;
mod head;
mod judge;
mod limits;
mod offset;
mod partition;
mod reports;
mod settle;
mod shared;
mod sightings;
mod time;
mod topics;
mod window;

pub use clock::{Estimate, Measured, Sample, read_all};
pub use core::Core;
pub use event::{Action, Batching, Body, Claim, Epoch, Event, Failure, Form, Head, Note, Outcome, Stamp};
pub use limits::Limits;
pub use offset::{NextOffset, Offset};
pub use partition::Doing;
pub use time::{BrokerTime, Mono, Reading};
pub use topics::{TopicKey, Verdict};
pub use window::{CopyId, Seq};
