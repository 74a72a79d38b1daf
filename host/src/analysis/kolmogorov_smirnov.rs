//! The distance of two distributions, from samples of each.

/// A copy in ascending order, as [`kolmogorov_smirnov`] wants it; NaN last.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The two-sample Kolmogorov–Smirnov distance: the largest difference of the two empirical
/// distribution functions, from 0 (the same) to 1 (disjoint). Both samples are sorted.
///
/// It is the `statistic` of `scipy.stats.ks_2samp`, ties included. NaN of an empty sample and of one
/// that holds a NaN.
pub fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> f64 {
    let unusable = |x: &[f64]| x.is_empty() || x.iter().any(|v| v.is_nan());
    if unusable(a) || unusable(b) {
        return f64::NAN;
    }
    let (mut in_a, mut in_b, mut largest) = (0, 0, 0.0f64);
    while in_a < a.len() && in_b < b.len() {
        // Both functions jump at a value before they are compared.
        let value = a[in_a].min(b[in_b]);
        while in_a < a.len() && a[in_a] <= value {
            in_a += 1;
        }
        while in_b < b.len() && b[in_b] <= value {
            in_b += 1;
        }
        let difference = in_a as f64 / a.len() as f64 - in_b as f64 / b.len() as f64;
        largest = largest.max(difference.abs());
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_distances() {
        let a = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(kolmogorov_smirnov(&a, &a), 0.0);
        assert_eq!(kolmogorov_smirnov(&a, &[5.0, 6.0]), 1.0);
        assert_eq!(kolmogorov_smirnov(&[5.0, 6.0], &a), 1.0);
        // After 2 the functions are 1/2 and 0, after 3 they are 3/4 and 2/3.
        assert_eq!(kolmogorov_smirnov(&a, &[3.0, 3.0, 9.0]), 0.5);
        // Ties: both jump at 2.
        assert_eq!(kolmogorov_smirnov(&[2.0, 2.0, 2.0], &[2.0]), 0.0);
    }

    #[test]
    fn the_distance_is_symmetric_and_its_definition() {
        let at = |k: u32, scale: f64| (f64::from(k * k % 97) * scale).sin();
        let a = sorted(&(0..71).map(|k| at(k, 0.3)).collect::<Vec<_>>());
        let b = sorted(&(0..40).map(|k| at(k, 0.7) + 0.1).collect::<Vec<_>>());
        let share =
            |x: &[f64], v: f64| x.iter().filter(|&&y| y <= v).count() as f64 / x.len() as f64;
        let each = a.iter().chain(&b).map(|&v| (share(&a, v) - share(&b, v)).abs());
        let expected = each.fold(0.0, f64::max);
        assert_eq!(kolmogorov_smirnov(&a, &b), expected);
        assert_eq!(kolmogorov_smirnov(&b, &a), expected);
        assert!(expected > 0.05);
    }

    #[test]
    fn no_distance_to_nothing() {
        assert!(kolmogorov_smirnov(&[], &[1.0]).is_nan());
        assert!(kolmogorov_smirnov(&[1.0], &sorted(&[f64::NAN, 0.0])).is_nan());
        assert_eq!(sorted(&[2.0, -1.0, 0.0]), [-1.0, 0.0, 2.0]);
    }
}
