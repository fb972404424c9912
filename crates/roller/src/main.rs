//! `dwell-roller`: forwards the records of delay levels to their targets, each the moment it is due.
//!
//! One plain thread per level; tokio serves probes, metrics and signals, never a record.

mod args;
mod chronicle;
mod environment;
mod guard;
mod health;
mod http;
mod level_loop;
mod metrics;
mod pace;
mod process;
mod ring;
mod sending;
mod side;
mod start;
mod stop;

use std::process::ExitCode;

// librdkafka's malloc is half of a drain's cost; this one serves the C side too.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    process::main()
}
