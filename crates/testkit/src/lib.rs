//! Simulation, checker and fixtures for Dwell's tests.
//!
//! [`checker`] judges a run from the outside: what was asked, what the level topics held, what the targets got.
//! [`sim`] runs the roller's core against a simulated cluster, in virtual time and from a seed.

pub mod checker;
pub mod sim;
