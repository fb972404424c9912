//! Routing by tables of cases and by random requests.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dwell_levels::{Delay, TargetRefusal};
use dwell_router::{Delayed, Headers, LevelTable, Rounding, RouteError, Routing, route};
use dwell_wire::{RawHeader, decode};
use proptest::prelude::*;
use std::time::{Duration, UNIX_EPOCH};

const NOW: i64 = 1_700_000_000_000;
const DAY: u64 = 86_400_000;

fn table() -> LevelTable {
    LevelTable::standard(&["orders", "payments.*"]).unwrap()
}

fn after_ms(ms: u64) -> Delayed {
    Delayed::to("orders").after(Duration::from_millis(ms))
}

fn refusal(request: &Delayed) -> RouteError {
    route(&table(), request, NOW, "made").unwrap_err()
}

fn value<'h>(headers: &'h Headers, name: &str) -> Option<&'h str> {
    let found = headers.iter().find(|(n, _)| n == name.as_bytes())?;
    Some(std::str::from_utf8(found.1.as_deref()?).unwrap())
}

#[test]
fn a_delay_goes_to_the_smallest_level_that_is_not_shorter() {
    for (ms, topic, due) in [
        (0, "orders", 0),
        (1, "delay-1s", 1_000),
        (1_000, "delay-1s", 1_000),
        (3_000, "delay-5s", 5_000),
        (5_000, "delay-5s", 5_000),
        (5_001, "delay-10s", 10_000),
        (45 * 60_000, "delay-1h", 3_600_000),
        (7_200_000, "delay-2h", 7_200_000),
        (7_200_001, "delay-2h", 7_201_000),
        (40 * DAY, "delay-2h", 40 * DAY as i64),
    ] {
        let route = route(&table(), &after_ms(ms), NOW, "made").unwrap();
        assert_eq!((route.topic.as_str(), route.due_ms), (topic, NOW + due), "{ms}");
        assert_eq!(route.rounding_ms, due as u64 - ms, "{ms}");
        let level = route.level.map(|level| format!("delay-{level}"));
        assert_eq!(level.unwrap_or("orders".to_owned()), topic);
    }
}

#[test]
fn a_time_counts_from_now_and_the_past_is_at_once() {
    for (at, topic) in [
        (NOW + 3_000, "delay-5s"),
        (NOW + 5_001, "delay-10s"),
        (NOW, "orders"),
        (NOW - 1, "orders"),
        (i64::MIN, "orders"),
        (-5, "orders"),
    ] {
        let route = route(&table(), &Delayed::to("orders").at(at), NOW, "made").unwrap();
        assert_eq!(route.topic, topic, "{at}");
    }
    let twelve = UNIX_EPOCH + Duration::from_millis(NOW as u64 + 4_999) + Duration::from_nanos(1);
    let route = route(&table(), &Delayed::to("orders").at(twelve), NOW, "made").unwrap();
    assert_eq!(value(&route.headers, "dwell-deliver-at").unwrap(), (NOW + 5_000).to_string());
}

#[test]
fn a_nanosecond_is_rounded_up_and_never_early() {
    let tiny = Delayed::to("orders").after(Duration::from_nanos(1));
    let route = route(&table(), &tiny, NOW, "made").unwrap();
    assert_eq!((route.topic.as_str(), value(&route.headers, "dwell-delay")), ("delay-1s", Some("1")));
}

#[test]
fn the_header_is_the_delay_or_the_time_and_never_both() {
    let after = route(&table(), &after_ms(3_000), NOW, "made").unwrap().headers;
    assert_eq!((value(&after, "dwell-delay"), value(&after, "dwell-deliver-at")), (Some("3000"), None));
    let at = route(&table(), &Delayed::to("orders").at(NOW + 3_000), NOW, "made").unwrap().headers;
    assert_eq!(value(&at, "dwell-delay"), None);
    assert_eq!(value(&at, "dwell-deliver-at").unwrap(), (NOW + 3_000).to_string());
    for headers in [&after, &at] {
        assert_eq!(value(headers, "dwell-target"), Some("orders"));
        assert_eq!(value(headers, "dwell-id"), Some("made"));
        assert_eq!(value(headers, "dwell-sent-at").unwrap(), NOW.to_string());
        assert_eq!(value(headers, "dwell-rounding"), None, "the table's own way needs no word");
    }
}

