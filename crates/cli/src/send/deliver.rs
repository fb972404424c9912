//! Sending, and saying where each record is.

use super::when::shown;
use crate::args::Format;
use crate::exit::{Failure, Verdict, tell};
use crate::output::{Output, Row};
use dwell_kafka::ClientSettings;
use dwell_levels::LevelTable;
use dwell_router::{ConnectError, Delayed, Receipt, Router};
use serde::Serialize;
use std::io;
use std::time::Duration;

/// So many records are under way before the first of them is told of.
const AT_A_TIME: usize = 1_000;

/// A record that the brokers have. Other programs read this: names and order are part of the contract.
#[derive(Serialize)]
struct Sent {
    id: String,
    /// None where it went straight to its target.
    level: Option<String>,
    topic: String,
    partition: i32,
    offset: i64,
    due_ms: i64,
}

impl From<Receipt> for Sent {
    fn from(receipt: Receipt) -> Sent {
        Sent {
            id: receipt.id,
            level: receipt.level.map(|level| level.to_string()),
            topic: receipt.topic,
            partition: receipt.partition,
            offset: receipt.offset,
            due_ms: receipt.due_ms,
        }
    }
}

impl Row for Sent {
    const HEAD: &'static [&'static str] = &["ID", "LEVEL", "TOPIC", "PARTITION", "OFFSET", "DUE"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.clone(),
            self.level.clone().unwrap_or_else(|| "-".to_owned()),
            self.topic.clone(),
            self.partition.to_string(),
            self.offset.to_string(),
            shown(self.due_ms),
        ]
    }
}

/// A router that found the topics of all active levels.
pub(super) fn connect(table: LevelTable, settings: ClientSettings, timeout: Duration) -> Result<Router, Failure> {
    let builder = Router::builder(table).settings(settings).timeout(timeout).client_id("dwell-send");
    builder.connect_blocking().map_err(|error| match error {
        ConnectError::Settings(error) => Failure::usage(error),
        ConnectError::Kafka(failure) => Failure::kafka(failure),
        error => Failure::failed(error),
    })
}

/// Sends everything, even where some fail or nobody reads the receipts any more.
pub(super) fn all(router: &Router, records: Vec<Delayed>, output: &mut Output) -> Result<Verdict, Failure> {
    let (mut number, mut failed) = (0usize, 0usize);
    let mut receipts = Receipts::new(output);
    let mut records = records.into_iter().peekable();
    while records.peek().is_some() {
        let part = records.by_ref().take(AT_A_TIME).collect();
        for result in router.blocking().send_all(part) {
            number += 1;
            match result {
                Ok(receipt) => receipts.take(receipt.into()),
                Err(error) => {
                    failed += 1;
                    tell(format_args!("record {number}: {error}"));
                }
            }
        }
    }
    let printed = receipts.finish();
    if failed > 0 {
        tell(format_args!("{failed} of {number} records failed"));
        return Ok(Verdict::Partly);
    }
    printed?;
    Ok(Verdict::Fine)
}

/// Prints receipts as they come, or all in one table. The first error of printing is kept for the end.
struct Receipts<'o> {
    output: &'o mut Output,
    table: Vec<Sent>,
    printed: io::Result<()>,
}

impl<'o> Receipts<'o> {
    fn new(output: &'o mut Output) -> Receipts<'o> {
        Receipts { output, table: Vec::new(), printed: Ok(()) }
    }

    fn take(&mut self, sent: Sent) {
        if self.output.format() == Format::Table {
            self.table.push(sent);
        } else if self.printed.is_ok() {
            self.printed = self.output.object(&sent);
        }
    }

    fn finish(self) -> io::Result<()> {
        self.printed?;
        if self.output.format() == Format::Table {
            return self.output.rows("records", &self.table);
        }
        self.output.finish()
    }
}
