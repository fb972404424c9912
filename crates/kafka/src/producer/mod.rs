//! The producer of a roller: pipelined copies, each with one report.
#![allow(unsafe_code)]

mod handles;
mod headers;
mod reports;

pub use headers::HeaderList;
pub(crate) use reports::ReportContext;
pub use reports::{Fate, Report, Written};

use crate::errors::{FailureClass, KafkaFailure, classify_produce};
use crate::settings::{ClientSettings, Role};
use dwell_roller_core::Failure;
use handles::TopicHandles;
use rdkafka::client::Client;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::producer::{BaseProducer, Producer};
use rdkafka_sys as sys;

use std::time::Duration;

/// A copy to be produced.
pub struct Outgoing<'a> {
    /// To which topic; must hold no NUL byte.
    pub topic: &'a str,
    /// `None` and empty are different things, here and below.
    pub key: Option<&'a [u8]>,
    /// The value.
    pub payload: Option<&'a [u8]>,
    /// All headers.
    pub headers: HeaderList,
    /// Its timestamp, epoch milliseconds.
    pub timestamp_ms: i64,
    /// Comes back with its report.
    pub opaque: u64,
}

/// How long copies may gather into a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linger(pub Duration);

/// An idempotent, `acks=all` producer. Used by one thread; nothing here blocks but [`Outbox::connect`] and drop.
pub struct Outbox {
    handles: TopicHandles,
    producer: BaseProducer<ReportContext>,
}

impl Outbox {
    /// Creates the producer. `batch_records` of 1 sends every record by itself.
    pub fn connect(
        settings: &ClientSettings,
        name: &str,
        linger: Linger,
        batch_records: u32,
    ) -> Result<Outbox, KafkaFailure> {
        Outbox::connect_with(settings, name, linger, batch_records, &[])
    }

    /// As [`Outbox::connect`], with properties that win over everything, such as a time after which the client gives
    /// a record up.
    pub(crate) fn connect_with(
        settings: &ClientSettings,
        name: &str,
        linger: Linger,
        batch_records: u32,
        fixed: &[(&str, String)],
    ) -> Result<Outbox, KafkaFailure> {
        let tuning = [
            ("linger.ms", linger.0.as_millis().to_string()),
            ("batch.num.messages", batch_records.to_string()),
            ("compression.type", "lz4".to_owned()),
            ("queue.buffering.max.messages", "200000".to_owned()),
            ("queue.buffering.max.kbytes", "262144".to_owned()),
            // Brokers and topics set the limit; the client must not have a smaller one of its own.
            ("message.max.bytes", "104857600".to_owned()),
            ("batch.size", "1000000".to_owned()),
        ];
        let mut config = settings.to_tuned_client_config(Role::Producer, name, &tuning);
        for (key, value) in fixed {
            config.set(*key, value);
        }
        let producer: BaseProducer<ReportContext> = config
            .create_with_context(ReportContext::new(name))
            .map_err(|e| KafkaFailure::from_error(format!("create producer {name}"), &e))?;
        Ok(Outbox { handles: TopicHandles::default(), producer })
    }

    /// Makes the client ask for a topic's leaders now, so that its first copy does not wait for them.
    pub fn prepare(&mut self, topic: &str) {
        self.handles.get(self.producer.client(), topic);
    }

