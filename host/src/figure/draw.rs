//! From a result and what is asked for to a figure.

use super::cells::{CellFigure, Grid, Side};
use super::lines::{Line, LineFigure, Panel};
use super::palette::{DIVERGING, SEQUENTIAL};
use super::points::Points;
use super::view::{Dimension, Kind, View};
use super::{number, png, svg, unit_text, welch};
use crate::output::read::{Better, ReadError, ResultFile, SweepAxis};
use std::path::{Path, PathBuf};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A time course.
    Series,
    /// One number a point over the sweep.
    Map,
    /// A matrix, beside the empirical one where there is one.
    Matrix,
    /// A power spectrum.
    Spectrum,
}

/// What is asked for; what is left out is chosen.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is drawn.
    pub what: What,
    /// The array.
    pub array: Option<String>,
    /// The variable, by name.
    pub variable: Option<String>,
    /// The points, by number.
    pub points: Vec<u64>,
    /// Nodes in colour, by name.
    pub nodes: Vec<String>,
    /// Axes of a map: across, upwards.
    pub axes: Vec<String>,
    /// Where a map cuts the other axes: name and value, the nearest of which is taken.
    pub at: Vec<(String, f64)>,
    /// Width in millimetres.
    pub width_mm: f64,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// The result can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No array can be drawn so.
    #[error("{path}: nothing in it can be drawn as a {what}{}", hint(.what))]
    Nothing {
        /// The result.
        path: PathBuf,
        /// How.
        what: &'static str,
    },
    /// An array can't be drawn so.
    #[error("{path}: `{array}` can't be drawn as a {what}; what can: {}", list(.available))]
    NotDrawable {
        /// The result.
        path: PathBuf,
        /// The array that was asked for.
        array: String,
        /// How.
        what: &'static str,
        /// Arrays that can.
        available: Vec<String>,
    },
    /// A name that isn't there.
    #[error("there is no {kind} `{name}`; there are {}", list(.available))]
    Unknown {
        /// Of what.
        kind: &'static str,
        /// The name.
        name: String,
        /// Those that are there.
        available: Vec<String>,
    },
    /// A point that the result doesn't hold.
    #[error("point {point} is not in the result, which has {points} points")]
    NoPoint {
        /// Its number.
        point: u64,
        /// How many there are.
        points: usize,
    },
    /// A map of a result without a sweep.
    #[error("{path}: there is no sweep, so nothing is a map")]
    NoSweep {
        /// The result.
        path: PathBuf,
    },
    /// A name that is neither `.svg` nor `.png`.
    #[error("{path}: figures are written as .svg or .png; name a file that ends so")]
    UnknownFormat {
        /// The name.
        path: PathBuf,
    },
    /// The picture can't be made.
    #[error("{path}: {why}")]
    Picture {
        /// Where it should go.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The file can't be written.
    #[error("{path}: can't write the figure: {source}")]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// What to do where there is nothing to draw.
fn hint(what: &str) -> &'static str {
    match what {
        "series" | "spectrum" => "; a run keeps time courses with `--record tavg:PERIOD`",
        "matrix" => "; a run keeps functional connectivity if the experiment observes it",
        _ => "",
    }
}

/// Names for a message, not all of very many.
fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        few if few.len() <= 20 => few.join(", "),
        some => format!("{}, … ({} in all)", some[..20].join(", "), some.len()),
    }
}

/// Draws a figure and writes it as its path's ending says.
///
/// # Errors
/// If what is asked for isn't there, or the file can't be written.
pub fn write(
    result: &ResultFile,
    request: &Request,
    path: &Path,
    dots_per_inch: f64,
) -> Result<(), FigureError> {
    let ending = path.extension().and_then(|e| e.to_str());
    if !matches!(ending, Some("svg" | "png")) {
        return Err(FigureError::UnknownFormat { path: path.to_owned() });
    }
    let svg = draw(result, request)?;
    let bytes = if ending == Some("png") {
        png::encode(&svg, dots_per_inch)
            .map_err(|why| FigureError::Picture { path: path.to_owned(), why })?
    } else {
        svg.into_bytes()
    };
    crate::output::replace(path, &bytes)
        .map_err(|source| FigureError::Write { path: path.to_owned(), source })
}

