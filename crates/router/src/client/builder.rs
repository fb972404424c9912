//! From a table and an address to a router.

use super::watch::{Hook, Outcome, Watch};
use super::{Inner, Router};
use crate::route::MAX_RECORD_BYTES;
use dwell_kafka::{ClientSettings, KafkaFailure, Lookup, Sender, SenderOptions, SettingsError, TopicState};
use dwell_levels::LevelTable;
use futures::channel::oneshot;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long the brokers may take to say which topics there are.
const LOOKUP: Duration = Duration::from_secs(10);

/// Describes a [`Router`]; made by [`Router::builder`].
#[must_use = "a router comes of .connect()"]
pub struct RouterBuilder {
    table: Arc<LevelTable>,
    brokers: String,
    settings: Option<ClientSettings>,
    properties: Vec<(String, String)>,
    options: SenderOptions,
    record_limit: usize,
    hook: Option<Hook>,
}

/// Why there is no router.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address or a client property is wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The brokers could not be asked, or the client could not be made.
    #[error(transparent)]
    Kafka(#[from] KafkaFailure),
    /// Levels of the table that records could not be sent to.
    #[error("{}; records for these levels could not be sent", level_topics(.missing, .hidden))]
    LevelTopics {
        /// Topics that do not exist.
        missing: Vec<String>,
        /// Topics that this user may not see.
        hidden: Vec<String>,
    },
    /// No thread could be started to connect from.
    #[error("could not connect: {0}; check the process's limits")]
    Thread(String),
}

fn level_topics(missing: &[String], hidden: &[String]) -> String {
    let mut text = Vec::new();
    if !missing.is_empty() {
        let list = missing.join(", ");
        text.push(format!("level topics missing: {list}; create them with `dwell topics apply --execute`"));
    }
    if !hidden.is_empty() {
        let list = hidden.join(", ");
        text.push(format!(
            "level topics hidden from this user: {list}; grant Describe and Write on them (`dwell acls`)"
        ));
    }
    text.join("; ")
}

impl RouterBuilder {
    pub(super) fn new(table: Arc<LevelTable>) -> RouterBuilder {
        RouterBuilder {
            table,
            brokers: String::new(),
            settings: None,
            properties: Vec::new(),
            options: SenderOptions { client_id: "dwell-router".to_owned(), ..SenderOptions::default() },
            record_limit: MAX_RECORD_BYTES,
            hook: None,
        }
    }

    /// The brokers to ask first, as `host:port,host:port`.
    pub fn brokers(mut self, brokers: impl Into<String>) -> RouterBuilder {
        self.brokers = brokers.into();
        self
    }

    /// Brokers and properties that were checked elsewhere, instead of [`RouterBuilder::brokers`].
    pub fn settings(mut self, settings: ClientSettings) -> RouterBuilder {
        self.settings = Some(settings);
        self
    }

    /// A property of the client, by its name in librdkafka's `CONFIGURATION.md`. Those that Dwell's promises rest on
    /// are refused on connecting.
    pub fn property(mut self, key: impl Into<String>, value: impl Into<String>) -> RouterBuilder {
        self.properties.push((key.into(), value.into()));
        self
    }

    /// How long a record may wait for its turn, and then how long the brokers may take; 30 s unless set. The answer
    /// comes within twice that.
    pub fn timeout(mut self, timeout: Duration) -> RouterBuilder {
        self.options.timeout = timeout;
        self
    }

    /// How many bytes and records may be under way at once, 32 MiB and 100,000 unless set; beyond that sends wait for
    /// their turn.
    pub fn buffer(mut self, bytes: usize, records: usize) -> RouterBuilder {
        self.options.max_bytes = bytes;
        self.options.max_records = records;
        self
    }

    /// Refuses larger records before they are sent. Unless set, the brokers decide.
    pub fn record_limit(mut self, bytes: usize) -> RouterBuilder {
        self.record_limit = bytes.min(MAX_RECORD_BYTES);
        self
    }

    /// The client's name in the brokers' logs and quotas; `dwell-router` unless set.
    pub fn client_id(mut self, name: impl Into<String>) -> RouterBuilder {
        self.options.client_id = name.into();
        self
    }

    /// A function that is called once for every record, see [`Hook`].
    pub fn on_result(mut self, hook: impl Fn(&Outcome<'_>) + Send + Sync + 'static) -> RouterBuilder {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// Connects, and checks that the topics of all active levels are there.
    ///
    /// # Errors
    /// [`ConnectError`] says what is missing.
    pub async fn connect(self) -> Result<Router, ConnectError> {
        let (tell, told) = oneshot::channel();
        std::thread::Builder::new()
            .name("dwell-connect".to_owned())
            .spawn(move || {
                // An error here says that nobody waits for the router any more: it is dropped.
                let _ = tell.send(self.connect_blocking());
            })
            .map_err(|e| ConnectError::Thread(e.to_string()))?;
        told.await.unwrap_or_else(|_| Err(ConnectError::Thread("the thread panicked".to_owned())))
    }

    /// As [`RouterBuilder::connect`], for plain threads.
    ///
    /// # Errors
    /// [`ConnectError`] says what is missing.
    pub fn connect_blocking(mut self) -> Result<Router, ConnectError> {
        let mut settings = match self.settings.take() {
            Some(settings) => settings,
            None => ClientSettings::plain(&self.brokers)?,
        };
        for (key, value) in &self.properties {
            settings = settings.with_property(key, value)?;
        }
        check_topics(&self.table, &settings)?;
        self.options.warm_up = Some(self.table.topic_of(self.table.shortest_active()));
        let inner = Inner {
            record_limit: self.record_limit,
            watch: Arc::new(Watch::new(self.hook)),
            sender: Sender::connect(&settings, &self.options)?,
            table: self.table,
        };
        Ok(Router { inner: Arc::new(inner) })
    }
}

fn check_topics(table: &LevelTable, settings: &ClientSettings) -> Result<(), ConnectError> {
    let lookup = Lookup::open(settings, "dwell-router-lookup", LOOKUP)?;
    let topics: Vec<String> = table.active().map(|level| table.topic_of(level)).collect();
    let names: Vec<&str> = topics.iter().map(String::as_str).collect();
    let (mut missing, mut hidden) = (Vec::new(), Vec::new());
    for (topic, state) in lookup.topic_states(&names) {
        match state {
            TopicState::Exists { .. } => {}
            TopicState::Missing | TopicState::Illegal => missing.push(topic),
            TopicState::Forbidden => hidden.push(topic),
            TopicState::Unknown(failure) => return Err(failure.into()),
        }
    }
    if missing.is_empty() && hidden.is_empty() {
        return Ok(());
    }
    Err(ConnectError::LevelTopics { missing, hidden })
}

impl fmt::Debug for RouterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Properties may be secrets.
        f.debug_struct("RouterBuilder")
            .field("brokers", &self.brokers)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
