//! The tree.

use crate::diagnostic::Location;

/// What a scalar means.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarValue {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number; integers beyond 2^53 are exact only in the text.
    Number(f64),
    /// Anything else, and everything in quotes.
    Text,
}

/// A scalar.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// Its text without quotes and without white space at either end.
    pub text: String,
    /// What it means.
    pub value: ScalarValue,
    /// Whether byte k of `text` is byte k of the node's location.
    pub exact: bool,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub location: Location,
    /// Its value.
    pub value: Node,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A leaf.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys in the order of the file; each once.
    Mapping(Vec<Entry>),
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub kind: Kind,
    /// Its place; that of its key where it is null, that of its first part where it is a block.
    pub location: Location,
}

impl Node {
    /// The entries, none for anything but a mapping.
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Mapping(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a sequence, none for anything else.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::Sequence(items) => items,
            _ => &[],
        }
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|e| e.key == key)
    }

    /// The value of a key, unless it is null.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|e| &e.value).filter(|n| !n.is_null())
    }

    /// The value of the first of several spellings of a key.
    pub fn any(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// The value at a path of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The scalar, if it is one.
    pub fn scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            Kind::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.scalar(), Some(Scalar { value: ScalarValue::Null, .. }))
    }

    /// Whether it is a mapping.
    pub fn is_mapping(&self) -> bool {
        matches!(self.kind, Kind::Mapping(_))
    }

    /// Whether it is a list.
    pub fn is_sequence(&self) -> bool {
        matches!(self.kind, Kind::Sequence(_))
    }

    /// In a few words, for messages.
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Mapping(_) => "a mapping".into(),
            Kind::Sequence(_) => "a list".into(),
            Kind::Scalar(s) => match s.value {
                ScalarValue::Null => "nothing".into(),
                ScalarValue::Bool(_) => format!("the truth value `{}`", s.text),
                ScalarValue::Number(_) => format!("the number {}", s.text),
                ScalarValue::Text => format!("the text `{}`", shorten(&s.text)),
            },
        }
    }

    /// This tree laid over `base`: mappings are joined key by key, anything else replaces.
    ///
    /// Keys keep the order of `base` with new ones after them, unless this tree has all keys of
    /// `base`: then its own order holds.
    #[must_use]
    pub fn over(&self, base: &Node) -> Node {
        if self.is_null() {
            return base.clone();
        }
        if !self.is_mapping() || !base.is_mapping() {
            return self.clone();
        }
        let join = |own: &Entry| match base.entry(&own.key) {
            Some(below) => Entry { value: own.value.over(&below.value), ..own.clone() },
            None => own.clone(),
        };
        let complete = base.entries().iter().all(|e| self.entry(&e.key).is_some());
        let entries = if complete {
            self.entries().iter().map(join).collect()
        } else {
            let kept = base
                .entries()
                .iter()
                .map(|below| self.entry(&below.key).map_or_else(|| below.clone(), join));
            let added = self.entries().iter().filter(|e| base.entry(&e.key).is_none()).cloned();
            kept.chain(added).collect()
        };
        Node { kind: Kind::Mapping(entries), location: self.location.clone() }
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
