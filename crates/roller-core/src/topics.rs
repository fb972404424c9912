//! The topics a level writes to: what is known of each, and what is under way to it.

use crate::time::Mono;
use slotmap::{SlotMap, new_key_type};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

new_key_type! {
    /// A topic in the registry of one level. Stays valid while a record in the window names it.
    pub struct TopicKey;
}

/// What the brokers said of a topic's existence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Nobody has asked yet.
    Unknown,
    /// The question is on its way since then.
    Asked(Mono),
    /// It exists.
    Present,
    /// It does not exist, or is hidden from us; when this was last heard.
    Missing(Mono),
    /// We may not write to it; when this was last heard.
    Forbidden(Mono),
}

/// The answer of a look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The topic exists and has leaders or will have them.
    Present,
    /// No such topic, as far as we are told.
    Missing,
    /// We may not describe or write to it.
    Forbidden,
    /// No answer (brokers away): ask again.
    NoAnswer,
}

/// Whether a copy may be sent to a topic now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    /// Send.
    Yes,
    /// Not known yet; ask first.
    Ask,
    /// Asked, no answer yet.
    Wait,
    /// Not there.
    Missing,
    /// Not allowed.
    Forbidden,
    /// There, but it has acknowledged nothing for long while others did.
    Silent,
}

#[derive(Debug)]
struct Topic {
    name: Arc<str>,
    presence: Presence,
    silent: bool,
    /// Checked against the allow-list of the current table.
    vetted: bool,
    in_flight: usize,
    /// Reading of the alive clock at the last acknowledgement, when the first copy went out after a lull, or when the
    /// topic was last found silent.
    mark: Duration,
    /// Records in windows that name this topic.
    uses: usize,
}

/// How long the cluster is known to have been answering.
///
/// A plain clock would call a topic silent after an outage of everything. This one advances only while
/// somebody answers: each answer adds the time since the one before, up to a cap.
#[derive(Debug, Default)]
pub(crate) struct AliveClock {
    alive: Duration,
    last: Option<Mono>,
}

impl AliveClock {
    pub(crate) fn answered(&mut self, now: Mono, cap: Duration) {
        if let Some(last) = self.last {
            self.alive += now.since(last).min(cap);
        }
        self.last = Some(now);
    }
}

/// Registry of the topics named by the records of one level.
#[derive(Debug)]
pub(crate) struct Topics {
    map: SlotMap<TopicKey, Topic>,
    names: HashMap<Arc<str>, TopicKey>,
    recheck: Duration,
    pub(crate) alive: AliveClock,
}

/// More topics than this and those without records are forgotten; names come from headers, so they must be
/// bounded.
const REMEMBERED: usize = 4096;

impl Topics {
    pub(crate) fn new(recheck: Duration) -> Topics {
        Topics { map: SlotMap::with_key(), names: HashMap::new(), recheck, alive: AliveClock::default() }
    }

    /// Registers a use of `name`; every use is given back with [`Topics::release_use`].
    pub(crate) fn use_topic(&mut self, name: &str) -> TopicKey {
        if let Some(&key) = self.names.get(name) {
            if let Some(t) = self.map.get_mut(key) {
                t.uses += 1;
            }
            return key;
        }
        if self.map.len() >= REMEMBERED {
            self.forget_unused();
        }
        let name: Arc<str> = name.into();
        let key = self.map.insert(Topic {
            name: name.clone(),
            presence: Presence::Unknown,
            silent: false,
            vetted: false,
            in_flight: 0,
            mark: Duration::ZERO,
            uses: 1,
        });
        self.names.insert(name, key);
        key
    }

    pub(crate) fn release_use(&mut self, key: TopicKey) {
        if let Some(t) = self.map.get_mut(key) {
            t.uses = t.uses.saturating_sub(1);
        }
    }

    fn forget_unused(&mut self) {
        let names = &mut self.names;
        self.map.retain(|_, t| {
            let used = t.uses > 0 || t.in_flight > 0;
            if !used {
                names.remove(&t.name);
            }
            used
        });
    }

    pub(crate) fn name(&self, key: TopicKey) -> Arc<str> {
        self.map.get(key).map_or_else(|| "".into(), |t| t.name.clone())
    }

