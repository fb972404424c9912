//! What topics must exist and how they must be set: the same words for the rollers' guards and for `dwell topics`.
//!
//! Pure: [`wanted`] says what a table needs, [`check`] compares that with what a broker described.

mod check;
mod finding;
mod fix;
mod spec;

pub use check::check;
pub use finding::{Finding, FoundTopic, Severity};
pub use fix::Fix;
pub use spec::{DEFAULT_RECORD_LIMIT, PARKED_HEADROOM, TopicKind, TopicSpec, level_spec, parked_spec, wanted};
