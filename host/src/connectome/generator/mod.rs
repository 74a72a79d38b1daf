//! Random and regular graphs as connectomes.
//!
//! Parameters have the names that networkx gives them. Every connection has weight 1, except in a
//! [`Kind::RandomReservoir`] and a [`Kind::WeightShuffle`]; there are no lengths. The same
//! specification gives the same graph everywhere: random choices come from ChaCha with 12 rounds,
//! keyed with the seed (see [`random`]). The graphs are not those that networkx draws for the same
//! seed.

mod graphs;
mod random;
mod weighted;

use super::error::{ConnectomeError, Place};
use super::raw::{Piece, RawConnectome};
use nalgebra::DMatrix;
use random::Random;
use std::collections::BTreeMap;
use std::str::FromStr;

pub use weighted::WeightDistribution;

/// More nodes than the matrices of a generated graph may have: 8 GiB each.
const MOST_NODES: usize = 1 << 15;

/// A family of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Every pair of `n` nodes is connected with probability `p`. Erdős and Rényi 1959; Gilbert
    /// 1959.
    ErdosRenyi,
    /// `n` nodes, each connected to `m` earlier ones in proportion to their degree, from a star of
    /// m + 1. Barabási and Albert 1999.
    BarabasiAlbert,
    /// A ring of `n` nodes with `k` neighbours each, every edge rewired with probability `p`. Watts
    /// and Strogatz 1998.
    WattsStrogatz,
    /// All pairs of `n` nodes.
    Complete,
    /// A ring of `n` nodes.
    Cycle,
    /// Node 0 with the `n` − 1 others.
    Star,
    /// `n` nodes that all have `d` (or `k`) neighbours. Steger and Wormald 1999.
    RandomRegular,
    /// `m` rows of `n` nodes with their neighbours; `periodic: 1` closes it to a torus.
    Grid,
    /// The random network of an echo state network: `n` nodes, entries different from 0 with
    /// probability `sparsity` (0.1), scaled to `spectral_radius` (0.95). Jaeger 2001.
    RandomReservoir,
    /// The weights of another connectome, shuffled over its connections.
    WeightShuffle,
}

impl Kind {
    /// All kinds with their names in an experiment.
    pub const ALL: &[(&str, Kind)] = &[
        ("ErdosRenyi", Kind::ErdosRenyi),
        ("BarabasiAlbert", Kind::BarabasiAlbert),
        ("WattsStrogatz", Kind::WattsStrogatz),
        ("Complete", Kind::Complete),
        ("Cycle", Kind::Cycle),
        ("Star", Kind::Star),
        ("RandomRegular", Kind::RandomRegular),
        ("Grid", Kind::Grid),
        ("RandomReservoir", Kind::RandomReservoir),
        ("WeightShuffle", Kind::WeightShuffle),
    ];

    /// The name in an experiment.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Names of the parameters: each a list of spellings.
    fn parameters(self) -> &'static [&'static [&'static str]] {
        match self {
            Kind::ErdosRenyi => &[NODES, PROBABILITY],
            Kind::BarabasiAlbert => &[NODES, &["m", "k"]],
            Kind::WattsStrogatz => &[NODES, &["k"], PROBABILITY],
            Kind::Complete | Kind::Cycle | Kind::Star => &[NODES],
            Kind::RandomRegular => &[NODES, DEGREE],
            Kind::Grid => &[ROWS, COLUMNS, &["periodic"]],
            Kind::RandomReservoir => {
                &[NODES, &["sparsity"], &["spectral_radius"], &["weight_distribution"]]
            }
            Kind::WeightShuffle => &[&["source"], &["preserve"]],
        }
    }

    /// Whether the kind has graphs whose connections have a direction.
    fn can_be_directed(self) -> bool {
        !matches!(self, Kind::BarabasiAlbert | Kind::WattsStrogatz | Kind::RandomRegular)
    }
}

const NODES: &[&str] = &["n", "n_nodes", "number_of_nodes"];
const PROBABILITY: &[&str] = &["p", "probability"];
const DEGREE: &[&str] = &["d", "k", "degree"];
const ROWS: &[&str] = &["m", "rows"];
const COLUMNS: &[&str] = &["n", "columns"];

impl FromStr for Kind {
    type Err = ConnectomeError;

    fn from_str(name: &str) -> Result<Self, ConnectomeError> {
        let found = Self::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|&(_, kind)| kind).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(known, _)| *known).collect();
            ConnectomeError::Generator {
                generator: name.to_string(),
                problem: "no such kind of graph".into(),
                help: format!("give one of {}", names.join(", ")),
            }
        })
    }
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// A number; truth values are 0 and 1.
    Number(f64),
    /// A word.
    Text(String),
    /// A distribution of weights.
    Distribution(WeightDistribution),
}

