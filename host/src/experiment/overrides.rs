//! What a caller changes in an experiment before it is resolved to the end.

use super::resolve::{lin_space, log_space};
use super::{Compat, Method, Normals, ObserveSpec, Precision, SweepMode};
use std::path::PathBuf;
use std::str::FromStr;

/// Changes from outside the file, a command line for example.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// Values of parameters by name, as sweep axes name them.
    pub set: Vec<(String, f64)>,
    /// Further sweep axes; one over what an axis of the file sets takes its place.
    pub axes: Vec<AxisSpec>,
    /// Whether `axes` are the whole sweep, so that those of the file are left out.
    pub replace_sweep: bool,
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
    /// Which normals the noise is made of.
    pub normals: Option<Normals>,
    /// The rules of another program; what is given beside them wins.
    pub compat: Option<Compat>,
}

impl Overrides {
    /// Every change in words: as on the command line where it has an option for it, and as
    /// `field = value` where only the library can make it.
    pub fn changes(&self) -> Vec<String> {
        let mut changes = Vec::new();
        let mut number = |option: &str, value: Option<f64>| {
            changes.extend(value.map(|value| format!("--{option} {value}")));
        };
        number("dt", self.dt);
        if self.steps.is_none() {
            number("duration", self.duration);
        }
        number("speed", self.conduction_speed);
        number("coupling", self.global_coupling);
        changes.extend(self.steps.map(|steps| format!("--n-steps {steps}")));
        changes.extend(self.set.iter().map(|(name, value)| format!("--set {name}={value}")));
        changes.extend(self.axes.iter().map(|axis| format!("--sweep {axis}")));
        changes.extend(self.seed.map(|seed| format!("--seed {seed}")));
        changes.extend(self.precision.map(|precision| match precision {
            Precision::F32 => "--precision f32".to_owned(),
            Precision::F64 => "--precision f64".to_owned(),
        }));
        changes.extend(self.normals.map(|normals| format!("--normal {}", normals.name())));
        changes.extend(self.compat.map(|compat| format!("--compat {}", compat.name())));
        let observe: Vec<String> = self.observe.iter().map(ToString::to_string).collect();
        changes.extend((!observe.is_empty()).then(|| format!("--observe {}", observe.join(","))));
        let files =
            [("empirical-fc", &self.empirical_fc), ("empirical-bold", &self.empirical_bold)];
        for (option, file) in files {
            changes.extend(file.as_ref().map(|file| format!("--{option} {}", file.display())));
        }
        changes.extend(self.trials.map(|trials| format!("--trials {trials}")));
        changes.extend(self.mode.map(|mode| format!("mode = {mode:?}")));
        changes.extend(self.method.map(|method| format!("method = {method:?}")));
        changes.extend(self.transient.map(|transient| format!("transient = {transient}")));
        changes
    }
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

impl std::fmt::Display for AxisSpec {
    /// What [`AxisSpec::from_str`] reads back: `NAME=LO:HI:N` where that gives these values.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, values } = self;
        if let [lo, _, .., hi] = values[..] {
            let n = values.len();
            if *values == lin_space(lo, hi, n) {
                return write!(f, "{name}={lo}:{hi}:{n}");
            }
            if lo > 0.0 && hi > 0.0 && *values == log_space(lo, hi, n) {
                return write!(f, "{name}={lo}:{hi}:{n}:log");
            }
        }
        let list: Vec<String> = values.iter().map(f64::to_string).collect();
        write!(f, "{name}={}", list.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_written_as_they_are_read() {
        for text in ["c.G=0:1:7", "G=1,2,5", "G=7", "a.b=0.01:10:9:log", "G=1:0.1:4", "G=3,3"] {
            let axis: AxisSpec = text.parse().unwrap();
            assert_eq!(axis.to_string(), text);
        }
        let axis = AxisSpec { name: "G".into(), values: vec![0.1, 0.2, 0.4] };
        assert_eq!(axis.to_string().parse::<AxisSpec>().unwrap(), axis);
    }

    #[test]
    fn changes_are_those_of_the_command_line() {
        let changes = Overrides {
            set: vec![("c.G".into(), 0.5)],
            axes: vec!["a=0:1:5".parse().unwrap()],
            dt: Some(0.05),
            steps: Some(100),
            // `--n-steps` wins, and the two can't be given together.
            duration: Some(3.0),
            normals: Some(Normals::Curand),
            method: Some(Method::Rk4),
            ..Overrides::default()
        };
        let expected = [
            "--dt 0.05",
            "--n-steps 100",
            "--set c.G=0.5",
            "--sweep a=0:1:5",
            "--normal curand",
            "method = Rk4",
        ];
        assert_eq!(changes.changes(), expected);
        assert!(Overrides::default().changes().is_empty());
    }

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
