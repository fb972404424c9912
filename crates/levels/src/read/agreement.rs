//! The two passes read the same text with two parsers. What the first lets through, the second must read alike.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_yaml::Value;

use super::check::Checker;
use super::take;
use crate::yaml::{Kind, Node, compose};
use crate::{Level, LevelTable};

const EXAMPLE: &str = include_str!("../../testdata/levels.yaml");

/// Whether both parsers saw the same; `deploy` aside, which neither looks into.
fn same(node: &Node, value: &Value) -> bool {
    match (&node.kind, value) {
        (_, Value::Null) => node.is_null(),
        (Kind::Plain(text), Value::Bool(truth)) => *text == truth.to_string(),
        (Kind::Plain(text), Value::Number(number)) => *text == number.to_string(),
        (Kind::Plain(text) | Kind::Quoted(text), Value::String(value)) => text == value,
        (Kind::List(nodes), Value::Sequence(values)) => {
            nodes.len() == values.len() && nodes.iter().zip(values).all(|(node, value)| same(node, value))
        }
        (Kind::Map(entries), Value::Mapping(map)) => {
            entries.len() == map.len()
                && entries.iter().zip(map).all(|((key, node), (key_value, value))| {
                    same(key, key_value) && (key.scalar() == Some("deploy") || same(node, value))
                })
        }
        _ => false,
    }
}

/// Nothing to say about a text with faults. What serde_yaml cannot read at all, such as some tabs, is a fault too.
fn check_agreement(text: &str) {
    let Ok(root) = compose(text) else {
        return;
    };
    if !Checker::faults_of(&root).is_empty() {
        return;
    }
    match serde_yaml::from_str(text) {
        Ok(value) => {
            assert!(same(&root, &value), "{text}");
            take(text).unwrap();
        }
        Err(_) => assert!(LevelTable::parse(text).is_err(), "{text}"),
    }
}

#[test]
fn what_one_parser_alone_accepts_is_a_fault() {
    let text = "targets: [a]\nlevels:\n  \t5s: {}";
    assert!(Checker::faults_of(&compose(text).unwrap()).is_empty());
    let shown = LevelTable::parse(text).unwrap_err().to_string();
    assert!(shown.starts_with("levels.yaml:3:3: YAML that can be read in two ways"), "{shown}");
    for text in ["targets: [a]\nlevels: {5s: {state: draining}}", "targets: [a]\nlevels: {slow: }", "targets: [a", "[]"]
    {
        assert!(take(text).is_err(), "{text}");
    }
}

/// One level's fields, as written and as they must come out.
#[derive(Clone, Debug)]
struct Written {
    partitions: Option<u32>,
    replicas: Option<i16>,
    outage_ms: Option<u64>,
    poll_ms: Option<u64>,
    draining: Option<bool>,
    trim: Option<bool>,
}

prop_compose! {
    fn written()(
        partitions in prop::option::of(1_u32..=10_000),
        replicas in prop::option::of(prop_oneof![Just(-1), 1_i16..]),
        outage_ms in prop::option::of(1_u64..100_000_000_000),
        poll_ms in prop::option::of(1_u64..100_000_000),
        draining in prop::option::of(any::<bool>()),
        trim in prop::option::of(any::<bool>()),
    ) -> Written {
        Written { partitions, replicas, outage_ms, poll_ms, draining, trim }
    }
}

impl Written {
    fn fields(&self, quote: &str) -> Vec<String> {
        let text = |key: &str, value: String| format!("{key}: {quote}{value}{quote}");
        [
            self.partitions.map(|n| format!("partitions: {n}")),
            self.replicas.map(|n| format!("replicationFactor: {n}")),
            self.outage_ms.map(|ms| text("outageBudget", format!("{ms}ms"))),
            self.poll_ms.map(|ms| text("pollInterval", format!("{ms}ms"))),
            self.draining.map(|draining| text("state", if draining { "draining" } else { "active" }.to_owned())),
            self.trim.map(|trim| format!("trim: {trim}")),
            Some("deploy: {x: &a [1, !t 2], y: *a}".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn came_out(&self, level: &Level) -> bool {
        level.partitions == self.partitions.unwrap_or(7)
            && level.replication_factor == self.replicas.unwrap_or(3)
            && level.outage_budget.as_millis() == self.outage_ms.unwrap_or(3_600_000)
            && level.poll_every().as_millis() == self.poll_ms.unwrap_or(9_000)
            && level.is_active() != self.draining.unwrap_or_default()
            && level.trim == self.trim.unwrap_or(true)
    }
}

/// The levels `1ms`, `2ms`, … as a block or a flow, with this quote around texts.
fn render(levels: &[Written], block: bool, quote: &str) -> String {
    let line = |(index, level): (usize, &Written)| {
        let (name, fields) = (index + 1, level.fields(quote));
        match block {
            true => format!("\n  {quote}{name}ms{quote}: # {name}\n    {}", fields.join("\n    ")),
            false => format!("{quote}{name}ms{quote}: {{{}}}", fields.join(" , ")),
        }
    };
    let lines: Vec<String> = levels.iter().enumerate().map(line).collect();
    let levels = if block { lines.concat() } else { format!("{{{}}}", lines.join(", ")) };
    format!(
        "targets: [{quote}a.*{quote}]\nlevelDefaults: {{partitions: 7, replicationFactor: 3, outageBudget: 1h, \
         pollInterval: 9s, trim: true}}\nparked: ~\ngroups:\nlevels: {levels}\n  {}",
        if block { "1h: {}" } else { "" },
    )
}

proptest! {
    #[test]
    fn what_is_written_comes_out(
        levels in prop::collection::vec(written(), 1..6),
        block in any::<bool>(),
        quote in prop::sample::select(vec!["", "'", "\""]),
    ) {
        let text = render(&levels, block, quote);
        check_agreement(&text);
        match LevelTable::parse(&text) {
            Ok(table) => for (index, written) in levels.iter().enumerate() {
                let level = table.get(&format!("{}ms", index + 1)).unwrap();
                prop_assert_eq!(level.delay.as_millis(), index as u64 + 1);
                prop_assert!(written.came_out(level), "{} {:?}", text, level);
            },
            Err(faults) => {
                let none_active = levels.iter().all(|level| level.draining == Some(true));
                prop_assert!(none_active && !block, "{}{}", text, faults);
            }
        }
    }

    #[test]
    fn changed_files_are_read_alike(
        changes in prop::collection::vec((0..EXAMPLE.len(), prop::sample::select(b"x:{}[],&*!|>#\"'-? \n\t0~".to_vec())), 0..4),
    ) {
        let mut bytes = EXAMPLE.as_bytes().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        check_agreement(&String::from_utf8_lossy(&bytes));
    }
}
