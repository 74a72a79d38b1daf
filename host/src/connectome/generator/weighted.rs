//! Graphs with weights of their own.

use super::random::Random;
use super::{ConnectomeError, GeneratorSpec, Parameter, nodes};
use nalgebra::DMatrix;

/// The distribution of a reservoir's weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WeightDistribution {
    /// Normal with a mean and a standard deviation.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        std: f64,
    },
    /// Uniform between two ends.
    Uniform {
        /// Lower end.
        lo: f64,
        /// Upper end, not included.
        hi: f64,
    },
    /// The exponential of a normal number.
    LogNormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

impl WeightDistribution {
    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Normal { mean, std } => mean + std * random.normal(),
            Self::Uniform { lo, hi } => lo + (hi - lo) * random.uniform(),
            Self::LogNormal { mu, sigma } => (mu + sigma * random.normal()).exp(),
        }
    }
}

/// A reservoir; nodes may be connected to themselves.
pub(super) fn reservoir(
    spec: &GeneratorSpec,
    random: &mut Random,
) -> Result<DMatrix<f64>, ConnectomeError> {
    let n = nodes(spec)?;
    let or = |name: &'static str, most: f64, default: f64| match spec.find(&[name]) {
        None => Ok(default),
        Some(_) => spec.number(&[name], 0.0..=most),
    };
    let sparsity = or("sparsity", 1.0, 0.1)?;
    let spectral_radius = or("spectral_radius", f64::MAX, 0.95)?;
    let distribution = match spec.find(&["weight_distribution"]) {
        None => WeightDistribution::Normal { mean: 0.0, std: 1.0 },
        Some(Parameter::Distribution(distribution)) => *distribution,
        Some(_) => {
            let help = "give a Normal, Uniform or LogNormal distribution";
            return Err(spec.error("`weight_distribution` is not a distribution", help));
        }
    };
    let mut weights = DMatrix::zeros(n, n);
    for target in 0..n {
        for source in 0..n {
            if random.uniform() < sparsity {
                weights[(target, source)] = distribution.draw(random);
            }
        }
    }
    let radius = radius_of(&weights).ok_or_else(|| {
        spec.error("its eigenvalues can't be found", "choose another seed or distribution")
    })?;
    if radius < 1e-12 {
        return Err(spec.error(
            "its spectral radius is 0, so it can't be scaled",
            "make the network larger or less sparse, or choose another seed",
        ));
    }
    Ok(weights * (spectral_radius / radius))
}

/// The largest absolute value of an eigenvalue.
fn radius_of(weights: &DMatrix<f64>) -> Option<f64> {
    if weights.iter().any(|w| !w.is_finite()) {
        return None;
    }
    let rounds = 100 * weights.nrows().max(10);
    let schur = nalgebra::Schur::try_new(weights.clone(), f64::EPSILON, rounds)?;
    Some(schur.complex_eigenvalues().iter().map(|z| z.re.hypot(z.im)).fold(0.0, f64::max))
}

/// Permutes the entries that aren't 0; which those are stays the same.
pub(super) fn shuffle(
    spec: &GeneratorSpec,
    random: &mut Random,
) -> Result<DMatrix<f64>, ConnectomeError> {
    match spec.find(&["preserve"]) {
        None => {}
        Some(Parameter::Text(what)) if what == "binary_mask" => {}
        Some(_) => {
            let help = "leave `preserve` out, or give binary_mask";
            return Err(spec.error("only `binary_mask` can be preserved", help));
        }
    }
    let Some(source) = &spec.source else {
        return Err(spec.error("parameter `source` is missing", "name the connectome to shuffle"));
    };
    let mut weights = source.clone();
    // Row by row, as a reader of the matrix would number them.
    let places: Vec<(usize, usize)> = (0..source.nrows())
        .flat_map(|target| (0..source.ncols()).map(move |sender| (target, sender)))
        .filter(|&at| source[at] != 0.0)
        .collect();
    let mut values: Vec<f64> = places.iter().map(|&at| source[at]).collect();
    random.shuffle(&mut values);
    for (at, value) in places.into_iter().zip(values) {
        weights[at] = value;
    }
    Ok(weights)
}