/// A figure as SVG.
///
/// # Errors
/// If what is asked for isn't there.
pub fn draw(result: &ResultFile, request: &Request) -> Result<String, FigureError> {
    let width = (request.width_mm / 25.4 * 96.0).clamp(150.0, 8000.0);
    let title = result.manifest().label.clone();
    let title = title.unwrap_or_else(|| result.manifest().model.clone());
    let svg = match request.what {
        What::Map => map(result, request, width)?,
        What::Matrix => matrices(result, request)?.draw(width),
        What::Series | What::Spectrum => lines(result, request)?.draw(width),
    };
    Ok(svg.finish(&title))
}

/// The array that is asked for, or the first that can be drawn so.
fn choose(result: &ResultFile, request: &Request) -> Result<View, FigureError> {
    let (what, kinds): (_, &[Kind]) = match request.what {
        What::Series => ("series", &[Kind::Series]),
        What::Map => ("map", &[Kind::Map, Kind::Profile]),
        What::Matrix => ("matrix", &[Kind::Matrix]),
        What::Spectrum => ("spectrum", &[Kind::Spectrum, Kind::Series]),
    };
    let mut views = View::all(result);
    views.retain(|v| kinds.contains(&v.kind));
    let scores = &result.manifest().scores;
    // What a result was made for comes first: scores, and of the rest what the program didn't add.
    views.sort_by_key(|v| {
        let kind = kinds.iter().position(|k| *k == v.kind);
        let first = scores.first().is_some_and(|s| s.array == v.name);
        let own = v.name == "nonfinite_step";
        (!first, own, kind, v.points.is_none())
    });
    let name = request.array.as_deref();
    if let Some(name) = name {
        result.array(name)?;
    }
    let found = views.iter().find(|v| name.is_none_or(|n| n == v.name)).cloned();
    found.ok_or_else(|| match name {
        None => FigureError::Nothing { path: result.path().to_owned(), what },
        Some(name) => FigureError::NotDrawable {
            path: result.path().to_owned(),
            array: name.to_owned(),
            what,
            available: views.into_iter().map(|v| v.name).collect(),
        },
    })
}

/// The offset, name and unit of the variable that is asked for, or of the first.
fn variable(
    result: &ResultFile,
    view: &View,
    request: &Request,
) -> Result<(usize, Option<String>, String), FigureError> {
    let names = view.variables(result.manifest());
    let at = match &request.variable {
        None => 0,
        Some(name) => names.iter().position(|n| n == name).ok_or_else(|| FigureError::Unknown {
            kind: "variable",
            name: name.clone(),
            available: names.clone(),
        })?,
    };
    let stride = view.variable.as_ref().map_or(0, |d| d.stride);
    let name = names.get(at).cloned();
    let of_name = result.manifest().variables.iter().find(|v| Some(&v.name) == name.as_ref());
    let unit = unit_text(of_name.and_then(|v| v.unit.as_deref()));
    Ok((at * stride, name, unit))
}

fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} ({unit})") }
}

/// Places of the points that are asked for, or of the first.
fn places(points: &Points, view: &View, request: &Request) -> Result<Vec<usize>, FigureError> {
    if view.points.is_none() || request.points.is_empty() {
        return Ok(vec![0]);
    }
    let count = view.points.as_ref().map_or(1, |p| p.extent);
    let place =
        |&point: &u64| points.place_of(point).ok_or(FigureError::NoPoint { point, points: count });
    request.points.iter().map(place).collect()
}

/// A point's axis values, for a title; nothing without a sweep.
fn point_title(points: &Points, place: usize) -> String {
    let positions = points.positions(points.number(place));
    // The last part of a name, where that is enough.
    let last = |a: &SweepAxis| a.name.rsplit('.').next().unwrap_or_default().to_owned();
    let short = |a: &SweepAxis| {
        let name = last(a);
        if points.axes.iter().filter(|b| last(b) == name).count() == 1 {
            name
        } else {
            a.name.clone()
        }
    };
    let part = |(axis, k): (&SweepAxis, usize)| {
        let value = number(axis.values.get(k).copied().unwrap_or(f64::NAN), 5);
        let unit = unit_text(axis.unit.as_deref());
        if unit.is_empty() {
            format!("{} = {value}", short(axis))
        } else {
            format!("{} = {value} {unit}", short(axis))
        }
    };
    points.axes.iter().zip(positions).map(part).collect::<Vec<_>>().join(", ")
}

