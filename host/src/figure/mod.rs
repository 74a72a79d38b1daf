//! Pictures of results: what an array can be drawn as, in which colours, and figures for papers.

pub mod cells;
mod draw;
pub mod lines;
pub mod palette;
pub mod png;
pub mod points;
pub mod scale;
pub mod svg;
pub mod view;
pub mod welch;

pub use draw::{FigureError, Request, What, draw, write};

/// A number to so many significant digits, without zeros at its end, with a proper minus.
pub fn number(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        let text = if value.is_nan() { "NaN" } else { "∞" };
        return if value < 0.0 { format!("−{text}") } else { text.to_owned() };
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let text = if (-4..7).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        trim(&format!("{value:.decimals$}"))
    } else {
        format!("{}e{exponent}", trim(mantissa))
    };
    text.replace('-', "−")
}

/// A unit as people write it: `mm_per_ms` is mm/ms; nothing for what has none.
pub fn unit_text(unit: Option<&str>) -> String {
    match unit {
        None | Some("dimensionless" | "1") => String::new(),
        Some(unit) => unit.replace("_per_", "/").replace('_', " "),
    }
}

#[cfg(test)]
mod drawing_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.1 + 0.2, "0.3"),
            (-1.5, "−1.5"),
            (1234567.0, "1234567"),
            (1e9, "1e9"),
            (2.5e-7, "2.5e−7"),
            (100.0, "100"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "−∞"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value, 6), text);
        }
    }
}
