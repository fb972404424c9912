//! Simulation, checker and fixtures for Dwell's tests.
//!
//! [`checker`] judges a run from the outside: what was asked, what the level topics held, what the targets got.

pub mod checker;
