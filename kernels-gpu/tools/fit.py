#!/usr/bin/env python3
"""Fit the polynomials of kernels-gpu's elementary functions and write them as Rust.

    python kernels-gpu/tools/fit.py            # rewrites src/math/binary32.rs and binary64.rs

Needs mpmath only. Every polynomial is a nearly minimax fit (least squares with Lawson's
weights) of a *remainder*: the part of the function that is left once the leading terms, which
are exact in floating point, are taken out. The weight makes the error that is minimised the relative error
of the whole function. Coefficients are rounded to the format one by one, lowest degree first,
and the higher ones are fitted again after each rounding, so that rounding costs almost nothing.
"""

import pathlib
import struct
import sys

from mpmath import (asin, atan, atanh, cos, erf, erfc, exp, expm1, floor, log, log1p, lu_solve, matrix, mp, mpf,
                    pi, sin, sinh, sqrt, tan, tanh)

mp.dps = 110


def round_to(value, bits):
    """Round to nearest with `bits` bits of significand (no subnormals are needed here)."""
    if value == 0:
        return mpf(0)
    exponent = int(floor(log(abs(value), 2))) + 1
    scale = mpf(2) ** (bits - exponent)
    return mp.nint(value * scale) / scale


def grid(lo, hi, count):
    """Chebyshev-spaced points, denser at the ends, where the extrema crowd."""
    return [(lo + hi) / 2 - (hi - lo) / 2 * cos(pi * (2 * k + 1) / (2 * count)) for k in range(count)]


def least_squares(values, squares, points, first, count):
    """Coefficients of x^first … x^(count - 1) that minimise the weighted sum of squares."""
    n = count - first
    powers = [[s * x ** (2 * first) for s, x in zip(squares, points)]]
    for _ in range(2 * n - 2):
        powers.append([t * x for t, x in zip(powers[-1], points)])
    moments = [sum(row) for row in powers]
    gram, right = matrix(n, n), matrix(n, 1)
    scaled = [s * v * x**first for s, v, x in zip(squares, values, points)]
    for i in range(n):
        right[i] = sum(scaled)
        scaled = [t * x for t, x in zip(scaled, points)]
        for j in range(n):
            gram[i, j] = moments[i + j]
    solution = lu_solve(gram, right)
    return [solution[i] for i in range(n)]


def polynomial(coefficients, x):
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def fit(function, weight, lo, hi, count, bits, wide=0):
    """`count` coefficients, lowest degree first, rounded to `bits`; and the final weighted error.

    The first `wide` of them are rounded to twice as many bits, for two floats."""
    points = [x for x in grid(mpf(lo), mpf(hi), 8 * count + 60) if x != 0]
    values = [function(x) for x in points]
    weights = [abs(weight(x)) for x in points]
    # Lawson: weights grow where the error is large until it is level.
    level = [mpf(1)] * len(points)
    for _ in range(25):
        squares = [w * w * l for w, l in zip(weights, level)]
        found = least_squares(values, squares, points, 0, count)
        errors = [abs(polynomial(found, x) - v) * w for v, x, w in zip(values, points, weights)]
        mean = sum(l * e for l, e in zip(level, errors)) / sum(level)
        level = [l * (e / mean + mpf("0.02")) for l, e in zip(level, errors)]
    squares = [w * w * (l + mpf("1e-3")) for w, l in zip(weights, level)]
    fixed = []
    while len(fixed) < count:
        rest = [v - polynomial(fixed, x) for v, x in zip(values, points)]
        found = least_squares(rest, squares, points, len(fixed), count)[0]
        fixed.append(round_to(found, 2 * bits if len(fixed) < wide else bits))
    worst = max(abs((polynomial(fixed, x) - v) * w) for x, v, w in zip(points, values, weights))
    return fixed, worst


def erfcx(x):
    return exp(x * x) * erfc(x)


