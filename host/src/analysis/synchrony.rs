//! How far nodes oscillate together.

use super::{Accumulator, Moments, analytic_phase};
use kernels_gpu::math;

/// What is said about the phases of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynchronyMeasure {
    /// Kuramoto's order parameter `R(t) = |mean over nodes of exp(iθ)|` of every row.
    OrderParameter,
    /// Its mean over time.
    MeanOrderParameter,
    /// Its standard deviation over time (Shanahan 2010, Chaos 20, 013108, doi:10.1063/1.3305451,
    /// as whole-brain models use it: Cabral et al. 2011, doi:10.1016/j.neuroimage.2011.04.010).
    Metastability,
    /// Phase locking `|mean over time of exp(i(θ_a − θ_b))|` (Lachaux et al. 1999, Hum. Brain Mapp.
    /// 8, 194), averaged over all pairs of different nodes.
    PhaseCoherence,
}

/// One measure of each variable, `[variable]`, or `[row][variable]` for the order parameter.
///
/// Rows of phases in radians, wrapped or not, are used as they come. Rows of signals are kept until
/// the end, because a phase by the Hilbert transform needs the whole signal.
pub struct Synchrony {
    measure: SynchronyMeasure,
    nodes: usize,
    variables: usize,
    signals: Option<Vec<f64>>,
    rows: u64,
    series: Vec<f64>,
    order: Moments,
    /// `[variable][pair]`: sums of cosine and sine of the difference.
    locking: Vec<[f64; 2]>,
    /// `[channel]`: cosine and sine of the row's phases.
    circle: Vec<[f64; 2]>,
}

impl Synchrony {
    /// For rows of `variables` × `nodes` phases in radians.
    pub fn of_phases(measure: SynchronyMeasure, variables: usize, nodes: usize) -> Self {
        let order = match measure {
            SynchronyMeasure::Metastability => Moments::standard_deviation(variables),
            _ => Moments::mean(variables),
        };
        let pairs = match measure {
            SynchronyMeasure::PhaseCoherence => variables * nodes * nodes.saturating_sub(1) / 2,
            _ => 0,
        };
        Self {
            measure,
            nodes,
            variables,
            signals: None,
            rows: 0,
            series: Vec::new(),
            order,
            locking: vec![[0.0; 2]; pairs],
            circle: Vec::with_capacity(variables * nodes),
        }
    }

    /// For rows of `variables` × `nodes` signals, whose phases [`analytic_phase`] finds.
    pub fn of_signals(measure: SynchronyMeasure, variables: usize, nodes: usize) -> Self {
        Self { signals: Some(Vec::new()), ..Self::of_phases(measure, variables, nodes) }
    }

    fn phases(&mut self, row: &[f64]) {
        self.rows += 1;
        self.circle.clear();
        self.circle.extend(row.iter().map(|&x| [math::cos(x), math::sin(x)]));
        let nodes = self.nodes.max(1);
        if self.measure == SynchronyMeasure::PhaseCoherence {
            let mut sums = self.locking.iter_mut();
            for circle in self.circle.chunks_exact(nodes) {
                for (a, [cos_a, sin_a]) in circle.iter().enumerate() {
                    for ([cos_b, sin_b], sum) in circle[a + 1..].iter().zip(&mut sums) {
                        sum[0] += cos_a * cos_b + sin_a * sin_b;
                        sum[1] += sin_a * cos_b - cos_a * sin_b;
                    }
                }
            }
            return;
        }
        let length = |circle: &[[f64; 2]]| {
            let sum = circle.iter().fold([0.0; 2], |sum, z| [sum[0] + z[0], sum[1] + z[1]]);
            (sum[0] * sum[0] + sum[1] * sum[1]).sqrt() / nodes as f64
        };
        let order: Vec<f64> = self.circle.chunks_exact(nodes).map(length).collect();
        if self.measure == SynchronyMeasure::OrderParameter {
            self.series.extend(order);
        } else {
            self.order.take(&order);
        }
    }

    /// Turns the signals into phases.
    fn transform(&mut self) {
        let Some(signals) = self.signals.take() else { return };
        let channels = (self.variables * self.nodes).max(1);
        let mut phases = vec![0.0; signals.len()];
        for channel in 0..channels {
            let signal: Vec<f64> =
                signals.iter().skip(channel).step_by(channels).copied().collect();
            for (row, phase) in analytic_phase(&signal).into_iter().enumerate() {
                phases[row * channels + channel] = phase;
            }
        }
        phases.chunks_exact(channels).for_each(|row| self.phases(row));
    }
}

impl Accumulator for Synchrony {
    fn take(&mut self, row: &[f64]) {
        match &mut self.signals {
            Some(signals) => signals.extend_from_slice(row),
            None => self.phases(row),
        }
    }

