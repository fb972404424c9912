//! From a request to a topic and headers. Pure: no clock, no broker.

use dwell_levels::{Delay, Level, LevelName, LevelTable, Next, Rounding};
use dwell_wire::limits::{MAX_ID, MAX_NUMBER, MAX_TYPE};
use dwell_wire::{Request, When, encode, is_control, names};

use crate::delayed::{Ask, Delayed, ceil_ms};
use crate::due::due_ms;
use crate::refusal::RouteError;

/// Headers in order; null and empty values are different.
pub type Headers = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// The largest record that is tried unless told otherwise. Topics mostly take less (1 MiB after compression by
/// default), which only the brokers know for sure.
pub const MAX_RECORD_BYTES: usize = 100 * 1024 * 1024;

/// What a record and each of its headers take beside their own bytes, at most.
const RECORD_OVERHEAD: usize = 96;
const HEADER_OVERHEAD: usize = 10;
/// The control headers of a record that goes straight to its target.
const DIRECT: [&str; 3] = [names::ID, names::TYPE, names::SENT_AT];

/// Where a record goes, and what it carries there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The topic to send to: a level's, or the target itself where nothing is left to wait.
    pub topic: String,
    /// The level of that topic; none for the target.
    pub level: Option<LevelName>,
    /// All headers: the user's in order, then those of the contract.
    pub headers: Headers,
    /// The record's id.
    pub id: String,
    /// When it reaches its target if it is sent right now, epoch milliseconds.
    pub due_ms: i64,
    /// How much longer than asked that is.
    pub rounding_ms: u64,
    when: When,
    rounding: Rounding,
}

impl Route {
    /// When the record reaches its target if the broker took it at `append_ms`, epoch milliseconds. `table` is the one
    /// the record was routed by.
    #[must_use]
    pub fn due_after(&self, table: &LevelTable, append_ms: i64) -> i64 {
        let level = self.level.as_ref().and_then(|name| table.get(name.as_str()));
        level.map_or(append_ms, |level| due_ms(table, level, self.when, self.rounding, append_ms))
    }
}

/// Routes by one table.
#[derive(Clone, Copy, Debug)]
pub struct Routing<'t> {
    table: &'t LevelTable,
    record_limit: usize,
}

/// Where `request` goes at `now_ms` (epoch milliseconds), with `id` where it has none of its own.
///
/// # Errors
/// [`RouteError`], one for each cause.
pub fn route(table: &LevelTable, request: &Delayed, now_ms: i64, id: &str) -> Result<Route, RouteError> {
    Routing::new(table).route(request, now_ms, id)
}

impl<'t> Routing<'t> {
    /// Routing by this table, for records of up to [`MAX_RECORD_BYTES`].
    #[must_use]
    pub fn new(table: &'t LevelTable) -> Routing<'t> {
        Routing { table, record_limit: MAX_RECORD_BYTES }
    }

    /// Refuses records with more bytes of key, value and headers than this.
    #[must_use]
    pub fn record_limit(mut self, bytes: usize) -> Routing<'t> {
        self.record_limit = bytes;
        self
    }

    /// See [`route`].
    ///
    /// # Errors
    /// [`RouteError`], one for each cause.
    pub fn route(&self, request: &Delayed, now_ms: i64, id: &str) -> Result<Route, RouteError> {
        self.table.check_target(&request.target)?;
        let id = request.id.as_deref().unwrap_or(id);
        check_words(id, request)?;
        let (when, asked) = self.time_of(request, now_ms)?;
        let rounding = request.rounding.unwrap_or(self.table.rounding());
        let level = self.level_for(asked, rounding)?;
        let headers = headers_of(request, id, level.map(|_| when), now_ms)?;
        self.check_size(request, &headers)?;
        let due = level.map_or(now_ms, |level| due_ms(self.table, level, when, rounding, now_ms));
        Ok(Route {
            topic: level.map_or_else(|| request.target.clone(), |level| self.table.topic_of(level)),
            level: level.map(|level| level.name.clone()),
            headers,
            id: id.to_owned(),
            due_ms: due,
            rounding_ms: level.map_or(0, |_| self.table.path(asked, rounding).late_ms()),
            when,
            rounding,
        })
    }

