//! Printing. A closed pipe (`host … | head`) is not an error.

use crate::diagnostic::{Diagnostic, Sources, render};
use std::io::{IsTerminal, Write};

/// Prints a line to standard output.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Whether everything that was said could be written. Standard output keeps what it could not write
/// and tries again here.
///
/// # Errors
/// A full disk, for example; not a closed pipe.
pub(super) fn written() -> std::io::Result<()> {
    match std::io::stdout().flush() {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints a line to standard error.
pub(super) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints findings to standard error, with the lines they point at.
pub(super) fn report<'a>(findings: impl IntoIterator<Item = &'a Diagnostic>, sources: &Sources) {
    for finding in findings {
        complain(&render::text(finding, sources, colour()));
        complain("");
    }
}

/// Whether standard error shows colours: a terminal, and nobody asked for none
/// (<https://no-color.org>).
fn colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// An error and its causes in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// A number of bytes for people.
pub(super) fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// `1 node`, `2 nodes`.
pub(super) fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(u64::MAX), "16777216.0 TiB");
    }
}
