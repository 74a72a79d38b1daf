//! Diagnostics as text for people.

use super::{Diagnostic, Severity, Sources};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// Renders one finding with the lines it points at, with colours if `colour`.
pub fn text(diagnostic: &Diagnostic, sources: &Sources, colour: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Note => Level::NOTE,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let mut group = level.primary_title(&diagnostic.message).id(diagnostic.code.as_str()).elements(
        diagnostic.labels.iter().enumerate().map(|(i, label)| {
            let file = sources.file(label.location.file);
            let span = clip(&file.text, &label.location.span);
            let kind = if i == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            Snippet::source(&file.text)
                .path(&file.name)
                .annotation(kind.span(span).label(&label.text))
        }),
    );
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
