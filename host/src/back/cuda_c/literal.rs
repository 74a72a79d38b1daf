//! Numbers in the source: read back by a compiler, each has the bits that the run has.

use crate::experiment::Precision;

/// A real constant, rounded from 64 bits to the precision of the run, in the fewest digits that read
/// back as the same number. Negative ones stand in parentheses.
pub(super) fn real(value: f64, precision: Precision) -> String {
    let (finite, digits) = match precision {
        Precision::F32 => ((value as f32).is_finite(), format!("{:?}f", value as f32)),
        Precision::F64 => (value.is_finite(), format!("{value:?}")),
    };
    if finite {
        return if digits.starts_with('-') { format!("({digits})") } else { digits };
    }
    // `INFINITY` and `NAN` are macros that the run-time compiler does not have.
    let rounded = match precision {
        Precision::F32 => f64::from(value as f32),
        Precision::F64 => value,
    };
    let magnitude = match (precision, rounded.is_nan()) {
        (Precision::F32, false) => "__int_as_float(0x7f800000)",
        (Precision::F32, true) => "__int_as_float(0x7fc00000)",
        (Precision::F64, false) => "__longlong_as_double(0x7ff0000000000000LL)",
        (Precision::F64, true) => "__longlong_as_double(0x7ff8000000000000LL)",
    };
    if rounded < 0.0 { format!("(-{magnitude})") } else { magnitude.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals() {
        let (single, double) = (|v| real(v, Precision::F32), |v| real(v, Precision::F64));
        assert_eq!([single(1.0), single(0.1), single(1e-5)], ["1.0f", "0.1f", "1e-5f"]);
        assert_eq!([double(0.1), double(-2.5), double(1e300)], ["0.1", "(-2.5)", "1e300"]);
        assert_eq!(single(-0.0), "(-0.0f)");
        assert_eq!(single(1e300), "__int_as_float(0x7f800000)");
        assert_eq!(double(f64::NEG_INFINITY), "(-__longlong_as_double(0x7ff0000000000000LL))");
        assert_eq!(single(f64::NAN), "__int_as_float(0x7fc00000)");
    }

    #[test]
    fn digits_read_back_as_the_same_bits() {
        for bits in (0..u32::MAX).step_by(104_729) {
            let value = f32::from_bits(bits);
            if value.is_finite() {
                let text = real(f64::from(value), Precision::F32);
                let digits = text.trim_matches(['(', ')']).trim_end_matches('f');
                assert_eq!(digits.parse::<f32>().unwrap().to_bits(), bits, "{text}");
            }
        }
    }
}
