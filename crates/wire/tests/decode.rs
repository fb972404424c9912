//! What `decode` takes and what it refuses, case by case.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use dwell_levels::{Delay, Rounding};
use dwell_wire::{BadRecord, Control, RawHeader, Reason, decode, names};

type Case<'a> = (&'a str, Option<&'a [u8]>);

fn read<'a>(cases: &[Case<'a>]) -> Result<Control<'a>, BadRecord> {
    decode(cases.iter().map(|(name, value)| RawHeader { name: name.as_bytes(), value: *value }))
}

/// A record for `orders` with one more header.
fn with<'a>(name: &'a str, value: Option<&'a [u8]>) -> Result<Control<'a>, BadRecord> {
    read(&[(names::TARGET, Some(b"orders")), (name, value)])
}

#[track_caller]
fn refused(result: Result<Control<'_>, BadRecord>, reason: Reason, says: &[&str]) {
    let bad = result.expect_err("the record should be refused");
    assert_eq!(bad.reason, reason, "{bad}");
    assert!(bad.error.len() <= 1024, "{} bytes", bad.error.len());
    for part in says {
        assert!(bad.error.contains(part), "{:?} lacks {part:?}", bad.error);
    }
}

#[test]
fn one_header_is_enough() {
    let control = read(&[(names::TARGET, Some(b"orders"))]).unwrap();
    let nothing_else = Control {
        target: "orders",
        id: None,
        delay: None,
        deliver_at: None,
        rounding: None,
        record_type: None,
        sent_at: None,
        trail: None,
        hops: 0,
        target_waits: 0,
    };
    assert_eq!(control, nothing_else);
}

#[test]
fn every_header_is_read() {
    let control = read(&[
        (names::TARGET, Some(b"orders")),
        (names::ID, Some("ü-1".as_bytes())),
        (names::DELAY, Some(b"2700000")),
        (names::DELIVER_AT, Some(b"1700000000000")),
        (names::ROUNDING, Some(b"exact")),
        (names::TYPE, Some(b"invoice")),
        (names::SENT_AT, Some(b"1690000000000")),
        (names::VERSION, Some(b"1")),
        (names::TRAIL, Some(b"2h,1h")),
        (names::HOPS, Some(b"2")),
        (names::TARGET_WAITS, Some(b"003")),
    ]);
    let all = Control {
        target: "orders",
        id: Some("ü-1"),
        delay: Some(Delay::from_millis(2_700_000)),
        deliver_at: Some(1_700_000_000_000),
        rounding: Some(Rounding::Exact),
        record_type: Some("invoice"),
        sent_at: Some(1_690_000_000_000),
        trail: Some("2h,1h"),
        hops: 2,
        target_waits: 3,
    };
    assert_eq!(control, Ok(all));
}

#[test]
fn without_a_target_there_is_none() {
    refused(read(&[]), Reason::NoTarget, &["dwell-target is missing"]);
    refused(read(&[("target", Some(b"orders"))]), Reason::NoTarget, &["is missing"]);
    refused(read(&[(names::TARGET, None)]), Reason::NoTarget, &["dwell-target is null"]);
    refused(read(&[(names::TARGET, Some(b""))]), Reason::NoTarget, &["dwell-target is empty"]);
}

#[test]
fn a_target_is_a_legal_topic_name() {
    let longest = "t".repeat(249);
    for legal in ["a", "A.b_c-9", "...", "billing.retry", longest.as_str()] {
        assert_eq!(read(&[(names::TARGET, Some(legal.as_bytes()))]).unwrap().target, legal);
    }
    let long = "t".repeat(250);
    let bad: [&[u8]; 9] = [b"a/b", b"a b", b" a", b".", b"..", b"a\0", b"a\n", "ordérs".as_bytes(), b"a\xff"];
    for name in bad {
        refused(read(&[(names::TARGET, Some(name))]), Reason::BadHeader, &["dwell-target is not a topic name", "a-z"]);
    }
    refused(read(&[(names::TARGET, Some(long.as_bytes()))]), Reason::BadHeader, &["has 250 bytes", "1 to 249"]);
}

#[test]
fn numbers_are_one_to_fifteen_ascii_digits() {
    let numbers = [names::DELAY, names::DELIVER_AT, names::SENT_AT, names::HOPS, names::TARGET_WAITS, names::VERSION];
    for name in numbers {
        refused(with(name, None), Reason::BadHeader, &[name, "is null", "digits"]);
        refused(with(name, Some(b"")), Reason::BadHeader, &[name, "is empty", "digits"]);
        refused(with(name, Some(b"1000000000000000")), Reason::BadHeader, &[name, "16 bytes"]);
        let bad: [&[u8]; 11] =
            [b"-1", b"+1", b" 1", b"1 ", b"1\n", b"1_0", b"0x1", b"1.0", b"1e3", "١٢".as_bytes(), b"\xff"];
        for value in bad {
            refused(with(name, Some(value)), Reason::BadHeader, &[name, "is not a number", "digits"]);
        }
    }
    let largest = with(names::DELAY, Some(b"999999999999999")).unwrap();
    assert_eq!(largest.delay, Some(Delay::from_millis(999_999_999_999_999)));
    assert_eq!(with(names::DELAY, Some(b"0")).unwrap().delay, Some(Delay::from_millis(0)));
}

