//! Tells the core what the clients report: records, delivery reports, commits, answers.

use super::{BURST, LevelLoop};
use crate::side::Answer;
use dwell_kafka::consumer::{CommitOutcome, Fetch};
use dwell_kafka::producer::Report;
use dwell_kafka::record::Record;
use dwell_roller_core::{Claim, CopyId, Event, Head, NextOffset, Reading, Verdict};
use dwell_wire::decode;

impl LevelLoop {
    pub(super) fn hear_side(&mut self, now: &Reading) {
        let answers: Vec<Answer> = self.parts.asker.answers().collect();
        for answer in answers {
            let event = match answer {
                Answer::Topic { key, verdict } => {
                    if verdict == Verdict::Present {
                        let name = self.name(key);
                        self.parts.sending.prepare(&name);
                    }
                    Event::TopicAnswer(key, verdict)
                }
                Answer::Identity(id) => {
                    self.hear_identity(id, now);
                    continue;
                }
                Answer::End { claim, end } => Event::EndSeen(claim, end),
            };
            self.tell(now, event);
        }
        let answers = self.parts.clock.answers();
        if std::mem::replace(&mut self.answers, answers) != answers {
            self.silence.heard(now.mono);
            self.tell(now, Event::ClusterAnswered);
        }
    }

    /// True if there were any.
    pub(super) fn hear_reports(&mut self) -> bool {
        let mut reports = std::mem::take(&mut self.reports);
        self.parts.sending.reports(&mut reports);
        let some = !reports.is_empty();
        if some {
            // Later than every report, so that lateness is not understated.
            let now = self.parts.clock.read();
            for report in reports.drain(..) {
                self.hear_report(report, &now);
            }
        }
        self.reports = reports;
        some
    }

    pub(super) fn hear_report(&mut self, report: Report, now: &Reading) {
        let copy = CopyId::from_u64(report.opaque);
        match report.result {
            Ok(written) => {
                self.parts.core.handle(now, Event::Acked(copy), &mut self.actions);
                self.perform(now, Some(&written));
            }
            Err(failure) => {
                self.parts.metrics.failed(&failure);
                self.tell(now, Event::Failed(copy, failure));
            }
        }
    }

    pub(super) fn hear_commits(&mut self, now: &Reading) {
        for result in self.parts.consumer.serve_commits() {
            let Some(claim) = self.claims.iter().copied().find(|c| c.partition == result.partition) else { continue };
            match result.outcome {
                CommitOutcome::Stored => {
                    self.parts.metrics.commits("ok", 1);
                    self.tell(now, Event::Committed(claim, result.next));
                }
                CommitOutcome::Failed(code) => {
                    self.parts.metrics.commits("error", 1);
                    tracing::debug!(level = self.parts.level, ?code, partition = result.partition, "commit failed");
                    self.tell(now, Event::CommitFailed(claim));
                }
            }
        }
    }

    /// Offers heads to the core while it wants them. True if there were any.
    pub(super) fn read_heads(&mut self) -> bool {
        let mut some = false;
        for index in 0..self.claims.len() {
            let Some(&claim) = self.claims.get(index) else { break };
            let now = self.parts.clock.read();
            self.see_end(claim, &now);
            for _ in 0..BURST {
                if !self.parts.core.wants_head(claim) || !self.read_head(claim, &now) {
                    break;
                }
                some = true;
            }
        }
        some
    }

    /// What the last fetch said of the partition's end, if it is news.
    fn see_end(&mut self, claim: Claim, now: &Reading) {
        let Some(end) = self.parts.consumer.fetched_end(claim.partition) else { return };
        let Some(ring) = self.rings.get_mut(&claim.partition).filter(|r| r.claim == claim) else { return };
        if ring.end.replace(end) != Some(end) {
            self.tell(now, Event::EndSeen(claim, end));
        }
    }

    pub(super) fn read_head(&mut self, claim: Claim, now: &Reading) -> bool {
        match self.parts.consumer.next(claim.partition) {
            None => false,
            Some(Fetch::End) => {
                self.look_for_reset_at_the_end(claim);
                self.tell(now, Event::EndReached(claim));
                false
            }
            Some(Fetch::Fault(error)) => {
                tracing::warn!(level = self.parts.level, partition = claim.partition, %error, "reading");
                false
            }
            Some(Fetch::Record(record)) => {
                self.parts.metrics.consumed.increment(1);
                self.offer(claim, record, now);
                true
            }
        }
    }

    pub(super) fn offer(&mut self, claim: Claim, record: Record, now: &Reading) {
        let Some(ring) = self.rings.get_mut(&claim.partition).filter(|r| r.claim == claim) else { return };
        let last = ring.last.replace(record.offset());
        self.look_for_reset(claim, last, NextOffset::new(record.offset().get()));
        let Some(ring) = self.rings.get_mut(&claim.partition) else { return };
        let record = ring.push(record);
        let head = Head {
            offset: record.offset(),
            stamp: record.stamp(),
            bytes: record.bytes(),
            control: decode(record.headers()),
        };
        self.parts.core.handle(now, Event::Head(claim, head), &mut self.actions);
        self.perform(now, None);
    }
}
