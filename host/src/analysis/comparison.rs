//! Scores of a square matrix against another: over the entries above the diagonal, because a
//! functional connectivity is symmetric and its diagonal says nothing.

/// The entries above the diagonal of a row-major matrix `[nodes, nodes]`, row by row, as
/// `matrix[numpy.triu_indices(nodes, 1)]`.
pub fn upper_triangle(matrix: &[f64], nodes: usize) -> Vec<f64> {
    let row = |a: usize| &matrix[a * nodes + a + 1..(a + 1) * nodes];
    (0..nodes).flat_map(|a| row(a).iter().copied()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Pearson correlation of two lists of one length, about their means; NaN of constants and of
/// lists that hold a NaN.
pub fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let constant = |x: &[f64]| x.windows(2).all(|pair| pair[0] == pair[1]);
    if constant(a) || constant(b) {
        return f64::NAN;
    }
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut both, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x - mean_a, y - mean_b);
        both += x * y;
        of_a += x * x;
        of_b += y * y;
    }
    // NaN passes through a clamp.
    (both / (of_a.sqrt() * of_b.sqrt())).clamp(-1.0, 1.0)
}

/// The root of the mean squared difference of two lists of one length.
pub fn root_mean_square_error(a: &[f64], b: &[f64]) -> f64 {
    let squares: f64 = a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum();
    (squares / a.len() as f64).sqrt()
}

/// The mean of `a` less the mean of `b`.
pub fn mean_difference(a: &[f64], b: &[f64]) -> f64 {
    mean(a) - mean(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_leave_out_the_diagonal() {
        let matrix: Vec<f64> = (0..16).map(f64::from).collect();
        assert_eq!(upper_triangle(&matrix, 4), [1.0, 2.0, 3.0, 6.0, 7.0, 11.0]);
        assert!(upper_triangle(&[5.0], 1).is_empty());
        assert!(upper_triangle(&[], 0).is_empty());
    }

    #[test]
    fn scores_of_known_lists() {
        let a = [1.0, 2.0, 4.0];
        // Deviations −4/3, −1/3, 5/3 and −1, 0, 1: 3/sqrt(14/3·2).
        assert!((pearson(&a, &[0.0, 1.0, 2.0]) - 3.0 / (28.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(pearson(&a, &[-1.0, -2.0, -4.0]), -1.0);
        assert!(pearson(&a, &[0.1; 3]).is_nan());
        assert!(pearson(&a, &[0.0, f64::NAN, 1.0]).is_nan());
        assert_eq!(root_mean_square_error(&[1.0, 5.0], &[4.0, 1.0]), 12.5f64.sqrt());
        assert_eq!(mean_difference(&[1.0, 5.0], &[4.0, 1.0]), 0.5);
        assert!(root_mean_square_error(&[], &[]).is_nan() && mean_difference(&[], &[]).is_nan());
    }

    #[test]
    fn a_large_mean_does_not_hide_a_correlation() {
        let wave = |k: f64| (0..500).map(move |i| 1e7 + (f64::from(i) * k).sin());
        let (a, b): (Vec<f64>, Vec<f64>) = (wave(0.1).collect(), wave(0.1).map(|x| -x).collect());
        assert!((pearson(&a, &b) + 1.0).abs() < 1e-12);
    }
}
