//! From values to places along an axis, and the round numbers that stand beside it.

use super::number;

/// An axis from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The value at its beginning.
    pub from: f64,
    /// The value at its end.
    pub to: f64,
    /// Whether equal ratios are equal lengths.
    pub log: bool,
}

impl Scale {
    /// An axis that holds all finite values (of a logarithmic one: all above 0), with a margin of so
    /// much of its length at either end.
    pub fn around(values: impl Iterator<Item = f64>, log: bool, margin: f64) -> Self {
        let usable = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
        let (mut lo, mut hi) =
            usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        if lo > hi {
            (lo, hi) = if log { (0.1, 1.0) } else { (0.0, 1.0) };
        }
        if log {
            // What is a billion times smaller is nothing.
            (lo, hi) = (lo.max(hi * 1e-9).log10(), hi.log10());
        }
        if lo == hi {
            let half = if lo == 0.0 { 1.0 } else { lo.abs() * 0.1 };
            (lo, hi) = (lo - half, hi + half);
        }
        let margin = (hi - lo) * margin;
        (lo, hi) = (lo - margin, hi + margin);
        if log {
            (lo, hi) = (10f64.powf(lo), 10f64.powf(hi));
        }
        Self { from: lo, to: hi, log }
    }

    /// Where a value stands: 0 at the beginning, 1 at the end.
    pub fn place(&self, value: f64) -> f64 {
        let of = |v: f64| if self.log { v.log10() } else { v };
        (of(value) - of(self.from)) / (of(self.to) - of(self.from))
    }

    /// About so many round values on the axis, and how they are written.
    pub fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        if self.log { self.decades(count) } else { self.round(count) }
    }

    fn round(&self, count: usize) -> Vec<(f64, String)> {
        let (lo, hi) = (self.from.min(self.to), self.from.max(self.to));
        let raw = (hi - lo) / count.max(1) as f64;
        if !(raw > 0.0 && raw.is_finite()) {
            return Vec::new();
        }
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= raw * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let first = (lo / step - 1e-9).ceil() as i64;
        let last = (hi / step + 1e-9).floor() as i64;
        let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize;
        let largest = lo.abs().max(hi.abs());
        let text = |v: f64| {
            if v == 0.0 {
                "0".to_owned()
            } else if (1e-4..1e6).contains(&largest) {
                format!("{v:.decimals$}").replace('-', "−")
            } else {
                number(v, 4)
            }
        };
        (first..=last).map(|k| k as f64 * step).map(|v| (v, text(v))).collect()
    }

    fn decades(&self, count: usize) -> Vec<(f64, String)> {
        let first = (self.from.log10() - 1e-9).ceil() as i32;
        let last = (self.to.log10() + 1e-9).floor() as i32;
        let every = (last - first).div_euclid(count.max(1) as i32).max(0) as usize + 1;
        let text = |k: i32| match k {
            -2..=3 => number(10f64.powi(k), 3),
            _ => format!("10{}", superscript(k)),
        };
        (first..=last).step_by(every).map(|k| (10f64.powi(k), text(k))).collect()
    }
}

fn superscript(n: i32) -> String {
    let raised = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' => '⁰',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    };
    n.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round() {
        let texts = |from, to, log| -> Vec<String> {
            Scale { from, to, log }.ticks(5).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts(0.0, 1.0, false), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(-30.0, 12.0, false), ["−30", "−20", "−10", "0", "10"]);
        assert_eq!(texts(0.002, 300.0, true), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(texts(1e-9, 1e-6, true), ["10⁻⁹", "10⁻⁸", "10⁻⁷", "10⁻⁶"]);
    }

    proptest! {
        #[test]
        fn ticks_lie_on_the_axis(a in -1e9..1e9f64, length in 1e-9..1e9f64, count in 1usize..12) {
            let scale = Scale { from: a, to: a + length, log: false };
            let ticks = scale.ticks(count);
            prop_assert!(ticks.len() <= count + 2);
            for (value, _) in ticks {
                let place = scale.place(value);
                prop_assert!((-1e-3..=1.001).contains(&place), "{value} at {place}");
            }
        }
    }
}
