//! What an array of a result can be drawn as, from the names of its dimensions alone.
//!
//! Nothing here knows an array by name, so that a new observation has its picture at once: one
//! number a point is a map, `[.., X_a, X_b]` a matrix, `[.., time, node]` a series, `[.., node,
//! frequency]` a spectrum, and `[.., node]` a profile.

use crate::output::read::{ArrayInfo, Manifest, ResultFile};

/// What can be drawn of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One number a point.
    Map,
    /// One number a channel (a node, a region, a sensor).
    Profile,
    /// Samples in time.
    Series,
    /// A matrix.
    Matrix,
    /// A density over frequency.
    Spectrum,
}

impl Kind {
    /// Its name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Profile => "profile",
            Self::Series => "series",
            Self::Matrix => "matrix",
            Self::Spectrum => "spectrum",
        }
    }
}

/// A dimension of an array in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Its name.
    pub name: String,
    /// Its extent.
    pub extent: usize,
    /// Elements from one entry to the next.
    pub stride: usize,
}

/// An array and the part that each of its dimensions plays.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The array's name.
    pub name: String,
    /// What can be drawn of it.
    pub kind: Kind,
    /// The points of the sweep, or its `cell`s where trials were put together.
    pub points: Option<Dimension>,
    /// Variables.
    pub variable: Option<Dimension>,
    /// Nodes, regions or sensors.
    pub channel: Option<Dimension>,
    /// Samples.
    pub time: Option<Dimension>,
    /// Frequencies.
    pub frequency: Option<Dimension>,
    /// Rows and columns.
    pub matrix: Option<(Dimension, Dimension)>,
}

impl View {
    /// The view of an array; none for names, coordinates and what has a dimension too many.
    pub fn of(array: &ArrayInfo) -> Option<Self> {
        array.element?;
        if let [(name, _)] = &array.dimensions[..]
            && *name == array.name
        {
            return None;
        }
        let mut view = Self {
            name: array.name.clone(),
            kind: Kind::Map,
            points: None,
            variable: None,
            channel: None,
            time: None,
            frequency: None,
            matrix: None,
        };
        let mut stride = array.elements() as usize;
        let mut dimensions: Vec<Dimension> = Vec::new();
        for (name, extent) in &array.dimensions {
            let extent = *extent as usize;
            stride /= extent.max(1);
            dimensions.push(Dimension { name: name.clone(), extent, stride });
        }
        if let [.., a, b] = &dimensions[..]
            && let (Some(x), Some(y)) = (a.name.strip_suffix("_a"), b.name.strip_suffix("_b"))
            && x == y
        {
            view.matrix = Some((a.clone(), b.clone()));
            dimensions.truncate(dimensions.len() - 2);
        }
        for (at, dimension) in dimensions.into_iter().enumerate() {
            let is = |word: &str| {
                let rest = dimension.name.strip_suffix(word);
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
            };
            let part = if at == 0 && (is("point") || is("cell")) {
                &mut view.points
            } else if is("variable") {
                &mut view.variable
            } else if is("time") {
                &mut view.time
            } else if is("frequency") {
                &mut view.frequency
            } else {
                &mut view.channel
            };
            if part.replace(dimension).is_some() {
                return None;
            }
        }
        view.kind = match (&view.matrix, &view.frequency, &view.time, &view.channel) {
            (Some(_), None, None, None) => Kind::Matrix,
            (None, Some(_), None, _) => Kind::Spectrum,
            (None, None, Some(_), _) => Kind::Series,
            (None, None, None, Some(_)) => Kind::Profile,
            (None, None, None, None) if view.points.is_some() => Kind::Map,
            _ => return None,
        };
        Some(view)
    }

    /// The views of all arrays of a result, the program's own last.
    pub fn all(result: &ResultFile) -> Vec<Self> {
        let mut views: Vec<Self> = result.arrays().filter_map(Self::of).collect();
        let own = |v: &Self| match v.name.as_str() {
            "series" => 1,
            "tavg" => 2,
            "nonfinite_step" => 3,
            _ => 0,
        };
        views.sort_by_key(own);
        views
    }

    /// Elements of one point.
    pub fn of_point(&self) -> usize {
        let extent = |d: &Option<Dimension>| d.as_ref().map_or(1, |d| d.extent);
        let matrix = self.matrix.as_ref().map_or(1, |(a, b)| a.extent * b.extent);
        matrix
            * [&self.variable, &self.channel, &self.time, &self.frequency]
                .map(extent)
                .iter()
                .product::<usize>()
    }

    /// Names of the variables that the array holds: of all recorded ones, where they are as many.
    pub fn variables(&self, manifest: &Manifest) -> Vec<String> {
        let Some(dimension) = &self.variable else { return Vec::new() };
        if dimension.extent == manifest.variables.len() {
            return manifest.variables.iter().map(|v| v.name.clone()).collect();
        }
        (0..dimension.extent).map(|k| format!("{} {k}", dimension.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::ElementType;

    fn view(name: &str, dimensions: &[(&str, u64)]) -> Option<View> {
        let dimensions = dimensions.iter().map(|&(n, k)| (n.to_owned(), k)).collect();
        View::of(&ArrayInfo { name: name.into(), dimensions, element: Some(ElementType::F32) })
    }

    #[test]
    fn dimensions_say_what_is_drawn() {
        let kind = |name, dimensions: &[(&str, u64)]| view(name, dimensions).map(|v| v.kind);
        assert_eq!(kind("fc_rmse", &[("point", 4)]), Some(Kind::Map));
        assert_eq!(kind("fc_rmse_trial_mean", &[("cell", 4)]), Some(Kind::Map));
        assert_eq!(kind("std", &[("point", 4), ("node", 3)]), Some(Kind::Profile));
        assert_eq!(kind("R", &[("point", 4), ("order_parameter_time", 9)]), Some(Kind::Series));
        let eeg = [("point", 4), ("eeg_time", 9), ("eeg_sensor", 2)];
        assert_eq!(kind("eeg", &eeg), Some(Kind::Series));
        let fc = [("point", 4), ("node_a", 3), ("node_b", 3)];
        assert_eq!(kind("fc", &fc), Some(Kind::Matrix));
        assert_eq!(kind("empirical_fc", &fc[1..]), Some(Kind::Matrix));
        let spectrum = [("point", 4), ("node", 3), ("spectrum_frequency", 129)];
        assert_eq!(kind("spectrum", &spectrum), Some(Kind::Spectrum));
        assert_eq!(kind("time", &[("time", 9)]), None);
        assert_eq!(kind("odd", &[("point", 4), ("node", 3), ("mode", 2)]), None);
    }

    #[test]
    fn strides_find_an_element() {
        let v = view("series", &[("point", 2), ("time", 5), ("variable", 3), ("node", 7)]).unwrap();
        let strides = [&v.points, &v.time, &v.variable, &v.channel].map(|d| {
            let d = d.as_ref().unwrap();
            (d.extent, d.stride)
        });
        assert_eq!(strides, [(2, 105), (5, 21), (3, 7), (7, 1)]);
        assert_eq!(v.of_point(), 105);
    }
}