    fn finish(&mut self) -> Vec<f64> {
        self.transform();
        match self.measure {
            SynchronyMeasure::OrderParameter => std::mem::take(&mut self.series),
            SynchronyMeasure::PhaseCoherence => {
                let pairs = self.locking.len() / self.variables.max(1);
                let rows = self.rows as f64;
                let mean = |sums: &[[f64; 2]]| {
                    let lengths = sums.iter().map(|[c, s]| (c * c + s * s).sqrt() / rows);
                    lengths.sum::<f64>() / pairs as f64
                };
                (0..self.variables).map(|v| mean(&self.locking[v * pairs..][..pairs])).collect()
            }
            _ => self.order.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn measure(measure: SynchronyMeasure, nodes: usize, rows: &[Vec<f64>]) -> Vec<f64> {
        let mut synchrony = Synchrony::of_phases(measure, 1, nodes);
        rows.iter().for_each(|row| synchrony.take(row));
        synchrony.finish()
    }

    #[test]
    fn two_oscillators_that_drift_apart() {
        // R of two unit vectors at an angle d is |cos(d/2)|.
        let rows: Vec<Vec<f64>> = (0..1000)
            .map(|k| vec![0.1 * f64::from(k), 0.1 * f64::from(k) + TAU * f64::from(k) / 1000.0])
            .collect();
        let order = measure(SynchronyMeasure::OrderParameter, 2, &rows);
        for (k, r) in order.iter().enumerate() {
            let expected = (TAU * k as f64 / 2000.0).cos().abs();
            assert!((r - expected).abs() < 1e-12, "{k}: {r} {expected}");
        }
        // Over a whole turn the mean of |cos| is 2/π and its mean square 1/2.
        let mean = measure(SynchronyMeasure::MeanOrderParameter, 2, &rows)[0];
        let spread = measure(SynchronyMeasure::Metastability, 2, &rows)[0];
        let two_over_pi = 2.0 / std::f64::consts::PI;
        assert!((mean - two_over_pi).abs() < 1e-5, "{mean}");
        assert!((spread - (0.5 - two_over_pi * two_over_pi).sqrt()).abs() < 1e-5, "{spread}");
        let coherence = measure(SynchronyMeasure::PhaseCoherence, 2, &rows)[0];
        assert!(coherence < 1e-12, "{coherence}");
    }

    #[test]
    fn locked_oscillators_are_coherent_whatever_their_lag() {
        let rows: Vec<Vec<f64>> = (0..300)
            .map(|k| vec![0.2 * f64::from(k), 0.2 * f64::from(k) + 2.0, 0.31 * f64::from(k)])
            .collect();
        let two: Vec<Vec<f64>> = rows.iter().map(|row| row[..2].to_vec()).collect();
        assert!((measure(SynchronyMeasure::PhaseCoherence, 2, &two)[0] - 1.0).abs() < 1e-12);
        // Of three pairs one is locked; the others turn against each other by 0.11 a row.
        let drift = (0.11f64 * 150.0).sin().abs() / (0.11f64 / 2.0).sin() / 300.0;
        let expected = (1.0 + 2.0 * drift) / 3.0;
        let found = measure(SynchronyMeasure::PhaseCoherence, 3, &rows)[0];
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        assert!(measure(SynchronyMeasure::Metastability, 2, &two)[0] < 1e-12);
    }

    #[test]
    fn signals_have_the_phases_of_their_oscillation() {
        let argument = |node: usize, k: usize| TAU * 5.0 * k as f64 / 400.0 + node as f64;
        let phases: Vec<Vec<f64>> =
            (0..400).map(|k| (0..4).map(|n| argument(n, k)).collect()).collect();
        for of in [
            SynchronyMeasure::OrderParameter,
            SynchronyMeasure::MeanOrderParameter,
            SynchronyMeasure::PhaseCoherence,
        ] {
            let mut synchrony = Synchrony::of_signals(of, 1, 4);
            for row in &phases {
                let signal: Vec<f64> = row.iter().map(|p| 3.0 + p.cos()).collect();
                synchrony.take(&signal);
            }
            let expected = measure(of, 4, &phases);
            let found = synchrony.finish();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-9, "{of:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn variables_are_measured_apart() {
        let mut synchrony = Synchrony::of_phases(SynchronyMeasure::MeanOrderParameter, 2, 2);
        synchrony.take(&[0.5, 0.5, 0.0, std::f64::consts::PI]);
        let found = synchrony.finish();
        assert!((found[0] - 1.0).abs() < 1e-15 && found[1].abs() < 1e-15, "{found:?}");
    }

    #[test]
    fn one_node_has_no_pairs_and_nothing_no_order() {
        assert!(measure(SynchronyMeasure::PhaseCoherence, 1, &[vec![1.0]])[0].is_nan());
        assert!(measure(SynchronyMeasure::PhaseCoherence, 2, &[])[0].is_nan());
        assert!(measure(SynchronyMeasure::Metastability, 2, &[])[0].is_nan());
        assert!(measure(SynchronyMeasure::OrderParameter, 2, &[]).is_empty());
    }
}
