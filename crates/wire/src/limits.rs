//! The bounds of the contract, in bytes unless a name says otherwise.

/// Digits of a number.
pub const MAX_DIGITS: usize = 15;
/// The largest number that fits [`MAX_DIGITS`].
pub const MAX_NUMBER: u64 = 999_999_999_999_999;
/// `dwell-target`: the longest topic name Kafka allows.
pub const MAX_TARGET: usize = 249;
/// `dwell-id`.
pub const MAX_ID: usize = 256;
/// `dwell-type`.
pub const MAX_TYPE: usize = 128;
/// `dwell-trail`.
pub const MAX_TRAIL: usize = 512;
/// One step of `dwell-trail`: a level name has at most 63.
pub const MAX_STEP: usize = 64;
/// `dwell-error` as parking writes it.
pub const MAX_ERROR: usize = 1024;
/// The contract version this crate implements.
pub const VERSION: u64 = 1;
