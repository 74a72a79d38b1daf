//! The manifest (`meta`) of a result, as a reader wants it.

use serde::Deserialize;
use std::collections::BTreeMap;

/// What was run. Every field is in every result, but for those that have a default.
#[derive(Clone, Debug, Deserialize)]
pub struct Manifest {
    /// The program that wrote it.
    pub program: String,
    /// Its version.
    pub version: String,
    /// Where it ran.
    pub device: String,
    /// The experiment's label.
    pub label: Option<String>,
    /// The model's name.
    pub model: String,
    /// The sweep.
    pub sweep: Sweep,
    /// The recorded variables.
    pub variables: Vec<Variable>,
    /// Number of nodes.
    pub nodes: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// `f32` or `f64`.
    pub precision: String,
    /// The integration scheme.
    pub method: String,
    /// Step size, in the model's time unit.
    pub dt: f64,
    /// Recorded steps.
    pub steps: u64,
    /// Steps before the recorded ones.
    pub transient_steps: u64,
    /// Milliseconds of the model's time unit.
    pub ms_per_time_unit: f64,
    /// The conduction speed, unless the sweep changes it.
    pub conduction_speed_mm_per_ms: Option<f64>,
    /// What was not computed.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
    /// Findings that didn't stop the run.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The experiment's text.
    pub experiment: ExperimentText,
    /// Names of the dimensions of every array.
    #[serde(default)]
    pub dimensions: BTreeMap<String, Vec<String>>,
    /// Which arrays say how good a point is.
    #[serde(default)]
    pub scores: Vec<Score>,
}

/// Which points there are.
#[derive(Clone, Debug, Deserialize)]
pub struct Sweep {
    /// Its axes; in a product the last runs fastest.
    pub axes: Vec<SweepAxis>,
    /// One extent an axis of a product, a single one of a zip.
    pub shape: Vec<usize>,
    /// `product` or `zip`.
    pub mode: String,
}

/// What is swept.
#[derive(Clone, Debug, Deserialize)]
pub struct SweepAxis {
    /// Its name as written.
    pub name: String,
    /// The name of the array of its values.
    pub array: String,
    /// Its values.
    pub values: Vec<f64>,
    /// Their unit.
    pub unit: Option<String>,
}

/// A recorded variable.
#[derive(Clone, Debug, Deserialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Option<String>,
}

/// Something that was not computed.
#[derive(Clone, Debug, Deserialize)]
pub struct Skipped {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// The experiment as it was given.
#[derive(Clone, Debug, Deserialize)]
pub struct ExperimentText {
    /// Where it was read.
    pub file: String,
    /// Its hash.
    pub sha256: String,
    /// Its text.
    pub text: String,
}

/// An array of one number a point that says how good the point is.
#[derive(Clone, Debug, Deserialize)]
pub struct Score {
    /// The array.
    pub array: String,
    /// Which way is better.
    pub better: Better,
}

/// Which values of a score are better.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Larger ones.
    Higher,
    /// Smaller ones.
    Lower,
    /// Those nearer to 0.
    Zero,
}

impl Better {
    /// The position of the best finite value; the first, should several be equal.
    pub fn best(self, values: &[f64]) -> Option<usize> {
        let key = |v: f64| match self {
            Self::Higher => -v,
            Self::Lower => v,
            Self::Zero => v.abs(),
        };
        let finite = values.iter().enumerate().filter(|(_, v)| v.is_finite());
        finite.min_by(|a, b| key(*a.1).total_cmp(&key(*b.1))).map(|(at, _)| at)
    }
}

impl Manifest {
    /// What a number of the model's time is counted in.
    pub fn time_unit(&self) -> &'static str {
        match self.ms_per_time_unit {
            1.0 => "ms",
            1000.0 => "s",
            0.001 => "µs",
            _ => "time units",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_finite_and_the_first_of_equals() {
        let values = [f64::NAN, -0.5, 0.2, 0.2, f64::INFINITY, -0.1];
        assert_eq!(Better::Higher.best(&values), Some(2));
        assert_eq!(Better::Lower.best(&values), Some(1));
        assert_eq!(Better::Zero.best(&values), Some(5));
        assert_eq!(Better::Lower.best(&[f64::NAN]), None);
    }
}
