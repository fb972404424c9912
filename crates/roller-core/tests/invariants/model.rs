//! What must be true, kept by hand and without the core's own words.

use dwell_levels::Delay;
use dwell_roller_core::*;
use std::collections::HashMap;
use std::time::Duration;

struct Record {
    offset: Offset,
    append_due: Option<BrokerTime>,
    /// No sighting of it can be older.
    seen: Mono,
    parks: bool,
    sent: bool,
    acked: bool,
    completed: bool,
}

#[derive(Default)]
struct Held {
    records: Vec<Record>,
    revoked: Option<Mono>,
    drained: bool,
    paused: bool,
    /// Records from the front that are committed.
    committed: usize,
    committing: Option<NextOffset>,
    /// Ends that were seen, with when; emptied when offsets go back.
    ends: Vec<(NextOffset, Mono)>,
}

impl Held {
    fn done(&self) -> usize {
        self.records.iter().take_while(|r| r.acked).count()
    }

    /// How many acknowledged records from the front a commit of `next` stands for.
    fn prefix(&self, next: NextOffset) -> Option<usize> {
        (self.committed.max(1)..=self.done()).rev().find(|&n| self.records[n - 1].offset.next() == next)
    }
}

struct Sent {
    claim: Claim,
    seq: usize,
    reported: bool,
}

pub(crate) struct Model {
    delay: Delay,
    limits: Limits,
    held: HashMap<Claim, Held>,
    copies: Vec<(CopyId, Sent)>,
    stopping: bool,
    pub(crate) sends: usize,
    pub(crate) completed: usize,
    pub(crate) commits: usize,
}

impl Model {
    pub(crate) fn new(delay: Delay, limits: Limits) -> Model {
        let held = HashMap::new();
        Model { delay, limits, held, copies: Vec::new(), stopping: false, sends: 0, completed: 0, commits: 0 }
    }

    pub(crate) fn current(&self, partition: i32) -> Option<Claim> {
        self.held.keys().filter(|c| c.partition == partition).max_by_key(|c| c.epoch).copied()
    }

    fn is_live(&self, claim: Claim) -> bool {
        self.current(claim.partition) == Some(claim) && !self.held[&claim].drained
    }

    pub(crate) fn any_copy(&self, n: usize) -> Option<CopyId> {
        (!self.copies.is_empty()).then(|| self.copies[n % self.copies.len()].0)
    }

    pub(crate) fn outstanding(&self) -> Vec<CopyId> {
        self.copies.iter().filter(|(_, s)| !s.reported).map(|(id, _)| *id).collect()
    }

    pub(crate) fn committing(&self, claim: Claim) -> Option<NextOffset> {
        self.held.get(&claim)?.committing
    }

    pub(crate) fn before(&mut self, event: &Event<'_>, now: &Reading, core: &Core) {
        match event {
            Event::Assigned(claim) if self.current(claim.partition).is_none_or(|c| c.epoch < claim.epoch) => {
                self.held.insert(*claim, Held { revoked: self.stopping.then_some(now.mono), ..Held::default() });
            }
            Event::Head(claim, head) if core.wants_head(*claim) => self.offered(*claim, head, now),
            Event::Acked(id) => self.reported(*id, true),
            Event::Failed(id, _) => self.reported(*id, false),
            Event::Revoked(claim) if self.held.contains_key(claim) => self.revoked(*claim, now),
            Event::EndSeen(claim, end) => {
                if let Some(h) = self.held.get_mut(claim) {
                    h.ends.push((*end, now.mono));
                }
            }
            Event::Committed(claim, next) => {
                if let Some(h) = self.held.get_mut(claim)
                    && h.committing.take_if(|n| n == next).is_some()
                {
                    // After offsets went back, one number may stand for several records.
                    h.committed = h.prefix(*next).unwrap_or(h.committed);
                }
            }
            Event::CommitFailed(claim) => {
                if let Some(h) = self.held.get_mut(claim) {
                    h.committing = None;
                }
            }
            Event::Stop => {
                self.stopping = true;
                for claim in self.held.keys().copied().collect::<Vec<_>>() {
                    self.revoked(claim, now);
                }
            }
            _ => {}
        }
    }

    fn revoked(&mut self, claim: Claim, now: &Reading) {
        if let Some(h) = self.held.get_mut(&claim) {
            h.revoked.get_or_insert(now.mono);
        }
    }

    fn offered(&mut self, claim: Claim, head: &Head<'_>, now: &Reading) {
        assert!(self.is_live(claim), "a head is wanted only under a live claim");
        let delay = self.delay;
        let h = self.held.get_mut(&claim).unwrap();
        assert!(h.revoked.is_none(), "no heads for what is being given back");
        let back = h.records.last().is_some_and(|r| r.offset >= head.offset);
        if back {
            h.ends.clear();
        }
        let seen = h.ends.iter().filter(|(end, _)| end.is_beyond(head.offset)).map(|&(_, at)| at).min();
        h.records.push(Record {
            offset: head.offset,
            append_due: match head.stamp {
                Stamp::Append(ms) => Some(BrokerTime::from_millis(ms).plus(delay)),
                Stamp::Other => None,
            },
            seen: seen.unwrap_or(now.mono),
            parks: false,
            sent: false,
            acked: false,
            completed: false,
        });
    }

