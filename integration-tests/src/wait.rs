//! Waiting for something real, generously: the machines that run tests are shared.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Asks until `f` gives something, and panics with `what` after `patience`.
pub fn within<T>(patience: Duration, what: &str, mut f: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(t) = f() {
            return t;
        }
        assert!(begin.elapsed() < patience, "not within {patience:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Asks until `f` equals `wanted`; shows the last answer if it never does.
pub fn eventually<T: PartialEq + Debug>(patience: Duration, wanted: &T, mut f: impl FnMut() -> T) {
    let begin = Instant::now();
    loop {
        let got = f();
        if got == *wanted {
            return;
        }
        assert!(begin.elapsed() < patience, "not within {patience:?}: wanted {wanted:?}, got {got:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
