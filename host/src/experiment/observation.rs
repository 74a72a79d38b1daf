//! What is observed, as data.

pub use crate::analysis::{FirstOrderVolterra, SynchronyMeasure, Windows};
pub use kernels_gpu::bold::BalloonWindkessel;

use nalgebra::DMatrix;
use std::sync::Arc;

/// The kinds of observation.
#[derive(Clone, Debug, PartialEq)]
pub enum ObservationKind {
    /// Every step.
    Raw,
    /// Every period's last step.
    SubSample,
    /// The mean over each period.
    TemporalAverage,
    /// The mean over nodes, every period's last step.
    GlobalAverage,
    /// Weighted sums over nodes: spatial averages and sensors.
    Projection(Arc<Projection>),
    /// Haemodynamic response to each source.
    Bold(BalloonWindkessel),
    /// Haemodynamic response to each source by convolution with a kernel.
    VolterraBold(FirstOrderVolterra),
    /// The mean over the recorded time.
    Mean,
    /// The variance over the recorded time.
    Variance,
    /// The standard deviation over the recorded time.
    StandardDeviation,
    /// Pearson correlation between nodes of another observation, or of the recorded time.
    FunctionalConnectivity,
    /// Correlation between the functional connectivities of sliding windows; by default windows of a
    /// minute that move by two seconds.
    DynamicConnectivity(Option<Windows>),
    /// Welch's spectral density, in segments of so many samples.
    Spectrum(Option<u64>),
    /// The frequency of the largest peak of Welch's spectrum, in segments of so many samples.
    PeakFrequency(Option<u64>),
    /// How far nodes oscillate together.
    Synchrony(SynchronyMeasure, PhaseSource),
    /// Likeness to measured data.
    Score(Score),
}

impl ObservationKind {
    /// Whether it is one result a point, and not a time course.
    pub fn is_statistic(&self) -> bool {
        !matches!(
            self,
            Self::Raw
                | Self::SubSample
                | Self::TemporalAverage
                | Self::GlobalAverage
                | Self::Projection(_)
                | Self::Bold(_)
                | Self::VolterraBold(_)
        )
    }

    /// Whether it is a BOLD signal.
    pub fn is_bold(&self) -> bool {
        matches!(self, Self::Bold(_) | Self::VolterraBold(_))
    }

    /// A name for the kind, which `--observe` and the spelling of observations know too.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::SubSample => "subsample",
            Self::TemporalAverage => "temporal_average",
            Self::GlobalAverage => "global_average",
            Self::Projection(projection) => match projection.onto {
                Target::Regions => "spatial_average",
                Target::Sensors => "sensors",
            },
            Self::Bold(_) => "bold",
            Self::VolterraBold(_) => "volterra_bold",
            Self::Mean => "mean",
            Self::Variance => "variance",
            Self::StandardDeviation => "std",
            Self::FunctionalConnectivity => "fc",
            Self::DynamicConnectivity(_) => "fcd",
            Self::Spectrum(_) => "spectrum",
            Self::PeakFrequency(_) => "peak_frequency",
            Self::Synchrony(measure, _) => match measure {
                SynchronyMeasure::OrderParameter => "order_parameter",
                SynchronyMeasure::MeanOrderParameter => "mean_order_parameter",
                SynchronyMeasure::Metastability => "metastability",
                SynchronyMeasure::PhaseCoherence => "phase_coherence",
            },
            Self::Score(score) => score.name(),
        }
    }
}

/// What a projection leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Groups of nodes; each value is a mean over a group, at the last step of each period.
    Regions,
    /// Sensors of EEG, MEG or intracranial EEG; each value is a sum over all nodes by the lead field,
    /// of the mean over each period.
    Sensors,
}

/// Weighted sums over nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// What the rows of the matrix are.
    pub onto: Target,
    /// One label a row.
    pub labels: Vec<String>,
    /// Weights `[region or sensor, node]`.
    pub matrix: DMatrix<f64>,
}

