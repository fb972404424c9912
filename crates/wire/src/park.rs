//! The headers of a record that is parked.

use crate::contract::{Kind, Known};
use crate::control::Control;
use crate::header::{HeaderSink, Place, RawHeader, inline_fallback_id};
use crate::inline::{Inline, first_bytes};
use crate::limits::MAX_ERROR;
use crate::reason::Reason;
use crate::slots::Slots;

/// Marks an error's text that was cut.
const ELLIPSIS: &str = "…";

/// Writes the headers of the parked copy.
///
/// All headers are kept as they came and in order, malformed and repeated ones too, for they are the evidence. Behind
/// them stand `dwell-reason`, `dwell-error` (cut at 1 KiB) and the `dwell-parked-*` of `place`, whose earlier values
/// are left out, and `dwell-id` if the record has no such header at all. `control` is absent where the headers could
/// not be decoded.
pub fn park<'a>(
    headers: impl Iterator<Item = RawHeader<'a>>,
    control: Option<&Control<'_>>,
    place: &Place<'_>,
    reason: Reason,
    error: &str,
    sink: &mut (impl HeaderSink + ?Sized),
) {
    let mut has_id = control.is_some_and(|c| c.id.is_some());
    for header in headers {
        let kind = Kind::of(header.name);
        has_id |= kind == Kind::Known(Known::Id);
        if !is_mark(kind) {
            sink.put(header.name, header.value);
        }
    }
    let (id, error) = (inline_fallback_id(place), cut(error));
    let [partition, offset, append_ms] = [i64::from(place.partition), place.offset, place.append_ms].map(exact);
    let mut marks = Slots::new();
    if !has_id {
        marks.set(Known::Id, id.as_bytes());
    }
    marks.set(Known::Reason, reason.as_str().as_bytes());
    marks.set(Known::Error, error.as_bytes());
    marks.set(Known::ParkedTopic, place.topic.as_bytes());
    marks.set(Known::ParkedPartition, partition.as_bytes());
    marks.set(Known::ParkedOffset, offset.as_bytes());
    marks.set(Known::ParkedTimestamp, append_ms.as_bytes());
    marks.write(sink);
}

fn is_mark(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Known(
            Known::Reason
                | Known::Error
                | Known::ParkedTopic
                | Known::ParkedPartition
                | Known::ParkedOffset
                | Known::ParkedTimestamp
        )
    )
}

/// A number as it is: a place is evidence, so an offset of any size and a missing timestamp (-1) are shown.
fn exact(value: i64) -> Inline<20> {
    let mut text = Inline::new();
    text.push_number(value);
    text
}

fn cut(error: &str) -> Inline<MAX_ERROR> {
    let mut text = Inline::new();
    if error.len() <= MAX_ERROR {
        text.push_str(error);
    } else {
        text.push_str(first_bytes(error, MAX_ERROR - ELLIPSIS.len()));
        text.push_str(ELLIPSIS);
    }
    text
}
