//! What a shell does when the core asks, and what becomes of the copies it sends.

use super::cluster::{Headers, PARTITIONS, Record};
use super::world::{Ev, LEVELS, Life, SECOND, Told, Transit, World};
use dwell_roller_core::{Action, Batching, Body, Claim, CopyId, Event, Failure, Form, NextOffset, TopicKey, Verdict};
use dwell_wire::{Place, RawHeader, decode, hop, park, release, set_aside};

impl World {
    pub(super) fn perform(&mut self, n: usize, action: Action) {
        let life = (n, self.rollers[n].life);
        match action {
            Action::Send { copy, claim, seq, to, form, batching } => {
                self.send(n, (copy, claim, seq.0), to, &form, batching);
            }
            Action::Forget(claim, seq) => self.forget(n, claim, seq.0),
            Action::Pause(claim) => self.set_paused(n, claim, true),
            Action::Resume(claim) => {
                self.set_paused(n, claim, false);
                let late = self.rng.range(0, 200_000);
                self.wake_by(n, self.t + late);
            }
            Action::Look(claims) => self.look(n, &claims),
            Action::AskTopic(key) => self.ask(life, key),
            Action::Commit(claim, next) => {
                let there = self.rng.range(200, 3_000);
                self.after(there, Ev::Commit(life, claim, next));
            }
            Action::Drained(claim) => {
                self.rollers[n].owned.retain(|_, o| o.claim != claim);
                self.note(|| format!("drained {n} {claim:?}"));
                self.drained(n, claim);
            }
            Action::Fatal(text) => self.flaw(text),
            Action::Note(_, note) => self.note(|| format!("note {n} {note:?}")),
            Action::Detach(..) | Action::Completed(..) | Action::Stopped => {}
        }
    }

    fn forget(&mut self, n: usize, claim: Claim, before: u64) {
        let Some(o) = self.rollers[n].owned.get_mut(&claim.partition).filter(|o| o.claim == claim) else { return };
        while o.ring_base < before && o.ring.pop_front().is_some() {
            o.ring_base += 1;
        }
    }

    fn set_paused(&mut self, n: usize, claim: Claim, paused: bool) {
        self.note(|| format!("paused={paused} {n} {claim:?}"));
        if let Some(o) = self.rollers[n].owned.get_mut(&claim.partition).filter(|o| o.claim == claim) {
            o.paused = paused;
        }
    }

    fn look(&mut self, n: usize, claims: &[Claim]) {
        let life = (n, self.rollers[n].life);
        let topic = format!("delay-{}", LEVELS[self.rollers[n].level]);
        for &claim in claims {
            let lost = self.rng.per_mille(30) || !self.cluster.is_up(&topic, self.t);
            if !lost {
                let end = self.cluster.end(&topic, claim.partition as usize);
                self.after(2_000, Ev::Told(life, Told::End(claim, NextOffset::new(end))));
            }
        }
    }

    fn ask(&mut self, life: Life, key: TopicKey) {
        let name = self.rollers[life.0].core.topic_name(key);
        let (verdict, after) = match () {
            () if self.t < self.cluster.outage_until => (Verdict::NoAnswer, SECOND),
            () if self.cluster.exists(&name) => (Verdict::Present, self.rng.range(1_000, 20_000)),
            () => (Verdict::Missing, self.rng.range(1_000, 20_000)),
        };
        self.after(after, Ev::Told(life, Told::Answer(key, verdict)));
    }