    /// Hands a copy over. The client has its own copy of all bytes when this returns.
    pub fn send(&mut self, out: Outgoing<'_>) -> Result<(), Failure> {
        let client = self.producer.client();
        let Some(topic) = self.handles.get(client, out.topic) else {
            return Err(Failure::Rejected(format!("the client cannot name topic {:?}", out.topic)));
        };
        let headers = out.headers.into_raw();
        let fields = [
            field(sys::rd_kafka_vtype_t::RD_KAFKA_VTYPE_RKT, |u| u.rkt = topic),
            field(sys::rd_kafka_vtype_t::RD_KAFKA_VTYPE_MSGFLAGS, |u| u.i = sys::RD_KAFKA_MSG_F_COPY),
            field(sys::rd_kafka_vtype_t::RD_KAFKA_VTYPE_KEY, |u| u.mem = memory(out.key)),
            field(sys::rd_kafka_vtype_t::RD_KAFKA_VTYPE_VALUE, |u| u.mem = memory(out.payload)),
            field(sys::rd_kafka_vtype_t::RD_KAFKA_VTYPE_TIMESTAMP, |u| u.i64_ = out.timestamp_ms),
            field(sys::rd_kafka_vtype_t::RD_KAFKA_VTYPE_OPAQUE, |u| u.ptr = out.opaque as *mut std::ffi::c_void),
            field(sys::rd_kafka_vtype_t::RD_KAFKA_VTYPE_HEADERS, |u| u.headers = headers),
        ];
        // SAFETY: the client and the topic handle are alive; key and value are copied (F_COPY); the headers pass
        // to the client on success and are destroyed here otherwise.
        unsafe {
            let error = sys::rd_kafka_produceva(client.native_ptr(), fields.as_ptr(), fields.len());
            if error.is_null() {
                return Ok(());
            }
            let code = sys::rd_kafka_error_code(error);
            sys::rd_kafka_error_destroy(error);
            sys::rd_kafka_headers_destroy(headers);
            Err(failure_of(code.into()))
        }
    }

    /// Hands out reports that have come in, without waiting.
    pub fn reports(&mut self, into: &mut Vec<Report>) {
        self.producer.poll(Duration::ZERO);
        self.producer.context().take(into);
    }

    /// Waits for a report up to `timeout` and hands out what has come in.
    pub fn wait(&mut self, timeout: Duration, into: &mut Vec<Report>) {
        self.producer.poll(timeout);
        self.producer.context().take(into);
    }

    /// Records with the client that have no report yet.
    pub fn pending(&self) -> i32 {
        self.producer.in_flight_count()
    }

    /// Connects ahead of the first record: a cold idempotent producer needs half a second for it.
    pub fn warm_up(&self, topic: &str, timeout: Duration) {
        if let Err(error) = self.producer.client().fetch_metadata(Some(topic), timeout) {
            tracing::debug!(%error, topic, "warming up the producer");
        }
    }

    /// A fatal error after which nothing is sent any more.
    pub fn fatal(&self) -> Option<String> {
        self.producer.client().fatal_error().map(|(code, text)| format!("{code}: {text}"))
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.handles.release();
    }
}

fn field(vtype: sys::rd_kafka_vtype_t, set: impl FnOnce(&mut sys::rd_kafka_vu_s__bindgen_ty_1)) -> sys::rd_kafka_vu_t {
    let mut u = sys::rd_kafka_vu_s__bindgen_ty_1 { _pad: [0; 64] };
    set(&mut u);
    sys::rd_kafka_vu_t { vtype, u }
}

fn memory(bytes: Option<&[u8]>) -> sys::rd_kafka_vu_s__bindgen_ty_1__bindgen_ty_1 {
    match bytes {
        Some(b) => sys::rd_kafka_vu_s__bindgen_ty_1__bindgen_ty_1 { ptr: b.as_ptr().cast_mut().cast(), size: b.len() },
        None => sys::rd_kafka_vu_s__bindgen_ty_1__bindgen_ty_1 { ptr: std::ptr::null_mut(), size: 0 },
    }
}

/// An error code, in the words of the core.
pub(crate) fn failure_of(code: RDKafkaErrorCode) -> Failure {
    match classify_produce(code) {
        FailureClass::QueueFull => Failure::Refused,
        FailureClass::Outage | FailureClass::Purged => Failure::Retriable,
        FailureClass::UnknownTopic => Failure::UnknownTopic,
        FailureClass::Forbidden => Failure::Forbidden,
        FailureClass::TooLarge => Failure::TooLarge,
        FailureClass::Rejected => Failure::Rejected(code.to_string()),
        FailureClass::Fatal => Failure::Fatal(code.to_string()),
    }
}

type NativeClient = Client<ReportContext>;