    fn reported(&mut self, id: CopyId, acked: bool) {
        let Some((_, sent)) = self.copies.iter_mut().find(|(c, s)| *c == id && !s.reported) else { return };
        sent.reported = true;
        let (claim, seq) = (sent.claim, sent.seq);
        if acked && self.is_live(claim) {
            self.held.get_mut(&claim).unwrap().records[seq].acked = true;
        }
    }

    pub(crate) fn saw(&mut self, action: &Action, now: &Reading, core: &Core) {
        match action {
            Action::Send { copy, claim, seq, to, form, .. } => {
                self.sends += 1;
                assert!(!core.topic_name(*to).is_empty());
                self.sent(*claim, seq.0 as usize, form, now);
                self.copies.push((*copy, Sent { claim: *claim, seq: seq.0 as usize, reported: false }));
            }
            Action::Commit(claim, next) => self.commit(*claim, *next),
            Action::Completed(claim, offset, _) => {
                self.completed += 1;
                assert!(self.is_live(*claim), "fenced");
                let h = self.held.get_mut(claim).unwrap();
                let r = h.records.iter_mut().find(|r| r.offset == *offset && r.acked && !r.completed);
                r.expect("only a report completes a record, and only once").completed = true;
            }
            Action::Drained(claim) => {
                let h = self.held.get_mut(claim).unwrap();
                assert!(!std::mem::replace(&mut h.drained, true), "once");
            }
            Action::Pause(claim) => self.flow(*claim, true),
            Action::Resume(claim) => self.flow(*claim, false),
            Action::Look(claims) => assert!(claims.iter().all(|c| self.is_live(*c)), "fenced"),
            _ => {}
        }
    }

    fn flow(&mut self, claim: Claim, paused: bool) {
        assert!(self.is_live(claim), "fenced");
        self.held.get_mut(&claim).unwrap().paused = paused;
    }

    fn sent(&mut self, claim: Claim, seq: usize, form: &Form, now: &Reading) {
        assert!(self.is_live(claim), "fenced");
        let delay = Duration::from_millis(self.delay.as_millis());
        let h = self.held.get_mut(&claim).unwrap();
        let first_unsent = h.records.iter().position(|r| !r.sent).unwrap_or(h.records.len());
        let r = &mut h.records[seq];
        assert!(!r.acked, "sent again though done");
        if !r.sent {
            assert_eq!(first_unsent, seq, "in order");
            assert!(h.revoked.is_none(), "nothing new is begun while giving back");
        }
        r.sent = true;
        r.parks |= matches!(form, Form::Park { .. });
        if !r.parks {
            let by_append = r.append_due.is_some_and(|due| now.earliest >= due);
            let by_sight = now.is_measured() && now.mono >= r.seen.plus(delay);
            // A copy may be sent again after a clock went back; only first copies wait for the clock.
            assert!(
                by_append || by_sight || self.copies.iter().any(|(_, s)| s.claim == claim && s.seq == seq),
                "early"
            );
        }
    }

    fn commit(&mut self, claim: Claim, next: NextOffset) {
        self.commits += 1;
        assert!(self.is_live(claim), "fenced");
        let h = self.held.get_mut(&claim).unwrap();
        assert!(h.committing.is_none(), "one commit at a time");
        assert!(h.prefix(next).is_some(), "a commit never passes a record that is not acknowledged");
        h.committing = Some(next);
    }

    pub(crate) fn after(&mut self, now: &Reading, core: &Core) {
        let outstanding = self.copies.iter().filter(|(_, s)| !s.reported).count();
        assert!(core.in_flight() <= outstanding.min(self.limits.in_flight_records), "bounded in flight");
        assert!(outstanding <= core.in_flight() + self.limits.stranded, "the rest is stranded");
        assert_eq!(core.awaits_reports(), outstanding > 0);
        for h in self.held.values().filter(|h| !h.drained) {
            assert!(h.records.len() - h.committed <= self.limits.uncommitted + 1, "bounded window");
        }
        let mut live: Vec<_> = self.held.iter().filter(|(_, h)| !h.drained).map(|(c, _)| *c).collect();
        let mut known: Vec<_> = core.claims().collect();
        live.sort();
        known.sort();
        assert_eq!(live, known, "at {now:?}");
    }

    /// After a tick: nothing is left to do at once, and the next wake-up is soon enough.
    pub(crate) fn awake(&self, now: &Reading, wake: Duration) {
        assert!(!wake.is_zero() || self.commit_after_discard(now), "the loop would spin");
        for h in self.held.values().filter(|h| !h.drained) {
            if let Some(at) = h.revoked {
                let end = at.plus(self.limits.drain_acks + self.limits.drain_commit);
                assert!(now.mono < end && wake <= end.since(now.mono), "bounded goodbye");
                continue;
            }
            if h.paused {
                assert!(wake <= Duration::from_secs(60), "paused for ever");
            }
            if let Some(r) = h.records.last().filter(|r| !r.sent && now.is_measured()) {
                let due = r.append_due.map_or(Duration::MAX, |due| now.earliest.until(due));
                assert!(wake <= due.max(Duration::from_millis(2)), "wakes {wake:?} for a head due in {due:?}");
            }
            if h.done() > h.committed && h.committing.is_none() {
                assert!(wake <= self.limits.commit_after, "uncommitted for too long");
            }
        }
    }

    /// A revoke that was cut short by this tick commits in the next.
    fn commit_after_discard(&self, now: &Reading) -> bool {
        let cut = |h: &Held| h.revoked.is_some_and(|at| now.mono >= at.plus(self.limits.drain_acks));
        self.held.values().any(|h| !h.drained && cut(h))
    }
}
