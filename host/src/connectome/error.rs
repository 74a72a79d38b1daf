//! What can be wrong with a connectome, and where in which file.

use crate::diagnostic::{Code, Diagnostic};
use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// Where a piece of a connectome came from: a file, and how far into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it, or the key of the experiment that held the piece.
    pub file: Arc<Path>,
    /// The member of an archive, or the path of a dataset in a file that holds several.
    pub member: Option<Arc<str>>,
    /// The line of a text, from 1.
    pub line: Option<NonZeroUsize>,
}

impl Place {
    /// A whole file.
    pub fn file(path: impl AsRef<Path>) -> Self {
        Self { file: path.as_ref().into(), member: None, line: None }
    }

    /// A member or dataset of this file.
    #[must_use]
    pub fn member(&self, name: impl AsRef<str>) -> Self {
        Self { file: self.file.clone(), member: Some(name.as_ref().into()), line: None }
    }

    /// A line of this text, from 1.
    #[must_use]
    pub fn line(&self, line: usize) -> Self {
        Self { line: NonZeroUsize::new(line), ..self.clone() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(member) = &self.member {
            write!(f, ": {member}")?;
        }
        if let Some(line) = self.line {
            write!(f, ": line {line}")?;
        }
        Ok(())
    }
}

/// An edge in words: indices from 0, with labels where there are any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Row: the node that receives.
    pub target: usize,
    /// Column: the node that sends.
    pub source: usize,
    /// Labels of target and source.
    pub labels: Option<Box<(String, String)>>,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}, column {}", self.target, self.source)?;
        if let Some((target, source)) = self.labels.as_deref() {
            write!(f, " (from {source} to {target})")?;
        }
        Ok(())
    }
}

/// A connectome that can't be used. Every message names the file and what is wrong in it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectomeError {
    /// A file, a member or a dataset that isn't there.
    #[error("{place}: {what} not found")]
    Missing {
        /// Where it was looked for.
        place: Place,
        /// What was looked for.
        what: String,
        /// What is there instead, or what to do.
        help: String,
    },
    /// Several things that could equally be meant.
    #[error("{place}: more than one {what}: {}", found.join(", "))]
    Ambiguous {
        /// Where.
        place: Place,
        /// What was looked for.
        what: String,
        /// The candidates.
        found: Vec<String>,
    },
    /// A file that can't be read, or whose container is damaged.
    #[error("{place}: {reason}")]
    Unreadable {
        /// Where.
        place: Place,
        /// What the system or the decoder said.
        reason: String,
    },
    /// A format, or a part of a format, that this program doesn't read.
    #[error("{place}: {what}")]
    Unsupported {
        /// Where.
        place: Place,
        /// What can't be read.
        what: String,
        /// What to do.
        help: String,
    },
    /// Text where a number must be.
    #[error("{place}: column {column} holds `{text}`, which is not a number")]
    NotANumber {
        /// The line.
        place: Place,
        /// The column, from 1.
        column: usize,
        /// What stands there, shortened.
        text: String,
    },
    /// A row of another length than the first.
    #[error("{place}: {found} values in this row, {expected} in the first")]
    Ragged {
        /// The line.
        place: Place,
        /// Values in the first row.
        expected: usize,
        /// Values in this one.
        found: usize,
    },
    /// A text that can't be a square matrix; reading stopped here.
    #[error("{place}: not a square matrix: more than {columns} row(s) of {columns} value(s)")]
    TooManyRows {
        /// The first line too many.
        place: Place,
        /// Values in a row.
        columns: usize,
    },
    /// A matrix whose rows and columns differ in number.
    #[error(
        "{place}: {rows} rows and {columns} columns, but one row and one column a node is needed"
    )]
    NotSquare {
        /// Where.
        place: Place,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// A file that holds no numbers at all.
    #[error("{place}: no values")]
    Empty {
        /// Where.
        place: Place,
    },
    /// Two matrices of one connectome that differ in size.
    #[error(
        "weights are {weights}×{weights} ({weights_place}) but {what} are {other}×{other} ({place})"
    )]
    Shapes {
        /// Where the weights are.
        weights_place: Place,
        /// Nodes according to the weights.
        weights: usize,
        /// Where the other matrix is.
        place: Place,
        /// What the other matrix is.
        what: &'static str,
        /// Nodes according to it.
        other: usize,
    },
    /// Another number of labels or centres than of nodes.
    #[error("weights are {weights}×{weights} but there are {count} {what} ({place})")]
    Count {
        /// Nodes according to the weights.
        weights: usize,
        /// Labels or centres there are.
        count: usize,
        /// `labels` or `centres`.
        what: &'static str,
        /// Where they are.
        place: Place,
    },
    /// A weight, length or delay that no brain has.
    #[error("{place}: {what} is {value} at {edge}")]
    BadNumber {
        /// Where.
        place: Place,
        /// `weight`, `tract length` or `delay`.
        what: &'static str,
        /// The value.
        value: f64,
        /// The edge.
        edge: Edge,
        /// How many entries are wrong in the same way, this one included.
        count: usize,
    },
    /// A graph that can't be generated as asked.
    #[error("graph generator {generator}: {problem}")]
    Generator {
        /// The kind of graph.
        generator: String,
        /// What is wrong with the parameters.
        problem: String,
        /// What to do.
        help: String,
    },
    /// A coordinate that is not finite.
    #[error("{place}: the centre of node {node} is ({}, {}, {})", value[0], value[1], value[2])]
    BadCentre {
        /// Where.
        place: Place,
        /// The node, from 0.
        node: usize,
        /// The coordinates.
        value: [f64; 3],
    },
}

