//! The arrays of a result as they stand in the page: JSON that describes them, then each array's
//! bytes in base64, in an element of its own.
//!
//! Numbers of one a point are always whole. What a point has in detail (time courses, matrices,
//! spectra) is whole while it stays below [`Limit`]. Above it, first long time courses are thinned
//! to the extremes of equal stretches, then fewer points are kept: the best of every score, the
//! first, and others evenly spread.

use super::ReportError;
use crate::figure::palette::{DIVERGING, Palette, SEQUENTIAL};
use crate::figure::view::{Dimension, Kind, View};
use crate::figure::welch;
use crate::output::read::{Better, Manifest, ResultFile, Values};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The largest size of what a page holds in detail, in bytes before base64 (which adds a third).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(pub u64);

impl Default for Limit {
    fn default() -> Self {
        Self(24 << 20)
    }
}

/// Samples from which a time course is long, and so many it keeps when it is thinned.
const LONG: usize = 4096;
/// Fewest samples of a thinned time course.
const SHORTEST: usize = 256;
/// Frequencies that a spectrum made here keeps at most.
const FREQUENCIES: usize = 513;
/// Points that are read at once.
const AT_ONCE: u64 = 256;

/// Elements of the page that are being made.
struct Elements {
    html: String,
    count: usize,
}

impl Elements {
    /// Adds bytes and returns their place.
    fn add(&mut self, values: &Values) -> Value {
        let id = format!("d{}", self.count);
        self.count += 1;
        let encoded = STANDARD.encode(values.to_le_bytes());
        let start = format!("<script type=\"application/octet-stream\" id=\"{id}\">");
        self.html.push_str(&start);
        self.html.push_str(&encoded);
        self.html.push_str("</script>\n");
        let element = match values {
            Values::F32(_) => "f4",
            Values::F64(_) => "f8",
            Values::I64(_) => "i8",
        };
        json!({ "id": id, "type": element })
    }
}

/// What is kept of the points' details.
struct Thinning {
    /// Positions of the points that are kept; all of them if none.
    kept: Option<Vec<usize>>,
    /// Samples that long time courses keep; all of them if none.
    samples: Option<usize>,
}

/// The elements that hold a result's arrays.
pub(super) fn embed(result: &ResultFile, limit: Limit) -> Result<String, ReportError> {
    let manifest = result.manifest();
    let mut elements = Elements { html: String::new(), count: 0 };
    let views = View::all(result);
    let mut arrays = Vec::new();
    let mut best = Vec::new();
    for view in &views {
        match view.kind {
            Kind::Map => {
                let values = result.values(&view.name)?;
                let numbers = values.to_f64();
                if view.name == "nonfinite_step" && numbers.iter().all(|&v| v < 0.0) {
                    continue;
                }
                let score = manifest.scores.iter().find(|s| s.array == view.name);
                if let Some(score) = score {
                    best.extend(score.better.best(&numbers));
                }
                let mut entry = describe(view, manifest);
                entry["better"] = score.map_or(Value::Null, |s| better(s.better).into());
                entry["data"] = elements.add(&values);
                arrays.push(entry);
            }
            Kind::Profile if view.points.is_some() => {
                let means = channel_means(result, view)?;
                arrays.push(means_map(view, manifest, &means, &mut elements));
            }
            _ => {}
        }
    }
    let details: Vec<&View> = views.iter().filter(|v| v.kind != Kind::Map).collect();
    let thinning = thin(&details, limit, &best);
    for view in details {
        detail(result, view, &thinning, &mut elements, &mut arrays)?;
    }
    let mut labels = serde_json::Map::new();
    let mut coordinates = serde_json::Map::new();
    for array in result.arrays() {
        let [(dimension, _)] = &array.dimensions[..] else { continue };
        if array.element.is_none() {
            labels.insert(array.name.clone(), result.texts(&array.name)?.into());
        } else if *dimension == array.name {
            let values = result.values(&array.name)?;
            coordinates.insert(array.name.clone(), elements.add(&values));
        }
    }
    let name = result.path().file_name().unwrap_or_default().to_string_lossy();
    let head = json!({
        "file": name,
        "label": manifest.label,
        "model": manifest.model,
        "axes": manifest.sweep.axes.iter()
            .map(|a| json!({ "name": a.name, "array": a.array, "unit": a.unit }))
            .collect::<Vec<_>>(),
        "mode": manifest.sweep.mode,
        "timeUnit": manifest.time_unit(),
        "units": manifest.variables.iter()
            .map(|v| (v.name.clone(), json!(v.unit))).collect::<serde_json::Map<_, _>>(),
        "labels": labels,
        "coordinates": coordinates,
        "arrays": arrays,
        "kept": thinning.kept,
        "palettes": { "sequential": colours(SEQUENTIAL), "diverging": colours(DIVERGING) },
    });
    // No text of an experiment may end the element that holds it.
    let head = head.to_string().replace('<', "\\u003c");
    Ok(format!(
        "<script type=\"application/json\" id=\"result\">{head}</script>\n{}",
        elements.html
    ))
}

