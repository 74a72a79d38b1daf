//! Powers.

use crate::ir::{Builder, Function1, Function2, UnaryOp, Value};

/// Larger exponents go through `pow`.
const MULTIPLIED: f64 = 16.0;

/// `x ** n`. A whole exponent up to 16 multiplies (`x**3` is `(x·x)·x`), a negative one divides 1 by
/// the product, ±1/2 takes the square root; `E ** x` is `exp(x)`; the rest is `pow`.
pub(super) fn power(b: &mut Builder, x: Value, n: Value) -> Value {
    if b.constant_of(x).is_some_and(|c| c.to_bits() == std::f64::consts::E.to_bits()) {
        return b.call1(Function1::Exp, n);
    }
    let Some(exponent) = b.constant_of(n) else {
        return b.call2(Function2::Pow, x, n);
    };
    let one = b.constant(1.0);
    if exponent == 0.0 {
        return one;
    }
    let magnitude = exponent.abs();
    let positive = if magnitude == 0.5 {
        b.unary(UnaryOp::Sqrt, x)
    } else if magnitude.fract() == 0.0 && magnitude <= MULTIPLIED {
        whole(b, x, magnitude as u32)
    } else {
        return b.call2(Function2::Pow, x, n);
    };
    if exponent < 0.0 { b.div(one, positive) } else { positive }
}

/// Binary powering from the leading bit.
fn whole(b: &mut Builder, x: Value, n: u32) -> Value {
    let mut product = x;
    for bit in (0..n.ilog2()).rev() {
        product = b.mul(product, product);
        if n >> bit & 1 == 1 {
            product = b.mul(product, x);
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Input;
    use crate::ir::interp::run_section;

    #[test]
    fn whole_powers_are_products() {
        for n in -16..=16 {
            let mut b = Builder::default();
            let (x, exponent) = (b.input(Input::State(0)), b.constant(f64::from(n)));
            let value = power(&mut b, x, exponent);
            let section = b.finish(vec![value]);
            let mut out = Vec::new();
            run_section(&section, &|_| 1.25_f64, &mut out);
            let expected = 1.25_f64.powi(n);
            assert!((out[0] - expected).abs() <= 1e-14 * expected, "{n}: {} {expected}", out[0]);
        }
    }
}