/// Names along a dimension.
fn names(result: &ResultFile, dimension: &Dimension) -> Result<Vec<String>, FigureError> {
    match result.array(&dimension.name) {
        Ok(array) if array.element.is_none() => Ok(result.texts(&dimension.name)?),
        _ => Ok((0..dimension.extent).map(|k| k.to_string()).collect()),
    }
}

/// Values along a dimension, if it has any.
fn coordinates(result: &ResultFile, name: &str) -> Result<Option<Vec<f64>>, FigureError> {
    match result.array(name) {
        Ok(array) if array.element.is_some() => Ok(Some(result.values(name)?.to_f64())),
        _ => Ok(None),
    }
}

fn lines(result: &ResultFile, request: &Request) -> Result<LineFigure, FigureError> {
    let view = choose(result, request)?;
    let spectrum = request.what == What::Spectrum;
    let (offset, name, unit) = variable(result, &view, request)?;
    let labels = match &view.channel {
        Some(channel) => names(result, channel)?,
        None => vec![view.name.clone()],
    };
    let mut picked: Vec<usize> = Vec::new();
    for node in &request.nodes {
        let at = labels.iter().position(|l| l == node).ok_or_else(|| FigureError::Unknown {
            kind: "node",
            name: node.clone(),
            available: labels.clone(),
        })?;
        picked.push(at);
    }
    if picked.is_empty() {
        picked = (0..labels.len().min(if labels.len() <= 8 { 8 } else { 3 })).collect();
    }
    let missing = || FigureError::NotDrawable {
        path: result.path().to_owned(),
        array: view.name.clone(),
        what: "line",
        available: Vec::new(),
    };
    let along = view.frequency.as_ref().or(view.time.as_ref()).ok_or_else(missing)?;
    let stored = coordinates(result, &along.name)?;
    let mut x = stored.unwrap_or_else(|| (0..along.extent).map(|k| k as f64).collect());
    let welch = spectrum && view.kind == Kind::Series;
    let seconds = result.manifest().ms_per_time_unit / 1000.0;
    let interval = if welch && x.len() > 1 { (x[1] - x[0]) * seconds } else { f64::NAN };
    let mut x_label = "Frequency (Hz)".to_owned();
    if !spectrum {
        let unit = result.manifest().time_unit();
        // Long recordings are read in seconds.
        let long = unit == "ms" && x.last().is_some_and(|&last| last >= 1e4);
        if long {
            x.iter_mut().for_each(|t| *t /= 1e3);
        }
        x_label = format!("Time ({})", if long { "s" } else { unit });
    }
    let points = Points::of(result, &view)?;
    let stride = view.channel.as_ref().map_or(0, |d| d.stride);
    let mut panels = Vec::new();
    for place in places(&points, &view, request)? {
        let values = if view.points.is_some() {
            result.entries(&view.name, place as u64..place as u64 + 1)?.to_f64()
        } else {
            result.values(&view.name)?.to_f64()
        };
        let mut line = |channel: usize, label: Option<String>| {
            let value = |k: usize| values[offset + channel * stride + k * along.stride];
            let mut y: Vec<f64> = (0..along.extent).map(value).collect();
            if welch {
                let density = welch::density(&y, interval);
                let step = density.as_ref().map_or(0.0, |d| d.resolution);
                y = density.map(|d| d.values).unwrap_or_default();
                x = (0..y.len()).map(|k| k as f64 * step).collect();
            }
            Line { label, y }
        };
        let grey = (0..labels.len()).filter(|k| !picked.contains(k));
        let mut lines: Vec<Line> = grey.map(|k| line(k, None)).collect();
        lines.extend(picked.iter().map(|&k| line(k, Some(labels[k].clone()))));
        panels.push(Panel { title: point_title(&points, place), lines, marks: Vec::new() });
    }
    let label = name.unwrap_or_else(|| view.name.clone());
    let y_label = if spectrum {
        let unit = match unit.as_str() {
            "" => "units²".to_owned(),
            unit if unit.contains([' ', '/']) => format!("({unit})²"),
            unit => format!("{unit}²"),
        };
        format!("Density ({unit}/Hz)")
    } else {
        with_unit(&label, &unit)
    };
    Ok(LineFigure { x, x_label, y_label, log_y: spectrum, dots: false, panels })
}

