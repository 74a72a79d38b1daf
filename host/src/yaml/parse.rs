//! Events to tree.

use super::{Entry, Kind, Node, Scalar, ScalarValue, scalar};
use crate::diagnostic::{Code, Collector, Diagnostic, FileId, Location};
use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};
use std::collections::HashMap;
use std::ops::Range;

/// Deepest nesting; no experiment comes near.
const DEPTH: usize = 64;
/// Most nodes of a tree once aliases are expanded.
const NODES: usize = 8_000_000;

/// Parses the only document of `text`, which is file `file` of the sources.
///
/// Findings go to `out`. `None` where there is no tree at all: the text is not YAML, or holds
/// nothing. A duplicate key keeps its first value, so that the rest is looked at too.
pub fn parse(text: &str, file: FileId, out: &mut Collector) -> Option<Node> {
    let mut builder = Builder {
        text,
        file,
        events: Parser::new_from_str(text),
        offsets: offsets(text),
        anchors: HashMap::new(),
        nodes: 0,
        out,
    };
    match builder.document() {
        Ok(node) => node,
        Err(Stop(finding)) => {
            out.push(*finding);
            None
        }
    }
}

/// Byte offset of each character and of the end; nothing for ASCII, where they are the same.
fn offsets(text: &str) -> Vec<u32> {
    if text.is_ascii() {
        return Vec::new();
    }
    text.char_indices().map(|(at, _)| at as u32).chain([text.len() as u32]).collect()
}

/// A finding after which there is no tree.
struct Stop(Box<Diagnostic>);

impl From<Diagnostic> for Stop {
    fn from(finding: Diagnostic) -> Self {
        Self(Box::new(finding))
    }
}

struct Builder<'a> {
    text: &'a str,
    file: FileId,
    events: Parser<'a, StrInput<'a>>,
    offsets: Vec<u32>,
    /// Finished nodes by anchor, with the number of nodes in each.
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
    out: &'a mut Collector,
}

impl<'a> Builder<'a> {
    fn byte(&self, index: usize) -> usize {
        if self.offsets.is_empty() {
            index.min(self.text.len())
        } else {
            self.offsets.get(index).map_or(self.text.len(), |&at| at as usize)
        }
    }

    fn place(&self, range: Range<usize>) -> Location {
        Location { file: self.file, span: range }
    }