#[test]
fn what_goes_straight_to_the_target_carries_nothing_that_delays() {
    let request = after_ms(0).header("a", "1").id("mine").record_type("reminder").rounding(Rounding::Exact);
    let route = route(&table(), &request, NOW, "made").unwrap();
    let names: Vec<_> = route.headers.iter().map(|(name, _)| std::str::from_utf8(name).unwrap()).collect();
    assert_eq!(names, ["a", "dwell-id", "dwell-type", "dwell-sent-at"]);
    assert_eq!((route.id.as_str(), route.level.as_ref(), route.due_ms), ("mine", None, NOW));
}

#[test]
fn exact_rounding_takes_hops() {
    let request = after_ms(45 * 60_000).rounding(Rounding::Exact);
    let route = route(&table(), &request, NOW, "made").unwrap();
    assert_eq!((route.topic.as_str(), route.due_ms), ("delay-30m", NOW + 45 * 60_000));
    assert_eq!(value(&route.headers, "dwell-rounding"), Some("exact"));
}

#[test]
fn the_due_time_counts_from_the_append() {
    let table = table();
    let later = NOW + 1_234;
    let due = |request: &Delayed| route(&table, request, NOW, "made").unwrap().due_after(&table, later);
    assert_eq!(due(&after_ms(3_000)), later + 5_000);
    assert_eq!(due(&after_ms(7_201_000)), later + 7_201_000, "two hops");
    assert_eq!(due(&after_ms(0)), later);
    // The second hop of a time is rounded from what then remains.
    let at = Delayed::to("orders").at(NOW + 7_206_000);
    assert_eq!(due(&at), later + 7_200_000 + 5_000);
    let at = Delayed::to("orders").at(NOW + 3_000);
    assert_eq!(due(&at), later + 5_000);
}

#[test]
fn a_bad_target_is_told_apart() {
    for (target, expected) in [("delay-5s", "IsLevel"), ("delay-parked", "IsLevel"), ("__offsets", "Internal")] {
        let RouteError::Target(refusal) = refusal(&Delayed::to(target).after(Duration::ZERO)) else { panic!() };
        assert!(format!("{refusal:?}").starts_with(expected), "{refusal:?}");
    }
    assert!(matches!(
        refusal(&Delayed::to("invoices").after(Duration::ZERO)),
        RouteError::Target(TargetRefusal::NotAllowed { .. })
    ));
    for target in ["", "a b", "..", "größe"] {
        let refused = refusal(&Delayed::to(target).after(Duration::ZERO));
        assert!(matches!(refused, RouteError::Target(TargetRefusal::Illegal(_))), "{target:?}");
    }
}

#[test]
fn too_long_and_out_of_range_are_errors_and_nothing_overflows() {
    let days = |n: u64| Delay::from_millis(n * DAY);
    let too_long = |asked: Delay| RouteError::TooLong { asked, allowed: days(40) };
    assert_eq!(refusal(&after_ms(40 * DAY + 1)), too_long(Delay::from_millis(40 * DAY + 1)));
    assert_eq!(refusal(&after_ms(u64::MAX)), too_long(Delay::from_millis(u64::MAX)));
    assert!(matches!(
        refusal(&Delayed::to("orders").after(Duration::MAX)),
        RouteError::OutOfRange { asked_seconds: u64::MAX, .. }
    ));
    for at in [NOW + (40 * DAY) as i64 + 1, i64::MAX, i64::MAX - 1] {
        assert!(matches!(refusal(&Delayed::to("orders").at(at)), RouteError::TooLong { .. }), "{at}");
    }
    for now in [i64::MIN, -1, i64::MAX] {
        let at = Delayed::to("orders").at(i64::MAX);
        let _ = route(&table(), &at, now, "made").map(|route| route.due_after(&table(), now));
        assert!(route(&table(), &after_ms(3_000), now, "made").is_ok(), "{now}");
    }
}

#[test]
fn a_path_the_rollers_would_not_go_is_refused() {
    let gap = LevelTable::parse("targets: [orders]\nlevels: {1s: {}, 2h: {}}").unwrap();
    let request = after_ms(7_100_000);
    assert!(route(&gap, &request, NOW, "made").is_ok());
    let refused = route(&gap, &request.rounding(Rounding::Exact), NOW, "made").unwrap_err();
    assert!(matches!(refused, RouteError::TooManyHops { hops: 7_100, .. }), "{refused}");
}

#[test]
fn a_draining_level_is_not_used() {
    let draining = LevelTable::parse("targets: [orders]\nlevels: {5s: {state: draining}, 10s: {}}").unwrap();
    assert_eq!(route(&draining, &after_ms(3_000), NOW, "made").unwrap().topic, "delay-10s");
}