fn matrices(result: &ResultFile, request: &Request) -> Result<CellFigure, FigureError> {
    let view = choose(result, request)?;
    let (offset, ..) = variable(result, &view, request)?;
    let points = Points::of(result, &view)?;
    let mut grids = Vec::new();
    for place in places(&points, &view, request)? {
        let title = if view.points.is_some() { point_title(&points, place) } else { String::new() };
        grids.push(matrix(result, &view, offset, place, title)?);
    }
    let empirical = format!("empirical_{}", view.name);
    let all = View::all(result);
    if let Some(partner) = all.iter().find(|v| v.name == empirical && v.kind == Kind::Matrix) {
        for grid in grids.iter_mut().filter(|g| g.title.is_empty()) {
            grid.title = "Simulated".to_owned();
        }
        grids.push(matrix(result, partner, 0, 0, "Empirical".to_owned())?);
    }
    let values = || grids.iter().flat_map(|g| g.values.iter().copied()).filter(|v| v.is_finite());
    let (lo, hi) =
        values().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
    let correlation = view.name.to_lowercase().contains("fc") && lo >= -1.001 && hi <= 1.001;
    let (palette, range) = if correlation {
        (DIVERGING, (-1.0, 1.0))
    } else if lo < 0.0 {
        let largest = hi.max(-lo);
        (DIVERGING, (-largest, largest))
    } else if lo < hi {
        (SEQUENTIAL, (lo, hi))
    } else {
        (SEQUENTIAL, (0.0, 1.0))
    };
    let label = if correlation { "Correlation".to_owned() } else { view.name };
    Ok(CellFigure { grids, palette, range, label, matrix: true })
}

fn matrix(
    result: &ResultFile,
    view: &View,
    offset: usize,
    place: usize,
    title: String,
) -> Result<Grid, FigureError> {
    let values = if view.points.is_some() {
        result.entries(&view.name, place as u64..place as u64 + 1)?.to_f64()
    } else {
        result.values(&view.name)?.to_f64()
    };
    let Some((rows, columns)) = &view.matrix else {
        return Err(FigureError::NotDrawable {
            path: result.path().to_owned(),
            array: view.name.clone(),
            what: "matrix",
            available: Vec::new(),
        });
    };
    let side = |d: &Dimension| -> Result<Side, FigureError> {
        let word = d.name.trim_end_matches("_a").trim_end_matches("_b");
        let word = word.rsplit('_').next().unwrap_or(word);
        let mut label: String = word.to_owned();
        if let Some(first) = label.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Ok(Side { label, values: coordinates(result, &d.name)?, names: names(result, d)? })
    };
    let cell = |r: usize, c: usize| values[offset + r * rows.stride + c * columns.stride];
    let cells = (0..rows.extent).flat_map(|r| (0..columns.extent).map(move |c| (r, c)));
    Ok(Grid {
        title,
        values: cells.map(|(r, c)| cell(r, c)).collect(),
        x: side(columns)?,
        y: side(rows)?,
        mark: None,
    })
}

