//! The headers of a copy that goes on: to its target, to another level, or aside.

use crate::contract::{Kind, Known};
use crate::control::{Control, requested_at_ms};
use crate::header::{HeaderSink, Place, RawHeader, inline_fallback_id};
use crate::inline::{Inline, number};
use crate::limits::MAX_ID;
use crate::slots::Slots;
use crate::trail::push_trail;

/// What a released record does not need any more.
const DELAYING: &[Known] =
    &[Known::Target, Known::Version, Known::Delay, Known::DeliverAt, Known::Rounding, Known::Hops, Known::TargetWaits];

/// What parking wrote, except for the error's text.
const PARKING: &[Known] =
    &[Known::Reason, Known::ParkedTopic, Known::ParkedPartition, Known::ParkedOffset, Known::ParkedTimestamp];

/// Writes the headers of the copy for the target.
///
/// User headers pass in order. The headers that made the record wait, unknown `dwell-*` and the marks of an earlier
/// parking are left out; id, type, sent-at, origin and retry headers stay (the last of several); `dwell-due` becomes
/// `due_ms`, the trail gains `level`, and `dwell-id` is set if it is absent. `c` is what [`decode`](crate::decode)
/// read from the same headers.
pub fn release<'a>(
    headers: impl Iterator<Item = RawHeader<'a>>,
    c: &Control<'a>,
    place: &Place<'_>,
    level: &str,
    due_ms: i64,
    sink: &mut (impl HeaderSink + ?Sized),
) {
    let gathered = Slots::gather(headers, |kind, header| {
        if kind == Kind::User {
            sink.put(header.name, header.value);
        }
    });
    let (id, trail, due) = (made_id(c, place), push_trail(c.trail, level), number(due_ms));
    let mut slots = gathered;
    if slots.has(Known::Reason) {
        // The error then tells of the parking, not of a failed delivery.
        slots.remove(&[Known::Error]);
    }
    slots.remove(DELAYING);
    slots.remove(PARKING);
    set_id(&mut slots, c, &id);
    slots.set(Known::Trail, trail.as_bytes());
    slots.set(Known::Due, due.as_bytes());
    slots.write(sink);
}

/// Writes the headers of the copy for another level, for a record of whose delay something remains.
///
/// Everything is kept, user headers and unknown `dwell-*` in order. `dwell-deliver-at` becomes `deliver_at_ms`,
/// `dwell-hops` grows by one, the trail gains `level` (the one it leaves), and `dwell-id` is set if it is absent.
pub fn hop<'a>(
    headers: impl Iterator<Item = RawHeader<'a>>,
    c: &Control<'a>,
    place: &Place<'_>,
    level: &str,
    deliver_at_ms: i64,
    sink: &mut (impl HeaderSink + ?Sized),
) {
    let counted = (Known::Hops, c.hops.saturating_add(1));
    go_on(headers, c, place, level, (Some(deliver_at_ms), counted), sink);
}

/// Writes the headers of the copy that waits because its target cannot be reached: as [`hop`], but
/// `dwell-target-waits` grows and `dwell-hops` does not.
///
/// Without `deliver_at_ms` the requested time stays what it was: a record that carries only `dwell-delay` gets its
/// append plus that as `dwell-deliver-at`, for it may not wait the whole delay again.
pub fn set_aside<'a>(
    headers: impl Iterator<Item = RawHeader<'a>>,
    c: &Control<'a>,
    place: &Place<'_>,
    level: &str,
    deliver_at_ms: Option<i64>,
    sink: &mut (impl HeaderSink + ?Sized),
) {
    let deliver_at_ms = deliver_at_ms.or_else(|| requested_at_ms(c, place.append_ms));
    let counted = (Known::TargetWaits, c.target_waits.saturating_add(1));
    go_on(headers, c, place, level, (deliver_at_ms, counted), sink);
}

/// What changes on the way to another level: the time to note, and the counter with its new value.
type Change = (Option<i64>, (Known, u32));

fn go_on<'a>(
    headers: impl Iterator<Item = RawHeader<'a>>,
    c: &Control<'a>,
    place: &Place<'_>,
    level: &str,
    (deliver_at_ms, (counter, count)): Change,
    sink: &mut (impl HeaderSink + ?Sized),
) {
    let gathered = Slots::gather(headers, |_, header| sink.put(header.name, header.value));
    let (id, trail) = (made_id(c, place), push_trail(c.trail, level));
    let (deliver_at, count) = (deliver_at_ms.map(number), number(i64::from(count)));
    let mut slots = gathered;
    set_id(&mut slots, c, &id);
    slots.set(counter, count.as_bytes());
    slots.set(Known::Trail, trail.as_bytes());
    if let Some(deliver_at) = &deliver_at {
        slots.set(Known::DeliverAt, deliver_at.as_bytes());
    }
    slots.write(sink);
}

/// The id a record gets that has none.
fn made_id(c: &Control<'_>, place: &Place<'_>) -> Option<Inline<MAX_ID>> {
    c.id.is_none().then(|| inline_fallback_id(place))
}

fn set_id<'s>(slots: &mut Slots<'s>, c: &Control<'s>, made: &'s Option<Inline<MAX_ID>>) {
    if let Some(id) = c.id.or(made.as_ref().map(Inline::as_str)) {
        slots.set(Known::Id, id.as_bytes());
    }
}