#[test]
fn the_rest_of_the_request_is_checked_too() {
    assert_eq!(refusal(&Delayed::to("orders")), RouteError::NoTime);
    for (id, bytes) in [(String::new(), 0), ("é".repeat(129), 258)] {
        assert_eq!(refusal(&after_ms(1).id(id)), RouteError::Id { bytes, allowed: 256 });
    }
    assert!(route(&table(), &after_ms(1).id("i".repeat(256)), NOW, "made").is_ok());
    assert!(matches!(refusal(&after_ms(1).record_type("t".repeat(129))), RouteError::Type { bytes: 129, .. }));
    assert!(matches!(refusal(&after_ms(1).record_type("")), RouteError::Type { bytes: 0, .. }));
    let reserved = after_ms(1).header("a", "1").header("dwell-target", "orders");
    assert!(matches!(refusal(&reserved), RouteError::ReservedHeader { name } if name == "dwell-target"));
    assert!(matches!(refusal(&after_ms(1).null_header("dwell-x")), RouteError::ReservedHeader { .. }));
}

#[test]
fn the_size_counts_key_value_and_headers() {
    let table = table();
    let request = after_ms(1).key(vec![1; 1000]).payload(vec![2; 1000]).header("h", vec![3; 1000]);
    let routing = Routing::new(&table).record_limit(3000);
    let refused = routing.route(&request, NOW, "made").unwrap_err();
    assert!(matches!(refused, RouteError::TooLarge { bytes: 3000..3500, allowed: 3000 }), "{refused}");
    assert!(routing.record_limit(3500).route(&request, NOW, "made").is_ok());
}

#[test]
fn every_error_says_what_was_asked_and_what_to_do() {
    for (request, parts) in [
        (Delayed::to("delay-5s").after(Duration::ZERO), ["delay-5s", "send to the business topic"]),
        (Delayed::to("other").after(Duration::ZERO), ["other", "add it to targets in levels.yaml"]),
        (Delayed::to("orders"), ["no time", ".after(delay)"]),
        (after_ms(50 * DAY), ["50d", "maxDelay"]),
        (after_ms(1).id("i".repeat(300)), ["300", "256"]),
        (after_ms(1).header("dwell-a", "1"), ["dwell-a", "reserved"]),
    ] {
        let text = refusal(&request).to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
}

fn delayed() -> impl Strategy<Value = Delayed> {
    let header = (proptest::collection::vec(any::<u8>(), 0..12), proptest::option::of(any::<Vec<u8>>()));
    let headers = proptest::collection::vec(header, 0..5);
    let when = prop_oneof![
        any::<Duration>().prop_map(|d| Delayed::to("orders").after(d)),
        (0..50 * DAY).prop_map(after_ms),
        any::<i64>().prop_map(|at| Delayed::to("payments.eu").at(at)),
        (-1_000..50 * DAY as i64).prop_map(|in_ms| Delayed::to("orders").at(NOW + in_ms)),
    ];
    let rounding = proptest::option::of(prop_oneof![Just(Rounding::Up), Just(Rounding::Exact)]);
    (when, headers, rounding).prop_map(|(mut request, headers, rounding)| {
        for (name, value) in headers {
            request = match value {
                Some(value) => request.header(name, value),
                None => request.null_header(name),
            };
        }
        rounding.into_iter().fold(request, Delayed::rounding)
    })
}

proptest! {
    /// What the router writes, a roller reads: the same target and time, and user headers first and untouched.
    #[test]
    fn a_route_is_what_a_roller_reads(request in delayed()) {
        let table = table();
        let Ok(route) = route(&table, &request, NOW, "made") else { return Ok(()) };
        prop_assert!(route.due_ms >= NOW);
        prop_assert_eq!(route.due_after(&table, NOW), route.due_ms);
        if route.level.is_none() {
            prop_assert!(value(&route.headers, "dwell-target").is_none());
            return Ok(());
        }
        let raw = route.headers.iter().map(|(name, value)| RawHeader { name, value: value.as_deref() });
        let control = decode(raw).unwrap();
        prop_assert_eq!(control.id, Some("made"));
        prop_assert_eq!(control.delay.is_some(), control.deliver_at.is_none());
        let asked_at = control.deliver_at.unwrap_or_else(|| NOW + control.delay.unwrap().as_millis() as i64);
        prop_assert!(route.due_ms >= asked_at, "early: {} < {asked_at}", route.due_ms);
        prop_assert_eq!(route.rounding_ms as i64, route.due_ms - asked_at);
    }
}
