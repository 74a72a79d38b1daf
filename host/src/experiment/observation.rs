//! What is observed, as data.

pub use kernels_gpu::bold::BalloonWindkessel;

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
    /// Haemodynamic response to each source.
    Bold(BalloonWindkessel),
    /// The mean over the recorded time.
    Mean,
    /// The standard deviation over the recorded time.
    StandardDeviation,
    /// Pearson correlation between nodes of another observation, or of the recorded time.
    FunctionalConnectivity,
    /// The frequency of the largest peak of Welch's spectrum.
    PeakFrequency,
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
}