    /// What the header will say, and how long that is from now.
    fn time_of(&self, request: &Delayed, now_ms: i64) -> Result<(When, Delay), RouteError> {
        let allowed = self.table.max_delay();
        let (when, asked) = match request.ask.ok_or(RouteError::NoTime)? {
            Ask::After(delay) => {
                let out_of_range = |_| RouteError::OutOfRange { asked_seconds: delay.as_secs(), allowed };
                let delay = Delay::from_millis(u64::try_from(ceil_ms(delay)).map_err(out_of_range)?);
                (When::After(delay), delay)
            }
            Ask::At(moment) => {
                let until = i128::from(moment.epoch_ms()) - i128::from(now_ms);
                let until = u64::try_from(until.max(0)).unwrap_or(u64::MAX);
                (When::At(moment.epoch_ms()), Delay::from_millis(until))
            }
        };
        if asked > allowed {
            return Err(RouteError::TooLong { asked, allowed });
        }
        Ok((when, asked))
    }

    fn level_for(&self, asked: Delay, rounding: Rounding) -> Result<Option<&'t Level>, RouteError> {
        // Within maxDelay, which is far from overflow.
        let remaining = i64::try_from(asked.as_millis()).unwrap_or(i64::MAX);
        let Next::Level(level) = self.table.plan(remaining, rounding) else { return Ok(None) };
        let (hops, allowed) = (self.table.path(asked, rounding).hop_count(), self.table.max_hops());
        if hops > u64::from(allowed) {
            return Err(RouteError::TooManyHops { asked, hops, allowed });
        }
        Ok(Some(level))
    }

    fn check_size(&self, request: &Delayed, headers: &Headers) -> Result<(), RouteError> {
        let length = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len);
        let headers = headers.iter().map(|(name, value)| name.len() + length(value) + HEADER_OVERHEAD);
        let bytes = RECORD_OVERHEAD + length(&request.key) + length(&request.payload) + headers.sum::<usize>();
        if bytes > self.record_limit {
            return Err(RouteError::TooLarge { bytes, allowed: self.record_limit });
        }
        Ok(())
    }
}

fn check_words(id: &str, request: &Delayed) -> Result<(), RouteError> {
    if !(1..=MAX_ID).contains(&id.len()) {
        return Err(RouteError::Id { bytes: id.len(), allowed: MAX_ID });
    }
    if let Some(word) = &request.record_type
        && !(1..=MAX_TYPE).contains(&word.len())
    {
        return Err(RouteError::Type { bytes: word.len(), allowed: MAX_TYPE });
    }
    match request.headers.iter().find(|(name, _)| is_control(name)) {
        Some((name, _)) => Err(RouteError::ReservedHeader { name: name.escape_ascii().to_string() }),
        None => Ok(()),
    }
}

/// The user's headers and the contract's. `when` is none for a record that goes straight to its target: it looks there
/// like one that was released, so nothing that would delay it stays.
fn headers_of(request: &Delayed, id: &str, when: Option<When>, now_ms: i64) -> Result<Headers, RouteError> {
    let mut control = Headers::new();
    let known_time = u64::try_from(now_ms).is_ok_and(|now| now <= MAX_NUMBER);
    encode(
        &Request {
            target: &request.target,
            id: Some(id),
            when: when.unwrap_or(When::ByLevel),
            rounding: request.rounding,
            record_type: request.record_type.as_deref(),
            sent_at: known_time.then_some(now_ms),
        },
        &mut control,
    )?;
    if when.is_none() {
        control.retain(|(name, _)| DIRECT.iter().any(|kept| kept.as_bytes() == name));
    }
    let mut headers = request.headers.clone();
    headers.append(&mut control);
    Ok(headers)
}