/// Where phases come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhaseSource {
    /// A variable in radians, or one that is wrapped, is a phase; others are transformed.
    #[default]
    Unit,
    /// The variable is a phase in radians.
    Variable,
    /// The Hilbert transform of the variable.
    Hilbert,
}

/// A comparison with measured data, over the entries above the diagonal of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Pearson correlation with the empirical functional connectivity.
    FcCorrelation,
    /// Root mean squared difference to the empirical functional connectivity.
    FcRmse,
    /// Mean of the functional connectivity less that of the empirical one.
    MeanFcDifference,
    /// Kolmogorov–Smirnov distance to the functional connectivity dynamics of the empirical BOLD.
    FcdKs,
}

/// Which values of a score are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The higher, the better.
    Higher,
    /// The lower, the better.
    Lower,
    /// The nearer to 0, the better.
    NearZero,
}

impl Better {
    /// A number that is larger for a better value.
    pub fn merit(self, value: f64) -> f64 {
        match self {
            Self::Higher => value,
            Self::Lower => -value,
            Self::NearZero => -value.abs(),
        }
    }

    /// The word for it in the manifest of a result.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::NearZero => "zero",
        }
    }
}

impl Score {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::FcCorrelation, Self::FcRmse, Self::MeanFcDifference, Self::FcdKs];

    /// Its name, which is that of its array.
    pub fn name(self) -> &'static str {
        match self {
            Self::FcCorrelation => "fc_correlation",
            Self::FcRmse => "fc_rmse",
            Self::MeanFcDifference => "mean_fc_difference",
            Self::FcdKs => "fcd_ks",
        }
    }

    /// Which values are better.
    pub fn better(self) -> Better {
        match self {
            Self::FcCorrelation => Better::Higher,
            Self::FcRmse | Self::FcdKs => Better::Lower,
            Self::MeanFcDifference => Better::NearZero,
        }
    }
}

/// One observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ObservationKind,
    /// Names of recorded variables or other observations that it reads.
    pub sources: Vec<String>,
    /// Its period in the model's own time unit; none for every step or for the whole run.
    pub period: Option<f64>,
    /// Samples dropped from the start.
    pub skip: usize,
    /// Whether the results hold it; false for one that only others read.
    pub stored: bool,
}

/// Measured data that results are compared with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Empirical {
    /// Functional connectivity `[node, node]`, symmetric.
    pub fc: Option<DMatrix<f64>>,
    /// BOLD `[sample, node]`.
    pub bold: Option<DMatrix<f64>>,
}

/// Constants of the Balloon–Windkessel model as published, by name:
///
/// - `friston2003`, the default: Friston, Harrison & Penny (2003), NeuroImage 19, 1273,
///   doi:10.1016/S1053-8119(03)00202-7, with the signal of Buxton et al. (1998);
/// - `spm12`: the prior means of the haemodynamic model of DCM in SPM12 (`spm_fx_fmri`,
///   `spm_gx_fmri`), with the coefficients that Stephan et al. (2007), NeuroImage 38, 387,
///   doi:10.1016/j.neuroimage.2007.07.040, give for 1.5 T and an echo time of 40 ms.
pub fn balloon_windkessel(name: &str) -> Option<BalloonWindkessel> {
    match name {
        "friston2003" => Some(BalloonWindkessel::default()),
        "spm12" => {
            // Frequency offset ϑ0 (1/s), slope r0 (1/s), echo time (s), ratio ε of the signals.
            let (theta0, r0, te, epsilon) = (40.3, 25.0, 0.04, 1.0);
            let rho = 0.4;
            Some(BalloonWindkessel {
                rho,
                alpha: 0.32,
                tau: 2.0,
                kappa: 0.64,
                gamma: 0.32,
                v0: 0.04,
                k1: 4.3 * theta0 * rho * te,
                k2: epsilon * r0 * rho * te,
                k3: 1.0 - epsilon,
            })
        }
        _ => None,
    }
}

/// The names that [`balloon_windkessel`] knows.
pub const BALLOON_WINDKESSEL_SETS: &[&str] = &["friston2003", "spm12"];
