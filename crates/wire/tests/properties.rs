//! What holds for every record, however hostile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;

use dwell_wire::{Control, Place, RawHeader, Reason, decode, hop, is_control, limits, names, park, push_trail};
use dwell_wire::{release, set_aside};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

type Headers = Vec<(Vec<u8>, Option<Vec<u8>>)>;

const CONTROL_NAMES: &[&str] = &[
    names::TARGET,
    names::VERSION,
    names::ID,
    names::TYPE,
    names::DELAY,
    names::DELIVER_AT,
    names::ROUNDING,
    names::SENT_AT,
    names::HOPS,
    names::TARGET_WAITS,
    names::TRAIL,
    names::DUE,
    names::ATTEMPT,
    names::ERROR,
    names::ORIGIN_TOPIC,
    names::REASON,
    names::PARKED_TOPIC,
    names::PARKED_OFFSET,
];

fn raw(headers: &Headers) -> impl Iterator<Item = RawHeader<'_>> + Clone {
    headers.iter().map(|(name, value)| RawHeader { name, value: value.as_deref() })
}

fn any_name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => select(CONTROL_NAMES).prop_map(|name| name.as_bytes().to_vec()),
        1 => "dwell-[a-z-]{0,12}".prop_map(String::into_bytes),
        2 => vec(any::<u8>(), 0..12),
    ]
}

fn any_value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        2 => "[0-9]{0,17}".prop_map(String::into_bytes),
        2 => "[a-z.]{0,20}".prop_map(String::into_bytes),
        1 => select(vec!["up", "exact", "1", "2", "…,1h", ""]).prop_map(|value| value.as_bytes().to_vec()),
        2 => vec(any::<u8>(), 0..700),
    ]
}

fn any_headers() -> impl Strategy<Value = Headers> {
    vec((any_name(), option::weighted(0.9, any_value())), 0..40)
}

/// One legal control header.
fn legal() -> impl Strategy<Value = (Vec<u8>, Option<Vec<u8>>)> {
    let number = select(vec![names::DELAY, names::DELIVER_AT, names::SENT_AT, names::HOPS, names::TARGET_WAITS]);
    prop_oneof![
        4 => (number, "[0-9]{1,15}"),
        1 => (Just(names::ID), "\\PC{1,64}"),
        1 => (Just(names::TYPE), "\\PC{1,32}"),
        1 => (Just(names::TRAIL), "[a-z0-9,…]{1,170}"),
        1 => (Just(names::ROUNDING), "up|exact"),
        1 => (Just(names::VERSION), "0{0,3}1"),
    ]
    .prop_map(|(name, value)| (name.as_bytes().to_vec(), Some(value.into_bytes())))
}

/// Headers that decode: legal control headers among user headers and consumers' ones of any kind.
fn good_headers() -> impl Strategy<Value = Headers> {
    let free =
        select(vec![names::ATTEMPT, names::ERROR, names::REASON, names::PARKED_OFFSET, names::DUE, "dwell-later"]);
    let name = prop_oneof![
        2 => vec(any::<u8>(), 0..12).prop_filter("user's", |name| !is_control(name)),
        1 => free.prop_map(|name| name.as_bytes().to_vec()),
    ];
    let header = prop_oneof![(name, option::of(vec(any::<u8>(), 0..50))), legal()];
    (vec(header, 0..30), "[a-zA-Z0-9_-]{1,249}", any::<prop::sample::Index>()).prop_map(|(mut headers, target, at)| {
        let target = (names::TARGET.as_bytes().to_vec(), Some(target.into_bytes()));
        headers.insert(at.index(headers.len() + 1), target);
        headers
    })
}

prop_compose! {
    fn any_place()(
        topic in "[a-z.-]{1,249}", partition in any::<i32>(), offset in any::<i64>(), append_ms in any::<i64>(),
    ) -> (String, i32, i64, i64) {
        (topic, partition, offset, append_ms)
    }
}

fn place((topic, partition, offset, append_ms): &(String, i32, i64, i64)) -> Place<'_> {
    Place { topic, partition: *partition, offset: *offset, append_ms: *append_ms }
}

fn only(headers: &Headers, keep: impl Fn(&[u8]) -> bool) -> Headers {
    headers.iter().filter(|(name, _)| keep(name)).cloned().collect()
}

fn user(headers: &Headers) -> Headers {
    only(headers, |name| !is_control(name))
}

fn counts(headers: &Headers) -> HashMap<&[u8], usize> {
    let mut counts = HashMap::new();
    for (name, _) in headers {
        *counts.entry(name.as_slice()).or_default() += 1;
    }
    counts
}

/// How often each header of the contract occurs: never more than once.
fn assert_written_once(headers: &Headers) -> Result<(), TestCaseError> {
    let counts = counts(headers);
    for name in CONTROL_NAMES {
        prop_assert!(counts.get(name.as_bytes()).is_none_or(|count| *count == 1), "{} is repeated", name);
    }
    Ok(())
}

