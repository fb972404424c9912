//! Delivery reports, gathered for the thread that polls.

use super::failure_of;
use crate::clock::mono;
use crate::log::LogBridge;
use dwell_roller_core::{Failure, Mono};
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError;
use rdkafka::message::{DeliveryResult, Message};
use rdkafka::producer::ProducerContext;
use rdkafka::{Statistics, Timestamp};
use rdkafka_sys as sys;
use std::sync::Mutex;

/// What became of one copy.
#[derive(Debug, Clone)]
pub struct Report {
    /// As given with the copy.
    pub opaque: u64,
    /// Where it was written, or why it was not.
    pub result: Result<Written, Failure>,
    /// Whether the brokers may have it all the same.
    pub fate: Fate,
}

/// What is known of a copy whose report is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    /// No broker has it, and none will.
    NotWritten,
    /// It was on its way when the client gave up: a broker may have it.
    MayBeWritten,
}

/// Where a copy was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Partition of the topic.
    pub partition: i32,
    /// Its offset there; negative if the broker did not say.
    pub offset: i64,
    /// The broker's append time, epoch milliseconds, where the topic has LogAppendTime.
    pub append_ms: Option<i64>,
    /// When the report was handed out by the client.
    pub at: Mono,
}

pub(crate) struct ReportContext {
    log: LogBridge,
    reports: Mutex<Vec<Report>>,
}

impl ReportContext {
    pub(crate) fn new(name: &str) -> ReportContext {
        ReportContext { log: LogBridge::new(name), reports: Mutex::default() }
    }

    pub(crate) fn take(&self, into: &mut Vec<Report>) {
        if let Ok(mut reports) = self.reports.lock() {
            into.append(&mut reports);
        }
    }
}

impl ClientContext for ReportContext {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, message: &str) {
        self.log.line(mono(), level, fac, message);
    }

    fn error(&self, _error: KafkaError, reason: &str) {
        self.log.line(mono(), RDKafkaLogLevel::Error, "ERROR", reason);
    }

    fn stats(&self, _statistics: Statistics) {}
}

impl ProducerContext for ReportContext {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, opaque: usize) {
        let fate = fate_of(result);
        let result = match result {
            Ok(message) => Ok(Written {
                partition: message.partition(),
                offset: message.offset(),
                append_ms: match message.timestamp() {
                    Timestamp::LogAppendTime(ms) => Some(ms),
                    Timestamp::CreateTime(_) | Timestamp::NotAvailable => None,
                },
                at: mono(),
            }),
            Err((error, _)) => Err(error.rdkafka_error_code().map_or(Failure::Retriable, failure_of)),
        };
        if let Ok(mut reports) = self.reports.lock() {
            reports.push(Report { opaque: opaque as u64, result, fate });
        }
    }
}

/// The client's own account of how far the copy got.
fn fate_of(result: &DeliveryResult<'_>) -> Fate {
    let (Ok(message) | Err((_, message))) = result;
    // SAFETY: the message is alive for the call.
    let status = unsafe { sys::rd_kafka_message_status(message.ptr()) };
    match status {
        sys::rd_kafka_msg_status_t::RD_KAFKA_MSG_STATUS_NOT_PERSISTED => Fate::NotWritten,
        sys::rd_kafka_msg_status_t::RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED
        | sys::rd_kafka_msg_status_t::RD_KAFKA_MSG_STATUS_PERSISTED => Fate::MayBeWritten,
    }
}
