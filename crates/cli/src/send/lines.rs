//! Many records, one JSON object per line.

use super::SendArgs;
use super::draft::{Draft, When, when};
use super::when::{At, NoTime};
use crate::exit::Failure;
use dwell_levels::Delay;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A line. What it leaves out comes from the flags.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    to: Option<String>,
    r#in: Option<String>,
    at: Option<Time>,
    key: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    r#type: Option<String>,
    rounding: Option<String>,
    id: Option<String>,
    payload: String,
}

/// A time as text, or a number of epoch milliseconds.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Time {
    Epoch(i64),
    Text(String),
}

/// The records of all lines, or the mistakes of all lines. Empty lines are passed over.
pub(super) fn drafts(args: &SendArgs, input: &[u8]) -> Result<Vec<Draft>, Failure> {
    let text = std::str::from_utf8(input)
        .map_err(|e| Failure::usage_text(format_args!("the input is not UTF-8 text: {e}")))?;
    let (mut drafts, mut mistakes) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        match draft(args, line) {
            Ok(draft) => drafts.push(draft),
            Err(mistake) => mistakes.push(format!("line {number}: {mistake}")),
        }
    }
    if mistakes.is_empty() {
        return Ok(drafts);
    }
    mistakes.push("nothing was sent".to_owned());
    Err(Failure::usage_list(mistakes))
}

fn draft(args: &SendArgs, line: &str) -> Result<Draft, String> {
    let line: Line = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let own = own_time(&line)?;
    let mut headers = args.headers.clone();
    headers.extend(line.headers);
    let rounding = line.rounding.map(|text| text.parse()).transpose();
    Ok(Draft {
        to: line.to.or_else(|| args.to.clone()).ok_or("no target; add \"to\" or --to")?,
        when: own.or_else(|| when(args)).ok_or("no time; add \"in\", \"at\", --in or --at")?,
        key: line.key.or_else(|| args.key.clone()),
        headers,
        record_type: line.r#type.or_else(|| args.record_type.clone()),
        rounding: rounding.map_err(|e: dwell_levels::WordError| e.to_string())?.or(args.rounding),
        id: line.id,
        payload: line.payload.into_bytes(),
    })
}

fn own_time(line: &Line) -> Result<Option<When>, String> {
    let at = match &line.at {
        None => None,
        Some(Time::Epoch(ms)) => Some(When::At(At(*ms))),
        Some(Time::Text(text)) => {
            let at: Result<At, NoTime> = text.parse();
            Some(When::At(at.map_err(|e| e.to_string())?))
        }
    };
    let after = line.r#in.as_deref().map(Delay::parse).transpose();
    match (after.map_err(|e| e.to_string())?, at) {
        (Some(_), Some(_)) => Err("both \"in\" and \"at\"; keep one".to_owned()),
        (after, at) => Ok(after.map(When::In).or(at)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        send: SendArgs,
    }

    fn args(more: &[&str]) -> SendArgs {
        Flags::try_parse_from([&["send", "--jsonl"], more].concat()).unwrap().send
    }

    #[test]
    fn a_line_wins_over_the_flags() {
        let flags = args(&["--to", "a", "--in", "1s", "--header", "x=1"]);
        let input = br#"{"payload":"p"}

            {"payload":"q","to":"b","at":5,"headers":{"y":"2"},"id":"i"}"#;
        let drafts = drafts(&flags, input).unwrap();
        let [first, second] = drafts.as_slice() else { panic!("{drafts:?}") };
        let second_long = When::In(Delay::from_millis(1000));
        assert_eq!((first.to.as_str(), first.when), ("a", second_long));
        assert_eq!((second.to.as_str(), second.when), ("b", When::At(At(5))));
        let headers = [("x", "1"), ("y", "2")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(second.headers, headers);
        assert_eq!((second.id.as_deref(), &second.payload[..]), (Some("i"), &b"q"[..]));
    }

    #[test]
    fn the_mistakes_of_all_lines_are_told_and_nothing_is_sent() {
        let input = br#"{"payload":"p","in":"5x"}
            {"payload":"p"}
            {"payload":"p","too":1}
            {"payload":"p","in":"5s","at":5}"#;
        let Err(Failure::Usage(error)) = drafts(&args(&["--to", "a"]), input) else { panic!("accepted") };
        let text = error.to_string();
        for part in
            ["line 1: not a duration", "line 2: no time", "line 3: unknown field", "line 4: both", "nothing was sent"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
