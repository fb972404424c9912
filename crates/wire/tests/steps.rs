//! What each step writes, case by case.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use dwell_wire::{Control, Place, RawHeader, Reason, decode, hop, names, park, release, set_aside};

type Written = Vec<(Vec<u8>, Option<Vec<u8>>)>;

const PLACE: Place<'static> = Place { topic: "delay-5s", partition: 3, offset: 42, append_ms: 1_000 };
const MADE_ID: &str = "delay-5s-3-42-1000";

/// `name=value`, `name` alone for null; in the order given.
fn raw<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = RawHeader<'a>> + Clone {
    lines.iter().map(|line| match line.split_once('=') {
        Some((name, value)) => RawHeader { name: name.as_bytes(), value: Some(value.as_bytes()) },
        None => RawHeader { name: line.as_bytes(), value: None },
    })
}

fn lines(written: &Written) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let line = |(name, value): &(Vec<u8>, Option<Vec<u8>>)| match value {
        Some(value) => format!("{}={}", text(name), text(value)),
        None => text(name),
    };
    written.iter().map(line).collect()
}

fn step<'a>(headers: &'a [&'a str], write: impl FnOnce(&Control<'a>, &mut Written)) -> Vec<String> {
    let mut written = Written::new();
    write(&decode(raw(headers)).unwrap(), &mut written);
    lines(&written)
}

fn released(headers: &[&str]) -> Vec<String> {
    step(headers, |c, out| release(raw(headers), c, &PLACE, "5s", 6_000, out))
}

fn hopped(headers: &[&str]) -> Vec<String> {
    step(headers, |c, out| hop(raw(headers), c, &PLACE, "5s", 9_000, out))
}

#[test]
fn release_takes_the_delay_off_and_keeps_the_rest() {
    let headers = [
        "b=2",
        "dwell-target=orders",
        "a=1",
        "b",
        "dwell-v=1",
        "dwell-delay=5000",
        "dwell-deliver-at=6000",
        "b=",
        "dwell-rounding=up",
        "dwell-hops=1",
        "dwell-target-waits=2",
        "dwell-later=x",
        "dwell-id=i",
        "dwell-type=t",
        "dwell-sent-at=1",
        "dwell-trail=2h",
        "dwell-due=7",
    ];
    let kept = [
        "b=2",
        "a=1",
        "b",
        "b=",
        "dwell-id=i",
        "dwell-type=t",
        "dwell-sent-at=1",
        "dwell-trail=2h,5s",
        "dwell-due=6000",
    ];
    assert_eq!(released(&headers), kept);
}

#[test]
fn release_keeps_the_last_of_each_origin_and_retry_header_as_it_is() {
    let kept = [
        names::ORIGIN_TOPIC,
        names::ORIGIN_PARTITION,
        names::ORIGIN_OFFSET,
        names::ORIGIN_TIMESTAMP,
        names::GROUP,
        names::ATTEMPT,
        names::MAX_RETRIES,
        names::FIRST_FAILED_AT,
        names::LAST_FAILED_AT,
        names::ERROR_CLASS,
        names::ERROR,
        names::FINGERPRINT,
        names::DEAD_REASON,
        names::DEAD_AT,
        names::REPLAYS,
    ];
    for name in kept {
        let (first, last) = (format!("{name}=1"), format!("{name}=2"));
        let out = released(&["dwell-target=o", "dwell-id=i", &first, &last]);
        assert_eq!(out, ["dwell-id=i", "dwell-trail=5s", "dwell-due=6000", &last], "{name}");
        let out = released(&["dwell-target=o", "dwell-id=i", &first, name]);
        assert_eq!(out, ["dwell-id=i", "dwell-trail=5s", "dwell-due=6000", name], "{name}");
    }
}

#[test]
fn release_takes_the_marks_of_an_earlier_parking_off() {
    let headers = [
        "dwell-target=o",
        "dwell-id=i",
        "dwell-reason=TARGET_UNKNOWN",
        "dwell-error=no such topic",
        "dwell-parked-topic=t",
        "dwell-parked-partition=0",
        "dwell-parked-offset=1",
        "dwell-parked-timestamp=2",
    ];
    assert_eq!(released(&headers), ["dwell-id=i", "dwell-trail=5s", "dwell-due=6000"]);
}

#[test]
fn release_makes_an_id_where_there_is_none() {
    let made = format!("dwell-id={MADE_ID}");
    assert_eq!(released(&["dwell-target=o"]), [&made, "dwell-trail=5s", "dwell-due=6000"]);
}

#[test]
fn hop_keeps_everything_and_notes_the_time() {
    let headers = [
        "b=2",
        "dwell-later=x",
        "dwell-target=no",
        "b",
        "dwell-later=x",
        "dwell-delay=0012000",
        "dwell-target=orders",
        "dwell-rounding=exact",
        "dwell-attempt",
    ];
    let made = format!("dwell-id={MADE_ID}");
    let kept = [
        "b=2",
        "dwell-later=x",
        "b",
        "dwell-later=x",
        "dwell-target=orders",
        &made,
        "dwell-delay=0012000",
        "dwell-deliver-at=9000",
        "dwell-rounding=exact",
        "dwell-hops=1",
        "dwell-trail=5s",
        "dwell-attempt",
    ];
    assert_eq!(hopped(&headers), kept);
}

