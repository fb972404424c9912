//! What must be the same at both ends of a record's way.

use crate::Fleet;
use crate::produce::{Producer, Rec};
use dwell_kafka::producer::Written;
use dwell_kafka::reader::WholeRecord;

/// Headers in order.
pub type Headers = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// Those headers that are not Dwell's own.
pub fn user_headers(headers: &Headers) -> Headers {
    headers.iter().filter(|(name, _)| !name.starts_with(b"dwell-")).cloned().collect()
}

/// Key, value and user headers, byte for byte; null and empty are different things.
pub fn assert_same(what: &str, sent: &Rec, got: &WholeRecord) {
    assert_eq!(sent.key, got.key, "{what}: key");
    // Not assert_eq: nobody wants to see 900 KB.
    assert!(sent.payload == got.payload, "{what}: {} instead of {}", size(&got.payload), size(&sent.payload));
    assert_eq!(user_headers(&sent.headers), user_headers(&got.headers), "{what}: headers");
}

fn size(payload: &Option<Vec<u8>>) -> String {
    payload.as_ref().map_or("null".to_owned(), |bytes| format!("{} bytes", bytes.len()))
}

/// Bytes that no codec makes smaller.
pub fn noise(count: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// A producer whose client has these properties besides its own.
pub fn producer_with(fleet: &Fleet, properties: &[(&str, &str)]) -> Producer {
    let settings = properties.iter().fold(fleet.settings.clone(), |s, (k, v)| s.with_property(k, v).unwrap());
    Producer::connect(&settings)
}

/// Asserts that a copy in a topic with append times came when it was due and not much later.
pub fn assert_punctual(what: &str, fleet: &Fleet, level: &str, sent: &Written, got: &WholeRecord) {
    let due = sent.append_ms.unwrap() + fleet.delay_ms(level);
    let late = got.timestamp_ms - due;
    assert!((0..10_000).contains(&late), "{what}: {late} ms late");
}

/// The record with this value of `dwell-id`, which must be there exactly once.
pub fn by_id<'r>(records: &'r [WholeRecord], id: &str) -> &'r WholeRecord {
    let mut found = records.iter().filter(|r| r.header("dwell-id") == Some(id));
    let first = found.next().unwrap_or_else(|| panic!("{id} is not there"));
    assert!(found.next().is_none(), "{id} is there twice");
    first
}
