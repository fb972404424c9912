//! The control headers of a producer.

use dwell_levels::{Delay, Rounding};

use crate::contract::Known;
use crate::field;
use crate::header::HeaderSink;
use crate::inline::{Inline, number};
use crate::limits::{MAX_ID, MAX_TYPE};
use crate::reason::BadRecord;
use crate::slots::Slots;

/// When a record shall be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After the delay of the level it is written to; needs no header.
    ByLevel,
    /// This long after the broker appended it to its first level.
    After(Delay),
    /// At this time, epoch milliseconds.
    At(i64),
}

/// What a producer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The topic to release to.
    pub target: &'a str,
    /// A unique id of 1 to 256 bytes; without one the first roller makes it from the record's place.
    pub id: Option<&'a str>,
    /// When to deliver.
    pub when: When,
    /// How to fit the delay to the levels; without it the table of levels decides.
    pub rounding: Option<Rounding>,
    /// A business type of 1 to 128 bytes.
    pub record_type: Option<&'a str>,
    /// The producer's time, epoch milliseconds.
    pub sent_at: Option<i64>,
}

/// Writes the control headers of `request`. User headers are the caller's to write, in front.
///
/// # Errors
/// What [`decode`](crate::decode) would say of the record; nothing is written then.
pub fn encode(request: &Request<'_>, sink: &mut (impl HeaderSink + ?Sized)) -> Result<(), BadRecord> {
    let target = request.target.as_bytes();
    field::target(Known::Target, Some(Some(target)))?;
    let mut slots = Slots::new();
    slots.set(Known::Target, target);
    for (known, value, max) in [(Known::Id, request.id, MAX_ID), (Known::Type, request.record_type, MAX_TYPE)] {
        if let Some(value) = value {
            slots.set(known, field::text(known, Some(value.as_bytes()), max)?.as_bytes());
        }
    }
    let when = match request.when {
        When::ByLevel => None,
        When::After(delay) => Some((Known::Delay, checked(Known::Delay, delay.as_millis())?)),
        When::At(at) => Some((Known::DeliverAt, checked(Known::DeliverAt, at)?)),
    };
    if let Some((known, digits)) = &when {
        slots.set(*known, digits.as_bytes());
    }
    let sent_at = request.sent_at.map(|at| checked(Known::SentAt, at));
    let sent_at = sent_at.transpose()?;
    if let Some(sent_at) = &sent_at {
        slots.set(Known::SentAt, sent_at.as_bytes());
    }
    if let Some(rounding) = request.rounding {
        slots.set(Known::Rounding, rounding.as_str().as_bytes());
    }
    slots.write(sink);
    Ok(())
}

/// A number that can be written as it is.
fn checked(known: Known, value: impl TryInto<i64> + ToString + Copy) -> Result<Inline<20>, BadRecord> {
    let digits = number(value.try_into().unwrap_or(i64::MAX));
    // The writer keeps within the contract; a request that asks for more must hear of it.
    if digits.as_str() != value.to_string() {
        field::number(known, Some(value.to_string().as_bytes()))?;
    }
    Ok(digits)
}
