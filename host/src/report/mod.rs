//! A result as one page of HTML that needs nothing else: no server, no network, no other file.
//!
//! The page is written from `page/*`; arrays are in it as base64 of their bytes. What is too large
//! for a page is thinned, and the page says so: see [`embed`].

mod embed;
mod facts;

pub use embed::Limit;

use crate::output::read::{ReadError, ResultFile};
use std::path::{Path, PathBuf};

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The result can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The page can't be written.
    #[error("{path}: can't write the report: {source}")]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

const SKELETON: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &[&str] = &[
    include_str!("page/base.js"),
    include_str!("page/lines.js"),
    include_str!("page/raster.js"),
    include_str!("page/main.js"),
];

/// The page of a result.
///
/// # Errors
/// If an array can't be read.
pub fn html(result: &ResultFile, limit: Limit) -> Result<String, ReportError> {
    let embedded = embed::embed(result, limit)?;
    let manifest = result.manifest();
    let title = manifest.label.as_deref().unwrap_or(&manifest.model);
    let parts = [
        ("title", facts::escape(title)),
        ("style", STYLE.to_owned()),
        ("summary", facts::summary(manifest)),
        ("facts", facts::table(result)),
        ("yaml", facts::escape(&manifest.experiment.text)),
        ("data", embedded),
        ("script", SCRIPT.concat()),
    ];
    // One pass, so that nothing in an experiment's text is taken for a place to fill.
    let mut page = String::new();
    let mut rest = SKELETON;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        let part = parts.iter().find(|(n, _)| *n == name);
        page.push_str(part.map_or("", |(_, text)| text));
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// Writes the page of a result, beside its target first and then in its place.
///
/// # Errors
/// If the result can't be read or the page can't be written.
pub fn write(result: &ResultFile, path: &Path, limit: Limit) -> Result<(), ReportError> {
    let page = html(result, limit)?;
    crate::output::replace(path, page.as_bytes())
        .map_err(|source| ReportError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests;
