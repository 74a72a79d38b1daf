//! Mean, variance and standard deviation over time.

use super::Accumulator;

/// Welford's update (Technometrics 4 (1962) 419): no cancellation, whatever the mean.
pub struct Moments {
    result: fn(&Moments) -> Vec<f64>,
    count: u64,
    means: Vec<f64>,
    /// Sums of squared deviations from the mean.
    squares: Vec<f64>,
}

impl Moments {
    /// Means of so many channels.
    pub fn mean(channels: usize) -> Self {
        Self::new(channels, |m| m.means.clone())
    }

    /// Variances, with the number of samples as the divisor, as `numpy.var`.
    pub fn variance(channels: usize) -> Self {
        Self::new(channels, |m| m.squares.iter().map(|s| s / m.count as f64).collect())
    }

    /// Roots of the variances, as `numpy.std`.
    pub fn standard_deviation(channels: usize) -> Self {
        Self::new(channels, |m| m.squares.iter().map(|s| (s / m.count as f64).sqrt()).collect())
    }

    fn new(channels: usize, result: fn(&Moments) -> Vec<f64>) -> Self {
        Self { result, count: 0, means: vec![0.0; channels], squares: vec![0.0; channels] }
    }
}

impl Accumulator for Moments {
    fn take(&mut self, row: &[f64]) {
        self.count += 1;
        let share = 1.0 / self.count as f64;
        for ((mean, squares), x) in self.means.iter_mut().zip(&mut self.squares).zip(row) {
            let deviation = x - *mean;
            *mean += deviation * share;
            *squares += deviation * (x - *mean);
        }
    }

    fn finish(&mut self) -> Vec<f64> {
        if self.count == 0 { vec![f64::NAN; self.means.len()] } else { (self.result)(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_and_a_large_mean() {
        let (mut mean, mut deviation) = (Moments::mean(2), Moments::standard_deviation(2));
        for k in 0..1000 {
            let row = [1e8 + f64::from(k % 2), 7.0];
            mean.take(&row);
            deviation.take(&row);
        }
        assert!((mean.finish()[0] - (1e8 + 0.5)).abs() < 1e-6);
        let deviations = deviation.finish();
        // Rounding of a mean of 1e8 is 1.5e-8.
        assert!((deviations[0] - 0.5).abs() < 1e-7, "{}", deviations[0]);
        assert_eq!(deviations[1], 0.0);
        let mut variance = Moments::variance(1);
        [1.0, 2.0, 6.0].iter().for_each(|x| variance.take(&[*x]));
        assert!((variance.finish()[0] - 14.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn nothing_has_no_moments() {
        assert!(Moments::mean(1).finish()[0].is_nan());
        assert!(Moments::standard_deviation(1).finish()[0].is_nan());
    }
}
