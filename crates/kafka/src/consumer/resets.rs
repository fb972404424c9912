//! Positions that the brokers no longer know. The client goes on at the earliest record by itself and reports it only
//! in a line of its log; this reads that line.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The client's position in a partition was not there; it goes on at the earliest record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    /// Where it wanted to read.
    pub from: i64,
    /// Why it could not, in the client's words.
    pub why: String,
}

/// Resets that nobody has asked for yet, by partition; the newest of each.
#[derive(Debug, Default)]
pub(super) struct Resets {
    some: AtomicBool,
    waiting: Mutex<BTreeMap<i32, Reset>>,
}

impl Resets {
    /// Takes a line of the client's log. False if it is about something else.
    pub(super) fn hear(&self, facility: &str, text: &str) -> bool {
        let Some((partition, reset)) = Some(text).filter(|_| facility == "OFFSET").and_then(parse) else {
            return false;
        };
        if let Ok(mut waiting) = self.waiting.lock() {
            waiting.insert(partition, reset);
            self.some.store(true, Ordering::Release);
        }
        true
    }

    /// Whether there may be one. Costs nothing.
    pub(super) fn some(&self) -> bool {
        self.some.load(Ordering::Acquire)
    }

    pub(super) fn take(&self, partition: i32) -> Option<Reset> {
        let mut waiting = self.waiting.lock().ok()?;
        let reset = waiting.remove(&partition);
        self.some.store(!waiting.is_empty(), Ordering::Release);
        reset
    }
}

/// `delay-5s [3]: offset reset (at offset 17 (leader epoch 0), broker 1) to … BEGINNING …: fetch failed …: Broker: …`
fn parse(text: &str) -> Option<(i32, Reset)> {
    let (place, rest) = text.split_once("]: offset reset (at ")?;
    let partition = place.rsplit_once('[')?.1.parse().ok()?;
    let digits = rest.strip_prefix("offset ")?;
    let from = digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    let why = rest.rsplit_once(": ").map_or(rest, |(_, why)| why);
    Some((partition, Reset { from, why: why.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "delay-[5s] [3]: offset reset (at offset 1000 (leader epoch 2), broker 1) to offset BEGINNING \
                        (leader epoch -1): fetch failed due to requested offset not available on the broker: Broker: \
                        Offset out of range";

    #[test]
    fn the_line_gives_partition_old_offset_and_reason() {
        let reset = Reset { from: 1000, why: "Offset out of range".to_owned() };
        assert_eq!(parse(LINE), Some((3, reset)));
    }

    #[test]
    fn lines_about_something_else_are_none() {
        for text in ["", "t [0]: offset reset (at offset INVALID (leader epoch -1), broker 1) to END: x", "t [0]: seek"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        let resets = Resets::default();
        assert!(!resets.hear("FETCH", LINE) && !resets.some());
    }

    #[test]
    fn each_is_taken_once() {
        let resets = Resets::default();
        assert!(resets.hear("OFFSET", LINE) && resets.some());
        assert_eq!(resets.take(2), None);
        assert!(resets.some());
        assert_eq!(resets.take(3).map(|r| r.from), Some(1000));
        assert_eq!((resets.take(3), resets.some()), (None, false));
    }
}
