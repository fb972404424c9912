//! Why a record is parked.

use std::fmt;
use std::str::FromStr;

/// Why a record is parked: the codes of `dwell-reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// `dwell-target` is missing, null or empty.
    NoTarget,
    /// A control header is null, empty, too long or malformed.
    BadHeader,
    /// The record is written in a later version of the contract.
    UnsupportedVersion,
    /// The allow-list does not name the target.
    TargetNotAllowed,
    /// The target is a topic of this or a sibling fleet.
    TargetIsLevel,
    /// The target does not exist, or is hidden.
    TargetUnknown,
    /// The roller may not write to the target.
    TargetForbidden,
    /// The target did not acknowledge, however often the record was set aside.
    TargetUnavailable,
    /// The record is larger than the target takes.
    TooLarge,
    /// The requested delay is beyond `maxDelay`.
    TooLong,
    /// The record passed more levels than any delay needs.
    TooManyHops,
}

impl Reason {
    /// Every reason, in the order of the contract.
    pub const ALL: [Reason; 11] = [
        Reason::NoTarget,
        Reason::BadHeader,
        Reason::UnsupportedVersion,
        Reason::TargetNotAllowed,
        Reason::TargetIsLevel,
        Reason::TargetUnknown,
        Reason::TargetForbidden,
        Reason::TargetUnavailable,
        Reason::TooLarge,
        Reason::TooLong,
        Reason::TooManyHops,
    ];

    /// The code, as `dwell-reason` carries it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::NoTarget => "NO_TARGET",
            Reason::BadHeader => "BAD_HEADER",
            Reason::UnsupportedVersion => "UNSUPPORTED_VERSION",
            Reason::TargetNotAllowed => "TARGET_NOT_ALLOWED",
            Reason::TargetIsLevel => "TARGET_IS_LEVEL",
            Reason::TargetUnknown => "TARGET_UNKNOWN",
            Reason::TargetForbidden => "TARGET_FORBIDDEN",
            Reason::TargetUnavailable => "TARGET_UNAVAILABLE",
            Reason::TooLarge => "TOO_LARGE",
            Reason::TooLong => "TOO_LONG",
            Reason::TooManyHops => "TOO_MANY_HOPS",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Reason {
    type Err = UnknownReason;

    fn from_str(code: &str) -> Result<Self, Self::Err> {
        Reason::ALL
            .into_iter()
            .find(|reason| reason.as_str() == code)
            .ok_or_else(|| UnknownReason { asked: code.chars().take(64).collect() })
    }
}

/// A text that is no code of [`Reason`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no reason is called {asked:?}; write one of {}", Reason::ALL.map(Reason::as_str).join(", "))]
pub struct UnknownReason {
    /// What was asked for, at most its first 64 characters.
    pub asked: String,
}

/// A record whose headers break the contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct BadRecord {
    /// The code: `NO_TARGET`, `BAD_HEADER` or `UNSUPPORTED_VERSION`.
    pub reason: Reason,
    /// Which header, what was wrong and what is allowed; bytes of the record appear escaped and cut, so that the text
    /// stays below 1 KiB and is safe to log.
    pub error: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip() {
        for reason in Reason::ALL {
            assert_eq!(reason.as_str().parse(), Ok(reason));
        }
    }

    #[test]
    fn an_unknown_code_lists_the_known_ones() {
        let refused = "no_target".parse::<Reason>().map_err(|e| e.to_string());
        assert!(
            matches!(refused, Err(text) if text.contains("\"no_target\"") && text.contains("NO_TARGET, BAD_HEADER"))
        );
    }
}
