#!/usr/bin/env python3
"""Write tests/vectors/*.bin: arguments and results of the functions in binary64, from mpmath.

    python kernels-gpu/tools/vectors.py [records per function] [folder]

A larger set elsewhere is read by the test if the environment variable VECTORS names its folder.
One file a function. A record is little-endian: the arguments (f64 each), the correctly rounded
result (f64), and what was lost in rounding it, in 1/65536 ulp (i16). Only finite results are
listed; special values have tests of their own.
"""

import math
import pathlib
import random
import struct
import sys

import mpmath as m
from mpmath import mp, mpf

mp.prec = 1300  # sin of the largest binary64 numbers needs 1024 bits before the point


def log_uniform(rng, lo, hi):
    return math.ldexp(1 + rng.random(), rng.randrange(lo, hi)) * rng.choice((1, -1))


def positive(draw):
    return lambda rng: abs(draw(rng))


def mixed(lo, hi, low_exponent=-60, high_exponent=4):
    """Half evenly in [lo, hi], half evenly in the exponent, clipped."""

    def draw(rng):
        if rng.random() < 0.5:
            return rng.uniform(lo, hi)
        x = log_uniform(rng, low_exponent, high_exponent)
        return min(max(x, lo), hi)

    return draw


def angle(rng):
    kind = rng.random()
    if kind < 0.4:
        return rng.uniform(-30, 30)
    if kind < 0.6:  # near multiples of pi/2, where reduction cancels
        return float(rng.randrange(-(10**8), 10**8) * mp.pi / 2)
    return log_uniform(rng, -60, 1024)


def logarithm_argument(rng):
    return rng.uniform(0.5, 2) if rng.random() < 0.5 else abs(log_uniform(rng, -1073, 1024))


HARDEST = [6381956970095103.0 * 2.0**797, 2.0**1023 * 1.9999, 1e22, 2.0**30, 2.0**30 - 2.0**-22]

FUNCTIONS = {
    "exp": (m.exp, mixed(-745, 709.7)),
    "exp2": (lambda x: mpf(2) ** x, mixed(-1074, 1023.9)),
    "expm1": (m.expm1, mixed(-40, 709.7)),
    "ln": (m.log, logarithm_argument),
    "ln_1p": (m.log1p, mixed(-0.9999999, 1e3, -60, 1000)),
    "log2": (lambda x: m.log(x) / m.log(2), logarithm_argument),
    "log10": (lambda x: m.log(x) / m.log(10), logarithm_argument),
    "sin": (m.sin, angle),
    "cos": (m.cos, angle),
    "tan": (m.tan, angle),
    "sinh": (m.sinh, mixed(-710, 710)),
    "cosh": (m.cosh, mixed(-710, 710)),
    "tanh": (m.tanh, mixed(-22, 22)),
    "asin": (m.asin, mixed(-1, 1)),
    "acos": (m.acos, mixed(-1, 1)),
    "atan": (m.atan, mixed(-10, 10, -60, 60)),
    "erf": (m.erf, mixed(-6, 6)),
    "erfc": (m.erfc, mixed(-6, 27.2)),
}

BINARY = {
    "pow": (lambda x, y: mpf(x) ** mpf(y),
            lambda rng: (logarithm_argument(rng), log_uniform(rng, -20, 10))),
    "atan2": (m.atan2, lambda rng: (log_uniform(rng, -30, 30), log_uniform(rng, -30, 30))),
}


def rounded(value):
    """Nearest f64 (ties do not occur) and the rest in ulp of it."""
    mantissa, exponent = m.frexp(value)
    unit = mpf(2) ** max(int(exponent) - 53, -1074)
    nearest = m.nint(value / unit)
    result = math.ldexp(int(nearest), int(m.log(unit, 2)))
    return result, value / unit - nearest


def record(arguments, value):
    if not abs(value) < mpf(2) ** 1024 * (1 - mpf(2) ** -54):
        return b""
    result, rest = rounded(value)
    assert abs(rest) <= 0.5, (arguments, rest)
    fraction = max(-32767, min(32767, int(m.nint(rest * 65536))))
    return struct.pack(f"<{len(arguments) + 1}dh", *arguments, result, fraction)


def main():
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    folder = pathlib.Path(__file__).parent.parent / "tests" / "vectors"
    if len(sys.argv) > 2:
        folder = pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    for name, (function, draw) in FUNCTIONS.items():
        rng = random.Random(name)
        points = [draw(rng) for _ in range(records)]
        if name in ("sin", "cos", "tan"):
            points += HARDEST
        data = b"".join(record((x,), function(mpf(x))) for x in points)
        (folder / f"{name}.bin").write_bytes(data)
    for name, (function, draw) in BINARY.items():
        rng = random.Random(name)
        points = [draw(rng) for _ in range(records)]
        data = b"".join(record(p, function(mpf(p[0]), mpf(p[1]))) for p in points)
        (folder / f"{name}.bin").write_bytes(data)


if __name__ == "__main__":
    main()
