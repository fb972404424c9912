//! Questions to the brokers that must not block a roller's loop: does a topic exist, where does a partition end.
//!
//! One thread with a client handle of its own serves all levels of the process; a fetching consumer would make
//! every question wait behind its long poll.

use anyhow::Context;
use dwell_kafka::{ClientSettings, Lookup, TopicState};
use dwell_roller_core::{Claim, NextOffset, TopicKey, Verdict};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(4);

/// What a loop wants to know.
pub(crate) enum Question {
    Topic { key: TopicKey, name: String },
    Ends { topic: String, claims: Vec<Claim> },
}

/// What it hears.
pub(crate) enum Answer {
    Topic { key: TopicKey, verdict: Verdict },
    End { claim: Claim, end: NextOffset },
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
                for (question, reply_to) in inbox {
                    answer(&lookup, question, &reply_to);
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

fn answer(lookup: &Lookup, question: Question, reply_to: &Sender<Answer>) {
    match question {
        Question::Topic { key, name } => {
            let verdict = match lookup.topic_state(&name) {
                TopicState::Exists { .. } => Verdict::Present,
                TopicState::Missing | TopicState::Illegal => Verdict::Missing,
                TopicState::Forbidden => Verdict::Forbidden,
                TopicState::Unknown(failure) => {
                    tracing::debug!(topic = name, %failure, "asking for a topic");
                    Verdict::NoAnswer
                }
            };
            let _ = reply_to.send(Answer::Topic { key, verdict });
        }
        Question::Ends { topic, claims } => {
            let partitions: Vec<i32> = claims.iter().map(|c| c.partition).collect();
            match lookup.end_offsets(&topic, &partitions) {
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
    }
}