/// What to generate.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorSpec {
    /// The family.
    pub kind: Kind,
    /// The seed of all random choices.
    pub seed: u64,
    /// Whether connections have a direction; else every one is there both ways.
    pub directed: bool,
    /// Parameters by name.
    pub parameters: BTreeMap<String, Parameter>,
    /// The weights that [`Kind::WeightShuffle`] shuffles.
    pub source: Option<DMatrix<f64>>,
}

impl GeneratorSpec {
    /// A specification with seed 0, undirected, with these numbers as parameters.
    pub fn new(kind: Kind, parameters: &[(&str, f64)]) -> Self {
        let parameters = parameters
            .iter()
            .map(|&(name, value)| (name.to_string(), Parameter::Number(value)))
            .collect();
        Self { kind, seed: 0, directed: false, parameters, source: None }
    }

    fn error(&self, problem: impl Into<String>, help: impl Into<String>) -> ConnectomeError {
        ConnectomeError::Generator {
            generator: self.kind.name().to_string(),
            problem: problem.into(),
            help: help.into(),
        }
    }

    /// The parameter under the first of its spellings that is there.
    fn find(&self, spellings: &[&str]) -> Option<&Parameter> {
        spellings.iter().find_map(|&name| self.parameters.get(name))
    }

    /// A number that must be there and be in a range.
    fn number(
        &self,
        spellings: &[&str],
        range: std::ops::RangeInclusive<f64>,
    ) -> Result<f64, ConnectomeError> {
        let name = spellings[0];
        let (low, high) = (range.start(), range.end());
        match self.find(spellings) {
            Some(Parameter::Number(value)) if range.contains(value) => Ok(*value),
            Some(value) => {
                let value = match value {
                    Parameter::Number(number) => number.to_string(),
                    Parameter::Text(text) => format!("`{text}`"),
                    Parameter::Distribution(_) => "a distribution".to_string(),
                };
                let problem = format!("parameter `{name}` is {value}");
                Err(self.error(problem, format!("give a number from {low} to {high}")))
            }
            None => Err(self.error(
                format!("parameter `{name}` is missing"),
                format!("give `{name}`: a number from {low} to {high}"),
            )),
        }
    }

    /// A whole number that must be there and be in a range.
    fn count(
        &self,
        spellings: &[&str],
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, ConnectomeError> {
        let value = self.number(spellings, *range.start() as f64..=*range.end() as f64)?;
        if value.fract() == 0.0 {
            return Ok(value as usize);
        }
        let problem = format!("parameter `{}` is {value}", spellings[0]);
        Err(self.error(problem, "give a whole number"))
    }
}

/// Generates a graph.
///
/// # Errors
/// A parameter that is missing, unknown or out of its range, and `directed` for a kind that has no
/// directed graphs.
pub fn generate(spec: &GeneratorSpec) -> Result<RawConnectome, ConnectomeError> {
    let known = spec.kind.parameters();
    if let Some(name) = spec.parameters.keys().find(|n| !known.concat().contains(&n.as_str())) {
        let names: Vec<&str> = known.iter().map(|spellings| spellings[0]).collect();
        let help = format!("it has {}", names.join(", "));
        return Err(spec.error(format!("no parameter `{name}`"), help));
    }
    if spec.directed && !spec.kind.can_be_directed() {
        return Err(spec.error("it has no directed form", "leave out `directed`"));
    }
    let mut random = Random::new(spec.seed);
    let weights = match spec.kind {
        Kind::RandomReservoir => weighted::reservoir(spec, &mut random)?,
        Kind::WeightShuffle => weighted::shuffle(spec, &mut random)?,
        Kind::ErdosRenyi => graphs::erdos_renyi(spec, &mut random)?.into_weights(),
        Kind::BarabasiAlbert => graphs::barabasi_albert(spec, &mut random)?.into_weights(),
        Kind::WattsStrogatz => graphs::watts_strogatz(spec, &mut random)?.into_weights(),
        Kind::RandomRegular => graphs::random_regular(spec, &mut random)?.into_weights(),
        Kind::Complete => graphs::complete(spec)?.into_weights(),
        Kind::Cycle => graphs::cycle(spec)?.into_weights(),
        Kind::Star => graphs::star(spec)?.into_weights(),
        Kind::Grid => graphs::grid(spec)?.into_weights(),
    };
    let place = Place::file(format!("graph generator {}", spec.kind.name()));
    Ok(RawConnectome::from_weights(Piece::new(weights, place)))
}

fn nodes(spec: &GeneratorSpec) -> Result<usize, ConnectomeError> {
    spec.count(NODES, 1..=MOST_NODES)
}

#[cfg(test)]
mod tests;
