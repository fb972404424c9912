//! Every header of the contract, named once.

/// What the name of every control header starts with.
const PREFIX: &[u8] = b"dwell-";

macro_rules! contract {
    ($($(#[$doc:meta])* $constant:ident = $name:literal => $variant:ident,)+) => {
        /// The names of the control headers.
        pub mod names {
            $($(#[$doc])* pub const $constant: &str = $name;)+
        }

        /// A control header this version knows. The order is the order in which they are written.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Known {
            $($variant,)+
        }

        impl Known {
            /// All of them, in the order of their numbers.
            pub(crate) const ALL: &[Known] = &[$(Known::$variant,)+];

            /// The header's name.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Known::$variant => names::$constant,)+
                }
            }

            fn named(name: &[u8]) -> Option<Known> {
                $(const $constant: &[u8] = names::$constant.as_bytes();)+
                match name {
                    $($constant => Some(Known::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

contract! {
    /// The topic to release to.
    TARGET = "dwell-target" => Target,
    /// The version of the contract; absent means 1.
    VERSION = "dwell-v" => Version,
    /// The unique id that survives every hop, retry, dead letter and replay.
    ID = "dwell-id" => Id,
    /// The business type, for search and statistics.
    TYPE = "dwell-type" => Type,
    /// The requested delay in milliseconds, counted from the append on the first level.
    DELAY = "dwell-delay" => Delay,
    /// The requested time, epoch milliseconds.
    DELIVER_AT = "dwell-deliver-at" => DeliverAt,
    /// How the delay is fitted to the levels: `up` or `exact`.
    ROUNDING = "dwell-rounding" => Rounding,
    /// The producer's time, epoch milliseconds, information only.
    SENT_AT = "dwell-sent-at" => SentAt,
    /// The levels passed so far.
    HOPS = "dwell-hops" => Hops,
    /// How often the record was set aside because of its target.
    TARGET_WAITS = "dwell-target-waits" => TargetWaits,
    /// The path so far, such as `1h,30m,RETRY_1`.
    TRAIL = "dwell-trail" => Trail,
    /// When the record was due on the level that released it, epoch milliseconds.
    DUE = "dwell-due" => Due,
    /// The topic of the business record that a retry is about.
    ORIGIN_TOPIC = "dwell-origin-topic" => OriginTopic,
    /// Its partition.
    ORIGIN_PARTITION = "dwell-origin-partition" => OriginPartition,
    /// Its offset.
    ORIGIN_OFFSET = "dwell-origin-offset" => OriginOffset,
    /// Its record timestamp, epoch milliseconds.
    ORIGIN_TIMESTAMP = "dwell-origin-timestamp" => OriginTimestamp,
    /// The consumer group that retries.
    GROUP = "dwell-group" => Group,
    /// The deliveries that have failed so far.
    ATTEMPT = "dwell-attempt" => Attempt,
    /// How many retries this record is worth.
    MAX_RETRIES = "dwell-max-retries" => MaxRetries,
    /// When the first delivery failed, epoch milliseconds.
    FIRST_FAILED_AT = "dwell-first-failed-at" => FirstFailedAt,
    /// When the latest delivery failed, epoch milliseconds.
    LAST_FAILED_AT = "dwell-last-failed-at" => LastFailedAt,
    /// The class of the latest failure.
    ERROR_CLASS = "dwell-error-class" => ErrorClass,
    /// The text of the latest failure, or of the parking.
    ERROR = "dwell-error" => Error,
    /// What groups equal failures.
    FINGERPRINT = "dwell-fingerprint" => Fingerprint,
    /// Why the record became a dead letter.
    DEAD_REASON = "dwell-dead-reason" => DeadReason,
    /// When it became one, epoch milliseconds.
    DEAD_AT = "dwell-dead-at" => DeadAt,
    /// How often it was replayed.
    REPLAYS = "dwell-replays" => Replays,
    /// Why the record was parked, see [`Reason`](crate::Reason).
    REASON = "dwell-reason" => Reason,
    /// The topic the record was on when it was parked.
    PARKED_TOPIC = "dwell-parked-topic" => ParkedTopic,
    /// Its partition there.
    PARKED_PARTITION = "dwell-parked-partition" => ParkedPartition,
    /// Its offset there.
    PARKED_OFFSET = "dwell-parked-offset" => ParkedOffset,
    /// Its append time there, epoch milliseconds.
    PARKED_TIMESTAMP = "dwell-parked-timestamp" => ParkedTimestamp,
}

/// Whether a header belongs to the contract, known to this version or not: its name starts with `dwell-`.
pub fn is_control(name: &[u8]) -> bool {
    name.starts_with(PREFIX)
}

/// Whose header it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Not the contract's: passes untouched.
    User,
    /// A control header of this version.
    Known(Known),
    /// `dwell-` and a name this version does not know.
    Unknown,
}

impl Kind {
    /// Whose header `name` is.
    pub(crate) fn of(name: &[u8]) -> Kind {
        if !is_control(name) {
            return Kind::User;
        }
        Known::named(name).map_or(Kind::Unknown, Kind::Known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_header_is_found_by_its_name_and_numbered_in_order() {
        for (number, known) in Known::ALL.iter().enumerate() {
            assert_eq!(Kind::of(known.name().as_bytes()), Kind::Known(*known));
            assert_eq!(*known as usize, number);
        }
    }

    #[test]
    fn names_are_compared_exactly() {
        assert_eq!(Kind::of(b"dwell-targets"), Kind::Unknown);
        assert_eq!(Kind::of(b"dwell-"), Kind::Unknown);
        assert_eq!(Kind::of(b"dwell-\xff"), Kind::Unknown);
        assert_eq!(Kind::of(b"Dwell-target"), Kind::User);
        assert_eq!(Kind::of(b"dwell"), Kind::User);
        assert_eq!(Kind::of(b""), Kind::User);
    }
}
