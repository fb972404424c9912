//! Headers as they come and go, and where a record stands.

use crate::inline::Inline;
use crate::limits::MAX_ID;

/// One header as a record carries it. Names are bytes: nothing makes a producer write UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawHeader<'a> {
    /// The name.
    pub name: &'a [u8],
    /// The value; null and empty are different.
    pub value: Option<&'a [u8]>,
}

/// Takes the headers of a copy, in the order they shall have.
pub trait HeaderSink {
    /// Adds one header behind those already there.
    fn put(&mut self, name: &[u8], value: Option<&[u8]>);
}

impl HeaderSink for Vec<(Vec<u8>, Option<Vec<u8>>)> {
    fn put(&mut self, name: &[u8], value: Option<&[u8]>) {
        self.push((name.to_vec(), value.map(<[u8]>::to_vec)));
    }
}

/// Where a record was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The partition.
    pub partition: i32,
    /// The offset.
    pub offset: i64,
    /// The broker's append time, epoch milliseconds.
    pub append_ms: i64,
}

/// The id of a record that came without one: `<topic>-<partition>-<offset>-<append ms>`, so that every copy of it has
/// the same. Where that exceeds the 256 bytes of an id, the topic loses its beginning: a level topic differs from its
/// siblings at the end.
pub fn fallback_id(place: &Place<'_>) -> String {
    inline_fallback_id(place).as_str().to_owned()
}

/// [`fallback_id`] without an allocation.
pub(crate) fn inline_fallback_id(place: &Place<'_>) -> Inline<MAX_ID> {
    let mut tail = Inline::<80>::new();
    for number in [i64::from(place.partition), place.offset, place.append_ms] {
        tail.push_str("-");
        tail.push_number(number);
    }
    let mut id = Inline::new();
    id.push_str(last_bytes(place.topic, MAX_ID.saturating_sub(tail.as_bytes().len())));
    id.push_str(tail.as_str());
    id
}

/// The longest end of `text` of at most `max` bytes.
fn last_bytes(text: &str, max: usize) -> &str {
    let from = text.len().saturating_sub(max);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at));
    from.and_then(|at| text.get(at..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fallback_id_names_the_place() {
        let place = Place { topic: "delay-5s", partition: 3, offset: 42, append_ms: 1_700_000_000_000 };
        assert_eq!(fallback_id(&place), "delay-5s-3-42-1700000000000");
    }

    #[test]
    fn a_fallback_id_fits_an_id_and_keeps_what_tells_records_apart() {
        let topic = format!("{}-2h", "x".repeat(246));
        let place = Place { topic: &topic, partition: i32::MAX, offset: i64::MAX, append_ms: i64::MIN };
        let id = fallback_id(&place);
        assert_eq!(id.len(), MAX_ID);
        assert!(id.ends_with("x-2h-2147483647-9223372036854775807--9223372036854775808"));
    }
}
