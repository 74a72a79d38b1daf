//! Figures of lines: time courses, spectra, sweeps along one axis.

use super::palette::CATEGORIES;
use super::scale::Scale;
use super::svg::{AXIS, Anchor, INK, LETTER, Svg, css, cut, width};
use std::fmt::Write;

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What the legend says; nothing for a line that stands behind the others, in grey.
    pub label: Option<String>,
    /// Values, one each of the figure's `x`.
    pub y: Vec<f64>,
}

/// Lines over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What stands above it.
    pub title: String,
    /// The lines; those in colour in the order of the legend, which is the same in all panels.
    pub lines: Vec<Line>,
    /// Positions that get a ring, of the first line in colour.
    pub marks: Vec<usize>,
}

/// Panels above each other.
#[derive(Clone, Debug, PartialEq)]
pub struct LineFigure {
    /// What lines are over.
    pub x: Vec<f64>,
    /// What `x` is, with its unit.
    pub x_label: String,
    /// What the values are, with their unit.
    pub y_label: String,
    /// Whether values are on a logarithmic axis.
    pub log_y: bool,
    /// Whether each value gets a dot.
    pub dots: bool,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// Height of a panel.
const HEIGHT: f64 = 150.0;
/// Between panels.
const GAP: f64 = 14.0;

impl LineFigure {
    /// Draws it.
    pub fn draw(&self, total: f64) -> Svg {
        let mut svg = Svg::new(total);
        let scales: Vec<Scale> = (self.panels.iter())
            .map(|p| {
                let values = p.lines.iter().flat_map(|l| l.y.iter().copied());
                Scale::around(values, self.log_y, 0.05)
            })
            .collect();
        let ticks: Vec<_> = scales.iter().map(|s| s.ticks(4)).collect();
        let widest = ticks.iter().flatten().map(|(_, text)| width(text)).fold(0.0, f64::max);
        let left = 10.0 + LETTER + 8.0 + widest + 8.0;
        let last_tick = Scale::around(self.x.iter().copied(), false, 0.0).ticks(6);
        let right = total - 8.0 - last_tick.last().map_or(0.0, |(_, text)| width(text) / 2.0);
        let mut top = self.legend(&mut svg, left, right);
        let margin = if self.dots { 0.02 } else { 0.0 };
        let across = Scale::around(self.x.iter().copied(), false, margin);
        for ((panel, scale), ticks) in self.panels.iter().zip(&scales).zip(&ticks) {
            if !panel.title.is_empty() {
                let title = cut(&panel.title, right - left);
                svg.text([left, top + LETTER / 2.0], Anchor::Start, INK, &title);
                top += LETTER + 7.0;
            }
            let area = Area { left, right, top, bottom: top + HEIGHT };
            for (value, text) in ticks {
                let y = area.y(scale.place(*value));
                svg.line([left - 4.0, y], [left, y], AXIS, 0.8);
                svg.text([left - 7.0, y], Anchor::End, INK, text);
            }
            svg.line([left, top], [left, area.bottom], AXIS, 0.8);
            svg.line([left, area.bottom], [right, area.bottom], AXIS, 0.8);
            let label = cut(&self.y_label, HEIGHT);
            svg.upright([10.0 + LETTER / 2.0 - 2.0, top + HEIGHT / 2.0], INK, &label);
            self.lines(&mut svg, panel, &area, &across, scale);
            top = area.bottom + GAP;
        }
        let bottom = top - GAP;
        let mut end = f64::NEG_INFINITY;
        for (value, text) in across.ticks(6) {
            let x = left + across.place(value) * (right - left);
            let half = width(&text) / 2.0;
            if x - half < end + 6.0 {
                continue;
            }
            end = x + half;
            svg.line([x, bottom], [x, bottom + 4.0], AXIS, 0.8);
            svg.text([x, bottom + 12.0], Anchor::Middle, INK, &text);
        }
        let label = cut(&self.x_label, right - left);
        svg.text([(left + right) / 2.0, bottom + 28.0], Anchor::Middle, INK, &label);
        svg.reach(bottom + 40.0);
        svg
    }