fn colours(palette: Palette) -> Value {
    palette.0.iter().map(|c| json!(c)).collect()
}

fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Zero => "zero",
    }
}

fn describe(view: &View, manifest: &Manifest) -> Value {
    let part = |d: &Option<Dimension>| {
        d.as_ref().map(|d| json!({ "name": d.name, "n": d.extent, "stride": d.stride }))
    };
    json!({
        "name": view.name,
        "kind": view.kind.name(),
        "points": part(&view.points),
        "variable": part(&view.variable),
        "channel": part(&view.channel),
        "time": part(&view.time),
        "frequency": part(&view.frequency),
        "rows": view.matrix.as_ref().and_then(|(a, _)| part(&Some(a.clone()))),
        "columns": view.matrix.as_ref().and_then(|(_, b)| part(&Some(b.clone()))),
        "variables": view.variables(manifest),
    })
}

/// The mean over channels, `[point][variable]`, of what is finite.
fn channel_means(result: &ResultFile, view: &View) -> Result<Vec<f64>, ReportError> {
    let points = view.points.as_ref().map_or(1, |d| d.extent) as u64;
    let variables = view.variable.as_ref().map_or(1, |d| d.extent);
    let stride = view.variable.as_ref().map_or(0, |d| d.stride);
    let Some(channel) = &view.channel else { return Ok(Vec::new()) };
    let of_point = view.of_point();
    let mut means = Vec::new();
    for from in (0..points).step_by(AT_ONCE as usize) {
        let values = result.entries(&view.name, from..(from + AT_ONCE).min(points))?.to_f64();
        for point in values.chunks_exact(of_point.max(1)) {
            for variable in 0..variables {
                let value = |k: usize| point[variable * stride + k * channel.stride];
                let sum: f64 = (0..channel.extent).map(value).sum();
                means.push(sum / channel.extent as f64);
            }
        }
    }
    Ok(means)
}

/// The map of the means over channels of a profile.
fn means_map(view: &View, manifest: &Manifest, means: &[f64], elements: &mut Elements) -> Value {
    let variables = view.variable.as_ref().map_or(1, |d| d.extent);
    let mut entry = describe(view, manifest);
    entry["kind"] = Kind::Map.name().into();
    entry["channel"] = Value::Null;
    entry["points"]["stride"] = variables.into();
    if view.variable.is_some() {
        entry["variable"]["stride"] = 1.into();
    }
    let over = view.channel.as_ref().map_or("", |d| d.name.rsplit('_').next().unwrap_or(""));
    entry["over"] = format!("mean of {over}s").into();
    entry["data"] = elements.add(&Values::F64(means.to_vec()));
    entry
}

/// Bytes of what one point has in detail.
fn bytes_of_point(views: &[&View], samples: Option<usize>) -> u64 {
    let bytes = |view: &&View| {
        let all = view.of_point();
        let thinned = match (&view.time, samples) {
            (Some(time), Some(kept)) if time.extent > kept => all / time.extent * kept,
            _ => all,
        };
        // A time course brings its spectrum with it.
        let spectrum = view
            .time
            .as_ref()
            .map_or(0, |t| all / t.extent.max(1) * FREQUENCIES.min(t.extent / 2 + 1));
        4 * (thinned + spectrum) as u64
    };
    views.iter().filter(|v| v.points.is_some()).map(bytes).sum()
}

