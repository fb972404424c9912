//! The environment: which `DWELL_` variables there are. Another one is a mistake, and would be ignored in silence.

use crate::exit::Failure;
use dwell_kafka::settings::ENV_PREFIX;
use std::ffi::{OsStr, OsString};

const PREFIX: &str = "DWELL_";

/// Variables of this program.
const OWN: [&str; 4] = ["DWELL_LEVELS", "DWELL_BROKERS", "DWELL_OUTPUT", "DWELL_TIMEOUT"];

/// Variables of the roller. A shell or a container often has them for both programs.
const ROLLERS: [&str; 9] = [
    "DWELL_LEVEL",
    "DWELL_ALL",
    "DWELL_LISTEN",
    "DWELL_LOG_FORMAT",
    "DWELL_INSTANCE_ID",
    "DWELL_START_FROM",
    "DWELL_TARGET_SILENCE",
    "DWELL_TARGET_WAITS",
    "DWELL_STOP_AFTER",
];

/// Refuses variables with the prefix that mean nothing to either program, all of them at once.
pub(crate) fn refuse_unknown(names: impl Iterator<Item = OsString>) -> Result<(), Failure> {
    let mut unknown: Vec<String> =
        names.filter(|name| is_unknown(name)).map(|name| name.to_string_lossy().into_owned()).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    unknown.sort_unstable();
    let known = OWN.join(", ");
    Err(Failure::usage_list(unknown.iter().map(|name| {
        format!("{name}: no such environment variable; unset it, or use one of {known} or {ENV_PREFIX}<KEY>")
    })))
}

fn is_unknown(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let name = name.strip_suffix("_FILE").filter(|flag| ROLLERS.contains(flag)).unwrap_or(&name);
    name.starts_with(PREFIX) && !name.starts_with(ENV_PREFIX) && !OWN.contains(&name) && !ROLLERS.contains(&name)
}

/// The variables whose name and value are text.
pub(crate) fn text() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unknown_names_with_the_prefix_are_refused() {
        for known in ["DWELL_LEVELS", "DWELL_LISTEN", "DWELL_KAFKA_SASL_PASSWORD_FILE", "PATH", "DWELLING"] {
            assert!(!is_unknown(OsStr::new(known)), "{known}");
        }
        for unknown in ["DWELL_LEVLES", "DWELL_", "DWELL_KAFKA", "DWELL_BROKERS_2"] {
            assert!(is_unknown(OsStr::new(unknown)), "{unknown}");
        }
    }

    #[test]
    fn all_unknown_names_are_told_at_once() {
        let names = ["DWELL_B", "HOME", "DWELL_A"].map(OsString::from);
        let Err(Failure::Usage(error)) = refuse_unknown(names.into_iter()) else {
            panic!("accepted");
        };
        let text = error.to_string();
        assert!(text.starts_with("DWELL_A: ") && text.contains("\nDWELL_B: "), "{text}");
    }
}
