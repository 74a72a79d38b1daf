//! Files that were read, and places in them.

use std::ops::Range;

/// A file in a [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId(u32);

/// A range of bytes in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: FileId,
    /// Bytes from its start.
    pub span: Range<usize>,
}

impl Location {
    /// The part of this place that starts `span.start` bytes into it, clipped to it.
    #[must_use]
    pub fn slice(&self, span: Range<usize>) -> Self {
        let start = (self.span.start + span.start).min(self.span.end);
        let end = (self.span.start + span.end).clamp(start, self.span.end);
        Self { file: self.file, span: start..end }
    }
}

/// A file's name as the user gave it, and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name to print.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// All files that were read for an experiment.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile { name: name.into(), text: text.into() });
        FileId((self.files.len() - 1) as u32)
    }

    /// The file of an id made by this `Sources`.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Line and column, both from 1, of a byte of a file.
    pub fn line_column(&self, location: &Location) -> (usize, usize) {
        let text = &self.file(location.file).text;
        let at = location.span.start.min(text.len());
        let before = &text.as_bytes()[..at];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1);
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        (line, String::from_utf8_lossy(&before[line_start..]).chars().count() + 1)
    }
}
