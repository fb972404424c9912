//! Sends delayed records to the right level.
//!
//! A [`Delayed`] says what to send, to which topic and when. A [`Router`] picks the level, sends the record there
//! with `acks=all`, and answers with a [`Receipt`] when the brokers have it; the fleet's rollers bring it to its topic
//! when it is due.
//!
//! ```no_run
//! use dwell_router::{Delayed, LevelTable, Router};
//! use std::time::Duration;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let table = LevelTable::load("levels.yaml")?;
//! let router = Router::builder(table).brokers("localhost:9092").connect().await?;
//! let remind = Delayed::to("orders").after(Duration::from_secs(45 * 60)).key("order-4711").payload("unpaid?");
//! let receipt = router.send(remind).await?;
//! println!("{} waits on {} until {}", receipt.id, receipt.topic, receipt.due_ms);
//! # Ok(())
//! # }
//! ```
//!
//! Nothing is ever silently undelayed: a request without a time, a target outside the list of `levels.yaml`, a delay
//! that is too long, a level topic that does not exist are errors of the caller, each of its own type.
//!
//! To send with a producer of your own, ask [`route`] for topic and headers; it needs no broker:
//!
//! ```
//! use dwell_router::{Delayed, LevelTable, route};
//! use std::time::Duration;
//!
//! let table = LevelTable::parse("targets: [orders]\nlevels: {5s: {}, 1h: {}}")?;
//! let request = Delayed::to("orders").after(Duration::from_secs(3));
//! let route = route(&table, &request, 1_700_000_000_000, "order-4711-reminder")?;
//! assert_eq!(route.topic, "delay-5s");
//! assert!(route.headers.contains(&(b"dwell-target".to_vec(), Some(b"orders".to_vec()))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The future of a send needs no particular runtime; [`Router::blocking`] serves plain threads.

mod client;
mod delayed;
mod due;
mod refusal;
mod route;

pub use client::{Blocking, ConnectError, Hook, Outcome, Receipt, Retry, Router, RouterBuilder, SendError};
pub use delayed::{Delayed, Moment};
pub use dwell_kafka::producer::Fate;
pub use dwell_levels::{LevelName, LevelTable, Rounding};
pub use refusal::RouteError;
pub use route::{Headers, MAX_RECORD_BYTES, Route, Routing, route};