impl ConnectomeError {
    /// The stable code of this kind of finding.
    pub fn code(&self) -> Code {
        match self {
            Self::Missing { .. } => Code::ConnectomeMissing,
            Self::Ambiguous { .. } | Self::Generator { .. } => Code::BadValue,
            Self::Unreadable { .. } => Code::Unreadable,
            Self::Unsupported { .. } => Code::NotSupported,
            Self::NotANumber { .. } | Self::BadNumber { .. } | Self::BadCentre { .. } => {
                Code::BadNumber
            }
            Self::Ragged { .. }
            | Self::TooManyRows { .. }
            | Self::NotSquare { .. }
            | Self::Empty { .. }
            | Self::Shapes { .. }
            | Self::Count { .. } => Code::ShapeMismatch,
        }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Missing { help, .. }
            | Self::Unsupported { help, .. }
            | Self::Generator { help, .. } => help.clone(),
            Self::Ambiguous { .. } => "keep one of them, or name the file itself".into(),
            Self::Unreadable { .. } => "check that the file is whole and may be read".into(),
            Self::NotANumber { .. } => {
                "write one row of numbers a line, separated by commas, semicolons, tabs or blanks; \
                 start remarks with #"
                    .into()
            }
            Self::Ragged { .. } => "give every row of the matrix the same number of values".into(),
            Self::TooManyRows { columns: 1, .. } => {
                "this file holds one value a line; give a matrix with one row a node, all values \
                 of a row on one line"
                    .into()
            }
            Self::TooManyRows { .. } | Self::NotSquare { .. } => {
                "give a square matrix: row = target node, column = source node".into()
            }
            Self::Empty { .. } => "give a square matrix with one row and one column a node".into(),
            Self::Shapes { .. } => {
                "both matrices must come from the same parcellation, with its nodes in one order"
                    .into()
            }
            Self::Count { what, .. } => format!(
                "give as many {what} as nodes, in the order of the rows; the files may come from \
                 different parcellations"
            ),
            Self::BadNumber { what: "weight", count, .. } => {
                format!("{count} such value(s); write 0 where there is no connection")
            }
            Self::BadNumber { what, count, .. } => {
                format!("{count} such value(s); a {what} is finite and not negative")
            }
            Self::BadCentre { .. } => "give three finite coordinates in mm a node".into(),
        }
    }
}

