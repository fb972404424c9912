//! What a roller is told, and what it answers.

use crate::offset::{NextOffset, Offset};
use crate::topics::{TopicKey, Verdict};
use crate::window::{CopyId, Seq};
use dwell_wire::{BadRecord, Control, Reason};

/// Counts assignments of partitions to this process. A later epoch fences everything of an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// One assignment of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// The partition of the level topic.
    pub partition: i32,
    /// Which assignment of it.
    pub epoch: Epoch,
}

/// A record's timestamp, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// The broker's append time, epoch milliseconds.
    Append(i64),
    /// Anything else (a producer's time, or none): says nothing about when the record was appended.
    Other,
}

/// The next record of a partition, as the client read it.
#[derive(Debug, Clone)]
pub struct Head<'a> {
    /// Its offset.
    pub offset: Offset,
    /// Its timestamp.
    pub stamp: Stamp,
    /// Bytes of key and value.
    pub bytes: usize,
    /// Its control headers.
    pub control: Result<Control<'a>, BadRecord>,
}

/// Why a copy was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The producer's queue is full; nothing was sent.
    Refused,
    /// Not written, or not known to be; the same copy may be sent again.
    Retriable,
    /// The topic does not exist.
    UnknownTopic,
    /// Writing is not allowed.
    Forbidden,
    /// Larger than the topic takes.
    TooLarge,
    /// Permanently refused for another reason.
    Rejected(String),
    /// The producer is beyond repair; the process must end.
    Fatal(String),
}

/// What happened. Each event comes with the time at which it is handled.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// A partition was assigned.
    Assigned(Claim),
    /// The next record of a partition that wants one, see [`crate::Core::wants_head`].
    Head(Claim, Head<'a>),
    /// The partition has been read up to its end.
    EndReached(Claim),
    /// The partition's end offset was seen, by a look or with a fetch.
    EndSeen(Claim, NextOffset),
    /// The brokers acknowledged a copy.
    Acked(CopyId),
    /// A copy was not written.
    Failed(CopyId, Failure),
    /// Answer to [`Action::AskTopic`].
    TopicAnswer(TopicKey, Verdict),
    /// The cluster answered some other request: evidence that silence of one topic is not an outage.
    ClusterAnswered,
    /// An offset was committed.
    Committed(Claim, NextOffset),
    /// A commit failed; it is tried again.
    CommitFailed(Claim),
    /// The group takes the partition away; finish within the bounds of [`crate::Limits`].
    Revoked(Claim),
    /// The partition is already someone else's; nothing may be done for it any more.
    Lost(Claim),
    /// Nothing happened, time has passed.
    Tick,
    /// Finish everything, within the bounds, and stop.
    Stop,
}

/// How a copy differs from the record it is a copy of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// To the target, control headers removed.
    Release {
        /// When the record was due, epoch milliseconds.
        due_ms: i64,
    },
    /// To another level.
    Hop {
        /// When the target should have it, epoch milliseconds.
        deliver_at_ms: i64,
    },
    /// To a level, to come back to its target later.
    SetAside {
        /// When the target should have had it, where that is known.
        deliver_at_ms: Option<i64>,
    },
    /// To the parked topic.
    Park {
        /// Why.
        reason: Reason,
        /// Why, in words.
        error: String,
        /// With or without key and value.
        body: Body,
    },
}

/// Whether a parked copy carries the record's key and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// As it was.
    Kept,
    /// Left out: even the parked topic refused the record.
    LeftOut,
}

/// Which other records may share a copy's batch.
///
/// Brokers refuse whole batches: one record that is too large or invalid fails its neighbours too. So a refused
/// copy is sent once more by itself, and only what is refused alone is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batching {
    /// Any.
    Shared,
    /// None.
    Alone,
}

/// How a record ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Acknowledged by its target.
    Released {
        /// When it was due, epoch milliseconds.
        due_ms: i64,
    },
    /// Acknowledged by another level.
    Hopped,
    /// Acknowledged by the level it was set aside to.
    SetAside,
    /// Acknowledged by the parked topic.
    Parked(Reason),
}

/// Something an operator may want to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The partition's offsets went back: the topic was made anew, or the position was reset.
    WentBack {
        /// Where reading would have gone on.
        expected: NextOffset,
        /// What came instead.
        got: Offset,
    },
    /// A record without the broker's append time waits from when it was seen.
    NotAppendTime(Offset),
    /// The broker's clock was ahead when it stamped this record; it waited from when it was seen.
    ClockWasAhead(Offset),
    /// Records for this topic are set aside: it has acknowledged nothing while others did.
    TargetSilent(TopicKey),
    /// A silent topic acknowledges again.
    TargetBack(TopicKey),
    /// A revoke or stop ended at its deadline; unacknowledged records will be sent again by the next owner.
    DrainCutShort {
        /// How many records had no acknowledgement yet.
        unacknowledged: usize,
    },
}

/// What the shell is to do. It performs and decides nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Produce a copy of the record at `seq`. The report comes back as `Acked` or `Failed` with `copy`.
    Send {
        /// Names the copy in its report.
        copy: CopyId,
        /// Where the record was read.
        claim: Claim,
        /// Which record.
        seq: Seq,
        /// To which topic.
        to: TopicKey,
        /// How it differs from the record.
        form: Form,
        /// Whether other records may share its batch.
        batching: Batching,
    },
    /// The head will wait: copy it out of the fetch buffer, so that the buffer can go.
    Detach(Claim, Seq),
    /// Records before this one are done; their memory can go.
    Forget(Claim, Seq),
    /// A record is done.
    Completed(Claim, Offset, Outcome),
    /// Stop fetching the partition.
    Pause(Claim),
    /// Fetch the partition again.
    Resume(Claim),
    /// Ask for the end offsets of these partitions and report them as `EndSeen`.
    Look(Vec<Claim>),
    /// Ask whether a topic exists and report it as `TopicAnswer`.
    AskTopic(TopicKey),
    /// Commit this offset and report it as `Committed` or `CommitFailed`.
    Commit(Claim, NextOffset),
    /// A revoked or lost partition is finished with; let it go.
    Drained(Claim),
    /// After `Stop`: everything is finished with.
    Stopped,
    /// For the log.
    Note(Option<Claim>, Note),
    /// The process must end with an error.
    Fatal(String),
}