#[test]
fn counts_beyond_u32_are_as_high_as_counts_go() {
    assert_eq!(with(names::HOPS, Some(b"4294967296")).unwrap().hops, u32::MAX);
    assert_eq!(with(names::TARGET_WAITS, Some(b"999999999999999")).unwrap().target_waits, u32::MAX);
}

#[test]
fn texts_are_utf8_of_bounded_length() {
    for (name, max) in [(names::ID, 256), (names::TYPE, 128), (names::TRAIL, 512)] {
        let (fits, long) = ("x".repeat(max), "x".repeat(max + 1));
        assert!(with(name, Some(fits.as_bytes())).is_ok());
        let bound = format!("1 to {max} bytes");
        refused(with(name, Some(long.as_bytes())), Reason::BadHeader, &[name, "has", &bound]);
        refused(with(name, None), Reason::BadHeader, &[name, "is null", &bound]);
        refused(with(name, Some(b"")), Reason::BadHeader, &[name, "is empty", &bound]);
        refused(with(name, Some(b"\xc3\x28")), Reason::BadHeader, &[name, "is not UTF-8", r"\xc3("]);
    }
}

#[test]
fn rounding_is_up_or_exact() {
    assert_eq!(with(names::ROUNDING, Some(b"up")).unwrap().rounding, Some(Rounding::Up));
    refused(with(names::ROUNDING, None), Reason::BadHeader, &["dwell-rounding is null", "up or exact"]);
    let bad: [&[u8]; 5] = [b"", b"UP", b"up ", b"down", b"\xff"];
    for value in bad {
        refused(with(names::ROUNDING, Some(value)), Reason::BadHeader, &["dwell-rounding", "up or exact"]);
    }
}

#[test]
fn a_later_version_is_said_before_anything_else() {
    assert!(with(names::VERSION, Some(b"01")).is_ok());
    refused(read(&[(names::VERSION, Some(b"2"))]), Reason::UnsupportedVersion, &["dwell-v 2"]);
    let malformed = read(&[(names::VERSION, Some(b"999999999999999")), (names::ID, None)]);
    refused(malformed, Reason::UnsupportedVersion, &["dwell-v 999999999999999"]);
    refused(with(names::VERSION, Some(b"0")), Reason::BadHeader, &["dwell-v 0"]);
    refused(with(names::VERSION, Some(b"abc")), Reason::BadHeader, &["dwell-v is not a number: \"abc\""]);
}

#[test]
fn the_last_of_several_counts_and_only_it() {
    let last_good = read(&[
        (names::TARGET, None),
        (names::DELAY, Some(b"bad")),
        (names::TARGET, Some(b"orders")),
        (names::DELAY, Some(b"7")),
    ]);
    assert_eq!(last_good.unwrap().delay, Some(Delay::from_millis(7)));
    let last_null = read(&[(names::TARGET, Some(b"orders")), (names::TARGET, None)]);
    refused(last_null, Reason::NoTarget, &["is null"]);
}

#[test]
fn what_only_consumers_read_is_not_looked_at() {
    for name in [names::ATTEMPT, names::ORIGIN_OFFSET, names::DUE, names::REASON, "dwell-later", "dwell-"] {
        assert!(with(name, None).is_ok(), "{name}");
        assert!(with(name, Some(b"\xff")).is_ok(), "{name}");
    }
}

#[test]
fn hostile_bytes_appear_escaped_and_cut() {
    let hostile = [0xff_u8; 500];
    refused(with(names::TRAIL, Some(&hostile)), Reason::BadHeader, &[r"\xff", "and 436 more bytes"]);
    refused(with(names::DELAY, Some(b"\x1b[2J\"\r\n")), Reason::BadHeader, &[r#""\x1b[2J\"\r\n""#]);
}

#[test]
fn very_many_headers_are_only_read_once() {
    let mut read = 0;
    let flood = (0..1_000_000).map(|_| RawHeader { name: names::ID.as_bytes(), value: None });
    let target = RawHeader { name: names::TARGET.as_bytes(), value: Some(b"orders") };
    let id = RawHeader { name: names::ID.as_bytes(), value: Some(b"a") };
    let control = decode(flood.chain([target, id]).inspect(|_| read += 1)).unwrap();
    assert_eq!(control.id, Some("a"));
    assert_eq!(read, 1_000_002);
}
