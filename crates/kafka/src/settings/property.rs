//! Names and values of client properties.

use super::denied::why_denied;
use super::{ENV_PREFIX, SettingsError};
use rdkafka::config::ClientConfig;
use rdkafka::error::KafkaError;
use std::io;
use std::path::Path;

/// Properties whose own name ends in `.file`: here `_FILE` does not mean "read the value from this file".
const NAMED_FILE: &[&str] = &[
    "sasl.oauthbearer.assertion.file",
    "sasl.oauthbearer.assertion.private.key.file",
    "sasl.oauthbearer.assertion.jwt.template.file",
];
/// Properties with an underscore in their name, which the environment spells like a dot.
const WITH_UNDERSCORE: &[(&str, &str)] = &[("log.level", "log_level")];
const SECRET_PARTS: &[&str] = &["password", "secret", "passphrase", "key.pem", "jaas", "oauthbearer.config"];

/// A property found in the environment.
pub(super) struct EnvProperty {
    pub(super) key: String,
    from_file: Source,
}

enum Source {
    Variable,
    File,
}

impl EnvProperty {
    /// The property a variable sets, if it has the prefix.
    pub(super) fn parse(variable: &str) -> Option<EnvProperty> {
        let name = variable.strip_prefix(ENV_PREFIX)?.to_ascii_lowercase().replace('_', ".");
        if NAMED_FILE.contains(&name.as_str()) {
            return Some(EnvProperty { key: name, from_file: Source::Variable });
        }
        let (key, from_file) = match name.strip_suffix(".file") {
            Some(key) => (key.to_owned(), Source::File),
            None => (name, Source::Variable),
        };
        let spelled = WITH_UNDERSCORE.iter().find(|(dotted, _)| *dotted == key).map(|(_, real)| (*real).to_owned());
        Some(EnvProperty { key: spelled.unwrap_or(key), from_file })
    }

    /// The value: the variable's, or that of the file it names without its last line end.
    pub(super) fn value(
        &self,
        variable: &str,
        value: String,
        read: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Result<String, SettingsError> {
        if self.key.is_empty() {
            return Err(SettingsError::NoName { variable: variable.to_owned() });
        }
        let Source::File = self.from_file else {
            return Ok(value);
        };
        let text = read(Path::new(&value)).map_err(|error| SettingsError::File {
            variable: variable.to_owned(),
            path: value.clone(),
            said: error.to_string(),
        })?;
        let text = text.strip_suffix('\n').map(|t| t.strip_suffix('\r').unwrap_or(t)).unwrap_or(&text);
        Ok(text.to_owned())
    }
}

/// Refuses what Dwell depends on and what the client library does not take.
pub(super) fn check(source: &str, key: &str, value: &str) -> Result<(), SettingsError> {
    let origin = || {
        if source == "-X" { format!("-X {key}") } else { source.to_owned() }
    };
    if let Some(why) = why_denied(key) {
        return Err(SettingsError::Denied { origin: origin(), key: key.to_owned(), why });
    }
    let said = match ClientConfig::new().set(key, value).create_native_config() {
        Ok(_) => return Ok(()),
        Err(KafkaError::ClientConfig(_, said, _, _)) => said,
        Err(_) => "the value holds a zero byte".to_owned(),
    };
    let said = if is_secret(key) { format!("{key} does not take this value") } else { said };
    Err(SettingsError::Refused { origin: origin(), key: key.to_owned(), said })
}

/// Whether a property's value is never shown.
pub(super) fn is_secret(key: &str) -> bool {
    is_secret_argument(key) || (key.contains("token") && !key.ends_with(".url"))
}

/// Whether a property may not be given as an argument.
pub(super) fn is_secret_argument(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET_PARTS.iter().any(|part| key.contains(part))
}

/// An argument without `=`, cut before anything that could be a secret.
pub(super) fn shown(x: &str) -> String {
    if is_secret(x) { "***".to_owned() } else { x.chars().take(80).collect() }
}

/// The environment variable of a property.
pub(super) fn variable(key: &str) -> String {
    format!("{ENV_PREFIX}{}", key.to_ascii_uppercase().replace('.', "_"))
}