/// How much of the details is kept.
fn thin(views: &[&View], Limit(limit): Limit, best: &[usize]) -> Thinning {
    let points = views.iter().filter_map(|v| v.points.as_ref()).map(|p| p.extent).max();
    let points = points.unwrap_or(1).max(1);
    let mut samples = None;
    loop {
        let of_point = bytes_of_point(views, samples).max(1);
        let room = usize::try_from(limit / of_point).unwrap_or(usize::MAX);
        if room >= points {
            return Thinning { kept: None, samples };
        }
        let next = samples.map_or(LONG, |n| n / 2);
        // Rather thinner time courses than fewer than a hundred points.
        if (samples.is_some() && room >= points.min(100)) || next < SHORTEST {
            return Thinning { kept: Some(choose(points, room.max(1), best)), samples };
        }
        samples = Some(next);
    }
}

/// Positions of `room` of the points, upwards: the best, the first, others evenly spread.
fn choose(points: usize, room: usize, best: &[usize]) -> Vec<usize> {
    let mut kept: Vec<usize> = best.iter().copied().chain([0]).take(room).collect();
    kept.sort_unstable();
    kept.dedup();
    let left = room - kept.len();
    kept.extend((0..left).map(|k| (k * 2 + 1) * points / (2 * left)));
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Adds one detailed array, and the spectrum of a time course.
fn detail(
    result: &ResultFile,
    view: &View,
    thinning: &Thinning,
    elements: &mut Elements,
    arrays: &mut Vec<Value>,
) -> Result<(), ReportError> {
    let manifest = result.manifest();
    let mut entry = describe(view, manifest);
    let Some(points) = &view.points else {
        entry["data"] = elements.add(&result.values(&view.name)?);
        arrays.push(entry);
        return Ok(());
    };
    // Cells, of which there are fewer than points, are numbered otherwise.
    let kept: Vec<usize> = match &thinning.kept {
        Some(kept) if points.name == "point" => kept.clone(),
        _ => (0..points.extent).collect(),
    };
    let longest = view.time.as_ref().map_or(0, |t| t.extent);
    let thinned = thinning.samples.filter(|&n| longest > n);
    let interval = interval(result, view)?;
    let mut spectra = Spectra { values: Vec::new(), frequencies: 0, whole: 0, resolution: 0.0 };
    let mut all: Option<Values> = None;
    for &at in &kept {
        let mut values = result.entries(&view.name, at as u64..at as u64 + 1)?;
        if let Some(interval) = interval {
            spectra.add(view, &values.to_f64(), interval);
        }
        if let (Some(samples), Some(time)) = (thinned, &view.time) {
            values = extremes(&values, time, samples / 2);
        }
        append(&mut all, values);
    }
    let scale = |stride: usize, n: usize| stride / longest.max(1) * n;
    if let Some(samples) = thinned {
        let samples = samples / 2 * 2;
        entry["time"]["n"] = samples.into();
        entry["points"]["stride"] = scale(points.stride, samples).into();
        entry["thinned"] = longest.into();
        // A part that is slower than time has further to go as well.
        for (name, part) in [("variable", &view.variable), ("channel", &view.channel)] {
            if let (Some(part), Some(time)) = (part, &view.time)
                && part.stride > time.stride
            {
                entry[name]["stride"] = scale(part.stride, samples).into();
            }
        }
    }
    entry["points"]["n"] = kept.len().into();
    entry["data"] = elements.add(&all.unwrap_or(Values::F32(Vec::new())));
    arrays.push(entry);
    if spectra.frequencies > 0 {
        arrays.push(spectra.describe(view, manifest, kept.len(), elements));
    }
    Ok(())
}

/// Seconds between the samples of a time course; none of anything else.
fn interval(result: &ResultFile, view: &View) -> Result<Option<f64>, ReportError> {
    let Some(time) = view.time.as_ref().filter(|t| t.extent > 1) else { return Ok(None) };
    if result.array(&time.name).is_err() {
        return Ok(None);
    }
    let times = result.entries(&time.name, 0..2)?.to_f64();
    Ok(Some((times[1] - times[0]) * result.manifest().ms_per_time_unit / 1000.0))
}

/// Spectra of a time course, `[point][variable][channel][frequency]`.
struct Spectra {
    values: Vec<f32>,
    frequencies: usize,
    /// Of which this many are the whole spectrum.
    whole: usize,
    resolution: f64,
}

impl Spectra {
    fn add(&mut self, view: &View, values: &[f64], interval: f64) {
        let Some(time) = &view.time else { return };
        let part = |d: &Option<Dimension>| d.as_ref().map_or((1, 0), |d| (d.extent, d.stride));
        let ((variables, of_variable), (channels, of_channel)) =
            (part(&view.variable), part(&view.channel));
        for variable in 0..variables {
            for channel in 0..channels {
                let start = variable * of_variable + channel * of_channel;
                let samples: Vec<f64> =
                    (0..time.extent).map(|t| values[start + t * time.stride]).collect();
                let Some(density) = welch::density(&samples, interval) else { return };
                self.resolution = density.resolution;
                self.whole = density.values.len();
                self.frequencies = density.values.len().min(FREQUENCIES);
                self.values.extend(density.values[..self.frequencies].iter().map(|&v| v as f32));
            }
        }
    }

    fn describe(
        self,
        view: &View,
        manifest: &Manifest,
        points: usize,
        elements: &mut Elements,
    ) -> Value {
        let (channels, variables) = (
            view.channel.as_ref().map_or(1, |d| d.extent),
            view.variable.as_ref().map_or(1, |d| d.extent),
        );
        let n = self.frequencies;
        let mut entry = describe(view, manifest);
        entry["name"] = format!("spectrum of {}", view.name).into();
        entry["kind"] = Kind::Spectrum.name().into();
        entry["time"] = Value::Null;
        entry["cut"] = (self.whole > n).then_some(self.whole).into();
        entry["resolution"] = self.resolution.into();
        entry["frequency"] = json!({ "name": "frequency", "n": n, "stride": 1 });
        entry["points"]["n"] = points.into();
        entry["points"]["stride"] = (n * channels * variables).into();
        for (name, stride) in [("channel", n), ("variable", n * channels)] {
            if !entry[name].is_null() {
                entry[name]["stride"] = stride.into();
            }
        }
        entry["data"] = elements.add(&Values::F32(self.values));
        entry
    }
}

fn append(all: &mut Option<Values>, more: Values) {
    match (all.as_mut(), more) {
        (Some(Values::F32(a)), Values::F32(b)) => a.extend(b),
        (Some(Values::F64(a)), Values::F64(b)) => a.extend(b),
        (Some(Values::I64(a)), Values::I64(b)) => a.extend(b),
        (_, more) => *all = Some(more),
    }
}

/// The smallest and the largest value of `stretches` stretches of a point's time course, in the
/// order of the array's dimensions.
fn extremes(values: &Values, time: &Dimension, stretches: usize) -> Values {
    let all = values.to_f64();
    let inner = time.stride;
    let mut out = Vec::with_capacity(all.len() / time.extent * stretches * 2);
    for block in all.chunks_exact(time.extent * inner) {
        for k in 0..stretches {
            let rows = k * time.extent / stretches..(k + 1) * time.extent / stretches;
            let column = |i: usize| rows.clone().map(move |t| block[t * inner + i]);
            let lowest = |i| column(i).fold(f64::NAN, f64::min);
            let highest = |i| column(i).fold(f64::NAN, f64::max);
            out.extend((0..inner).map(lowest));
            out.extend((0..inner).map(highest));
        }
    }
    match values {
        Values::F32(_) => Values::F32(out.iter().map(|&v| v as f32).collect()),
        _ => Values::F64(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_points_are_kept() {
        let kept = choose(1000, 11, &[17, 17, 999]);
        assert!(kept.len() >= 10 && kept.len() <= 11, "{kept:?}");
        assert!([0, 17, 999].iter().all(|p| kept.contains(p)), "{kept:?}");
        assert!(kept.is_sorted() && kept.iter().all(|&p| p < 1000));
        assert_eq!(choose(5, 1, &[3]), [3]);
    }

    #[test]
    fn extremes_are_of_each_channel() {
        // Two channels, six samples: 0, 1, 2, … and their negatives.
        let values = (0..6).flat_map(|t| [t as f32, -(t as f32)]).collect();
        let time = Dimension { name: "time".into(), extent: 6, stride: 2 };
        let thinned = extremes(&Values::F32(values), &time, 2);
        assert_eq!(thinned, Values::F32(vec![0., -2., 2., 0., 3., -5., 5., -3.]));
    }
}
