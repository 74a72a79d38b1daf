//! Diagnostics as text for people.

use super::{Diagnostic, FileId, Severity, Sources};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// Renders one finding with the lines it points at, with colours if `colour`.
pub fn text(diagnostic: &Diagnostic, sources: &Sources, colour: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Note => Level::NOTE,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    // One excerpt a file, in the order in which the labels name files.
    let mut files: Vec<FileId> = Vec::new();
    for label in &diagnostic.labels {
        if !files.contains(&label.location.file) {
            files.push(label.location.file);
        }
    }
    let excerpts = files.into_iter().map(|id| {
        let file = sources.file(id);
        let labels = diagnostic.labels.iter().enumerate();
        let annotations = labels.filter(|(_, l)| l.location.file == id).map(|(i, label)| {
            let kind = if i == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            kind.span(clip(&file.text, &label.location.span)).label(&label.text)
        });
        Snippet::source(&file.text).path(&file.name).annotations(annotations)
    });
    let title = level.primary_title(&diagnostic.message).id(diagnostic.code.as_str());
    let mut group = title.elements(excerpts);
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

/// A span that starts and ends on characters of the text, so that rendering can't fail.
fn clip(text: &str, span: &std::ops::Range<usize>) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start);
    start..floor(span.end).max(start)
}
