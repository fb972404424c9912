//! From headers to what they ask for.

use dwell_levels::Delay;

use crate::contract::Known;
use crate::control::Control;
use crate::field;
use crate::header::RawHeader;
use crate::limits::{MAX_ID, MAX_TRAIL, MAX_TYPE, VERSION};
use crate::reason::{BadRecord, Reason};
use crate::slots::Slots;

/// Reads the control headers of a record.
///
/// Of several headers of one name the last counts, and only that one is checked. User headers, unknown `dwell-*` and
/// those that only consumers read (origin, retry, parking) are not looked at. Takes one pass and, for a good record,
/// no allocation.
///
/// # Errors
/// `UNSUPPORTED_VERSION` for a later version, whatever else is in the record; `NO_TARGET` for a missing, null or
/// empty target; `BAD_HEADER` for any other header that is null, empty, too long or malformed.
pub fn decode<'a>(headers: impl Iterator<Item = RawHeader<'a>>) -> Result<Control<'a>, BadRecord> {
    let slots = Slots::gather(headers, |_, _| {});
    check_version(&slots)?;
    Ok(Control {
        target: field::target(Known::Target, slots.get(Known::Target))?,
        id: text(&slots, Known::Id, MAX_ID)?,
        delay: number(&slots, Known::Delay)?.map(Delay::from_millis),
        deliver_at: number(&slots, Known::DeliverAt)?.map(signed),
        rounding: slots.get(Known::Rounding).map(|value| field::rounding(Known::Rounding, value)).transpose()?,
        record_type: text(&slots, Known::Type, MAX_TYPE)?,
        sent_at: number(&slots, Known::SentAt)?.map(signed),
        trail: text(&slots, Known::Trail, MAX_TRAIL)?,
        hops: count(&slots, Known::Hops)?,
        target_waits: count(&slots, Known::TargetWaits)?,
    })
}

fn check_version(slots: &Slots<'_>) -> Result<(), BadRecord> {
    let version = number(slots, Known::Version)?.unwrap_or(VERSION);
    let (reason, flaw) = match version {
        VERSION => return Ok(()),
        0 => (Reason::BadHeader, "is not a version"),
        _ => (Reason::UnsupportedVersion, "is later than this roller"),
    };
    let name = Known::Version.name();
    Err(BadRecord { reason, error: format!("{name} {version} {flaw}; write {VERSION} or leave it out") })
}

fn text<'a>(slots: &Slots<'a>, known: Known, max: usize) -> Result<Option<&'a str>, BadRecord> {
    slots.get(known).map(|value| field::text(known, value, max)).transpose()
}

fn number(slots: &Slots<'_>, known: Known) -> Result<Option<u64>, BadRecord> {
    slots.get(known).map(|value| field::number(known, value)).transpose()
}

fn count(slots: &Slots<'_>, known: Known) -> Result<u32, BadRecord> {
    // Whoever claims more than u32 holds is beyond every limit on counts anyway.
    Ok(number(slots, known)?.map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX)))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
