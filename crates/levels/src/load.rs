//! Reading the table's file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::{Faults, LevelTable};

/// The largest file that is read. A table of a thousand levels is a tenth of it.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Why a table could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read {}: {source}; name a readable levels.yaml", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A directory, a pipe or a device.
    #[error("{} is not a regular file; name a levels.yaml", path.display())]
    NotAFile {
        /// What was named.
        path: PathBuf,
    },
    /// The file is larger than [`MAX_FILE_BYTES`].
    #[error("{} is larger than 1 MiB, which no level table needs to be; is it the right file?", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is not text.
    #[error("{} is not UTF-8 text; is it the right file?", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// The text is not a valid table.
    #[error(transparent)]
    Invalid(#[from] Faults),
}

impl LevelTable {
    /// Reads and checks the table in a regular file of at most 1 MiB, or in one that a symbolic link leads to.
    ///
    /// # Errors
    /// [`LoadError`] if the file cannot be read, is no regular file, is too large, is not text, or is not a valid table; faults carry the
    /// file's name.
    pub fn load(path: impl AsRef<Path>) -> Result<LevelTable, LoadError> {
        let path = path.as_ref();
        let unreadable = |source| LoadError::Io { path: path.to_owned(), source };
        // Asked before it is opened: opening a pipe waits for a writer.
        if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(LoadError::NotAFile { path: path.to_owned() });
        }
        let bytes = read_bounded(path).map_err(unreadable)?;
        if bytes.len() > MAX_FILE_BYTES {
            return Err(LoadError::TooLarge { path: path.to_owned() });
        }
        let text = String::from_utf8(bytes).map_err(|_| LoadError::NotText { path: path.to_owned() })?;
        LevelTable::parse(&text).map_err(|faults| LoadError::Invalid(faults.named(path.display().to_string())))
    }
}

/// At most one byte more than allowed, so that "too large" shows without reading on.
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
