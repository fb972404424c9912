//! Tells once that no broker answers, and once that one does again.

use dwell_roller_core::Mono;
use std::time::Duration;

/// An idle level asks the brokers for their time every ten seconds and waits four for the answer.
const NEWS: Duration = Duration::from_secs(15);

/// When a broker last gave a sign of life.
pub(super) struct Silence {
    level: String,
    heard: Mono,
    told: bool,
}

impl Silence {
    pub(super) fn new(level: &str, now: Mono) -> Silence {
        Silence { level: level.to_owned(), heard: now, told: false }
    }

    /// A broker has answered.
    pub(super) fn heard(&mut self, now: Mono) {
        if let Some(silent) = self.ended(now) {
            let (level, seconds) = (&self.level, silent.as_secs());
            tracing::info!(level, "a broker answers again after {seconds} s; what has become due meanwhile goes out");
        }
    }

    /// To be called now and then.
    pub(super) fn look(&mut self, now: Mono) {
        if let Some(silent) = self.begun(now) {
            let (level, seconds) = (&self.level, silent.as_secs());
            tracing::warn!(
                level,
                "no broker has answered for {seconds} s: what becomes due is held and goes out in order when one \
                 answers; nothing is parked for this"
            );
        }
    }

    fn ended(&mut self, now: Mono) -> Option<Duration> {
        let silent = now.since(self.heard);
        self.heard = now;
        std::mem::take(&mut self.told).then_some(silent)
    }

    fn begun(&mut self, now: Mono) -> Option<Duration> {
        let silent = now.since(self.heard);
        (silent >= NEWS && !std::mem::replace(&mut self.told, true)).then_some(silent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Mono {
        Mono::default().plus(Duration::from_secs(seconds))
    }

    #[test]
    fn each_silence_is_told_once_and_so_is_its_end() {
        let mut silence = Silence::new("1s", at(100));
        assert_eq!(silence.begun(at(114)), None, "an idle level asks no sooner");
        assert_eq!(silence.ended(at(114)), None, "nothing was told, nothing is taken back");
        assert_eq!(silence.begun(at(129)), Some(Duration::from_secs(15)));
        assert_eq!(silence.begun(at(300)), None);
        assert_eq!(silence.ended(at(301)), Some(Duration::from_secs(187)));
        assert_eq!(silence.ended(at(302)), None);
        assert_eq!(silence.begun(at(317)), Some(Duration::from_secs(15)), "the next one is news again");
    }
}
