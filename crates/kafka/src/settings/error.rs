//! Mistakes in the client settings.

use super::ENV_PREFIX;

/// One mistake in the client settings. No text of these shows a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// No broker, or something that is no address.
    #[error("no list of brokers: {given:?}; write host:port, several separated by commas")]
    Brokers {
        /// What was given.
        given: String,
    },
    /// A `-X` without `=`.
    #[error("-X {given}: not key=value; write the client property's name, =, and its value, as in -X debug=broker")]
    NotKeyValue {
        /// What was given.
        given: String,
    },
    /// The same property in two `-X`.
    #[error("-X {key} is given twice; keep one")]
    FlagTwice {
        /// The property.
        key: String,
    },
    /// A property and its `_FILE` are both in the environment.
    #[error("{one} and {other} set the same client property; keep one")]
    Twice {
        /// One variable.
        one: String,
        /// The other.
        other: String,
    },
    /// A secret on the command line.
    #[error(
        "-X {key} would show a secret to every process of this host; put it in {variable}, or its path in {variable}_FILE"
    )]
    SecretArgument {
        /// The property.
        key: String,
        /// Where to put it instead.
        variable: String,
    },
    /// A variable that is only the prefix.
    #[error(
        "{variable}: no client property; the name after {ENV_PREFIX} is the property's, in capitals, _ for each dot"
    )]
    NoName {
        /// The variable.
        variable: String,
    },
    /// A property Dwell depends on.
    #[error("{origin}: {key} is not yours to set: {why}")]
    Denied {
        /// The flag or variable.
        origin: String,
        /// The property.
        key: String,
        /// What Dwell needs it for, or what to use instead.
        why: &'static str,
    },
    /// The client library does not know the property, or not this value.
    #[error("{origin}: {said}; the names and values are those of librdkafka's CONFIGURATION.md")]
    Refused {
        /// The flag or variable.
        origin: String,
        /// The property.
        key: String,
        /// What the library said.
        said: String,
    },
    /// A file named by a `_FILE` variable could not be read.
    #[error("{variable}: cannot read {path}: {said}; name a readable file that holds the value")]
    File {
        /// The variable.
        variable: String,
        /// The file.
        path: String,
        /// What the system said.
        said: String,
    },
}