    fn span(&self, span: Span) -> Location {
        let start = self.byte(span.start.index());
        self.place(start..self.byte(span.end.index()).max(start))
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Stop> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(e)) => {
                let at = self.byte(e.marker().index());
                let finding = Diagnostic::error(Code::Syntax, format!("not YAML: {}", e.info()))
                    .at(self.place(at..at), "the reader stopped here");
                Err(finding.into())
            }
            None => Err(Diagnostic::error(Code::Syntax, "the text ends too early").into()),
        }
    }

    fn document(&mut self) -> Result<Option<Node>, Stop> {
        let mut tree = None;
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(tree),
                (Event::StreamStart | Event::DocumentEnd | Event::Nothing, _) => {}
                (Event::DocumentStart(_), span) if tree.is_some() => {
                    return Err(Diagnostic::error(Code::Syntax, "more than one YAML document")
                        .at(self.span(span), "a second document starts here")
                        .help("put each experiment in its own file")
                        .into());
                }
                (Event::DocumentStart(_), _) => {}
                (event, span) => tree = Some(self.node(event, span, 0)?),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Stop> {
        if depth > DEPTH {
            return Err(Diagnostic::error(Code::Syntax, "nested too deeply")
                .at(self.span(span), format!("more than {DEPTH} levels"))
                .into());
        }
        let before = self.nodes;
        self.count(1, span)?;
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                (self.scalar(&text, style, tag.as_deref(), span), anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), "seq", span);
                (self.sequence(span, depth)?, anchor)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), "map", span);
                (self.mapping(span, depth)?, anchor)
            }
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor).cloned() else {
                    return Err(Diagnostic::error(Code::Syntax, "an alias inside its own anchor")
                        .at(self.span(span), "refers to what it is part of")
                        .into());
                };
                self.count(size, span)?;
                return Ok(node);
            }
            _ => {
                return Err(Diagnostic::error(Code::Syntax, "a value is missing")
                    .at(self.span(span), "here")
                    .into());
            }
        };
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), self.nodes - before));
        }
        Ok(node)
    }

    fn count(&mut self, nodes: usize, span: Span) -> Result<(), Stop> {
        self.nodes += nodes;
        if self.nodes <= NODES {
            return Ok(());
        }
        Err(Diagnostic::error(Code::TooLarge, format!("more than {NODES} values in one file"))
            .at(self.span(span), "counted up to here, with aliases expanded")
            .help("keep matrices in a file of their own: data_file or edge_matrix_files")
            .into())
    }

    fn refuse_tag(&mut self, tag: Option<&Tag>, core: &str, span: Span) {
        if let Some(tag) = tag.filter(|t| !(t.is_yaml_core_schema() && t.suffix == core)) {
            let finding = Diagnostic::error(
                Code::NotSupported,
                format!("the tag `{}{}`", tag.handle, tag.suffix),
            )
            .at(self.span(span), "only the tags of YAML's core schema are read");
            self.out.push(finding);
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Node {
        let whole = self.span(span);
        let trimmed = text.trim();
        let value = match tag {
            Some(tag) if tag.is_yaml_core_schema() => scalar::tagged(trimmed, &tag.suffix),
            Some(_) => None,
            None if style == ScalarStyle::Plain => Some(scalar::plain(trimmed)),
            None => Some(ScalarValue::Text),
        };
        if value.is_none() {
            let finding = Diagnostic::error(Code::WrongType, "a tag that can't be honoured")
                .at(whole.clone(), "only str, int, float, bool and null, where they fit");
            self.out.push(finding);
        }
        // The text starts after the quote or the block's indicator, if it stands there as it is.
        let found = self.text.get(whole.span.clone()).and_then(|source| source.find(trimmed));
        let (location, exact) = match found {
            Some(at) => {
                let start = whole.span.start + at;
                (self.place(start..start + trimmed.len()), true)
            }
            None => (whole, false),
        };
        let value = value.unwrap_or(ScalarValue::Text);
        Node { kind: Kind::Scalar(Scalar { text: trimmed.to_owned(), value, exact }), location }
    }

    fn sequence(&mut self, start: Span, depth: usize) -> Result<Node, Stop> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, end) => {
                    let location =
                        self.extent(start, end, items.first().map(|n: &Node| &n.location));
                    return Ok(Node { kind: Kind::Sequence(items), location });
                }
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    /// The whole of a collection in brackets, the first part of a block: what is to be shown when
    /// something is said about all of it.
    fn extent(&self, start: Span, end: Span, first: Option<&Location>) -> Location {
        let from = self.byte(start.start.index());
        let flow = self.text[from..].starts_with(['[', '{']);
        match first {
            Some(first) if !flow => first.clone(),
            _ => self.place(from..self.byte(end.end.index()).max(from)),
        }
    }

    fn mapping(&mut self, start: Span, depth: usize) -> Result<Node, Stop> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut index: HashMap<String, usize> = HashMap::new();
        let mut merged: Vec<Node> = Vec::new();
        let mut first: Option<Location> = None;
        let end = loop {
            let (event, span) = match self.next()? {
                (Event::MappingEnd, end) => break end,
                other => other,
            };
            let merge = matches!(&event, Event::Scalar(t, ScalarStyle::Plain, _, _) if t == "<<");
            let key = self.node(event, span, depth + 1)?;
            let (event, span) = self.next()?;
            let mut value = self.node(event, span, depth + 1)?;
            first.get_or_insert_with(|| key.location.clone());
            if value.is_null() {
                value.location = key.location.clone();
            }
            let Kind::Scalar(name) = key.kind else {
                let finding = Diagnostic::error(Code::WrongType, "a key that is not a name")
                    .at(key.location, format!("this key is {}", "a list or a mapping"));
                self.out.push(finding);
                continue;
            };
            if merge {
                self.merge(value, &mut merged);
                continue;
            }
            if let Some(&first) = index.get(&name.text) {
                let finding =
                    Diagnostic::error(Code::DuplicateKey, format!("`{}` stands twice", name.text))
                        .at(key.location, "here again")
                        .at(entries[first].location.clone(), "first here")
                        .help("keep one of the two");
                self.out.push(finding);
                continue;
            }
            index.insert(name.text.clone(), entries.len());
            entries.push(Entry { key: name.text, location: key.location, value });
        };
        let location = self.extent(start, end, first.as_ref());
        for entry in merged.into_iter().flat_map(|node| match node.kind {
            Kind::Mapping(entries) => entries,
            _ => Vec::new(),
        }) {
            if !index.contains_key(&entry.key) {
                index.insert(entry.key.clone(), entries.len());
                entries.push(entry);
            }
        }
        Ok(Node { kind: Kind::Mapping(entries), location })
    }

    /// The mappings that a `<<` names, nearest first.
    fn merge(&mut self, value: Node, merged: &mut Vec<Node>) {
        let parts = match value.kind {
            Kind::Sequence(items) => items,
            _ => vec![value],
        };
        for part in parts {
            if part.is_mapping() {
                merged.push(part);
            } else {
                let finding = Diagnostic::error(Code::WrongType, "`<<` merges mappings only")
                    .at(part.location.clone(), format!("this is {}", part.describe()));
                self.out.push(finding);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Sources;

    fn read(text: &str) -> (Option<Node>, Vec<Diagnostic>) {
        let mut sources = Sources::default();
        let file = sources.add("t.yaml", text);
        let mut out = Collector::default();
        let node = parse(text, file, &mut out);
        let findings = out.finish().unwrap_or_else(crate::diagnostic::Diagnostics::into_vec);
        (node, findings)
    }

    fn tree(text: &str) -> Node {
        let (node, findings) = read(text);
        assert_eq!(findings, [], "{text}");
        node.unwrap()
    }

    #[test]
    fn places_are_bytes_and_point_at_the_text() {
        let text = "# µ§\nlabel: \"é x\"\nq: {rhs: 'a + b', n: 3}\n";
        let node = tree(text);
        let slice = |n: &Node| &text[n.location.span.clone()];
        assert_eq!(slice(node.get("label").unwrap()), "é x");
        assert_eq!(slice(node.at(&["q", "rhs"]).unwrap()), "a + b");
        assert!(node.at(&["q", "rhs"]).unwrap().scalar().unwrap().exact);
        assert_eq!(slice(node.get("q").unwrap()), "{rhs: 'a + b', n: 3}");
        assert_eq!(&text[node.entry("q").unwrap().location.span.clone()], "q");
    }

    #[test]
    fn block_scalars() {
        let text = "a: |\n  x + y\nb: >\n  one\n  two\n";
        let node = tree(text);
        let a = node.get("a").unwrap();
        assert_eq!(&text[a.location.span.clone()], "x + y");
        let b = node.get("b").unwrap().scalar().unwrap();
        assert_eq!((b.text.as_str(), b.exact), ("one two", false));
    }

    #[test]
    fn anchors_and_merges() {
        let node = tree("a: &A {x: 1, y: 2}\nb: {<<: *A, y: 3}\nc: *A\nd: {<<: [{x: 7}, *A]}\n");
        let number = |path: &[&str]| node.at(path).unwrap().scalar().unwrap().value.clone();
        assert_eq!(number(&["b", "x"]), ScalarValue::Number(1.0));
        assert_eq!(number(&["b", "y"]), ScalarValue::Number(3.0));
        assert_eq!(number(&["c", "y"]), ScalarValue::Number(2.0));
        assert_eq!(number(&["d", "x"]), ScalarValue::Number(7.0));
    }

    #[test]
    fn duplicates_are_all_found() {
        let (node, findings) = read("a: 1\nb: {c: 1, c: 2}\na: 3\n");
        assert!(node.is_some());
        let codes: Vec<_> = findings.iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::DuplicateKey, Code::DuplicateKey]);
        assert_eq!(findings[0].labels.len(), 2);
    }

    #[test]
    fn refused_without_a_tree() {
        for text in ["a: [1, 2", "a: b: c", "a: &x [*x]", "a: 1\n---\nb: 2\n", "a: *nowhere"] {
            let (node, findings) = read(text);
            assert!(node.is_none() && findings.len() == 1, "{text}: {findings:?}");
        }
        let deep = "[".repeat(1000) + &"]".repeat(1000);
        assert!(read(&deep).0.is_none());
    }

    #[test]
    fn an_expanding_alias_is_stopped() {
        let mut text = String::from("a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n");
        for i in 1..12 {
            let items = vec![format!("*a{}", i - 1); 10].join(",");
            text += &format!("a{i}: &a{i} [{items}]\n");
        }
        let (node, findings) = read(&text);
        assert!(node.is_none());
        assert_eq!(findings[0].code, Code::TooLarge);
    }

    #[test]
    fn nothing_is_nothing() {
        assert!(read("").0.is_none());
        assert!(read("# only a comment\n").0.is_none());
    }
}
