//! From a text to a checked table, in two passes: the first finds every fault and its place, the second takes the data.

#[cfg(test)]
mod agreement;
mod check;
mod fields;
mod file;
mod groups;
mod levels;
mod prefixes;
mod scalars;
mod targets;

use crate::load::MAX_FILE_BYTES;
use crate::yaml::{Kind, Node, compose};
use crate::{Delay, Fault, Faults, LevelTable, Rounding};

use check::Checker;
use file::File;

impl LevelTable {
    /// Reads and checks the text of a `levels.yaml`.
    ///
    /// # Errors
    /// [`Faults`]: everything that is wrong, with line and column. Only text that is no YAML at all ends the reading
    /// at its first fault. Whether exact rounding as the default needs too many hops is asked once all else is right.
    pub fn parse(text: &str) -> Result<LevelTable, Faults> {
        let one = |fault| Faults::new(vec![fault]);
        if text.len() > MAX_FILE_BYTES {
            let place = Node::made(Kind::Plain(String::new()));
            let message = "larger than 1 MiB, which no level table needs to be; is it the right file?";
            return Err(one(place.fault("", message.to_owned())));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root = compose(text).map_err(one)?;
        let faults = Checker::faults_of(&root);
        if !faults.is_empty() {
            return Err(Faults::new(faults));
        }
        let table = take(text).map_err(one)?;
        match too_many_hops(&table, &root) {
            Some(fault) => Err(one(fault)),
            None => Ok(table),
        }
    }
}

/// The data of a text without faults.
fn take(text: &str) -> Result<LevelTable, Fault> {
    let unclear = |line, column, error: &str| Fault {
        line,
        column,
        path: String::new(),
        message: format!("YAML that can be read in two ways: {error}; write it more simply, or quote the text here"),
    };
    let file: File = serde_yaml::from_str(text).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), |place| (place.line(), place.column()));
        unclear(line, column, &error.to_string())
    })?;
    file.into_table().ok_or_else(|| unclear(1, 1, "its levels differ"))
}

/// A delay within the limit must not be parked on its way for its number of hops.
fn too_many_hops(table: &LevelTable, root: &Node) -> Option<Fault> {
    let node = root.get("rounding").filter(|_| table.rounding() == Rounding::Exact)?;
    let path = table.longest_exact_path();
    let (hops, max, asked): (u64, u32, Delay) = (path.hop_count(), table.max_hops(), path.asked());
    (hops > u64::from(max)).then(|| {
        let message = format!(
            "exact takes {hops} hops for a delay of {asked}, and a record is parked after {max}; \
             add levels in between, or write up and let single records ask for exact"
        );
        node.fault("rounding", message)
    })
}
