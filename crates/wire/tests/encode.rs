//! What a producer writes is what a roller reads.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use dwell_levels::{Delay, Rounding};
use dwell_wire::{BadRecord, RawHeader, Request, When, decode, encode};

type Written = Vec<(Vec<u8>, Option<Vec<u8>>)>;

const PLAIN: Request<'static> =
    Request { target: "orders", id: None, when: When::ByLevel, rounding: None, record_type: None, sent_at: None };

fn refused(request: &Request<'_>) -> BadRecord {
    let mut out = Written::new();
    let refused = encode(request, &mut out).expect_err("the request should be refused");
    assert_eq!(out, [], "nothing is written of a refused request");
    refused
}

#[test]
fn a_plain_request_is_one_header() {
    let mut out = Written::new();
    encode(&PLAIN, &mut out).unwrap();
    assert_eq!(out, [(b"dwell-target".to_vec(), Some(b"orders".to_vec()))]);
}

#[test]
fn what_is_written_is_read_back() {
    for when in [When::ByLevel, When::After(Delay::from_millis(2_700_000)), When::At(1_700_000_000_000)] {
        let request = Request {
            id: Some("ü-1"),
            when,
            rounding: Some(Rounding::Exact),
            record_type: Some("invoice"),
            sent_at: Some(7),
            ..PLAIN
        };
        let mut out = Written::new();
        encode(&request, &mut out).unwrap();
        let control = decode(out.iter().map(|(n, v)| RawHeader { name: n, value: v.as_deref() })).unwrap();
        let read = match (control.delay, control.deliver_at) {
            (None, None) => When::ByLevel,
            (Some(delay), None) => When::After(delay),
            (_, Some(at)) => When::At(at),
        };
        assert_eq!(read, when);
        assert_eq!((control.target, control.id, control.hops), ("orders", Some("ü-1"), 0));
        assert_eq!((control.rounding, control.record_type), (request.rounding, request.record_type));
        assert_eq!(control.sent_at, Some(7));
    }
}

#[test]
fn a_request_that_could_not_be_read_is_refused() {
    let long = "x".repeat(257);
    let bad = [
        (Request { target: "", ..PLAIN }, "dwell-target is empty"),
        (Request { target: "a/b", ..PLAIN }, "dwell-target is not a topic name"),
        (Request { id: Some(""), ..PLAIN }, "dwell-id is empty"),
        (Request { id: Some(&long), ..PLAIN }, "dwell-id has 257 bytes"),
        (Request { record_type: Some(&long), ..PLAIN }, "dwell-type has 257 bytes"),
        (Request { when: When::At(-1), ..PLAIN }, "dwell-deliver-at is not a number: \"-1\""),
        (Request { when: When::After(Delay::from_millis(1_000_000_000_000_000)), ..PLAIN }, "dwell-delay has 16 bytes"),
        (Request { when: When::After(Delay::from_millis(u64::MAX)), ..PLAIN }, "dwell-delay has 20 bytes"),
        (Request { sent_at: Some(i64::MIN), ..PLAIN }, "dwell-sent-at has 20 bytes"),
    ];
    for (request, says) in bad {
        let refused = refused(&request);
        assert!(refused.error.starts_with(says), "{refused}");
    }
}
