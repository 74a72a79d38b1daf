//! What went wrong, where, and what to do about it: plain data that any front end can render.
//!
//! A [`Diagnostic`] names a stable [`Code`], says what is wrong in one sentence, points at places
//! in the files that were read ([`Location`]) and, where it can, says how to mend it. Every stage
//! collects all it finds before it gives up, so that a user mends a file in one go. Nothing here
//! prints: see [`render`].

mod code;
pub mod render;
mod source;

pub use code::Code;
pub use source::{FileId, Location, SourceFile, Sources};

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something the user should know; nothing is wrong.
    Note,
    /// Probably not what was meant; the run goes on.
    Warning,
    /// The experiment cannot be run as written.
    Error,
}

/// A place in a file with a few words about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub location: Location,
    /// What is there; may be empty.
    pub text: String,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Its stable code, to look up and to test against.
    pub code: Code,
    /// One sentence without a full stop, naming the thing.
    pub message: String,
    /// Places; the first is where to look.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning without a place yet.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// A note without a place yet.
    pub fn note(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    fn new(severity: Severity, code: Code, message: impl Into<String>) -> Self {
        Self { severity, code, message: message.into(), labels: Vec::new(), help: None }
    }

    /// Adds a place with a remark.
    #[must_use]
    pub fn at(mut self, location: Location, text: impl Into<String>) -> Self {
        self.labels.push(Label { location, text: text.into() });
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

/// A non-empty list of findings that stopped a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// The findings, in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// Takes the findings out.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Self {
        Self(vec![one])
    }
}

impl std::fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            f.write_str(&d.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Collects findings over a stage; errors stop it at the end, warnings do not.
#[derive(Clone, Debug, Default)]
pub struct Collector(Vec<Diagnostic>);

impl Collector {
    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds all findings of a failed part.
    pub fn extend(&mut self, diagnostics: Diagnostics) {
        self.0.extend(diagnostics.0);
    }

    /// Keeps the value of a part that succeeded, or its findings.
    pub fn keep<T>(&mut self, part: Result<T, Diagnostics>) -> Option<T> {
        match part {
            Ok(value) => Some(value),
            Err(diagnostics) => {
                self.extend(diagnostics);
                None
            }
        }
    }

    /// Whether an error was collected.
    pub fn failed(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// The warnings and notes if there was no error, else everything.
    pub fn finish(self) -> Result<Vec<Diagnostic>, Diagnostics> {
        if self.failed() { Err(Diagnostics(self.0)) } else { Ok(self.0) }
    }
}
