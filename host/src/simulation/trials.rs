//! Mean and spread over the trials of a cell.

use std::collections::BTreeMap;

/// Results of trials, by array and cell, until all of a cell are there.
#[derive(Clone, Debug)]
pub(super) struct Trials {
    trials: u64,
    open: BTreeMap<(usize, u64), Vec<Option<Vec<f64>>>>,
}

/// What is known of a cell when its last trial is there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Summary {
    pub cell: u64,
    pub mean: Vec<f64>,
    /// With the number of trials as the divisor, as `numpy.std`.
    pub deviation: Vec<f64>,
}

impl Trials {
    pub(super) fn new(trials: u64) -> Self {
        Self { trials, open: BTreeMap::new() }
    }

    /// Takes the result of a point; trials come in any order and are summed in their own.
    pub(super) fn take(&mut self, array: usize, point: u64, values: Vec<f64>) -> Option<Summary> {
        let (cell, trial) = (point / self.trials, (point % self.trials) as usize);
        let key = (array, cell);
        let results = self.open.entry(key).or_insert_with(|| vec![None; self.trials as usize]);
        results[trial] = Some(values);
        if results.iter().any(Option::is_none) {
            return None;
        }
        let results: Vec<Vec<f64>> = self.open.remove(&key)?.into_iter().flatten().collect();
        let count = results.len() as f64;
        let over = |value: &dyn Fn(&[f64], usize) -> f64, at: usize| {
            results.iter().map(|r| value(r, at)).sum::<f64>() / count
        };
        let length = results.first().map_or(0, Vec::len);
        let mean: Vec<f64> = (0..length).map(|at| over(&|r, at| r[at], at)).collect();
        let square = |r: &[f64], at: usize| (r[at] - mean[at]) * (r[at] - mean[at]);
        let deviation = (0..length).map(|at| over(&square, at).sqrt()).collect();
        Some(Summary { cell, mean, deviation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_trials_does_not_matter() {
        let values = [[1.0, 10.0], [2.0, 10.0], [6.0, f64::NAN]];
        for order in [[0, 1, 2], [2, 0, 1]] {
            let mut trials = Trials::new(3);
            let mut take = |trial: usize| trials.take(0, 9 + trial as u64, values[trial].to_vec());
            assert_eq!((take(order[0]), take(order[1])), (None, None));
            let summary = take(order[2]).expect("the last trial");
            assert_eq!((summary.cell, summary.mean[0]), (3, 3.0));
            assert!((summary.deviation[0] - (14.0f64 / 3.0).sqrt()).abs() < 1e-15);
            assert!(summary.mean[1].is_nan() && summary.deviation[1].is_nan());
            assert!(trials.open.is_empty());
        }
    }
}
