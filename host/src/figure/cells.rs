//! Figures of coloured cells: sweep maps and matrices.

use super::palette::Palette;
use super::scale::Scale;
use super::svg::{AXIS, Anchor, INK, LETTER, Svg, css, cut, width};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Colours that values are drawn in.
const COLOURS: usize = 256;

/// What stands along one side of the cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// What it is, with its unit.
    pub label: String,
    /// A value a cell, or none where cells have names.
    pub values: Option<Vec<f64>>,
    /// A name a cell.
    pub names: Vec<String>,
}

impl Side {
    /// At most so many places (a cell may be between two) and what is written there.
    fn ticks(&self, count: usize, room: f64) -> Vec<(f64, String)> {
        let cells = self.names.len();
        if let Some(values) = &self.values
            && let [first, .., last] = values[..]
            && cells > 12
        {
            let step = (last - first) / (cells - 1) as f64;
            let even =
                |(k, v): (usize, &f64)| (v - first - k as f64 * step).abs() <= step.abs() * 1e-6;
            if step != 0.0 && values.iter().enumerate().all(even) {
                let scale = Scale { from: first - 0.49 * step, to: last + 0.49 * step, log: false };
                let place = |(v, text): (f64, String)| ((v - first) / step, text);
                return scale.ticks(count).into_iter().map(place).collect();
            }
        }
        let every = cells.div_ceil(count.max(1)).max(1);
        (0..cells).step_by(every).map(|k| (k as f64, cut(&self.names[k], room))).collect()
    }
}

/// One grid of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// What stands above it.
    pub title: String,
    /// `[row][column]`.
    pub values: Vec<f64>,
    /// Along the bottom.
    pub x: Side,
    /// Along the left.
    pub y: Side,
    /// A cell with a ring, (column, row).
    pub mark: Option<(usize, usize)>,
}

/// Grids beside each other, in the same colours.
#[derive(Clone, Debug, PartialEq)]
pub struct CellFigure {
    /// From left to right.
    pub grids: Vec<Grid>,
    /// The colours.
    pub palette: Palette,
    /// The values of the first and the last colour.
    pub range: (f64, f64),
    /// What the values are, with their unit.
    pub label: String,
    /// Whether the first row is on top and cells are squares, as matrices have it.
    pub matrix: bool,
}

/// The place of a value among the colours; none of one that is not finite.
pub fn colour_of(value: f64, (lo, hi): (f64, f64)) -> Option<usize> {
    let place = (value - lo) / (hi - lo) * (COLOURS - 1) as f64;
    value.is_finite().then(|| place.round().clamp(0.0, (COLOURS - 1) as f64) as usize)
}

/// How many ticks a side of a height has: names close together, numbers further apart.
fn up_ticks(side: &Side, high: f64) -> usize {
    let room = if side.values.is_some() { 3.2 * LETTER } else { LETTER + 4.0 };
    ((high / room) as usize).clamp(1, 12)
}

impl CellFigure {
    /// Draws it.
    pub fn draw(&self, total: f64) -> Svg {
        let mut svg = Svg::new(total);
        let range = Scale { from: self.range.0, to: self.range.1, log: false };
        let bar_ticks = range.ticks(5);
        let bar_text = bar_ticks.iter().map(|(_, text)| width(text)).fold(0.0, f64::max);
        let label = if self.label.is_empty() { 0.0 } else { LETTER + 8.0 };
        let bar = 14.0 + 10.0 + 6.0 + bar_text + label + 6.0;
        let each = (total - bar) / self.grids.len().max(1) as f64;
        let titled = self.grids.iter().any(|g| !g.title.is_empty());
        let top = if titled { 8.0 + LETTER + 8.0 } else { 10.0 };
        let side_text = |g: &Grid| {
            let ticks = g.y.ticks(12, 80.0);
            10.0 + LETTER + 8.0 + ticks.iter().map(|(_, t)| width(t)).fold(0.0, f64::max) + 8.0
        };
        let left = self.grids.iter().map(side_text).fold(0.0, f64::max);
        let wide = (each - left - 10.0).max(40.0);
        let high = if self.matrix { wide } else { wide * 0.72 };
        for (at, grid) in self.grids.iter().enumerate() {
            self.grid(&mut svg, grid, [at as f64 * each + left, top], [wide, high]);
        }
        let x = total - bar + 14.0;
        for k in 0..COLOURS {
            let y = top + high * (1.0 - (k + 1) as f64 / COLOURS as f64);
            let colour = css(self.palette.at(k as f64 / (COLOURS - 1) as f64));
            // Each reaches under the next, so that no gap shows between two.
            let height = high / COLOURS as f64 + if k == 0 { 0.0 } else { 0.6 };
            svg.raw(format_args!(
                r#"<rect x="{x:.2}" y="{y:.2}" width="10" height="{height:.2}" fill="{colour}"/>"#
            ));
        }
        let mut last = f64::INFINITY;
        for (value, text) in &bar_ticks {
            let y = top + high * (1.0 - range.place(*value));
            if last - y < 1.3 * LETTER {
                continue;
            }
            last = y;
            svg.line([x + 10.0, y], [x + 13.0, y], AXIS, 0.8);
            svg.text([x + 16.0, y], Anchor::Start, INK, text);
        }
        if !self.label.is_empty() {
            let label = cut(&self.label, high);
            svg.upright([total - 4.0 - LETTER / 2.0, top + high / 2.0], INK, &label);
        }
        svg.reach(top + high + 44.0);
        svg
    }

