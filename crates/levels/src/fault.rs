//! What is wrong with a table, and where.

use std::fmt;

/// How many faults are kept; a file of nothing but faults would else repeat itself for pages.
pub(crate) const MAX_FAULTS: usize = 100;

/// One thing that is wrong, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// The keys that lead there, joined by dots, such as `levels.5s.partitions`. Empty for the file as a whole.
    pub path: String,
    /// What was found, what is allowed, and what to do.
    pub message: String,
}

/// Everything that is wrong with a table, in the order of the file. Never empty.
///
/// Shown one fault per line as `levels.yaml:12:5: levels.5x: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    source: String,
    list: Vec<Fault>,
    dropped: usize,
}

impl Faults {
    pub(crate) fn new(mut list: Vec<Fault>) -> Faults {
        list.sort_by_key(|fault| (fault.line, fault.column));
        let dropped = list.len().saturating_sub(MAX_FAULTS);
        list.truncate(MAX_FAULTS);
        Faults { source: "levels.yaml".to_owned(), list, dropped }
    }

    /// The same faults, shown with this file name.
    #[must_use]
    pub fn named(mut self, source: impl Into<String>) -> Faults {
        self.source = source.into();
        self
    }

    /// The faults, first place first.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.list.iter()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.list.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{}:{fault}", self.source)?;
        }
        if self.dropped > 0 {
            write!(f, "\n{}: and {} more", self.source, self.dropped)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

impl<'f> IntoIterator for &'f Faults {
    type Item = &'f Fault;
    type IntoIter = std::slice::Iter<'f, Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
