//! What people look at: statistics of time courses and scores against measured data.
//!
//! Everything here is plain arithmetic in 64 bits on rows `[channel]` in the order of time, of any
//! origin: it has never heard of models, sweeps or devices. What can stream does: an
//! [`Accumulator`] takes rows one at a time, and its result depends on the rows alone, not on the
//! pieces in which they arrive. Nothing has a value where it has no meaning: the correlation of a
//! constant, the spectrum of nothing are NaN.
//!
//! | file | what | equals |
//! |---|---|---|
//! | `moments` | mean, variance, standard deviation | `numpy.mean`, `var`, `std` |
//! | `correlation` | functional connectivity (FC): Pearson correlation of all pairs | `numpy.corrcoef` |
//! | `dynamic_connectivity` | functional connectivity dynamics (FCD) | Hansen et al. (2015) |
//! | `spectrum` | Welch's spectral density and its peak | `scipy.signal.welch` |
//! | `phase` | instantaneous phase by the Hilbert transform | `scipy.signal.hilbert` |
//! | `synchrony` | Kuramoto order parameter, metastability, phase coherence | |
//! | `kolmogorov_smirnov` | distance of two samples | `scipy.stats.ks_2samp` |
//! | `comparison` | upper triangles of matrices: correlation, RMSE, difference of means | |
//! | `haemodynamic_response` | BOLD by convolution with a first-order Volterra kernel | tvb-library |

mod comparison;
mod correlation;
mod dynamic_connectivity;
mod haemodynamic_response;
mod kolmogorov_smirnov;
mod moments;
mod phase;
mod spectrum;
mod synchrony;

pub use comparison::{mean_difference, pearson, root_mean_square_error, upper_triangle};
pub use correlation::Correlation;
pub use dynamic_connectivity::{DynamicConnectivity, Windows};
pub use haemodynamic_response::{FirstOrderVolterra, VolterraFilter};
pub use kolmogorov_smirnov::{kolmogorov_smirnov, sorted};
pub use moments::Moments;
pub use phase::analytic_phase;
pub use spectrum::{Peak, Spectrum, Welch};
pub use synchrony::{Synchrony, SynchronyMeasure};

pub(crate) use correlation::BLOCK;

/// Takes rows in the order of time.
pub trait Accumulator: Send {
    /// One row, a value a channel; the same number of channels each time.
    fn take(&mut self, row: &[f64]);
    /// The result, NaN where there is none. Nothing may be taken afterwards.
    fn finish(&mut self) -> Vec<f64>;
}

/// Which channels have shown more than one value: a constant one has no correlation and no spectrum,
/// and rounding must not give it one.
#[derive(Clone, Debug)]
struct Variation {
    first: Vec<f64>,
    varies: Vec<bool>,
}

impl Variation {
    fn new(channels: usize) -> Self {
        Self { first: Vec::new(), varies: vec![false; channels] }
    }

    fn take(&mut self, row: &[f64]) {
        if self.first.is_empty() {
            self.first.extend_from_slice(row);
        }
        for ((varies, first), x) in self.varies.iter_mut().zip(&self.first).zip(row) {
            *varies |= first != x;
        }
    }
}