def odd(function):
    """(f(x) - x) / x^3 as a function of z = x^2, and its weight."""
    return (lambda z: (function(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, lambda z: sqrt(z) ** 3 / function(sqrt(z)))


EDGE = mpf("0.82")  # pi/4 and the slack left by the rounding of x * 2/pi
HALF_LN2 = log(2) / 2 + mpf("1e-3")
C = 2 / log(2)  # log2((1+s)/(1-s)) = C * atanh(s)


def erfc_x(a):
    """The polynomial's variable is t = (x - a) / (x + a); back to x."""
    return lambda t: a * (1 + t) / (1 - t)


def tasks(is64):
    a = mpf(4) if is64 else mpf(2)
    top = mpf("27.3") if is64 else mpf("10.2")
    back = erfc_x(a)
    lo_t, hi_t = (mpf("0.5") - a) / (mpf("0.5") + a), (top - a) / (top + a)
    sin_f, sin_w = odd(sin)
    tan_f, tan_w = odd(tan)
    tanh_f, tanh_w = odd(tanh)
    sinh_f, sinh_w = odd(sinh)
    asin_f, asin_w = odd(asin)
    atan_f, atan_w = odd(atan)
    # name, doc, function, weight, interval, (coefficients for f32, for f64)
    return [
        ("exp_tail", "`(e^r - 1 - r) / r^2` for `|r| <= ln(2)/2`",
         lambda r: (expm1(r) - r) / r**2, lambda r: r**2 / abs(expm1(r)), -HALF_LN2, HALF_LN2, (5, 11)),
        ("exp2_tail", "`(2^r - 1) / r` for `|r| <= 1/2`",
         lambda r: expm1(r * log(2)) / r, lambda r: r / 2**r, mpf("-0.5001"), mpf("0.5001"), (6, 12)),
        ("ln_tail", "`(ln(1 + f) - f + f^2/2) / f^3` for `|f| <= 1/3`",
         lambda f: (log1p(f) - f + f * f / 2) / f**3, lambda f: f**3 / log1p(f),
         mpf(-1) / 3, mpf(1) / 3, (8, 19)),
        ("log2_tail", "`(atanh(s)/s - 1 - z/3) * (2/ln 2) / z^2`, `z = s^2`, `|s| <= 1/5`",
         lambda z: C * (atanh(sqrt(z)) / sqrt(z) - 1 - z / 3) / z**2,
         lambda z: z**2 * sqrt(z) / atanh(sqrt(z)) / C, mpf("1e-12"), mpf("0.0401"), (3, 9)),
        ("sin_tail", "`(sin r - r) / r^3`, `z = r^2`, `|r| <= 0.82`", sin_f, sin_w, mpf("1e-12"), EDGE**2, (3, 6)),
        ("cos_tail", "`(cos r - 1 + z/2) / z^2`, `z = r^2`, `|r| <= 0.82`",
         lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, lambda z: z**2 / cos(sqrt(z)),
         mpf("1e-10"), EDGE**2, (3, 6)),
        ("tan_tail", "`(tan r - r) / r^3`, `z = r^2`, `|r| <= 0.82`", tan_f, tan_w, mpf("1e-12"), EDGE**2, (7, 16)),
        ("tanh_tail", "`(tanh x - x) / x^3`, `z = x^2`, `|x| <= 0.625`",
         tanh_f, tanh_w, mpf("1e-12"), mpf("0.625") ** 2, (5, 12)),
        ("sinh_tail", "`(sinh x - x) / x^3`, `z = x^2`, `|x| <= 1`", sinh_f, sinh_w, mpf("1e-12"), mpf(1), (4, 8)),
        ("asin_tail", "`(asin x - x) / x^3`, `z = x^2`, `|x| <= 1/2`",
         asin_f, asin_w, mpf("1e-12"), mpf("0.2501"), (6, 13)),
        ("atan_tail", "`(atan x - x) / x^3`, `z = x^2`, `|x| <= 1`", atan_f, atan_w, mpf("1e-12"), mpf(1), (9, 21)),
        ("erf_tail", "`erf(x)/x - 1`, `z = x^2`, `|x| <= 0.75`",
         lambda z: erf(sqrt(z)) / sqrt(z) - 1, lambda z: sqrt(z) / erf(sqrt(z)),
         mpf("1e-12"), mpf("0.5626"), (6, 12)),
        ("erfcx_tail", f"`(e^(x^2) erfc(x) (x + {int(a)}) - ERFCX_C0 - ERFCX_C1 t) / t^2`, `t = (x - {int(a)}) / (x + {int(a)})`, `1/2 <= x <= {top}`",
         lambda t: erfcx(back(t)) * (back(t) + a), lambda t: 1 / (erfcx(back(t)) * (back(t) + a)),
         lo_t, hi_t, (11, 23)),
    ]


def constants(is64):
    bits = 53 if is64 else 24

    def split(value, parts, down=False):
        """`parts` non-overlapping pieces; rounded down so that all have the sign of `value`."""
        out = []
        for _ in range(parts):
            piece = round_to(value, bits)
            if down and piece > value:
                piece -= mpf(2) ** (int(floor(log(value, 2))) + 1 - bits)
            out.append(piece)
            value -= piece
        return out

    # n * LN2_HI is exact for every n that exp and ln meet: 11 (8) low bits are zero.
    short = bits - 12 if is64 else bits - 9
    ln2_hi = round_to(log(2), short)
    half_pi = split(pi / 2, 3, down=True)
    half_pi_near = split(pi / 2, 2)
    c1, c3 = split(C, 2), split(C / 3, 2)
    log10_2 = split(log(2) / log(10), 2)
    return [
        ("LOG2_E", "1 / ln 2", round_to(1 / log(2), bits)),
        ("LN2_HI", "ln 2, leading part: `n * LN2_HI` is exact for every exponent `n`", ln2_hi),
        ("LN2_LO", "ln 2 - LN2_HI", round_to(log(2) - ln2_hi, bits)),
        ("FRAC_2_PI", "2 / pi", round_to(2 / pi, bits)),
        ("PIO2_1", "pi / 2, first part, rounded down so that every part is positive", half_pi[0]),
        ("PIO2_2", "pi / 2, second part", half_pi[1]),
        ("PIO2_3", "pi / 2, third part", half_pi[2]),
        ("PIO2_HI", "pi / 2 to nearest", half_pi_near[0]),
        ("PIO2_LO", "pi / 2 - PIO2_HI", half_pi_near[1]),
        ("LOG2_C1_HI", "2 / ln 2", c1[0]),
        ("LOG2_C1_LO", "2 / ln 2 - LOG2_C1_HI", c1[1]),
        ("LOG2_C3_HI", "2 / (3 ln 2)", c3[0]),
        ("LOG2_C3_LO", "2 / (3 ln 2) - LOG2_C3_HI", c3[1]),
        ("LOG10_2_HI", "log10(2)", log10_2[0]),
        ("LOG10_2_LO", "log10(2) - LOG10_2_HI", log10_2[1]),
        ("ERFC_CENTRE", "the `a` of `t = (x - a) / (x + a)` in `erfcx_tail`", mpf(4) if is64 else mpf(2)),
    ]


def literal(value):
    """The shortest decimal that reads back as the same f64 (f32 values are f64 values too)."""
    text = repr(float(value))
    assert mpf(float(value)) == value or abs(mpf(float(value)) - value) < abs(value) * mpf(2) ** -53
    return text if ("." in text or "e" in text) else text + ".0"


def two_over_pi(word, count):
    """Bits of 2/pi in `count` words of `word` bits, after one word of zeros."""
    mp.prec = word * (count + 4)
    value = 2 / pi
    words = [0]
    for _ in range(count - 1):
        value *= mpf(2) ** word
        words.append(int(floor(value)))
        value -= floor(value)
    mp.dps = 110
    return words


def write(is64):
    bits, name = (53, "Binary64") if is64 else (24, "Binary32")
    word, count = (64, 20) if is64 else (32, 9)
    lines = [
        f"//! Constants and polynomials of {name}. Written by `tools/fit.py`; do not edit.",
        "",
        "use super::format::{Binary%d, Coefficients};" % (64 if is64 else 32),
        "use crate::lane::Lane;",
        "",
        "#[rustfmt::skip]",
        f"impl Coefficients for {name} {{",
    ]
    for const, doc, value in constants(is64):
        lines.append(f"    const {const}: f64 = {literal(value)}; // {doc}")
    words = ", ".join(f"0x{w:0{word // 4}x}" for w in two_over_pi(word, count))
    lines.append(f"    const TWO_OVER_PI: &'static [u64] = &[{words}];")
    for fname, doc, function, weight, lo, hi, counts in tasks(is64):
        scaled_erfc = fname == "erfcx_tail"
        coefficients, worst = fit(function, weight, lo, hi, counts[is64], bits, int(scaled_erfc))
        bound = float(log(worst, 2))
        print(f"{name} {fname:12} {counts[is64]:3} coefficients, relative error 2^{bound:.1f}", file=sys.stderr)
        if scaled_erfc:
            high = round_to(coefficients[0], bits)
            low = round_to(coefficients[0] - high, bits)
            lines.append("")
            for part, value in (("C0_HI", high), ("C0_LO", low), ("C1", coefficients[1])):
                lines.append(f"    const ERFCX_{part}: f64 = {literal(value)};")
            coefficients = coefficients[2:]
        lines.append("")
        lines.append(f"    // {doc}: relative error of the function 2^{bound:.1f}.")
        lines.append("    #[inline(always)]")
        lines.append(f"    fn {fname}<L: Lane>(x: L) -> L {{")
        lines.append("        horner!(x, " + ", ".join(literal(c) for c in coefficients) + ")")
        lines.append("    }")
    lines.append("}")
    target = pathlib.Path(__file__).parent.parent / "src" / "math" / f"binary{64 if is64 else 32}.rs"
    target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    for is64 in (False, True):
        write(is64)
