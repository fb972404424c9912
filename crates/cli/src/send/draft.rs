//! A record as the user describes it.

use super::when::At;
use super::{SendArgs, input, lines};
use crate::exit::Failure;
use dwell_levels::{Delay, Rounding};

/// When a record is to be released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    In(Delay),
    At(At),
}

/// A record that is not routed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) to: String,
    pub(super) when: When,
    pub(super) key: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) record_type: Option<String>,
    pub(super) rounding: Option<Rounding>,
    pub(super) id: Option<String>,
    pub(super) payload: Vec<u8>,
}

/// Everything the user wants sent. A mistake in one record is a reason to send none.
pub(super) fn drafts(args: &SendArgs) -> Result<Vec<Draft>, Failure> {
    let input = input::read(args).map_err(Failure::usage)?;
    if args.jsonl {
        return lines::drafts(args, &input);
    }
    let count = usize::try_from(args.repeat).unwrap_or(usize::MAX);
    Ok(vec![one(args, input)?; count])
}

/// The record that the flags describe.
fn one(args: &SendArgs, payload: Vec<u8>) -> Result<Draft, Failure> {
    let (Some(to), Some(when)) = (args.to.clone(), when(args)) else {
        return Err(Failure::usage_text("say where to and when: --to TOPIC, and --in DURATION or --at TIME"));
    };
    Ok(Draft {
        to,
        when,
        key: args.key.clone(),
        headers: args.headers.clone(),
        record_type: args.record_type.clone(),
        rounding: args.rounding,
        id: args.id.clone(),
        payload,
    })
}

/// What the flags say of the time.
pub(super) fn when(args: &SendArgs) -> Option<When> {
    let at = args.at.map(When::At);
    args.after.map(When::In).or(at)
}