    /// Draws the legend above the first panel and returns where it ends.
    fn legend(&self, svg: &mut Svg, left: f64, right: f64) -> f64 {
        let labels: Vec<&String> = self
            .panels
            .first()
            .map_or(&[][..], |p| &p.lines)
            .iter()
            .filter_map(|l| l.label.as_ref())
            .collect();
        let mut y = 8.0;
        if labels.len() < 2 && !self.panels.iter().any(|p| p.lines.len() > 1) {
            return y;
        }
        let (mut x, mut any) = (left, false);
        for (at, label) in labels.into_iter().enumerate() {
            let label = cut(label, (right - left - 24.0).max(40.0));
            let room = 24.0 + width(&label) + 12.0;
            if x + room > right + 12.0 && any {
                (x, y) = (left, y + LETTER + 5.0);
            }
            let middle = y + LETTER / 2.0;
            svg.line([x, middle], [x + 16.0, middle], &css(CATEGORIES[at % CATEGORIES.len()]), 2.0);
            svg.text([x + 21.0, middle], Anchor::Start, INK, &label);
            (x, any) = (x + room, true);
        }
        y + LETTER + 10.0
    }

    fn lines(&self, svg: &mut Svg, panel: &Panel, area: &Area, across: &Scale, scale: &Scale) {
        let behind = panel.lines.iter().filter(|l| l.label.is_none());
        for line in behind {
            let path = self.path(&line.y, area, across, scale);
            svg.raw(format_args!(r##"<path d="{path}" stroke="#bbb" stroke-width="0.5"/>"##));
        }
        let before = panel.lines.iter().filter(|l| l.label.is_some()).enumerate();
        for (at, line) in before {
            let colour = css(CATEGORIES[at % CATEGORIES.len()]);
            let path = self.path(&line.y, area, across, scale);
            svg.raw(format_args!(
                r#"<path d="{path}" stroke="{colour}" stroke-width="1.2" stroke-linejoin="round"/>"#
            ));
            let place = |k: usize| {
                let value = line.y.get(k).copied().filter(|v| v.is_finite())?;
                Some([area.x(across.place(self.x[k])), area.y(scale.place(value))])
            };
            for [x, y] in (0..line.y.len()).filter(|_| self.dots).filter_map(place) {
                svg.raw(format_args!(r#"<circle cx="{x:.2}" cy="{y:.2}" r="2" fill="{colour}"/>"#));
            }
            for [x, y] in panel.marks.iter().copied().filter(|_| at == 0).filter_map(place) {
                svg.raw(format_args!(
                    r#"<circle class="best" cx="{x:.2}" cy="{y:.2}" r="5" stroke="{INK}" stroke-width="1.2"/>"#
                ));
            }
        }
    }

    /// A line's path; of samples that are denser than the drawing shows, the extremes.
    fn path(&self, y: &[f64], area: &Area, across: &Scale, scale: &Scale) -> String {
        let room = ((area.right - area.left) * 2.0) as usize;
        let count = y.len().min(self.x.len());
        let kept: Vec<usize> = if count <= 2 * room {
            (0..count).collect()
        } else {
            let stretch = |k: usize| {
                let range = k * count / room..(k + 1) * count / room;
                let finite = || range.clone().filter(|&i| y[i].is_finite());
                let lowest = finite().min_by(|&a, &b| y[a].total_cmp(&y[b]));
                let highest = finite().max_by(|&a, &b| y[a].total_cmp(&y[b]));
                let mut both = [lowest.unwrap_or(range.start), highest.unwrap_or(range.start)];
                both.sort_unstable();
                both
            };
            (0..room).flat_map(stretch).collect()
        };
        let mut path = String::new();
        let mut open = false;
        for k in kept {
            let usable = y[k].is_finite() && (!scale.log || y[k] > 0.0);
            if usable {
                // Far below the axis is at its end.
                let place = scale.place(y[k]).max(0.0);
                let (px, py) = (area.x(across.place(self.x[k])), area.y(place));
                let _ = write!(path, "{}{px:.2} {py:.2}", if open { 'L' } else { 'M' });
            }
            open = usable;
        }
        path
    }
}

/// Where a panel is.
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    fn x(&self, place: f64) -> f64 {
        self.left + place * (self.right - self.left)
    }

    fn y(&self, place: f64) -> f64 {
        self.bottom - place * (self.bottom - self.top)
    }
}
