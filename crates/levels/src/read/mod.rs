//! From a YAML tree to a checked table: every fault is collected, none ends the reading early.

mod cross;
mod fields;
mod groups;
mod levels;
mod scalars;
mod targets;

use crate::delay::Delay;
use crate::level::Parked;
use crate::load::MAX_FILE_BYTES;
use crate::name::is_topic_text;
use crate::table::Parts;
use crate::yaml::{Kind, Node, compose};
use crate::{Fault, Faults, LevelTable, MAX_TOPIC_NAME, Rounding};

use fields::Fields;

const KEYS: &[&str] = &[
    "topicPrefix",
    "siblingPrefixes",
    "groupPrefix",
    "targets",
    "rounding",
    "maxDelay",
    "levelDefaults",
    "levels",
    "parked",
    "groups",
];

const TOPIC_PREFIX: &str = "delay-";
const GROUP_PREFIX: &str = "dwell-roller-";
const MAX_DELAY: Delay = Delay::from_millis(40 * 86_400_000);
const PARKED: Parked = Parked { partitions: 1, retention: Delay::from_millis(30 * 86_400_000) };

/// Collects what is wrong.
#[derive(Default)]
pub(crate) struct Reader {
    faults: Vec<Fault>,
}

impl Reader {
    /// Notes a fault at a node.
    fn fault(&mut self, path: &str, node: &Node, message: impl Into<String>) {
        self.faults.push(node.fault(path, message.into()));
    }
}

impl LevelTable {
    /// Reads and checks the text of a `levels.yaml`.
    ///
    /// # Errors
    /// [`Faults`]: everything that is wrong, with line and column. Only text that is no YAML at all ends the reading
    /// at its first fault.
    pub fn parse(text: &str) -> Result<LevelTable, Faults> {
        if text.len() > MAX_FILE_BYTES {
            let place = Node::made(Kind::Plain(String::new()));
            let message = "larger than 1 MiB, which no level table needs to be; is it the right file?";
            return Err(Faults::new(vec![place.fault("", message.to_owned())]));
        }
        let root = compose(text).map_err(|fault| Faults::new(vec![fault]))?;
        read_table(&root)
    }
}

/// Reads a whole tree.
pub(crate) fn read_table(root: &Node) -> Result<LevelTable, Faults> {
    let mut reader = Reader::default();
    let parts = reader.parts(root);
    if reader.faults.is_empty()
        && let Some(table) = parts.and_then(LevelTable::from_parts)
    {
        return Ok(table);
    }
    if reader.faults.is_empty() {
        reader.fault("levels", root, "no level is active; add one, such as 5s: {}");
    }
    Err(Faults::new(reader.faults))
}

impl Reader {
    fn parts(&mut self, root: &Node) -> Option<Parts> {
        let fields = self.fields("", root, KEYS)?;
        let topic_prefix = self.prefix(&fields, "topicPrefix", TOPIC_PREFIX);
        let sibling_prefixes = self.siblings(&fields, &topic_prefix);
        let defaults = self.level_defaults(&fields);
        let found = self.levels(root, &fields, &defaults);
        let parts = Parts {
            group_prefix: self.prefix(&fields, "groupPrefix", GROUP_PREFIX),
            targets: self.targets(root, &fields, &topic_prefix, &sibling_prefixes),
            rounding: self.field(&fields, "rounding", Rounding::default(), Reader::word),
            max_delay: self.field(&fields, "maxDelay", MAX_DELAY, Reader::duration),
            default_partitions: defaults.partitions,
            default_replication_factor: defaults.replication_factor,
            parked: self.parked(&fields),
            groups: self.groups(&fields, &topic_prefix, &sibling_prefixes),
            levels: found.iter().map(|(level, _)| level.clone()).collect(),
            topic_prefix,
            sibling_prefixes,
        };
        self.cross_check(&parts, &found);
        Some(parts)
    }

    fn parked(&mut self, fields: &Fields<'_>) -> Parked {
        let Some(fields) = self.section(fields, "parked", &["partitions", "retention"]) else {
            return PARKED;
        };
        Parked {
            partitions: self.field(&fields, "partitions", PARKED.partitions, Reader::partitions),
            retention: self.field(&fields, "retention", PARKED.retention, Reader::duration),
        }
    }

    fn prefix(&mut self, fields: &Fields<'_>, key: &str, default: &str) -> String {
        self.field(fields, key, default.to_owned(), Reader::prefix_text)
    }

    fn siblings(&mut self, fields: &Fields<'_>, own: &str) -> Vec<String> {
        let Some(node) = fields.get("siblingPrefixes") else {
            return Vec::new();
        };
        let mut prefixes: Vec<String> = Vec::new();
        for (path, item) in self.list(&fields.path_of("siblingPrefixes"), node) {
            let Some(prefix) = self.prefix_text(&path, item) else {
                continue;
            };
            if prefix == own {
                self.fault(&path, item, format!("{prefix:?} is this fleet's own topicPrefix; name only other fleets"));
            } else if prefixes.contains(&prefix) {
                self.fault(&path, item, format!("{prefix:?} is listed twice; remove one"));
            } else {
                prefixes.push(prefix);
            }
        }
        prefixes
    }

    fn prefix_text(&mut self, path: &str, node: &Node) -> Option<String> {
        let text = self.text(path, node)?;
        if !text.is_empty() && text.len() < MAX_TOPIC_NAME && is_topic_text(text) && !text.starts_with("__") {
            return Some(text.to_owned());
        }
        let shown = crate::delay::shorten(text);
        self.fault(
            path,
            node,
            format!(
                "not a prefix: {shown:?}; use letters, digits, '.', '_' and '-', at least one, not starting with __, \
                 such as delay-"
            ),
        );
        None
    }
}
