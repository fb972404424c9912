//! What the core answers to what happens, case by case.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod clocks;
mod commits;
mod due;
mod failures;
mod flow;
mod goodbye;
mod plans;
mod rig;
mod silence;
mod targets;
