//! Percentiles of lateness, exact to the millisecond.

/// How late deliveries were, in ms. Negative numbers are early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lateness {
    /// How many deliveries this is about; with none, everything is zero.
    pub count: usize,
    /// The least.
    pub min_ms: i64,
    /// Half of them were at most this late.
    pub p50_ms: i64,
    /// 90 % were at most this late.
    pub p90_ms: i64,
    /// 99 % were at most this late.
    pub p99_ms: i64,
    /// 99.9 % were at most this late.
    pub p999_ms: i64,
    /// The most.
    pub max_ms: i64,
}

/// The lateness of one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelLateness {
    /// Its name, as in [`Sent::level`](super::Sent::level), or the topic of the first source record.
    pub level: String,
    /// How late its deliveries were.
    pub lateness: Lateness,
}

impl Lateness {
    /// Percentiles by nearest rank.
    pub fn of(mut values: Vec<i64>) -> Lateness {
        values.sort_unstable();
        let (Some(&min_ms), Some(&max_ms)) = (values.first(), values.last()) else {
            return Lateness::default();
        };
        let rank = |per_mille: usize| {
            let rank = (values.len() * per_mille).div_ceil(1000).max(1);
            values.get(rank - 1).copied().unwrap_or(max_ms)
        };
        Lateness {
            count: values.len(),
            min_ms,
            p50_ms: rank(500),
            p90_ms: rank(900),
            p99_ms: rank(990),
            p999_ms: rank(999),
            max_ms,
        }
    }
}