fn map(result: &ResultFile, request: &Request, width: f64) -> Result<svg::Svg, FigureError> {
    let view = choose(result, request)?;
    let points = Points::of(result, &view)?;
    if points.axes.is_empty() {
        return Err(FigureError::NoSweep { path: result.path().to_owned() });
    }
    let (offset, name, unit) = variable(result, &view, request)?;
    let all = result.values(&view.name)?.to_f64();
    let stride = view.points.as_ref().map_or(1, |p| p.stride);
    let value = |place: usize| match &view.channel {
        None => all[place * stride + offset],
        Some(d) => {
            let of = |k: usize| all[place * stride + offset + k * d.stride];
            (0..d.extent).map(of).sum::<f64>() / d.extent as f64
        }
    };
    let count = view.points.as_ref().map_or(1, |p| p.extent);
    let values: Vec<f64> = (0..count).map(value).collect();
    let score = result.manifest().scores.iter().find(|s| s.array == view.name);
    let best = score.and_then(|s| s.better.best(&values));
    let best = best.map(|place| points.positions(points.number(place)));
    let over = view.channel.as_ref().map(|d| d.name.rsplit('_').next().unwrap_or("").to_owned());
    let mut label = match (&name, &over) {
        (Some(variable), _) if view.name == "tavg" => format!("mean {variable}"),
        (Some(variable), _) => format!("{} {variable}", view.name),
        (None, _) => view.name.clone(),
    };
    if let Some(over) = over.filter(|_| view.name != "tavg") {
        label = format!("{label}, mean of {over}s");
    }
    let label = with_unit(&label, &unit);
    let axis = |name: &String| {
        points.axes.iter().position(|a| a.name == *name).ok_or_else(|| FigureError::Unknown {
            kind: "axis",
            name: name.clone(),
            available: points.axes.iter().map(|a| a.name.clone()).collect(),
        })
    };
    // Where the other axes are cut: as asked, or at the best point, or at their beginning.
    let mut at = best.clone().unwrap_or_else(|| vec![0; points.axes.len()]);
    for (name, value) in &request.at {
        let axis = axis(name)?;
        let far = |k: &usize| (points.axes[axis].values[*k] - value).abs();
        let nearest = (0..points.axes[axis].values.len()).min_by(|a, b| far(a).total_cmp(&far(b)));
        at[axis] = nearest.unwrap_or(0);
    }
    let mut chosen = request.axes.iter().map(axis).collect::<Result<Vec<_>, _>>()?;
    let mut longest: Vec<usize> = (0..points.axes.len()).collect();
    longest.sort_by_key(|&a| std::cmp::Reverse(points.axes[a].values.len()));
    let mut added: Vec<usize> = longest
        .into_iter()
        .filter(|a| !chosen.contains(a))
        .take(2usize.saturating_sub(chosen.len()))
        .collect();
    added.sort_unstable();
    chosen.extend(added);
    let cut = |a: &usize| {
        let axis = &points.axes[*a];
        format!("{} = {}", axis.name, number(axis.values[at[*a]], 5))
    };
    let others: Vec<usize> = (0..points.axes.len()).filter(|a| !chosen.contains(a)).collect();
    let title = others.iter().map(cut).collect::<Vec<_>>().join(", ");
    let here = |axis: &[(usize, usize)]| {
        let mut at = at.clone();
        axis.iter().for_each(|&(a, k)| at[a] = k);
        points.place(&at).map_or(f64::NAN, |place| values[place])
    };
    let best = best.filter(|best| others.iter().all(|&a| best[a] == at[a]));
    let side = |a: usize| {
        let axis = &points.axes[a];
        Side {
            label: with_unit(&axis.name, &unit_text(axis.unit.as_deref())),
            values: Some(axis.values.clone()),
            names: axis.values.iter().map(|v| number(*v, 5)).collect(),
        }
    };
    if let [x] = chosen[..] {
        let axis = side(x);
        let y: Vec<f64> = (0..axis.names.len()).map(|k| here(&[(x, k)])).collect();
        let marks = best.map(|b| b[x]).into_iter().collect();
        let line = Line { label: Some(label.clone()), y };
        let figure = LineFigure {
            dots: axis.names.len() <= 100,
            x: axis.values.unwrap_or_default(),
            x_label: axis.label,
            y_label: label,
            log_y: false,
            panels: vec![Panel { title, lines: vec![line], marks }],
        };
        return Ok(figure.draw(width));
    }
    let (x, y) = (chosen[0], chosen[1]);
    let (across, upwards) = (side(x), side(y));
    let cells = (0..upwards.names.len())
        .flat_map(|r| (0..across.names.len()).map(move |c| (r, c)))
        .map(|(r, c)| here(&[(x, c), (y, r)]))
        .collect::<Vec<f64>>();
    let finite = || cells.iter().copied().filter(|v| v.is_finite());
    let (lo, hi) =
        finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
    let middle = score.is_some_and(|s| s.better == Better::Zero) && lo < 0.0;
    let (palette, range) = if middle {
        let largest = hi.max(-lo);
        (DIVERGING, (-largest, largest))
    } else if lo < hi {
        (SEQUENTIAL, (lo, hi))
    } else if lo == hi {
        (SEQUENTIAL, (lo - 0.5, lo + 0.5))
    } else {
        (SEQUENTIAL, (0.0, 1.0))
    };
    let mark = best.map(|b| (b[x], b[y]));
    let grids = vec![Grid { title, values: cells, x: across, y: upwards, mark }];
    Ok(CellFigure { grids, palette, range, label, matrix: false }.draw(width))
}
