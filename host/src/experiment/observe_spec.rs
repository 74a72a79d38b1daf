//! Which observations a caller wants.

use std::str::FromStr;

/// An observation that a caller asks for: one of the experiment's by name, or one of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct ObserveSpec {
    /// Name of an observation, or of a kind.
    pub name: String,
    /// What it reads; by the kind's own rule where none is given.
    pub source: Option<String>,
    /// Its period in the model's time unit; for `fcd` the length and step of the windows, for
    /// `spectrum` and `peak_frequency` the length of segments, in samples.
    pub numbers: Vec<f64>,
}

/// A request that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObserveSpecError {
    /// Nothing before the first `:`.
    #[error("`{0}` is not NAME, NAME:SOURCE or NAME:SOURCE:NUMBER; for example fc, bold:S_e:1000")]
    Form(String),
    /// A number that can't be one.
    #[error("`{number}` in `{spec}` must be positive")]
    NotPositive {
        /// The whole text.
        spec: String,
        /// The part.
        number: String,
    },
}

impl FromStr for ObserveSpec {
    type Err = ObserveSpecError;

    /// `fc`, `bold:S_e`, `bold:S_e:1000`, `fcd:60:2`, `spectrum:y0:512`.
    fn from_str(spec: &str) -> Result<Self, ObserveSpecError> {
        let form = || ObserveSpecError::Form(spec.to_owned());
        let mut parts = spec.split(':').map(str::trim).peekable();
        let name = parts.next().filter(|n| !n.is_empty()).ok_or_else(form)?.to_owned();
        let source = parts.next_if(|p| p.parse::<f64>().is_err()).map(str::to_owned);
        if source.as_deref() == Some("") {
            return Err(form());
        }
        let mut numbers = Vec::new();
        for part in parts {
            let number: f64 = part.parse().map_err(|_| form())?;
            if !(number > 0.0 && number.is_finite()) {
                let (spec, number) = (spec.to_owned(), part.to_owned());
                return Err(ObserveSpecError::NotPositive { spec, number });
            }
            numbers.push(number);
        }
        if numbers.len() > 2 { Err(form()) } else { Ok(Self { name, source, numbers }) }
    }
}

impl std::fmt::Display for ObserveSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        if let Some(source) = &self.source {
            write!(f, ":{source}")?;
        }
        self.numbers.iter().try_for_each(|number| write!(f, ":{number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let read = |text: &str| text.parse::<ObserveSpec>().unwrap();
        let spec = |name: &str, source: Option<&str>, numbers: &[f64]| ObserveSpec {
            name: name.to_owned(),
            source: source.map(str::to_owned),
            numbers: numbers.to_vec(),
        };
        assert_eq!(read("fc"), spec("fc", None, &[]));
        assert_eq!(read("bold:S_e:1000"), spec("bold", Some("S_e"), &[1000.0]));
        assert_eq!(read("fcd:60:2"), spec("fcd", None, &[60.0, 2.0]));
        assert_eq!(read(" fc : bold "), spec("fc", Some("bold"), &[]));
        for text in ["fc", "bold:S_e:1000", "fcd:60:2", "a:b:0.5"] {
            assert_eq!(read(text).to_string(), text);
        }
        for bad in ["", ":S", "fc:", "fc:a:b", "bold:S:0", "bold:S:-1", "bold:inf", "a:1:2:3"] {
            assert!(bad.parse::<ObserveSpec>().is_err(), "{bad}");
        }
    }
}
