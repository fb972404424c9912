//! Moments that nobody chose.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::ops::Range;

/// A number in the range, another one each time. Told on stderr, where a failing test shows it.
pub fn chance(what: &str, range: Range<u64>) -> u64 {
    let number = range.start + RandomState::new().hash_one(0) % (range.end - range.start);
    eprintln!("{what}: {number}");
    number
}
