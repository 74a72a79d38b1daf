//! Writing SVG.

use super::palette::Rgb;
use std::fmt::Write;

/// Height of the letters, in the drawing's units (CSS pixels).
pub const LETTER: f64 = 11.0;
/// What text is drawn in.
pub const INK: &str = "#222";
/// What axes are drawn in.
pub const AXIS: &str = "#666";

/// How text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A drawing that grows.
#[derive(Clone, Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// Text as XML has it; characters that XML has none of are left out.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// About how wide text is: what DejaVu Sans, the widest of the fonts that are asked for, takes.
pub fn width(text: &str) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | 'I' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.97,
        '−' | '+' | '=' | '<' | '>' | '~' => 0.84,
        c if c.is_uppercase() => 0.72,
        c if c.is_ascii() || (c as u32) < 0x2e80 => 0.64,
        _ => 1.0,
    };
    LETTER * text.chars().map(of).sum::<f64>()
}

/// Text that is cut to a width, with an ellipsis.
pub fn cut(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut kept: String = text.to_owned();
    while !kept.is_empty() && width(&kept) + LETTER > room {
        kept.pop();
    }
    kept + "…"
}

/// A colour as CSS has it.
pub fn css([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

impl Svg {
    /// An empty drawing of a width; its height follows from what is in it.
    pub fn new(width: f64) -> Self {
        Self { width, height: 0.0, body: String::new() }
    }

    /// Makes the drawing at least so high.
    pub fn reach(&mut self, y: f64) {
        self.height = self.height.max(y);
    }

    /// Adds markup that is already well-formed.
    pub fn raw(&mut self, markup: std::fmt::Arguments<'_>) {
        // Writing to a string can't fail.
        let _ = self.body.write_fmt(markup);
        self.body.push('\n');
    }

    /// A straight line.
    pub fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], colour: &str, width: f64) {
        self.raw(format_args!(
            r#"<path d="M{x1:.2} {y1:.2}L{x2:.2} {y2:.2}" stroke="{colour}" stroke-width="{width}"/>"#
        ));
    }

    /// Text whose middle line is at `y`.
    pub fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, colour: &str, text: &str) {
        let (text, y) = (escape(text), y + LETTER * 0.36);
        let anchor = anchor_name(anchor);
        self.raw(format_args!(
            r#"<text x="{x:.2}" y="{y:.2}" text-anchor="{anchor}" fill="{colour}">{text}</text>"#
        ));
    }

    /// Text that runs upwards, its middle at a place.
    pub fn upright(&mut self, [x, y]: [f64; 2], colour: &str, text: &str) {
        let (text, x) = (escape(text), x + LETTER * 0.36);
        self.raw(format_args!(
            r#"<text transform="translate({x:.2} {y:.2}) rotate(-90)" text-anchor="middle" fill="{colour}">{text}</text>"#
        ));
    }

    /// The file.
    pub fn finish(self, title: &str) -> String {
        let Self { width, height, body } = self;
        let title = escape(title);
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="{LETTER}" fill="none" role="img" aria-label="{title}">
<title>{title}</title>
<rect width="{width:.0}" height="{height:.0}" fill="#fff"/>
{body}</svg>
"##
        )
    }
}

fn anchor_name(anchor: Anchor) -> &'static str {
    match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    }
}