#[test]
fn hop_counts_on() {
    let out = hopped(&[
        "dwell-target=o",
        "dwell-id=i",
        "dwell-hops=7",
        "dwell-hops=009",
        "dwell-trail=2h",
        "dwell-deliver-at=1",
    ]);
    assert_eq!(out, ["dwell-target=o", "dwell-id=i", "dwell-deliver-at=9000", "dwell-hops=10", "dwell-trail=2h,5s"]);
    let out = hopped(&["dwell-target=o", "dwell-id=i", "dwell-hops=99999999999"]);
    assert!(out.contains(&"dwell-hops=4294967295".to_owned()), "{out:?}");
}

#[test]
fn set_aside_counts_the_wait_and_no_hop() {
    let aside = |headers: &[&str], at| step(headers, |c, out| set_aside(raw(headers), c, &PLACE, "5s", at, out));
    let out =
        aside(&["dwell-target=o", "dwell-id=i", "dwell-hops=3", "dwell-target-waits=4", "dwell-trail=2h"], Some(9));
    assert_eq!(
        out,
        [
            "dwell-target=o",
            "dwell-id=i",
            "dwell-deliver-at=9",
            "dwell-hops=3",
            "dwell-target-waits=5",
            "dwell-trail=2h,5s"
        ]
    );
    let out = aside(&["dwell-target=o", "dwell-id=i"], None);
    assert_eq!(out, ["dwell-target=o", "dwell-id=i", "dwell-target-waits=1", "dwell-trail=5s"]);
}

#[test]
fn set_aside_never_starts_a_delay_again() {
    let headers = ["dwell-target=o", "dwell-id=i", "dwell-delay=500"];
    let out = step(&headers, |c, out| set_aside(raw(&headers), c, &PLACE, "5s", None, out));
    assert!(out.contains(&"dwell-deliver-at=1500".to_owned()), "{out:?}");
}

fn parked(headers: &[&str], error: &str) -> Vec<String> {
    let mut written = Written::new();
    let decoded = decode(raw(headers));
    park(raw(headers), decoded.as_ref().ok(), &PLACE, Reason::BadHeader, error, &mut written);
    lines(&written)
}

const MARKS: [&str; 6] = [
    "dwell-reason=BAD_HEADER",
    "dwell-error=why",
    "dwell-parked-topic=delay-5s",
    "dwell-parked-partition=3",
    "dwell-parked-offset=42",
    "dwell-parked-timestamp=1000",
];

/// `MARKS` in the order of the contract, where the error's text stands with the retry headers.
fn with_marks(kept: &[&str]) -> Vec<String> {
    let marks = [MARKS[1], MARKS[0], MARKS[2], MARKS[3], MARKS[4], MARKS[5]];
    kept.iter().copied().chain(marks).map(str::to_owned).collect()
}

#[test]
fn park_keeps_the_evidence_as_it_came() {
    let headers =
        ["dwell-id", "b=2", "dwell-delay=x", "dwell-target=a", "b", "dwell-target=", "dwell-delay", "dwell-later=1"];
    assert_eq!(parked(&headers, "why"), with_marks(&headers));
}

#[test]
fn park_renews_the_marks_of_an_earlier_parking() {
    let mut headers = vec!["dwell-target=a", "dwell-id=i"];
    headers.extend([
        "dwell-reason=OLD",
        "dwell-error=old",
        "dwell-error=older",
        "dwell-parked-offset",
        "dwell-parked-topic=x",
    ]);
    assert_eq!(parked(&headers, "why"), with_marks(&["dwell-target=a", "dwell-id=i"]));
}

#[test]
fn park_makes_an_id_where_there_is_none() {
    let made = format!("dwell-id={MADE_ID}");
    assert_eq!(parked(&["dwell-target=a"], "why"), with_marks(&["dwell-target=a", &made]));
}

#[test]
fn park_cuts_its_text_at_a_character() {
    let error = |text: &str| parked(&["dwell-id=i"], text)[1].trim_start_matches("dwell-error=").to_owned();
    let fits = "x".repeat(1_024);
    assert_eq!(error(&fits), fits);
    assert_eq!(error(&"x".repeat(1_025)), format!("{}…", "x".repeat(1_021)));
    assert_eq!(error(&"€".repeat(400)), format!("{}…", "€".repeat(340)));
}

#[test]
fn many_hops_take_constant_space() {
    let mut headers = vec![("dwell-target".to_owned(), "orders".to_owned())];
    let mut size_at = Vec::new();
    for n in 0..1_000 {
        let raw = headers.iter().map(|(n, v)| RawHeader { name: n.as_bytes(), value: Some(v.as_bytes()) });
        let control = decode(raw.clone()).unwrap();
        let mut out = Written::new();
        match n % 2 {
            0 => hop(raw, &control, &PLACE, "30m", 9_000, &mut out),
            _ => set_aside(raw, &control, &PLACE, "30m", None, &mut out),
        }
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        headers = out.into_iter().map(|(n, v)| (text(n), text(v.unwrap()))).collect();
        size_at.push((headers.len(), headers.iter().map(|(n, v)| n.len() + v.len()).sum::<usize>()));
    }
    assert_eq!(size_at[999].0, 6);
    // Two counters grew by a digit since; the trail stands still.
    assert!(size_at[999].1 <= size_at[199].1 + 2 + 4, "{:?} {:?}", size_at[199], size_at[999]);
}