    fn grid(&self, svg: &mut Svg, grid: &Grid, [left, top]: [f64; 2], [wide, high]: [f64; 2]) {
        let (columns, rows) = (grid.x.names.len(), grid.y.names.len());
        if !grid.title.is_empty() {
            let title = cut(&grid.title, wide);
            svg.text([left, top - 8.0 - LETTER / 2.0], Anchor::Start, INK, &title);
        }
        let (sx, sy) = (wide / columns.max(1) as f64, high / rows.max(1) as f64);
        svg.raw(format_args!(
            r##"<rect x="{left:.2}" y="{top:.2}" width="{wide:.2}" height="{high:.2}" fill="#ddd"/>"##
        ));
        svg.raw(format_args!(
            r#"<g class="cells" transform="translate({left:.3} {top:.3}) scale({sx:.6} {sy:.6})" shape-rendering="crispEdges">"#
        ));
        // A path a colour, a rectangle a run of equal cells: exact, and a tenth of a rectangle a cell.
        let mut paths: BTreeMap<usize, String> = BTreeMap::new();
        for row in 0..rows {
            let line = if self.matrix { row } else { rows - 1 - row };
            let mut column = 0;
            while column < columns {
                let colour = |k: usize| colour_of(grid.values[row * columns + k], self.range);
                let first = colour(column);
                let run = (column..columns).take_while(|&k| colour(k) == first).count();
                if let Some(first) = first {
                    let path = paths.entry(first).or_default();
                    let _ = write!(path, "M{column} {line}h{run}v1h-{run}z");
                }
                column += run;
            }
        }
        for (colour, path) in paths {
            let fill = css(self.palette.at(colour as f64 / (COLOURS - 1) as f64));
            svg.raw(format_args!(r#"<path d="{path}" fill="{fill}"/>"#));
        }
        svg.raw(format_args!("</g>"));
        svg.raw(format_args!(
            r#"<rect x="{left:.2}" y="{top:.2}" width="{wide:.2}" height="{high:.2}" stroke="{AXIS}" stroke-width="0.8"/>"#
        ));
        let x_of = |k: f64| left + (k + 0.5) * sx;
        let y_of =
            |k: f64| if self.matrix { top + (k + 0.5) * sy } else { top + high - (k + 0.5) * sy };
        let mut last = f64::INFINITY;
        for (k, text) in grid.y.ticks(up_ticks(&grid.y, high), 80.0) {
            if (last - y_of(k)).abs() < 1.3 * LETTER {
                continue;
            }
            last = y_of(k);
            svg.line([left - 4.0, y_of(k)], [left, y_of(k)], AXIS, 0.8);
            svg.text([left - 7.0, y_of(k)], Anchor::End, INK, &text);
        }
        // Names are too long to stand beside each other, and are the same as on the left.
        let mut end = f64::NEG_INFINITY;
        let ticks = grid.x.ticks((wide / 60.0) as usize, 70.0);
        for (k, text) in ticks.into_iter().filter(|_| grid.x.values.is_some()) {
            let (x, half) = (x_of(k), width(&text) / 2.0);
            svg.line([x, top + high], [x, top + high + 4.0], AXIS, 0.8);
            if x - half > end + 6.0 {
                svg.text([x, top + high + 12.0], Anchor::Middle, INK, &text);
                end = x + half;
            }
        }
        let below = if grid.x.values.is_some() { 29.0 } else { 14.0 };
        let label = cut(&grid.x.label, wide);
        svg.text([left + wide / 2.0, top + high + below], Anchor::Middle, INK, &label);
        let ticks = grid.y.ticks(up_ticks(&grid.y, high), 80.0);
        let texts = ticks.iter().map(|(_, t)| width(t)).fold(0.0, f64::max);
        let label = cut(&grid.y.label, high);
        svg.upright([left - 15.0 - texts - LETTER / 2.0, top + high / 2.0], INK, &label);
        if let Some((column, row)) = grid.mark {
            let (x, y) = (x_of(column as f64), y_of(row as f64));
            for (colour, stroke) in [("#000", 3.0), ("#fff", 1.4)] {
                svg.raw(format_args!(
                    r#"<circle class="best" cx="{x:.2}" cy="{y:.2}" r="4.5" stroke="{colour}" stroke-width="{stroke}"/>"#
                ));
            }
        }
    }
}
