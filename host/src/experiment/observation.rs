//! What is observed, as data.

/// Constants of the Balloon–Windkessel model (Friston et al. 2003, doi:10.1016/S1053-8119(03)00202-7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BalloonWindkessel {
    /// Resting oxygen extraction fraction, ρ.
    pub rho: f64,
    /// Grubb's exponent, α.
    pub alpha: f64,
    /// Transit time τ, s.
    pub tau: f64,
    /// Rate of signal decay κ, 1/s.
    pub kappa: f64,
    /// Rate of flow-dependent elimination γ, 1/s.
    pub gamma: f64,
    /// Resting blood volume fraction, V0.
    pub v0: f64,
    /// Intravascular coefficient.
    pub k1: f64,
    /// Concentration coefficient.
    pub k2: f64,
    /// Extravascular coefficient.
    pub k3: f64,
}

impl Default for BalloonWindkessel {
    /// The set of Friston et al. 2003: ρ 0.34, α 0.32, τ 0.98 s, κ 0.65/s, γ 0.41/s, V0 0.02,
    /// k1 = 7ρ, k2 = 2, k3 = 2ρ − 0.2.
    fn default() -> Self {
        let rho = 0.34;
        Self {
            rho,
            alpha: 0.32,
            tau: 0.98,
            kappa: 0.65,
            gamma: 0.41,
            v0: 0.02,
            k1: 7.0 * rho,
            k2: 2.0,
            k3: 2.0 * rho - 0.2,
        }
    }
}

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
    /// Haemodynamic response to the first source.
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
