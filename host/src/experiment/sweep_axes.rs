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

/// All axes. Each combination of values is a *cell*, which is repeated in so many trials; every trial
/// is a point of its own with random numbers of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// In file order; in a product the last runs fastest.
    pub axes: Vec<Axis>,
    /// How they combine.
    pub mode: SweepMode,
    /// Points of a cell, which run faster than any axis; 1 or more.
    pub trials: u64,
}

impl Default for Sweep {
    fn default() -> Self {
        Self { axes: Vec::new(), mode: SweepMode::default(), trials: 1 }
    }
}

impl Sweep {
    /// The number of points; 1 without axes and trials, `None` if it doesn't fit 64 bits.
    pub fn points(&self) -> Option<u64> {
        self.cells()?.checked_mul(self.trials)
    }

    /// The number of combinations of values; 1 without axes, `None` if it doesn't fit 64 bits.
    pub fn cells(&self) -> Option<u64> {
        match self.mode {
            SweepMode::Product => {
                self.axes.iter().try_fold(1u64, |n, a| n.checked_mul(a.values.len() as u64))
            }
            SweepMode::Zip => Some(self.axes.first().map_or(1, |a| a.values.len() as u64)),
        }
    }

    /// The extents of the sweep as an array: one a product axis, a single one for a zip, and one more
    /// for trials where a cell has several.
    pub fn shape(&self) -> Vec<usize> {
        let mut shape: Vec<usize> = match self.mode {
            SweepMode::Product => self.axes.iter().map(|a| a.values.len()).collect(),
            SweepMode::Zip => self.axes.first().map(|a| a.values.len()).into_iter().collect(),
        };
        if self.trials > 1 {
            shape.push(self.trials as usize);
        }
        shape
    }

    /// The value of axis `axis` at `point`.
    pub fn value(&self, axis: usize, point: u64) -> f64 {
        let cell = point / self.trials;
        let index = match self.mode {
            SweepMode::Zip => cell,
            SweepMode::Product => {
                let faster: u64 =
                    self.axes[axis + 1..].iter().map(|a| a.values.len() as u64).product();
                cell / faster % self.axes[axis].values.len() as u64
            }
        };
        self.axes[axis].values[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, values: &[f64]) -> Axis {
        Axis {
            name: name.to_owned(),
            target: AxisTarget::ConductionSpeed,
            values: values.to_vec(),
            unit: None,
            location: None,
        }
    }

    #[test]
    fn trials_run_faster_than_any_axis() {
        let axes = vec![axis("a", &[1.0, 2.0]), axis("b", &[10.0, 20.0, 30.0])];
        let product = Sweep { axes: axes.clone(), trials: 4, ..Sweep::default() };
        assert_eq!((product.points(), product.cells()), (Some(24), Some(6)));
        assert_eq!(product.shape(), [2, 3, 4]);
        for point in 0..24 {
            let [a, b] = [0, 1].map(|at| product.value(at, point));
            assert_eq!((a, b), (1.0 + (point / 12) as f64, 10.0 * (1 + point / 4 % 3) as f64));
        }
        let zip = Sweep { axes: vec![axes[0].clone()], mode: SweepMode::Zip, trials: 3 };
        assert_eq!(zip.shape(), [2, 3]);
        assert_eq!((0..6).map(|p| zip.value(0, p)).collect::<Vec<_>>(), [1., 1., 1., 2., 2., 2.]);
        assert_eq!(Sweep::default().points(), Some(1));
        assert_eq!(Sweep { trials: u64::MAX, ..product }.points(), None);
    }
}