    fn send(&mut self, n: usize, (copy, claim, seq): (CopyId, Claim, u64), to: TopicKey, form: &Form, b: Batching) {
        let life = (n, self.rollers[n].life);
        let to = self.rollers[n].core.topic_name(to).to_string();
        self.note(|| format!("send {n} {claim:?} {seq} to {to} {form:?}"));
        if self.weather.flaky_producer && self.rng.per_mille(30) {
            return self.feed(n, Event::Failed(copy, Failure::Refused));
        }
        let r = &self.rollers[n];
        let level = LEVELS[r.level];
        let found = r.owned.get(&claim.partition).filter(|o| o.claim == claim);
        let found = found.and_then(|o| o.ring.get(seq.checked_sub(o.ring_base)? as usize)).cloned();
        let Some((offset, record)) = found else {
            return self.flaw(format!("roller {n} sends {claim:?} {seq}, which it does not hold"));
        };
        let from = (format!("delay-{level}"), claim.partition as usize, offset);
        let bare = matches!(form, Form::Park { body: Body::LeftOut, .. });
        let transit = Transit {
            copy,
            part: if to.starts_with("delay-") && to != "delay-parked" { record.key % PARTITIONS } else { 0 },
            id: record.id.clone(),
            key: record.key,
            big: record.big && !bare,
            spoiled: false,
            alone: b == Batching::Alone,
            headers: write(&record, form, (&from.0, claim.partition, offset), level),
            from,
        };
        let queue = self.transits.entry((life, to.clone())).or_default();
        queue.push_back(transit);
        if queue.len() == 1 {
            let there = self.rng.range(200, 3_000);
            self.after(there, Ev::Arrive(life, to));
        }
    }

    /// The oldest copy of a queue reaches its broker. Also that of a process that has died since.
    pub(super) fn arrive(&mut self, life: Life, topic: String) {
        if !self.cluster.is_up(&topic, self.t) {
            return self.after(50_000, Ev::Arrive(life, topic));
        }
        let Some(queue) = self.transits.get_mut(&(life, topic.clone())) else { return };
        let Some(transit) = queue.pop_front() else { return };
        let too_large = transit.big && !self.cluster.topics.get(&topic).is_some_and(|t| t.takes_big);
        if too_large && !transit.alone {
            // Brokers refuse whole batches.
            if let Some(neighbour) = queue.front_mut().filter(|t| !t.alone) {
                neighbour.spoiled = true;
            }
        }
        if !queue.is_empty() {
            let next = self.rng.range(50, 500);
            self.after(next, Ev::Arrive(life, topic.clone()));
        }
        let told = match () {
            () if !self.cluster.exists(&topic) => Told::Failed(transit.copy, Failure::UnknownTopic),
            () if too_large || transit.spoiled => Told::Failed(transit.copy, Failure::TooLarge),
            () => self.written(&topic, transit),
        };
        let mut back = self.rng.range(200, 2_000);
        if self.weather.flaky_producer && self.rng.per_mille(40) {
            back += self.rng.range(SECOND, 4 * SECOND);
        }
        self.after(back, Ev::Told(life, told));
    }

    fn written(&mut self, topic: &str, transit: Transit) -> Told {
        let Transit { copy, from, part, id, key, big, headers, .. } = transit;
        self.note(|| format!("written {id} to {topic}-{part}"));
        self.cluster.append(self.t, topic, part, (&id, key, big), headers);
        self.cluster.copied.insert(from);
        if let Some(level) = LEVELS.iter().position(|l| topic == format!("delay-{l}")) {
            self.poke(level, part);
        }
        // The client may give up on a request that has succeeded.
        let lost = self.weather.flaky_producer && self.rng.per_mille(30);
        if lost { Told::Failed(copy, Failure::Retriable) } else { Told::Acked(copy) }
    }
}

fn write(record: &Record, form: &Form, (topic, partition, offset): (&str, i32, i64), level: &str) -> Headers {
    let raw = || record.headers.iter().map(|(name, value)| RawHeader { name, value: value.as_deref() });
    let place = Place { topic, partition, offset, append_ms: record.append_ms };
    let control = decode(raw());
    let mut headers = Headers::new();
    match (form, &control) {
        (Form::Release { due_ms }, Ok(c)) => release(raw(), c, &place, level, *due_ms, &mut headers),
        (Form::Hop { deliver_at_ms }, Ok(c)) => hop(raw(), c, &place, level, *deliver_at_ms, &mut headers),
        (Form::SetAside { deliver_at_ms }, Ok(c)) => set_aside(raw(), c, &place, level, *deliver_at_ms, &mut headers),
        (Form::Park { reason, error, .. }, c) => park(raw(), c.as_ref().ok(), &place, *reason, error, &mut headers),
        // A record with bad headers has no other form; an empty copy is found at the end.
        (_, Err(_)) => {}
    }
    headers
}
