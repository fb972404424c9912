//! Flags from the environment: `--stop-after 5s` is `DWELL_STOP_AFTER=5s`, lists are comma-separated, and
//! `DWELL_STOP_AFTER_FILE=/path` reads the value from a file. The command line wins.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// How a flag takes its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Takes {
    /// None; `1`, `true` and `yes` in the environment set it.
    Nothing,
    /// One.
    One,
    /// Several; comma-separated in the environment.
    Many,
}

/// A flag by its long name.
pub(crate) type Flag = (String, Takes);

const PREFIX: &str = "DWELL_";
/// Settings of the Kafka clients, read elsewhere.
const KAFKA: &str = "DWELL_KAFKA_";

/// Adds to `argv` what only the environment says. All mistakes are reported at once.
pub(crate) fn with_environment(
    argv: Vec<String>,
    flags: &[Flag],
    env: impl IntoIterator<Item = (String, String)>,
    read: &dyn Fn(&Path) -> io::Result<String>,
) -> Result<Vec<String>, Vec<String>> {
    let mut wanted = BTreeMap::new();
    let mut wrong = Vec::new();
    for (name, value) in env {
        if !name.starts_with(PREFIX) || name.starts_with(KAFKA) {
            continue;
        }
        match resolve(&name, value, flags, read) {
            Ok((flag, value)) => {
                if wanted.insert(flag.clone(), value).is_some() {
                    wrong.push(format!("{} is set twice, with and without _FILE", variable(&flag.0)));
                }
            }
            Err(error) => wrong.push(error),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let mut argv = argv;
    let given = |argv: &[String], flag: &str| {
        argv.iter().any(|a| a.strip_prefix("--").is_some_and(|a| a == flag || a.starts_with(&format!("{flag}="))))
    };
    for ((flag, takes), value) in wanted {
        if given(&argv, &flag) {
            continue;
        }
        match takes {
            Takes::Nothing if matches!(value.as_str(), "1" | "true" | "yes") => argv.push(format!("--{flag}")),
            Takes::Nothing => {}
            Takes::One => argv.push(format!("--{flag}={value}")),
            Takes::Many => argv.extend(value.split(',').map(|v| format!("--{flag}={}", v.trim()))),
        }
    }
    Ok(argv)
}

fn resolve(
    name: &str,
    value: String,
    flags: &[Flag],
    read: &dyn Fn(&Path) -> io::Result<String>,
) -> Result<(Flag, String), String> {
    let find = |name: &str| flags.iter().find(|(flag, _)| variable(flag) == name).cloned();
    if let Some(flag) = find(name) {
        return Ok((flag, value));
    }
    if let Some(flag) = name.strip_suffix("_FILE").and_then(find) {
        let text = read(Path::new(&value)).map_err(|e| format!("{name}: cannot read {value}: {e}"))?;
        return Ok((flag, text.trim_end_matches(['\n', '\r']).to_owned()));
    }
    let known: Vec<_> = flags.iter().map(|(flag, _)| variable(flag)).collect();
    Err(format!("{name} is not a known setting; known are {} and {KAFKA}<PROPERTY>", known.join(", ")))
}

fn variable(flag: &str) -> String {
    format!("{PREFIX}{}", flag.to_uppercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(argv: &[&str], env: &[(&str, &str)]) -> Result<Vec<String>, Vec<String>> {
        let flags = [("level".into(), Takes::Many), ("brokers".into(), Takes::One), ("all".into(), Takes::Nothing)];
        let env = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let read = |p: &Path| {
            if p == Path::new("/b") { Ok("file:9092\n".to_owned()) } else { Err(io::ErrorKind::NotFound.into()) }
        };
        with_environment(argv.iter().map(|a| (*a).to_owned()).collect(), &flags, env, &read)
    }

    #[test]
    fn the_command_line_wins_over_the_environment() {
        assert_eq!(run(&["r", "--brokers", "a:1"], &[("DWELL_BROKERS", "b:1")]).unwrap(), ["r", "--brokers", "a:1"]);
        assert_eq!(run(&["r", "--brokers=a:1"], &[("DWELL_BROKERS", "b:1")]).unwrap(), ["r", "--brokers=a:1"]);
    }

    #[test]
    fn lists_flags_and_files() {
        let argv =
            run(&["r"], &[("DWELL_LEVEL", "1s, 5s"), ("DWELL_ALL", "true"), ("DWELL_BROKERS_FILE", "/b")]).unwrap();
        assert_eq!(argv, ["r", "--all", "--brokers=file:9092", "--level=1s", "--level=5s"]);
    }

    #[test]
    fn unknown_names_unreadable_files_and_doubles_are_all_reported() {
        let env = [("DWELL_LEVLE", "1s"), ("DWELL_BROKERS_FILE", "/no"), ("PATH", "x"), ("DWELL_KAFKA_X", "y")];
        let wrong = run(&["r"], &env).unwrap_err();
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(wrong.iter().any(|w| w.contains("DWELL_LEVLE") && w.contains("DWELL_LEVEL")));
        assert!(run(&["r"], &[("DWELL_BROKERS", "a"), ("DWELL_BROKERS_FILE", "/b")]).is_err());
    }
}