fn assert_users_first(before: &Headers, after: &Headers) -> Result<(), TestCaseError> {
    let users = user(before);
    prop_assert_eq!(&user(after), &users);
    let others = only(before, |name| is_control(name) && !CONTROL_NAMES.contains(&text(name)));
    let front = after.len().min(users.len() + others.len());
    prop_assert!(after[front..].iter().all(|(name, _)| is_control(name)));
    Ok(())
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn trail_of(headers: &Headers) -> &[u8] {
    let trail = headers.iter().find(|(name, _)| name == names::TRAIL.as_bytes());
    trail.and_then(|(_, value)| value.as_deref()).expect("every step writes a trail")
}

proptest! {
    #[test]
    fn any_headers_decode_or_have_a_named_reason(headers in any_headers()) {
        match decode(raw(&headers)) {
            Ok(control) => prop_assert!(!control.target.is_empty()),
            Err(bad) => {
                prop_assert!(matches!(bad.reason, Reason::NoTarget | Reason::BadHeader | Reason::UnsupportedVersion));
                prop_assert!(bad.error.starts_with("dwell-") && bad.error.len() <= 1024);
                prop_assert!(bad.error.chars().all(|c| !c.is_control()));
            }
        }
    }

    #[test]
    fn good_headers_decode(headers in good_headers()) {
        prop_assert_eq!(decode(raw(&headers)).map(|_| ()), Ok(()));
    }

    #[test]
    fn release_keeps_user_headers_and_writes_each_control_header_once(
        headers in good_headers(), at in any_place(), due in any::<i64>(),
    ) {
        let control = decode(raw(&headers)).unwrap();
        let mut out = Headers::new();
        release(raw(&headers), &control, &place(&at), "5s", due, &mut out);
        assert_users_first(&headers, &out)?;
        assert_written_once(&out)?;
        let counts = counts(&out);
        for name in [names::ID, names::TRAIL, names::DUE] {
            prop_assert_eq!(counts.get(name.as_bytes()), Some(&1));
        }
        let gone = [
            names::TARGET, names::VERSION, names::DELAY, names::DELIVER_AT, names::ROUNDING, names::HOPS,
            names::TARGET_WAITS, names::REASON, names::PARKED_OFFSET, "dwell-later",
        ];
        for name in gone {
            prop_assert_eq!(counts.get(name.as_bytes()), None);
        }
        prop_assert!(trail_of(&out).len() <= limits::MAX_TRAIL);
    }

    #[test]
    fn a_hop_changes_only_what_it_says(headers in good_headers(), at in any_place(), when in 0..=999_999_999_999_999_i64) {
        let before = decode(raw(&headers)).unwrap();
        let mut out = Headers::new();
        hop(raw(&headers), &before, &place(&at), "5s", when, &mut out);
        assert_users_first(&headers, &out)?;
        assert_written_once(&out)?;
        let is_later = |name: &[u8]| name == b"dwell-later";
        prop_assert_eq!(only(&out, is_later), only(&headers, is_later));

        let after = decode(raw(&out)).unwrap();
        let id = dwell_wire::fallback_id(&place(&at));
        let trail = push_trail(before.trail, "5s");
        let expected = Control {
            id: Some(before.id.unwrap_or(&id)),
            deliver_at: Some(when),
            hops: before.hops.saturating_add(1),
            trail: Some(trail.as_str()),
            ..before
        };
        prop_assert_eq!(after, expected);
    }

    #[test]
    fn set_aside_changes_only_what_it_says(headers in good_headers(), at in any_place()) {
        let before = decode(raw(&headers)).unwrap();
        let mut out = Headers::new();
        set_aside(raw(&headers), &before, &place(&at), "5s", None, &mut out);
        assert_users_first(&headers, &out)?;
        assert_written_once(&out)?;
        let after = decode(raw(&out)).unwrap();
        prop_assert_eq!(after.hops, before.hops);
        prop_assert_eq!(after.target_waits, before.target_waits.saturating_add(1));
        prop_assert_eq!((after.target, after.delay, after.rounding), (before.target, before.delay, before.rounding));
    }

    #[test]
    fn park_keeps_all_headers_but_its_own(headers in any_headers(), at in any_place(), error in "\\PC{0,1500}") {
        let mut out = Headers::new();
        let decoded = decode(raw(&headers));
        park(raw(&headers), decoded.as_ref().ok(), &place(&at), Reason::BadHeader, &error, &mut out);
        let marks = [
            names::REASON, names::ERROR, names::PARKED_TOPIC, names::PARKED_PARTITION, names::PARKED_OFFSET,
            names::PARKED_TIMESTAMP,
        ];
        let is_mark = |name: &[u8]| marks.contains(&text(name));
        let kept = only(&headers, |name| !is_mark(name));
        prop_assert_eq!(&out[..kept.len()], &kept[..]);
        let counts = counts(&out);
        for name in marks {
            prop_assert_eq!(counts.get(name.as_bytes()), Some(&1));
        }
        prop_assert!(counts.contains_key(names::ID.as_bytes()));
        let had_id = kept.iter().any(|(name, _)| name == names::ID.as_bytes());
        prop_assert_eq!(out.len(), kept.len() + 6 + usize::from(!had_id));
        let long = out.iter().filter(|(name, _)| name == names::ERROR.as_bytes());
        prop_assert!(long.filter_map(|(_, value)| value.as_ref()).all(|value| value.len() <= limits::MAX_ERROR));
    }

    #[test]
    fn a_trail_is_bounded_and_ends_with_its_latest_step(trail in "[a-z,…€]{0,600}", step in "[a-z0-9]{1,63}") {
        let out = push_trail(Some(&trail), &step);
        prop_assert!(out.as_str().len() <= limits::MAX_TRAIL);
        prop_assert!(out.as_str().ends_with(&step));
        if trail.len() + 1 + step.len() > limits::MAX_TRAIL {
            prop_assert!(out.as_str().split(',').any(|step| step == "…"));
        }
    }
}
