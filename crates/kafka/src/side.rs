//! A client handle that joins no group, for questions and for administration.

use crate::errors::KafkaFailure;
use crate::log::LogBridge;
use crate::settings::{ClientSettings, Role};
use rdkafka::client::ClientContext;
use rdkafka::config::{FromClientConfigAndContext, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::statistics::Statistics;
use rdkafka_sys as sys;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Events taken off the handle at a time; more wait for the next request.
const MAX_EVENTS: usize = 256;

/// A handle that joins no group and fetches nothing, so that its requests wait behind no long poll.
pub(crate) struct Side {
    consumer: BaseConsumer<SideContext>,
}

impl Side {
    pub(crate) fn open(settings: &ClientSettings, role: Role, client_id: &str) -> Result<Side, KafkaFailure> {
        Side::open_named(settings, role, client_id, None)
    }

    /// As [`Side::open`], with a group's name to ask about. The handle does not join that group.
    pub(crate) fn open_named(
        settings: &ClientSettings,
        role: Role,
        client_id: &str,
        group: Option<&str>,
    ) -> Result<Side, KafkaFailure> {
        let mut config = settings.to_client_config(role, client_id);
        if let Some(group) = group {
            config.set("group.id", group);
        }
        let context = SideContext { log: LogBridge::new(client_id), cause: Mutex::default() };
        let consumer = BaseConsumer::from_config_and_context(&config, context)
            .map_err(|error| KafkaFailure::from_error("start a client", &error))?;
        Ok(Side { consumer })
    }

    pub(crate) fn native_ptr(&self) -> *mut sys::rd_kafka_t {
        self.consumer.client().native_ptr()
    }

    /// Serves log lines and connection errors that have come up, without waiting.
    pub(crate) fn drain(&self) {
        for _ in 0..MAX_EVENTS {
            // Nothing is subscribed: there are no records, and errors have gone to the context.
            drop(self.consumer.poll(Duration::ZERO));
        }
    }

    /// Serves the handle for a while, where something on the cluster needs a moment.
    pub(crate) fn serve(&self, time: Duration) {
        drop(self.consumer.poll(time));
    }

    /// Adds what the connections said to a request that found no broker; forgets it after one that did.
    pub(crate) fn explain<T>(&self, result: Result<T, KafkaFailure>) -> Result<T, KafkaFailure> {
        let mut cause = self.consumer.context().cause.lock().unwrap_or_else(PoisonError::into_inner);
        match (result, cause.as_ref()) {
            (Ok(answer), _) => {
                *cause = None;
                Ok(answer)
            }
            (Err(failure), Some((code, reason))) => Err(failure.because(*code, reason)),
            (Err(failure), None) => Err(failure),
        }
    }
}

pub(crate) struct SideContext {
    log: LogBridge,
    /// The most telling connection error since the last request that was answered.
    cause: Mutex<Option<(RDKafkaErrorCode, String)>>,
}

impl ClientContext for SideContext {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, text: &str) {
        self.log.line(crate::clock::mono(), level, facility, text);
    }

    fn stats(&self, _: Statistics) {}

    fn error(&self, error: KafkaError, reason: &str) {
        let Some(code) = error.rdkafka_error_code() else {
            return;
        };
        let mut cause = self.cause.lock().unwrap_or_else(PoisonError::into_inner);
        if cause.as_ref().is_none_or(|(known, _)| tells(code) >= tells(*known)) {
            *cause = Some((code, reason.to_owned()));
        }
    }
}

impl ConsumerContext for SideContext {}

/// How much a connection error tells about the cause: "all brokers are down" follows every other one.
fn tells(code: RDKafkaErrorCode) -> u8 {
    match code {
        RDKafkaErrorCode::SSL | RDKafkaErrorCode::Authentication => 3,
        RDKafkaErrorCode::Resolve => 2,
        RDKafkaErrorCode::AllBrokersDown => 0,
        _ => 1,
    }
}