    /// A use of a topic that the allow-list is known to permit: spares the check for each record.
    pub(crate) fn use_vetted(&mut self, name: &str) -> Option<TopicKey> {
        let key = *self.names.get(name)?;
        let topic = self.map.get_mut(key).filter(|t| t.vetted)?;
        topic.uses += 1;
        Some(key)
    }

    /// Registers a use of a topic that has passed the allow-list.
    pub(crate) fn vet(&mut self, name: &str) -> TopicKey {
        let key = self.use_topic(name);
        if let Some(t) = self.map.get_mut(key) {
            t.vetted = true;
        }
        key
    }

    /// Another table: everything is checked again.
    pub(crate) fn forget_vetting(&mut self) {
        for t in self.map.values_mut() {
            t.vetted = false;
        }
    }

    /// May a copy go to this topic now? An old "missing" is asked again.
    pub(crate) fn open(&self, key: TopicKey, now: Mono) -> Open {
        let Some(t) = self.map.get(key) else { return Open::Ask };
        match t.presence {
            Presence::Unknown => Open::Ask,
            Presence::Asked(at) if now.since(at) >= self.recheck => Open::Ask,
            Presence::Asked(_) => Open::Wait,
            Presence::Missing(at) | Presence::Forbidden(at) if now.since(at) >= self.recheck => Open::Ask,
            Presence::Missing(_) => Open::Missing,
            Presence::Forbidden(_) => Open::Forbidden,
            // With nothing under way no answer can come: try again.
            Presence::Present if t.silent && t.in_flight > 0 => Open::Silent,
            Presence::Present => Open::Yes,
        }
    }

    pub(crate) fn asked(&mut self, key: TopicKey, now: Mono) {
        self.set_presence(key, Presence::Asked(now));
    }

    pub(crate) fn answered(&mut self, key: TopicKey, verdict: Verdict, now: Mono) {
        let presence = match verdict {
            Verdict::Present => Presence::Present,
            Verdict::Missing => Presence::Missing(now),
            Verdict::Forbidden => Presence::Forbidden(now),
            // Stay "asked": `recheck` after the question it is asked again.
            Verdict::NoAnswer => return,
        };
        self.set_presence(key, presence);
    }

    fn set_presence(&mut self, key: TopicKey, presence: Presence) {
        if let Some(t) = self.map.get_mut(key) {
            t.presence = presence;
        }
    }

    pub(crate) fn sent(&mut self, key: TopicKey) {
        let alive = self.alive.alive;
        if let Some(t) = self.map.get_mut(key) {
            if t.in_flight == 0 {
                t.mark = alive;
            }
            t.in_flight += 1;
        }
    }

    /// A report has come for a copy; `acked` ones prove that the topic answers. Returns whether a silent topic
    /// has just come back.
    pub(crate) fn reported(&mut self, key: TopicKey, report: Report) -> bool {
        let alive = self.alive.alive;
        let Some(t) = self.map.get_mut(key) else { return false };
        t.in_flight = t.in_flight.saturating_sub(1);
        match report {
            Report::Acked => {
                t.mark = alive;
                t.presence = Presence::Present;
                std::mem::take(&mut t.silent)
            }
            Report::Failed => false,
        }
    }

    /// Topics to which something is under way, and from which nothing came back during `limit` of time in which the
    /// cluster answered. A topic that stays silent is named again after each further `limit`: a copy that tried it
    /// in between must not be waited for without end.
    pub(crate) fn silent_for(&mut self, limit: Duration) -> Vec<(TopicKey, Silence)> {
        let alive = self.alive.alive;
        let mut found = Vec::new();
        for (key, t) in &mut self.map {
            if t.in_flight > 0 && alive.saturating_sub(t.mark) >= limit {
                let was = std::mem::replace(&mut t.silent, true);
                t.mark = alive;
                found.push((key, if was { Silence::Old } else { Silence::New }));
            }
        }
        found
    }
}

/// Whether a topic's silence was known before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    New,
    Old,
}

/// How a copy's report counts for its topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    Acked,
    Failed,
}
