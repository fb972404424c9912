//! Fetching and pausing. Hold short, pause long.
//!
//! A queue that is not read fills up and librdkafka stops fetching by itself, at no cost; a pause throws the
//! prefetched records away. So a partition is paused only where nothing is about to happen for long: it is
//! empty, or its head is due beyond the poll interval. What is paused always has a wake-up.

use crate::event::Action;
use crate::offset::NextOffset;
use crate::partition::Partition;
use crate::shared::Shared;
use crate::time::{Mono, Reading};
use dwell_levels::{Delay, Level, PollInterval};
use std::time::Duration;

/// Levels up to this stay on a long poll unless the file sets an interval.
const LONG_POLL_UP_TO: Duration = Duration::from_secs(10);
/// A pause shorter than this is not worth the prefetch it throws away.
const SHORTEST_PAUSE: Duration = Duration::from_secs(2);

/// The client is asked again this long after a look that was not answered.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Whether the client fetches a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Yes.
    Fetching,
    /// No, and nothing waits; looks at the end offset find out when something does.
    PausedEmpty,
    /// No, the head is far from due: fetch again by then.
    PausedHead { resume_at: Mono },
}

/// How long a partition of this level may go without a look; `None`: it stays on a long poll.
///
/// A record appended to a level is not due sooner than the level's delay, so half of it is always soon enough.
pub(crate) fn pause_interval(level: &Level) -> Option<Duration> {
    let delay = Duration::from_millis(level.delay.as_millis());
    let auto = || Duration::from_millis(PollInterval::Auto.resolve(level.delay).as_millis());
    let wanted = match level.poll_interval {
        PollInterval::Auto if delay <= LONG_POLL_UP_TO => return None,
        PollInterval::Auto => auto(),
        PollInterval::Every(every) => to_std(every).min(delay / 2),
    };
    (wanted >= SHORTEST_PAUSE).then_some(wanted)
}

fn to_std(d: Delay) -> Duration {
    Duration::from_millis(d.as_millis())
}

/// How often the end offset is looked at while a head waits. What lies behind the head is dated by these looks where
/// a broker's clock was ahead, so they are a fraction of the delay; they cost one request for all partitions.
fn look_interval(level: &Level) -> Duration {
    (to_std(level.delay) / 4).clamp(Duration::from_secs(1), Duration::from_secs(300))
}

impl Partition {
    /// The queue ran dry.
    pub(crate) fn end_reached(&mut self, sh: &Shared, now: &Reading, out: &mut Vec<Action>) {
        let Some(interval) = pause_interval(&sh.level) else { return };
        if self.owned() && self.flow == Flow::Fetching && self.window.head().is_none() {
            self.flow = Flow::PausedEmpty;
            self.look_at = Some(now.mono.plus(interval));
            out.push(Action::Pause(self.claim));
        }
    }

    /// A look, or a fetch, has shown where the partition ends.
    pub(crate) fn end_seen(&mut self, end: NextOffset, sh: &Shared, now: &Reading, out: &mut Vec<Action>) {
        let moved = self.position.is_none_or(|at| at != end);
        if self.position.is_none_or(|at| end > at) {
            self.sightings.saw(end, now.mono);
        }
        if self.flow == Flow::PausedEmpty && moved {
            // An end that went back is news too: the topic was made anew, and fetching finds out.
            self.flow = Flow::Fetching;
            out.push(Action::Resume(self.claim));
        }
        if self.look_at.is_some() {
            self.look_at = self.next_look(sh).map(|d| now.mono.plus(d));
        }
    }

    /// Time to the next look, where there is a reason for one.
    fn next_look(&self, sh: &Shared) -> Option<Duration> {
        match self.flow {
            Flow::PausedEmpty => pause_interval(&sh.level),
            _ => self.window.head().map(|_| look_interval(&sh.level)),
        }
    }

    /// Pauses or resumes by what the clock and the head say.
    pub(crate) fn adjust_flow(&mut self, sh: &Shared, now: &Reading, out: &mut Vec<Action>) {
        if !self.owned() {
            return;
        }
        self.look_behind_head(sh, now);
        let Some(interval) = pause_interval(&sh.level) else { return };
        match self.flow {
            Flow::Fetching => {
                let lead = sh.limits.resume_lead();
                let Some((_, head)) = self.window.head() else { return };
                let wait = head.wait(now);
                if wait > interval.max(lead + SHORTEST_PAUSE) {
                    self.flow = Flow::PausedHead { resume_at: now.mono.plus(wait - lead) };
                    out.push(Action::Pause(self.claim));
                }
            }
            Flow::PausedHead { resume_at } => {
                let due_soon = self.window.head().is_none_or(|(_, h)| h.wait(now) <= sh.limits.resume_lead());
                if due_soon || now.mono >= resume_at {
                    self.flow = Flow::Fetching;
                    out.push(Action::Resume(self.claim));
                }
            }
            Flow::PausedEmpty => {}
        }
    }

    /// Plans the first look behind a head that waits for long.
    fn look_behind_head(&mut self, sh: &Shared, now: &Reading) {
        if self.look_at.is_some() {
            return;
        }
        let every = look_interval(&sh.level);
        if self.window.head().is_some_and(|(_, h)| h.wait(now) > every) {
            self.look_at = Some(now.mono.plus(every));
        }
    }

    /// Whether it is time to look at this partition's end; the next one is planned when the answer is here.
    pub(crate) fn take_look(&mut self, now: &Reading) -> bool {
        let due = self.owned() && self.look_at.is_some_and(|at| now.mono >= at);
        if due {
            self.look_at = Some(now.mono.plus(LOOK_AGAIN));
        }
        due
    }

    /// The next moment at which the flow wants attention.
    pub(crate) fn flow_wake(&self) -> Option<Mono> {
        if !self.owned() {
            return None;
        }
        let resume_at = match self.flow {
            Flow::PausedHead { resume_at } => Some(resume_at),
            Flow::Fetching | Flow::PausedEmpty => None,
        };
        resume_at.into_iter().chain(self.look_at).min()
    }
}
