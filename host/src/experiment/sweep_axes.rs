//! Sweep axes and the numbering of points.

use crate::diagnostic::Location;

/// What an axis sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AxisTarget {
    /// Parameter `.0` of `Experiment::parameters`, at every node.
    Parameter(usize),
    /// The conduction speed in mm/ms.
    ConductionSpeed,
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name as written in the file.
    pub name: String,
    /// What it sets.
    pub target: AxisTarget,
    /// Its values.
    pub values: Vec<f64>,
    /// Unit of what it sets, for people.
    pub unit: Option<String>,
    /// Where it was written; none where it came from the command line.
    pub location: Option<Location>,
}

/// How axes combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SweepMode {
    /// Every combination.
    #[default]
    Product,
    /// Element by element; axes have one length.
    Zip,
}

/// All axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// In file order; in a product the last runs fastest.
    pub axes: Vec<Axis>,
    /// How they combine.
    pub mode: SweepMode,
}

impl Sweep {
    /// The number of points; 1 without axes, `None` if it doesn't fit 64 bits.
    pub fn points(&self) -> Option<u64> {
        match self.mode {
            SweepMode::Product => {
                self.axes.iter().try_fold(1u64, |n, a| n.checked_mul(a.values.len() as u64))
            }
            SweepMode::Zip => Some(self.axes.first().map_or(1, |a| a.values.len() as u64)),
        }
    }

    /// The extents of the sweep as an array: one a product axis, a single one for a zip.
    pub fn shape(&self) -> Vec<usize> {
        match self.mode {
            SweepMode::Product => self.axes.iter().map(|a| a.values.len()).collect(),
            SweepMode::Zip => self.axes.first().map(|a| a.values.len()).into_iter().collect(),
        }
    }

    /// The value of axis `axis` at `point`.
    pub fn value(&self, axis: usize, point: u64) -> f64 {
        let index = match self.mode {
            SweepMode::Zip => point,
            SweepMode::Product => {
                let faster: u64 =
                    self.axes[axis + 1..].iter().map(|a| a.values.len() as u64).product();
                point / faster % self.axes[axis].values.len() as u64
            }
        };
        self.axes[axis].values[index as usize]
    }
}
