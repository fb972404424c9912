//! Where payloads come from.

use super::SendArgs;
use crate::exit::tell;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{self, IsTerminal, Read};

/// The most that is read. A broker takes a record of 1 MiB unless it was told otherwise.
const MAX_INPUT: u64 = 64 * 1024 * 1024;

/// A header as `key=value`; only the first `=` separates.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("not a header: {text:?}; write key=value, as in --header source=shop")),
    }
}

/// The argument, the file or stdin, in this order.
pub(super) fn read(args: &SendArgs) -> Result<Vec<u8>> {
    if let Some(payload) = &args.payload {
        return Ok(payload.clone().into_bytes());
    }
    match &args.file {
        Some(path) => {
            let asked = || format!("cannot read {}; name a readable file", path.display());
            bounded(File::open(path).with_context(asked)?).with_context(asked)
        }
        None => {
            if io::stdin().is_terminal() {
                tell("reading from the terminal; end with Ctrl-D on an empty line");
            }
            bounded(io::stdin().lock()).context("cannot read stdin")
        }
    }
}

fn bounded(from: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = from.take(MAX_INPUT + 1).read_to_end(&mut bytes)?;
    if read as u64 > MAX_INPUT {
        bail!("it is longer than {} MiB; send it in parts", MAX_INPUT / 1024 / 1024);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_split_at_the_first_equals_sign() {
        for (text, key, value) in [("a=b", "a", "b"), ("a=", "a", ""), ("a=b=c", "a", "b=c"), (" a = b ", " a ", " b ")]
        {
            assert_eq!(header(text), Ok((key.to_owned(), value.to_owned())), "{text}");
        }
        for text in ["", "a", "=b"] {
            assert!(header(text).is_err(), "{text}");
        }
    }

    #[test]
    fn input_is_bounded() {
        assert!(bounded(io::repeat(b'x').take(MAX_INPUT)).is_ok());
        assert!(bounded(io::repeat(b'x').take(MAX_INPUT + 1)).is_err());
    }
}
