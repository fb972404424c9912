//! How much is measured: enough for a figure, or just enough to see that everything works.

/// Sizes of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    /// Only a try: its figures mean nothing.
    pub(crate) quick: bool,
    rounds: Option<u32>,
}

impl Scale {
    /// `DWELL_BENCH_QUICK` set to anything but nothing or 0 asks for a try.
    pub(crate) fn from_environment(rounds: Option<u32>) -> Scale {
        let quick = std::env::var("DWELL_BENCH_QUICK").is_ok_and(|v| !matches!(v.as_str(), "" | "0"));
        Scale { quick, rounds }
    }

    /// `full`, or `quick` where this is only a try.
    pub(crate) fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// How often each side is measured.
    pub(crate) fn rounds(&self, full: u32) -> u32 {
        self.rounds.unwrap_or(self.size(full, 1))
    }
}
