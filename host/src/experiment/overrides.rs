//! What a caller changes in an experiment before it is resolved to the end.

use super::resolve::{lin_space, log_space};
use super::{Method, ObserveSpec, Precision, SweepMode};
use std::path::PathBuf;
use std::str::FromStr;

/// Changes from outside the file, a command line for example.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// Values of parameters by name, as sweep axes name them.
    pub set: Vec<(String, f64)>,
    /// Further sweep axes; one over what an axis of the file sets takes its place.
    pub axes: Vec<AxisSpec>,
    /// How all axes combine.
    pub mode: Option<SweepMode>,
    /// Integration scheme; a discrete system stays one.
    pub method: Option<Method>,
    /// Step in the model's own time unit.
    pub dt: Option<f64>,
    /// Recorded steps; wins over `duration`.
    pub steps: Option<u64>,
    /// Recorded time in the model's own unit.
    pub duration: Option<f64>,
    /// Time before recording starts, in the model's own unit.
    pub transient: Option<f64>,
    /// Conduction speed in mm/ms.
    pub conduction_speed: Option<f64>,
    /// Factor on the input of every coupling; adds the parameter `global_coupling`.
    pub global_coupling: Option<f64>,
    /// Seed of all random numbers.
    pub seed: Option<u64>,
    /// Word length.
    pub precision: Option<Precision>,
    /// What the results hold beside the means over time: these observations and no others; all of
    /// the experiment's if empty.
    pub observe: Vec<ObserveSpec>,
    /// A file of empirical functional connectivity `[node, node]`; it is used in place of the
    /// experiment's own. Relative paths start from the working folder.
    pub empirical_fc: Option<PathBuf>,
    /// A file of empirical BOLD `[sample, node]`.
    pub empirical_bold: Option<PathBuf>,
    /// How often each point of the sweep is repeated with other random numbers.
    pub trials: Option<u64>,
}

/// A sweep axis from outside the file.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisSpec {
    /// What it sets.
    pub name: String,
    /// Its values.
    pub values: Vec<f64>,
}

/// Values of an axis, at most.
const MOST_VALUES: usize = 1 << 24;

/// An axis or a value that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AxisSpecError {
    /// No `=`.
    #[error("`{0}` is not NAME=LO:HI:N or NAME=V1,V2,…")]
    Form(String),
    /// Something that isn't a number.
    #[error("`{text}` in `{spec}` is not a number")]
    NotANumber {
        /// The whole text.
        spec: String,
        /// The part.
        text: String,
    },
    /// More values than points can be numbered.
    #[error("`{0}` has too many values: at most 2^24 are possible")]
    TooMany(String),
    /// A logarithmic axis that reaches 0.
    #[error("`{0}` is logarithmic and must stay above 0")]
    NotPositive(String),
}

impl FromStr for AxisSpec {
    type Err = AxisSpecError;

    /// `G=0:1:5` for five values from 0 to 1, `G=0.01:1:5:log` in equal ratios, `G=0,0.5,2` for a
    /// list.
    fn from_str(spec: &str) -> Result<Self, AxisSpecError> {
        let form = || AxisSpecError::Form(spec.to_owned());
        let number = |text: &str| -> Result<f64, AxisSpecError> {
            let wrong =
                || AxisSpecError::NotANumber { spec: spec.to_owned(), text: text.to_owned() };
            let value: f64 = text.trim().parse().map_err(|_| wrong())?;
            if value.is_finite() { Ok(value) } else { Err(wrong()) }
        };
        let (name, rest) = spec.split_once('=').ok_or_else(form)?;
        let name = name.trim();
        if name.is_empty() {
            return Err(form());
        }
        let parts: Vec<&str> = rest.split(':').collect();
        let values = match parts[..] {
            [list] => list.split(',').map(number).collect::<Result<_, _>>()?,
            [lo, hi, n] | [lo, hi, n, "lin"] | [lo, hi, n, "log"] => {
                let (lo, hi) = (number(lo)?, number(hi)?);
                let n = n.trim().parse().map_err(|_| AxisSpecError::NotANumber {
                    spec: spec.to_owned(),
                    text: n.to_owned(),
                })?;
                if n > MOST_VALUES {
                    return Err(AxisSpecError::TooMany(spec.to_owned()));
                }
                match parts.get(3) {
                    Some(&"log") if lo <= 0.0 || hi <= 0.0 => {
                        return Err(AxisSpecError::NotPositive(spec.to_owned()));
                    }
                    Some(&"log") => log_space(lo, hi, n),
                    _ => lin_space(lo, hi, n),
                }
            }
            _ => return Err(form()),
        };
        Ok(Self { name: name.to_owned(), values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_read() {
        let axis = |text: &str| text.parse::<AxisSpec>().unwrap();
        assert_eq!(axis("c.G=0:1:3").values, [0.0, 0.5, 1.0]);
        assert_eq!(axis("G=1,2,5").values, [1.0, 2.0, 5.0]);
        assert_eq!(axis("G=7").values, [7.0]);
        assert_eq!(axis(" a.b = 1:100:3:log").name, "a.b");
        assert_eq!(axis("a=1:100:3:log").values[2], 100.0);
    }

    #[test]
    fn what_is_no_axis() {
        for (text, message) in [
            ("G", "not NAME="),
            ("=1", "not NAME="),
            ("G=a", "`a` in `G=a`"),
            ("G=0:1:x", "`x`"),
            ("G=0:1", "not NAME="),
            ("G=0:1:3:log", "above 0"),
            ("G=nan", "`nan`"),
            ("G=0:1:99999999999", "too many"),
        ] {
            let error = text.parse::<AxisSpec>().unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
