//! Which cluster to talk to and how: brokers, and any client property the user sets.
//!
//! Properties come from `-X key=value` and from the environment: `DWELL_KAFKA_<KEY>`, where the key is in capitals
//! with `_` for each dot, or `DWELL_KAFKA_<KEY>_FILE`, whose value names a file that holds the property's value. A
//! flag wins over the environment. Secrets are taken from the environment and from files only, because arguments can
//! be read by every process of the host.

mod client;
mod denied;
mod error;
mod property;

pub use client::Role;
pub use error::SettingsError;

use property::{EnvProperty, is_secret};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

/// Environment variables with this prefix are client properties.
pub const ENV_PREFIX: &str = "DWELL_KAFKA_";
/// A file named by a `_FILE` variable may be this long at most.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The brokers and the client properties the user set, checked. Printing it shows no secret.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientSettings {
    brokers: String,
    properties: BTreeMap<String, String>,
}

impl ClientSettings {
    /// Puts together what flags and environment say, and reports every mistake at once.
    ///
    /// `xs` are the values of `-X`; `env` is the whole environment (variables without the prefix are none of this
    /// function's business); `read` reads the file a `_FILE` variable names, usually [`read_file`].
    pub fn resolve<E>(
        brokers: &str,
        xs: &[String],
        env: E,
        read: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Result<ClientSettings, Vec<SettingsError>>
    where
        E: IntoIterator<Item = (String, String)>,
    {
        let mut found = Found::default();
        let brokers = found.keep(check_brokers(brokers)).unwrap_or_default();
        found.take_environment(env, read);
        found.take_flags(xs);
        if found.errors.is_empty() {
            Ok(ClientSettings { brokers, properties: found.properties })
        } else {
            Err(found.errors)
        }
    }

    /// Settings with nothing but brokers, for tests and tools.
    pub fn plain(brokers: &str) -> Result<ClientSettings, SettingsError> {
        Ok(ClientSettings { brokers: check_brokers(brokers)?, properties: BTreeMap::new() })
    }

    /// The same settings with one client property more, checked like the user's own; a secret is welcome here.
    pub fn with_property(mut self, key: &str, value: &str) -> Result<ClientSettings, SettingsError> {
        property::check("property", key, value)?;
        self.properties.insert(key.to_owned(), value.to_owned());
        Ok(self)
    }

    /// The brokers to ask first, as `host:port,host:port`.
    pub fn brokers(&self) -> &str {
        &self.brokers
    }

    /// The value the user gave a property, if any.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.properties.get(key).map(String::as_str)
    }

    /// The user's properties in order of their names, secrets masked.
    pub fn masked(&self) -> impl Iterator<Item = (&str, &str)> {
        self.properties.iter().map(|(key, value)| (key.as_str(), if is_secret(key) { "***" } else { value }))
    }
}

/// Reads a file that holds the value of a property: bounded, and without the line end editors add.
pub fn read_file(path: &Path) -> io::Result<String> {
    use io::Read;
    let mut text = String::new();
    let read = std::fs::File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MAX_FILE_BYTES {
        return Err(io::Error::other(format!("longer than {MAX_FILE_BYTES} bytes")));
    }
    Ok(text)
}

/// What was read so far, and what was wrong with it.
#[derive(Default)]
struct Found {
    properties: BTreeMap<String, String>,
    errors: Vec<SettingsError>,
}

impl Found {
    fn keep<T>(&mut self, result: Result<T, SettingsError>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }

    fn take_environment<E>(&mut self, env: E, read: &dyn Fn(&Path) -> io::Result<String>)
    where
        E: IntoIterator<Item = (String, String)>,
    {
        let mut sources = BTreeMap::<String, String>::new();
        for (variable, value) in env {
            let Some(found) = EnvProperty::parse(&variable) else {
                continue;
            };
            if let Some(other) = sources.insert(found.key.clone(), variable.clone()) {
                self.errors.push(SettingsError::Twice { one: other, other: variable });
                continue;
            }
            if let Some(value) = self.keep(found.value(&variable, value, read)) {
                self.set(&variable, found.key, value);
            }
        }
    }

    fn take_flags(&mut self, xs: &[String]) {
        let mut seen = BTreeMap::<&str, ()>::new();
        for x in xs {
            let Some((key, value)) = x.split_once('=').map(|(k, v)| (k.trim(), v)).filter(|(k, _)| !k.is_empty())
            else {
                self.errors.push(SettingsError::NotKeyValue { given: property::shown(x) });
                continue;
            };
            if seen.insert(key, ()).is_some() {
                self.errors.push(SettingsError::FlagTwice { key: key.to_owned() });
            } else if property::is_secret_argument(key) {
                self.errors
                    .push(SettingsError::SecretArgument { key: key.to_owned(), variable: property::variable(key) });
            } else {
                self.set("-X", key.to_owned(), value.to_owned());
            }
        }
    }

    fn set(&mut self, source: &str, key: String, value: String) {
        if let Some(()) = self.keep(property::check(source, &key, &value)) {
            self.properties.insert(key, value);
        }
    }
}

fn check_brokers(brokers: &str) -> Result<String, SettingsError> {
    let list: Vec<&str> = brokers.split(',').map(str::trim).filter(|b| !b.is_empty()).collect();
    let fine = |b: &&str| b.chars().all(|c| !c.is_whitespace() && !c.is_control());
    if list.is_empty() || !list.iter().all(fine) {
        return Err(SettingsError::Brokers { given: brokers.to_owned() });
    }
    Ok(list.join(","))
}

impl fmt::Display for ClientSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "brokers={}", self.brokers)?;
        self.masked().try_for_each(|(key, value)| write!(f, " {key}={value}"))
    }
}

impl fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientSettings({self})")
    }
}

#[cfg(test)]
mod tests;
