//! Questions to the brokers that must not block a roller's loop: does a topic exist, where does a partition end.
//!
//! One thread with a client handle of its own serves all levels of the process; a fetching consumer would make
//! every question wait behind its long poll.

use anyhow::Context;
use dwell_kafka::{ClientSettings, Lookup, TopicId, TopicState};
use dwell_roller_core::{Claim, NextOffset, TopicKey, Verdict};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(4);
/// Questions that are answered together, at most.
const AT_ONCE: usize = 500;

/// What a loop wants to know.
pub(crate) enum Question {
    Topic {
        key: TopicKey,
        name: String,
    },
    Ends {
        topic: String,
        claims: Vec<Claim>,
    },
    /// Which topic has this name now.
    Identity {
        topic: String,
    },
}

/// What it hears.
pub(crate) enum Answer {
    Topic { key: TopicKey, verdict: Verdict },
    End { claim: Claim, end: NextOffset },
    Identity(TopicId),
}

/// Asks on behalf of one level.
pub(crate) struct Asker {
    questions: Sender<(Question, Sender<Answer>)>,
    reply_to: Sender<Answer>,
    answers: Receiver<Answer>,
}

impl Asker {
    pub(crate) fn ask(&self, question: Question) {
        // A missing side thread means that the process is ending.
        let _ = self.questions.send((question, self.reply_to.clone()));
    }

    pub(crate) fn answers(&self) -> impl Iterator<Item = Answer> + '_ {
        self.answers.try_iter()
    }
}

/// The thread that asks. Ends when the last [`Asker`] and the value itself are gone.
pub(crate) struct SideThread {
    questions: Sender<(Question, Sender<Answer>)>,
    _thread: JoinHandle<()>,
}

impl SideThread {
    pub(crate) fn start(settings: &ClientSettings) -> anyhow::Result<SideThread> {
        let lookup = Lookup::open(settings, "dwell-lookup", TIMEOUT)?;
        let (questions, inbox) = channel::<(Question, Sender<Answer>)>();
        let thread = std::thread::Builder::new()
            .name("dwell-side".into())
            .spawn(move || {
                while let Ok(first) = inbox.recv() {
                    // Whatever has gathered meanwhile, so that a thousand topics are few requests.
                    answer_all(&lookup, std::iter::once(first).chain(inbox.try_iter()).take(AT_ONCE));
                }
            })
            .context("start the look-up thread")?;
        Ok(SideThread { questions, _thread: thread })
    }

    pub(crate) fn asker(&self) -> Asker {
        let (reply_to, answers) = channel();
        Asker { questions: self.questions.clone(), reply_to, answers }
    }
}

/// Questions about topics are asked together, the others one by one.
fn answer_all(lookup: &Lookup, questions: impl Iterator<Item = (Question, Sender<Answer>)>) {
    let mut topics = Vec::new();
    for (question, reply_to) in questions {
        match question {
            Question::Topic { key, name } => topics.push((key, name, reply_to)),
            Question::Ends { topic, claims } => answer_ends(lookup, &topic, claims, &reply_to),
            Question::Identity { topic } => {
                // A topic that is away just now has no identity; it is asked for again.
                if let Some(id) = lookup.topic_id(&topic) {
                    let _ = reply_to.send(Answer::Identity(id));
                }
            }
        }
    }
    if topics.is_empty() {
        return;
    }
    let names: Vec<&str> = topics.iter().map(|(_, name, _)| name.as_str()).collect();
    // In the order asked.
    let states = lookup.topic_states(&names);
    for ((key, _, reply_to), (name, state)) in topics.iter().zip(states) {
        let _ = reply_to.send(Answer::Topic { key: *key, verdict: verdict(&name, state) });
    }
}

fn verdict(name: &str, state: TopicState) -> Verdict {
    match state {
        TopicState::Exists { .. } => Verdict::Present,
        TopicState::Missing | TopicState::Illegal => Verdict::Missing,
        TopicState::Forbidden => Verdict::Forbidden,
        TopicState::Unknown(failure) => {
            tracing::debug!(topic = name, %failure, "asking for a topic");
            Verdict::NoAnswer
        }
    }
}

fn answer_ends(lookup: &Lookup, topic: &str, claims: Vec<Claim>, reply_to: &Sender<Answer>) {
    let partitions: Vec<i32> = claims.iter().map(|c| c.partition).collect();
    match lookup.end_offsets(topic, &partitions) {
        Ok(ends) => {
            for claim in claims {
                if let Some(&(_, end)) = ends.iter().find(|(p, _)| *p == claim.partition) {
                    let _ = reply_to.send(Answer::End { claim, end: NextOffset::new(end) });
                }
            }
        }
        // The core asks again in a few seconds.
        Err(failure) => tracing::debug!(topic, %failure, "looking at end offsets"),
    }
}
