//! YAML text as a tree that remembers places. Bounded in depth; aliases are kept as such and never expanded.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput};

use crate::Fault;

/// How deep lists and maps may nest. The table itself needs four levels.
const MAX_DEPTH: usize = 16;

/// A value and where it starts.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Unquoted text, whose type is its reader's question.
    Plain(String),
    /// Quoted or block text: always a string.
    Quoted(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    /// YAML that the table does not use: an alias or a tag.
    Unsupported(&'static str),
}

impl Node {
    fn at(mark: &Marker, kind: Kind) -> Node {
        Node { line: mark.line(), column: mark.col() + 1, kind }
    }

    /// A node that stands in no file.
    pub(crate) fn made(kind: Kind) -> Node {
        Node { line: 1, column: 1, kind }
    }

    /// Whether nothing is written here.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Plain(text) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Whether this is a map, if only an empty one.
    pub(crate) fn is_map(&self) -> bool {
        matches!(self.kind, Kind::Map(_)) || self.is_null()
    }

    /// The text of a scalar.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.kind {
            Kind::Plain(text) | Kind::Quoted(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list; none if it is something else.
    pub(crate) fn items(&self) -> &[Node] {
        if let Kind::List(items) = &self.kind { items } else { &[] }
    }

    /// The value of a map's key; nothing if it is absent or null.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let Kind::Map(entries) = &self.kind else {
            return None;
        };
        let (_, value) = entries.iter().find(|(name, _)| name.scalar() == Some(key))?;
        (!value.is_null()).then_some(value)
    }

    /// The fault of this place.
    pub(crate) fn fault(&self, path: &str, message: String) -> Fault {
        Fault { line: self.line, column: self.column, path: path.to_owned(), message }
    }
}

/// A list or map that is still open.
struct Open {
    node: Node,
    tagged: bool,
    key: Option<Node>,
}

struct Composer {
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
}

/// The tree of a text with exactly one document; an empty text is a null.
pub(crate) fn compose(text: &str) -> Result<Node, Fault> {
    let mut parser = Parser::new_from_str(text);
    let mut composer = Composer { open: Vec::new(), root: None, documents: 0 };
    while let Some(event) = next(&mut parser)? {
        composer.take(event)?;
    }
    Ok(composer.root.unwrap_or_else(|| Node::made(Kind::Plain(String::new()))))
}

fn next<'t>(parser: &mut Parser<'t, StrInput<'t>>) -> Result<Option<(Event<'t>, Span)>, Fault> {
    parser.next_event().transpose().map_err(|error| {
        let place = Node::at(error.marker(), Kind::Plain(String::new()));
        place.fault(
            "",
            format!("not valid YAML: {}; check indentation (spaces only), quotes and brackets", error.info()),
        )
    })
}

impl Composer {
    fn take(&mut self, (event, span): (Event<'_>, Span)) -> Result<(), Fault> {
        let mark = &span.start;
        match event {
            Event::DocumentStart(_) => self.start_document(mark)?,
            Event::Alias(_) => self.add(Node::at(mark, Kind::Unsupported("an alias (*name)"))),
            Event::Scalar(text, style, _, tag) => {
                self.add(Node::at(mark, scalar(text.into_owned(), style, tag.is_some())));
            }
            Event::SequenceStart(_, tag) => self.push(Node::at(mark, Kind::List(Vec::new())), tag.is_some())?,
            Event::MappingStart(_, tag) => self.push(Node::at(mark, Kind::Map(Vec::new())), tag.is_some())?,
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn start_document(&mut self, mark: &Marker) -> Result<(), Fault> {
        self.documents += 1;
        if self.documents > 1 {
            let place = Node::at(mark, Kind::Plain(String::new()));
            return Err(place.fault("", "a second YAML document starts here; a level table is one document".to_owned()));
        }
        Ok(())
    }

    fn push(&mut self, node: Node, tagged: bool) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(node.fault("", format!("nested deeper than {MAX_DEPTH} levels; a level table needs four")));
        }
        self.open.push(Open { node, tagged, key: None });
        Ok(())
    }

    fn close(&mut self) {
        if let Some(mut open) = self.open.pop() {
            if open.tagged {
                open.node.kind = Kind::Unsupported(TAG);
            }
            self.add(open.node);
        }
    }

    /// Puts a finished node into what encloses it.
    fn add(&mut self, node: Node) {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        match (&mut open.node.kind, open.key.take()) {
            (Kind::Map(entries), Some(key)) => entries.push((key, node)),
            (Kind::Map(_), None) => open.key = Some(node),
            (Kind::List(items), _) => items.push(node),
            _ => {}
        }
    }
}

const TAG: &str = "a tag (!name)";

fn scalar(text: String, style: ScalarStyle, tagged: bool) -> Kind {
    match style {
        _ if tagged => Kind::Unsupported(TAG),
        ScalarStyle::Plain => Kind::Plain(text),
        _ => Kind::Quoted(text),
    }
}