impl From<ConnectomeError> for Diagnostic {
    fn from(error: ConnectomeError) -> Self {
        Diagnostic::error(error.code(), error.to_string()).help(error.help())
    }
}

/// Something in a connectome that is probably not what was meant; the run goes on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Lengths that are too short for mm: most likely metres.
    LengthsTooShort {
        /// Where the lengths are.
        place: Place,
        /// The longest of an existing connection.
        longest_mm: f64,
    },
    /// Lengths that are too long for mm: most likely micrometres.
    LengthsTooLong {
        /// Where the lengths are.
        place: Place,
        /// The longest of an existing connection.
        longest_mm: f64,
    },
    /// Lengths that are all multiples of one step: most likely voxels or tracking steps, counted
    /// or multiplied with a step.
    LengthsInSteps {
        /// Where the lengths are.
        place: Place,
        /// The longest of an existing connection.
        longest_mm: f64,
        /// The step.
        step: f64,
    },
    /// Delays outside what axons have.
    ImplausibleDelays {
        /// The longest delay of an existing connection.
        longest_ms: f64,
        /// The length behind it.
        longest_mm: f64,
        /// The conduction speed that was used.
        speed_mm_per_ms: f64,
    },
    /// Two nodes of one name, which then can't be told apart by name.
    DuplicateLabel {
        /// Where the labels are.
        place: Place,
        /// The label.
        label: String,
        /// The first node, from 0.
        first: usize,
        /// The second node, from 0.
        second: usize,
    },
    /// Neither lengths nor coordinates: every tract length is 0.
    NoLengths {
        /// Where the weights are.
        place: Place,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LengthsTooShort { place, longest_mm } => write!(
                f,
                "{place}: the longest tract is {longest_mm} mm, so the delays are implausible: at \
                 most {} ms at 1 m/s; these lengths look like metres",
                figure(*longest_mm)
            ),
            Self::LengthsTooLong { place, longest_mm } => write!(
                f,
                "{place}: the longest tract is {longest_mm} mm, so the delays are implausible: up \
                 to {} ms at 1 m/s; these lengths look like micrometres",
                figure(*longest_mm)
            ),
            Self::LengthsInSteps { place, longest_mm, step } => write!(
                f,
                "{place}: all tract lengths are multiples of {step} up to {longest_mm}, so the \
                 delays are implausible; these lengths look like voxels or tracking steps, not mm"
            ),
            Self::ImplausibleDelays { longest_ms, longest_mm, speed_mm_per_ms } => write!(
                f,
                "the longest delay is {} ms ({longest_mm} mm at {speed_mm_per_ms} mm/ms), which is \
                 implausible for a brain",
                figure(*longest_ms)
            ),
            Self::DuplicateLabel { place, label, first, second } => {
                write!(f, "{place}: nodes {first} and {second} are both labelled `{label}`")
            }
            Self::NoLengths { place } => write!(
                f,
                "{place}: neither tract lengths nor node coordinates, so every delay is 0"
            ),
        }
    }
}

impl From<Warning> for Diagnostic {
    fn from(warning: Warning) -> Self {
        let help = match &warning {
            Warning::LengthsTooShort { .. } => "multiply lengths in metres by 1000",
            Warning::LengthsTooLong { .. } => "divide lengths in micrometres by 1000",
            Warning::LengthsInSteps { .. } => "multiply counts by the size of a step in mm",
            Warning::ImplausibleDelays { .. } => {
                "lengths are in mm and conduction speed in mm/ms, which is m/s"
            }
            Warning::DuplicateLabel { .. } => "refer to such nodes by their index",
            Warning::NoLengths { .. } => "add tract lengths or coordinates if delays matter",
        };
        let make = match warning {
            Warning::NoLengths { .. } => Diagnostic::note,
            _ => Diagnostic::warning,
        };
        make(Code::Implausible, warning.to_string()).help(help)
    }
}

/// A number for a sentence: four digits are enough.
fn figure(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}
