//! The value of one control header, read strictly.

use dwell_levels::Rounding;

use crate::contract::Known;
use crate::limits::{MAX_DIGITS, MAX_TARGET};
use crate::reason::{BadRecord, Reason};

/// How many bytes of a bad value its error shows.
const SHOWN: usize = 64;

const NUMBER: &str = "1 to 15 digits 0-9, without sign or spaces, such as 5000";
const TOPIC: &str = "a topic name: 1 to 249 of the characters a-z A-Z 0-9 . _ -, and not . or ..";
const ROUNDING: &str = "up or exact";

#[derive(Debug, thiserror::Error)]
enum Flaw {
    #[error("is null")]
    Null,
    #[error("is empty")]
    Empty,
    #[error("has {0} bytes")]
    Long(usize),
    #[error("is not UTF-8: {0}")]
    NotUtf8(String),
    #[error("is not a number: {0}")]
    NotNumber(String),
    #[error("is not a topic name: {0}")]
    NotTopic(String),
    #[error("is unknown: {0}")]
    NotRounding(String),
}

fn bad(header: Known, flaw: &Flaw, allowed: &str) -> BadRecord {
    BadRecord { reason: Reason::BadHeader, error: format!("{} {flaw}; write {allowed}", header.name()) }
}

/// Bytes of a record for an error's text: quoted, escaped and cut.
fn shown(value: &[u8]) -> String {
    match value.get(..SHOWN) {
        Some(start) if start.len() < value.len() => {
            format!("\"{}\" and {} more bytes", start.escape_ascii(), value.len() - SHOWN)
        }
        _ => format!("\"{}\"", value.escape_ascii()),
    }
}

/// A number of 1 to 15 ASCII digits.
pub(crate) fn number(header: Known, value: Option<&[u8]>) -> Result<u64, BadRecord> {
    let digits = value.ok_or_else(|| bad(header, &Flaw::Null, NUMBER))?;
    if digits.is_empty() {
        return Err(bad(header, &Flaw::Empty, NUMBER));
    }
    if digits.len() > MAX_DIGITS {
        return Err(bad(header, &Flaw::Long(digits.len()), NUMBER));
    }
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err(bad(header, &Flaw::NotNumber(shown(digits)), NUMBER));
    }
    // Fifteen digits are far from overflow.
    Ok(digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

/// UTF-8 text of 1 to `max` bytes.
pub(crate) fn text(header: Known, value: Option<&[u8]>, max: usize) -> Result<&str, BadRecord> {
    let refuse = |flaw: Flaw| bad(header, &flaw, &format!("UTF-8 text of 1 to {max} bytes, or leave it out"));
    let bytes = value.ok_or_else(|| refuse(Flaw::Null))?;
    if bytes.is_empty() {
        return Err(refuse(Flaw::Empty));
    }
    if bytes.len() > max {
        return Err(refuse(Flaw::Long(bytes.len())));
    }
    std::str::from_utf8(bytes).map_err(|_| refuse(Flaw::NotUtf8(shown(bytes))))
}

/// `up` or `exact`.
pub(crate) fn rounding(header: Known, value: Option<&[u8]>) -> Result<Rounding, BadRecord> {
    match value {
        None => Err(bad(header, &Flaw::Null, ROUNDING)),
        Some(b"") => Err(bad(header, &Flaw::Empty, ROUNDING)),
        Some(b"up") => Ok(Rounding::Up),
        Some(b"exact") => Ok(Rounding::Exact),
        Some(other) => Err(bad(header, &Flaw::NotRounding(shown(other)), ROUNDING)),
    }
}

/// The name of a topic; missing, null and empty are `NO_TARGET`.
pub(crate) fn target(header: Known, value: Option<Option<&[u8]>>) -> Result<&str, BadRecord> {
    let name = match value {
        None => return Err(no_target(header, "is missing")),
        Some(None) => return Err(no_target(header, "is null")),
        Some(Some(b"")) => return Err(no_target(header, "is empty")),
        Some(Some(name)) => name,
    };
    if name.len() > MAX_TARGET {
        return Err(bad(header, &Flaw::Long(name.len()), TOPIC));
    }
    let legal = name.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
    match std::str::from_utf8(name) {
        Ok(topic) if legal && topic != "." && topic != ".." => Ok(topic),
        _ => Err(bad(header, &Flaw::NotTopic(shown(name)), TOPIC)),
    }
}

fn no_target(header: Known, flaw: &str) -> BadRecord {
    BadRecord {
        reason: Reason::NoTarget,
        error: format!("{} {flaw}; set it to the topic that shall receive the record", header.name()),
    }
}
