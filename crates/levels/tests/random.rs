//! What holds for every delay, every table, every text.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use dwell_levels::{Delay, Level, LevelTable, Next, Rounding};
use proptest::prelude::*;

const EXAMPLE: &str = include_str!("../testdata/levels.yaml");

/// The hops by asking again after every hop, which is what rollers do.
fn walk(table: &LevelTable, asked: u64, rounding: Rounding) -> Vec<&Level> {
    let mut remaining = i64::try_from(asked).unwrap();
    let mut hops = Vec::new();
    while let Next::Level(level) = table.plan(remaining, rounding) {
        remaining -= i64::try_from(level.delay.as_millis()).unwrap();
        hops.push(level);
        assert!(hops.len() < 1_000_000, "does not end");
    }
    hops
}

/// Checks one delay against everything that is promised, and the compact path against the walk.
fn check(table: &LevelTable, asked: u64, rounding: Rounding) {
    let hops = walk(table, asked, rounding);
    let path = table.path(Delay::from_millis(asked), rounding);
    assert!(path.hops().eq(hops.iter().copied()), "{asked} {rounding}: {path:?}");
    assert_eq!(path.hop_count(), hops.len() as u64);
    assert!(hops.iter().all(|level| level.is_active()), "{asked} {rounding}");
    let waited: u64 = hops.iter().map(|level| level.delay.as_millis()).sum();
    assert!(waited >= asked, "{asked} {rounding} is early");
    assert_eq!(waited - asked, path.late_ms());
    let bound = match rounding {
        Rounding::Up => hops.last().map_or(1, |last| gap_below(table, last)),
        Rounding::Exact => table.shortest_active().delay.as_millis().max(500) + 1,
    };
    assert!(path.late_ms() < bound, "{asked} {rounding} is {} late", path.late_ms());
}

/// From the next smaller active level, or from nothing.
fn gap_below(table: &LevelTable, level: &Level) -> u64 {
    let below = table.active().rfind(|other| other.delay < level.delay);
    level.delay.as_millis() - below.map_or(0, |other| other.delay.as_millis())
}

#[test]
fn every_second_of_three_times_the_longest() {
    let table = LevelTable::standard(&["orders"]).unwrap();
    for second in 0..=3 * 7_200 {
        for rounding in [Rounding::Up, Rounding::Exact] {
            for millis in [0, 1, 499, 500, 501] {
                check(&table, second * 1_000 + millis, rounding);
            }
        }
    }
}

prop_compose! {
    /// Up to twelve levels of up to a minute; at least one of them is active.
    fn table()(
        delays in prop::collection::btree_set(1_u64..60_000, 1..12),
        draining in prop::collection::vec(any::<bool>(), 12),
    ) -> LevelTable {
        render(&delays, &draining)
    }
}

fn render(delays: &BTreeSet<u64>, draining: &[bool]) -> LevelTable {
    let entries: Vec<String> = delays
        .iter()
        .zip(draining)
        .enumerate()
        .map(|(index, (delay, draining))| {
            let state = if *draining && index > 0 { "draining" } else { "active" };
            format!("{delay}ms: {{state: {state}}}")
        })
        .collect();
    LevelTable::parse(&format!("targets: [a]\nlevels: {{{}}}", entries.join(", "))).unwrap()
}

proptest! {
    #[test]
    fn every_table_keeps_the_promises(table in table(), asked in 0_u64..200_000) {
        check(&table, asked, Rounding::Up);
        check(&table, asked, Rounding::Exact);
    }

    #[test]
    fn durations_read_back(
        millis in prop_oneof![0..=Delay::MAX.as_millis(), 0_u64..120_000],
        unit in prop::sample::select(vec![1, 1_000, 60_000, 3_600_000, 86_400_000]),
    ) {
        let delay = Delay::from_millis(millis / unit * unit);
        let shown = delay.to_string();
        prop_assert_eq!(shown.parse::<Delay>(), Ok(delay));
        prop_assert!(shown.chars().all(|c| c.is_ascii_digit() || "dhms".contains(c)), "{}", shown);
    }

    #[test]
    fn the_parts_of_a_duration_add_up(parts in prop::array::uniform5(0_u64..100), gap in " {0,3}") {
        let [d, h, m, s, ms] = parts;
        let text = format!("{gap}{d}d{gap}{h}h{gap}{m}m{gap}{s}s{gap}{ms}ms{gap}");
        let millis = (((d * 24 + h) * 60 + m) * 60 + s) * 1_000 + ms;
        prop_assert_eq!(text.parse::<Delay>(), Ok(Delay::from_millis(millis)));
    }

    #[test]
    fn no_text_breaks_the_duration(text in "[0-9dhms .]{0,40}") {
        let _ = text.parse::<Delay>();
    }

    #[test]
    fn no_text_breaks_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = LevelTable::parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_yaml_like_text_breaks_the_reader(text in r#"([a-z0-9:{}\[\]&*!|>#,"'~?%@ \n\t-]{0,12}(targets|levels|5s|: |\n  |- ))*"#) {
        let _ = LevelTable::parse(&text);
    }

    #[test]
    fn no_change_of_a_good_file_breaks_the_reader(
        changes in prop::collection::vec((0..EXAMPLE.len(), prop::sample::select(b"x:{}[],&*!|>#\"'-? \n\t0~".to_vec())), 1..8),
        cut in 0..EXAMPLE.len(),
    ) {
        let mut bytes = EXAMPLE.as_bytes().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        let _ = LevelTable::parse(&String::from_utf8_lossy(&bytes));
        bytes.truncate(cut);
        let _ = LevelTable::parse(&String::from_utf8_lossy(&bytes));
    }
}
