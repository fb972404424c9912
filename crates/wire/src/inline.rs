//! Short text without an allocation.

use std::fmt;

use crate::limits::MAX_NUMBER;

/// Text of at most `N` bytes, held in place. What does not fit is left off, at a character's boundary.
#[derive(Clone, Copy)]
pub struct Inline<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Inline<N> {
    /// An empty text.
    pub const fn new() -> Self {
        Inline { bytes: [0; N], len: 0 }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        // Only whole characters are ever pushed, so this cannot fail.
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// The text's UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Whether it holds nothing.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        let text = first_bytes(text, N - self.len);
        let end = self.len + text.len();
        if let Some(free) = self.bytes.get_mut(self.len..end) {
            free.copy_from_slice(text.as_bytes());
            self.len = end;
        }
    }

    pub(crate) fn push_number(&mut self, number: i64) {
        let mut digits = [0; 20];
        let mut from = digits.len();
        let mut rest = number.unsigned_abs();
        for (at, digit) in digits.iter_mut().enumerate().rev() {
            // The remainder is below ten.
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
            from = at;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            self.push_str("-");
        }
        self.push_str(std::str::from_utf8(&digits[from..]).unwrap_or_default());
    }
}

impl<const N: usize> Default for Inline<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> fmt::Display for Inline<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> fmt::Debug for Inline<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const N: usize> PartialEq for Inline<N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<const N: usize> Eq for Inline<N> {}

/// The longest beginning of `text` of at most `max` bytes.
pub(crate) fn first_bytes(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or_default()
}

/// A number as a header carries it. What the contract cannot express (negative, over 15 digits) becomes the nearest
/// that it can, so that whatever is written can be read.
pub(crate) fn number(value: i64) -> Inline<20> {
    let largest = i64::try_from(MAX_NUMBER).unwrap_or(i64::MAX);
    let mut text = Inline::new();
    text.push_number(value.clamp(0, largest));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_standard_library_does() {
        for value in [0, 7, 10, -1, 1_700_000_000_000, i64::MAX, i64::MIN] {
            let mut text = Inline::<20>::new();
            text.push_number(value);
            assert_eq!(text.as_str(), value.to_string());
        }
    }

    #[test]
    fn header_numbers_stay_within_the_contract() {
        assert_eq!(number(-5).as_str(), "0");
        assert_eq!(number(i64::MAX).as_str(), "999999999999999");
    }

    #[test]
    fn what_does_not_fit_is_cut_between_characters() {
        let mut text = Inline::<6>::new();
        text.push_str("abcd");
        text.push_str("€");
        assert_eq!(text.as_str(), "abcd");
        text.push_str("efg");
        assert_eq!(text.as_str(), "abcdef");
        text.push_str("x");
        assert_eq!(text.as_str(), "abcdef");
    }
}
