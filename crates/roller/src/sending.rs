//! From "send a copy" to a record with the client.

use dwell_kafka::producer::{HeaderList, Linger, Outbox, Outgoing, Report};
use dwell_kafka::record::Record;
use dwell_kafka::{ClientSettings, KafkaFailure};
use dwell_roller_core::{Batching, Body, CopyId, Failure, Form};
use dwell_wire::{Control, Place, decode};
use std::time::Duration;

/// Everything about a copy but the record itself.
pub(crate) struct Copy<'a> {
    pub(crate) id: CopyId,
    pub(crate) to: &'a str,
    pub(crate) form: &'a Form,
    pub(crate) batching: Batching,
    pub(crate) source: Source<'a>,
    pub(crate) now_ms: i64,
}

/// Where the record stands.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) level: &'a str,
    pub(crate) topic: &'a str,
    pub(crate) partition: i32,
}

/// The producers of one level: the pipelined one, and on demand one that sends each record by itself.
pub(crate) struct Sending {
    settings: ClientSettings,
    name: String,
    shared: Outbox,
    alone: Option<Outbox>,
}

impl Sending {
    pub(crate) fn connect(settings: &ClientSettings, level: &str, linger: Duration) -> Result<Sending, KafkaFailure> {
        let name = format!("dwell-roller-{level}");
        let shared = Outbox::connect(settings, &name, Linger(linger), 10_000)?;
        Ok(Sending { settings: settings.clone(), name, shared, alone: None })
    }

    pub(crate) fn warm_up(&self, topic: &str) {
        self.shared.warm_up(topic, Duration::from_secs(5));
    }

    /// Lets the client learn a topic's leaders before its first copy.
    pub(crate) fn prepare(&mut self, topic: &str) {
        self.shared.prepare(topic);
    }

    pub(crate) fn send(&mut self, record: &Record, copy: &Copy<'_>) -> Result<(), Failure> {
        let headers = headers_of(record, copy);
        let (key, payload) = match copy.form {
            Form::Park { body: Body::LeftOut, .. } => (None, None),
            _ => (record.key(), record.payload()),
        };
        let outgoing =
            Outgoing { topic: copy.to, key, payload, headers, timestamp_ms: copy.now_ms, opaque: copy.id.to_u64() };
        match copy.batching {
            Batching::Shared => self.shared.send(outgoing),
            Batching::Alone => self.alone()?.send(outgoing),
        }
    }

    fn alone(&mut self) -> Result<&mut Outbox, Failure> {
        if self.alone.is_none() {
            let made = Outbox::connect(&self.settings, &format!("{}-alone", self.name), Linger(Duration::ZERO), 1);
            self.alone = Some(made.map_err(|e| {
                tracing::error!(%e, "creating the producer for single records");
                Failure::Retriable
            })?);
        }
        self.alone.as_mut().ok_or(Failure::Retriable)
    }

    /// Reports that have come in.
    pub(crate) fn reports(&mut self, into: &mut Vec<Report>) {
        self.shared.reports(into);
        if let Some(alone) = &mut self.alone {
            alone.reports(into);
        }
    }

    /// A fatal error of a producer.
    pub(crate) fn fatal(&self) -> Option<String> {
        self.shared.fatal().or_else(|| self.alone.as_ref()?.fatal())
    }
}

fn headers_of(record: &Record, copy: &Copy<'_>) -> HeaderList {
    let mut list = HeaderList::with_room(16);
    let Source { level, topic, partition } = copy.source;
    let place = Place { topic, partition, offset: record.offset().get(), append_ms: record.timestamp_ms() };
    let headers = record.headers();
    let control = decode(headers.clone());
    match (&control, copy.form) {
        (control, Form::Park { reason, error, .. }) => {
            dwell_wire::park(headers, control.as_ref().ok(), &place, *reason, error, &mut list);
        }
        (Ok(c), form) => going_on(form, headers, c, &place, level, &mut list),
        // The core parks what cannot be decoded; it does not ask for another form.
        (Err(_), _) => tracing::error!(topic, "a record that cannot be decoded was to be forwarded"),
    }
    list
}

fn going_on<'a>(
    form: &Form,
    headers: impl Iterator<Item = dwell_wire::RawHeader<'a>>,
    control: &Control<'a>,
    place: &Place<'_>,
    level: &str,
    list: &mut HeaderList,
) {
    match form {
        Form::Release { due_ms } => dwell_wire::release(headers, control, place, level, *due_ms, list),
        Form::Hop { deliver_at_ms } => dwell_wire::hop(headers, control, place, level, *deliver_at_ms, list),
        Form::SetAside { deliver_at_ms } => dwell_wire::set_aside(headers, control, place, level, *deliver_at_ms, list),
        Form::Park { .. } => {}
    }
}
