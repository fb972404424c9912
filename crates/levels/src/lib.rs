//! The table of delay levels: parsing, checking, planning.
//!
//! A fleet is described by one file, `levels.yaml`. [`LevelTable::parse`] turns its text into a checked
//! [`LevelTable`] or reports every fault at once, each with its line and column. The table then answers the
//! questions the rest of the product asks: which level comes next ([`LevelTable::plan`]), may this topic be a target
//! ([`LevelTable::check_target`]), which topics must exist and how ([`topics`]).
//!
//! Nothing here reads a clock or talks to a broker. The only I/O is the bounded read in [`LevelTable::load`].
//!
//! ```
//! use dwell_levels::{Delay, LevelTable, Next, Rounding};
//!
//! let table = LevelTable::parse("targets: [orders]\nlevels: {5s: {}, 1h: {}}")?;
//! let path = table.path("45m".parse::<Delay>()?, Rounding::Up);
//! assert_eq!(path.hops().map(|level| level.name.as_str()).collect::<Vec<_>>(), ["1h"]);
//! assert_eq!(path.late_ms(), 15 * 60 * 1000);
//! assert_eq!(table.plan(0, Rounding::Up), Next::Target);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod delay;
mod fault;
mod glob;
mod level;
mod load;
mod name;
mod path;
mod plan;
mod read;
mod standard;
mod table;
mod target;
mod text;
pub mod topics;
mod words;
mod yaml;

pub use delay::{Delay, DelayError};
pub use fault::{Fault, Faults};
pub use glob::{Glob, GlobError};
pub use level::{Group, Level, Parked};
pub use load::{LoadError, MAX_FILE_BYTES};
pub use name::{LevelName, MAX_TOPIC_NAME, NameError, TopicNameError, check_topic_name};
pub use path::Path;
pub use plan::Next;
pub use table::LevelTable;
pub use target::TargetRefusal;
pub use words::{Delivery, LevelState, PollInterval, Rounding, WordError};
