//! `dwell send`: what is refused before any broker is asked.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use support::{Ran, TABLE, TableFile, dwell, ran};

/// Nobody listens there: whatever ends with 2 was refused before.
const NOBODY: [&str; 4] = ["--brokers", "127.0.0.1:1", "--timeout", "300ms"];

fn send(args: &[&str]) -> Ran {
    let file = TableFile::new(TABLE);
    let mut command = dwell(&["send", "--levels", file.arg()]);
    ran(command.args(NOBODY).args(args))
}

#[test]
fn what_can_never_be_sent_is_a_usage_error() {
    for (args, says) in [
        (&["--to", "orders", "x"][..], "--in"),
        (&["--in", "5s", "x"], "--to"),
        (&["--to", "orders", "--in", "5s", "--at", "0", "x"], "cannot be used with"),
        (&["--to", "orders", "--in", "5", "x"], "not a duration"),
        (&["--to", "orders", "--at", "noon", "x"], "not a time"),
        (&["--to", "orders", "--in", "5s", "--header", "a", "x"], "not a header"),
        (&["--to", "orders", "--in", "5s", "--repeat", "2", "--id", "i", "x"], "cannot be used with"),
        (&["--to", "orders", "--in", "5s", "--file", "/nowhere"], "cannot read /nowhere"),
        (&["--to", "stock", "--in", "5s", "x"], "is not allowed"),
        (&["--to", "delay-5s", "--in", "5s", "x"], "belongs to a delay fleet"),
        (&["--to", "orders", "--in", "11h", "x"], "too long"),
        (&["--to", "orders", "--at", "9999-01-01T00:00:00Z", "x"], "too long"),
        (&["--to", "orders", "--in", "5s", "--header", "dwell-id=1", "x"], "reserved"),
        (&["--to", "orders", "--in", "5s", "--id", "", "x"], "an id of 0 bytes"),
    ] {
        let Ran { code, out, err } = send(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(says), "{args:?}: {err}");
    }
}

#[test]
fn one_wrong_line_and_nothing_is_sent() {
    let file = TableFile::new("{\"payload\":\"1\"}\n{\"payload\":\"2\",\"to\":\"stock\"}\n");
    let Ran { code, out, err } = send(&["--jsonl", "--to", "orders", "--in", "5s", "--file", file.arg()]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.starts_with("record 2: ") && err.ends_with("nothing was sent\n"), "{err}");
}

#[test]
fn a_cluster_that_does_not_answer_ends_with_1() {
    let Ran { code, out, err } = send(&["--to", "orders", "--in", "5s", "x"]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("--brokers"), "{err}");
}
