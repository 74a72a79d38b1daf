//! Functional connectivity dynamics: how alike the connectivities of different times are.

use super::{Accumulator, Correlation, upper_triangle};
use std::collections::VecDeque;

/// Sliding windows over a recording, in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Samples of a window.
    pub length: usize,
    /// Samples from the start of a window to the start of the next.
    pub step: usize,
}

impl Windows {
    /// Whole windows in `rows` samples.
    pub fn count(&self, rows: u64) -> usize {
        let length = self.length.max(1) as u64;
        match rows.checked_sub(length) {
            Some(rest) => (rest / self.step.max(1) as u64) as usize + 1,
            None => 0,
        }
    }
}

/// Functional connectivity dynamics (FCD) of Hansen et al. (2015), NeuroImage 105, 525,
/// doi:10.1016/j.neuroimage.2014.11.001: the functional connectivity of each window, and the
/// Pearson correlation of the entries above their diagonals for every pair of windows.
///
/// The result is `[variable][window][window]`. A window in which a channel is constant has no
/// connectivity: its row and column are NaN.
pub struct DynamicConnectivity {
    windows: Windows,
    nodes: usize,
    variables: usize,
    /// The rows that the next window needs, oldest first.
    recent: VecDeque<Vec<f64>>,
    /// Rows until the next window is complete.
    due: usize,
    /// For each variable, one list a window: the connectivity's upper triangle, about its mean and
    /// of length 1, so that a product of two is their correlation.
    patterns: Vec<Vec<Vec<f64>>>,
}

impl DynamicConnectivity {
    /// For rows of `variables` × `nodes` channels.
    pub fn new(variables: usize, nodes: usize, windows: Windows) -> Self {
        let windows = Windows { length: windows.length.max(1), step: windows.step.max(1) };
        Self {
            windows,
            nodes,
            variables,
            recent: VecDeque::with_capacity(windows.length),
            due: windows.length,
            patterns: vec![Vec::new(); variables],
        }
    }

    fn take_window(&mut self) {
        let mut correlation = Correlation::new(self.variables, self.nodes);
        self.recent.iter().for_each(|row| correlation.take(row));
        let matrices = correlation.finish();
        let size = self.nodes * self.nodes;
        for (variable, patterns) in self.patterns.iter_mut().enumerate() {
            let matrix = &matrices[variable * size..][..size];
            patterns.push(unit(upper_triangle(matrix, self.nodes)));
        }
    }
}

/// The list about its mean, scaled to length 1; NaN if it is constant or holds a NaN.
fn unit(mut values: Vec<f64>) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let constant = values.windows(2).all(|pair| pair[0] == pair[1]);
    values.iter_mut().for_each(|x| *x -= mean);
    let length = if constant { f64::NAN } else { product(&values, &values).sqrt() };
    values.iter_mut().for_each(|x| *x /= length);
    values
}

/// The sum of products in eight partial sums: fast, and the same on every processor.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += x * y;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

impl Accumulator for DynamicConnectivity {
    fn take(&mut self, row: &[f64]) {
        let Windows { length, step } = self.windows;
        let mut kept = if self.recent.len() == length {
            self.recent.pop_front().unwrap_or_default()
        } else {
            Vec::with_capacity(row.len())
        };
        kept.clear();
        kept.extend_from_slice(row);
        self.recent.push_back(kept);
        self.due -= 1;
        if self.due == 0 {
            self.take_window();
            self.due = step;
        }
    }

    fn finish(&mut self) -> Vec<f64> {
        let count = self.patterns.first().map_or(0, Vec::len);
        let mut result = vec![0.0; self.variables * count * count];
        for (patterns, matrix) in
            self.patterns.iter().zip(result.chunks_exact_mut((count * count).max(1)))
        {
            for (a, first) in patterns.iter().enumerate() {
                let own = if first.iter().any(|x| x.is_nan()) { f64::NAN } else { 1.0 };
                matrix[a * count + a] = own;
                for (b, second) in patterns.iter().enumerate().skip(a + 1) {
                    let value = product(first, second).clamp(-1.0, 1.0);
                    matrix[a * count + b] = value;
                    matrix[b * count + a] = value;
                }
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::pearson;

    /// Three channels whose coupling changes with time.
    fn rows(count: usize) -> Vec<[f64; 4]> {
        let at = |k: usize| {
            let t = k as f64;
            let (a, b) = ((0.7 * t).sin(), (0.31 * t).cos());
            let share = 0.5 + 0.5 * (t * 0.05).sin();
            [a, share * a + (1.0 - share) * b, b, (1.3 * t).sin() + share * b]
        };
        (0..count).map(at).collect()
    }

    fn dynamics(rows: &[[f64; 4]], windows: Windows) -> Vec<f64> {
        let mut fcd = DynamicConnectivity::new(1, 4, windows);
        rows.iter().for_each(|row| fcd.take(row));
        fcd.finish()
    }

    #[test]
    fn windows_are_counted() {
        let windows = Windows { length: 10, step: 3 };
        assert_eq!([9, 10, 12, 13, 16].map(|rows| windows.count(rows)), [0, 1, 1, 2, 3]);
    }

    #[test]
    fn entries_are_correlations_of_windows_correlations() {
        let rows = rows(120);
        for windows in [Windows { length: 30, step: 7 }, Windows { length: 10, step: 25 }] {
            let found = dynamics(&rows, windows);
            let count = windows.count(120);
            assert_eq!(found.len(), count * count);
            let triangle = |w: usize| {
                let mut fc = Correlation::new(1, 4);
                let start = w * windows.step;
                rows[start..start + windows.length].iter().for_each(|row| fc.take(row));
                upper_triangle(&fc.finish(), 4)
            };
            for a in 0..count {
                for b in 0..count {
                    let expected = pearson(&triangle(a), &triangle(b));
                    let entry = found[a * count + b];
                    assert!((entry - expected).abs() < 1e-12, "{a} {b}: {entry} {expected}");
                }
                assert_eq!(found[a * count + a], 1.0);
            }
        }
    }

    #[test]
    fn a_silent_window_has_no_likeness() {
        let mut rows = rows(60);
        rows[..20].iter_mut().for_each(|row| row[1] = 0.1);
        let found = dynamics(&rows, Windows { length: 20, step: 20 });
        let expected_nan = |a: usize, b: usize| a == 0 || b == 0;
        for a in 0..3 {
            for b in 0..3 {
                assert_eq!(found[a * 3 + b].is_nan(), expected_nan(a, b), "{a} {b}");
            }
        }
    }

    #[test]
    fn too_short_a_recording_has_no_windows() {
        assert!(dynamics(&rows(9), Windows { length: 10, step: 1 }).is_empty());
    }
}
