//! Constants and polynomials of Binary32. Written by `tools/fit.py`; do not edit.

use super::format::{Binary32, Coefficients};
use crate::lane::Lane;

#[rustfmt::skip]
impl Coefficients for Binary32 {
    const LOG2_E: f64 = 1.4426950216293335; // 1 / ln 2
    const LN2_HI: f64 = 0.693145751953125; // ln 2, leading part: `n * LN2_HI` is exact for every exponent `n`
    const LN2_LO: f64 = 1.428606765330187e-06; // ln 2 - LN2_HI
    const FRAC_2_PI: f64 = 0.6366197466850281; // 2 / pi
    const PIO2_1: f64 = 1.570796251296997; // pi / 2, first part, rounded down so that every part is positive
    const PIO2_2: f64 = 7.549789415861596e-08; // pi / 2, second part
    const PIO2_3: f64 = 5.390302529957765e-15; // pi / 2, third part
    const PIO2_HI: f64 = 1.5707963705062866; // pi / 2 to nearest
    const PIO2_LO: f64 = -4.371138828673793e-08; // pi / 2 - PIO2_HI
    const LOG2_C1_HI: f64 = 2.885390043258667; // 2 / ln 2
    const LOG2_C1_LO: f64 = 3.851926067000022e-08; // 2 / ln 2 - LOG2_C1_HI
    const LOG2_C3_HI: f64 = 0.9617967009544373; // 2 / (3 ln 2)
    const LOG2_C3_LO: f64 = -7.028461812552678e-09; // 2 / (3 ln 2) - LOG2_C3_HI
    const LOG10_2_HI: f64 = 0.3010300099849701; // log10(2)
    const LOG10_2_LO: f64 = -1.432098883924482e-08; // log10(2) - LOG10_2_HI
    const ERFC_CENTRE: f64 = 2.0; // the `a` of `t = (x - a) / (x + a)` in `erfcx_tail`
    const TWO_OVER_PI: &'static [u64] = &[0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561];

    // `(e^r - 1 - r) / r^2` for `|r| <= ln(2)/2`: relative error of the function 2^-26.1.
    #[inline(always)]
    fn exp_tail<L: Lane>(x: L) -> L {
        horner!(x, 0.4999999701976776, 0.16666541993618011, 0.041667498648166656, 0.008366730064153671, 0.001386516378261149)
    }

    // `(2^r - 1) / r` for `|r| <= 1/2`: relative error of the function 2^-27.9.
    #[inline(always)]
    fn exp2_tail<L: Lane>(x: L) -> L {
        horner!(x, 0.6931471824645996, 0.24022643268108368, 0.055503588169813156, 0.009619002230465412, 0.001339130918495357, 0.0001519673242000863)
    }

    // `(ln(1 + f) - f + f^2/2) / f^3` for `|f| <= 1/3`: relative error of the function 2^-27.7.
    #[inline(always)]
    fn ln_tail<L: Lane>(x: L) -> L {
        horner!(x, 0.3333321511745453, -0.24999800324440002, 0.2001044601202011, -0.1668037474155426, 0.14005307853221893, -0.12185746431350708, 0.1398688405752182, -0.12885479629039764)
    }

    // `(atanh(s)/s - 1 - z/3) * (2/ln 2) / z^2`, `z = s^2`, `|s| <= 1/5`: relative error of the function 2^-34.5.
    #[inline(always)]
    fn log2_tail<L: Lane>(x: L) -> L {
        horner!(x, 0.5770836472511292, 0.411538302898407, 0.34440532326698303)
    }

    // `(sin r - r) / r^3`, `z = r^2`, `|r| <= 0.82`: relative error of the function 2^-27.4.
    #[inline(always)]
    fn sin_tail<L: Lane>(x: L) -> L {
        horner!(x, -0.16666650772094727, 0.00833192840218544, -0.00019484860240481794)
    }

    // `(cos r - 1 + z/2) / z^2`, `z = r^2`, `|r| <= 0.82`: relative error of the function 2^-32.2.
    #[inline(always)]
    fn cos_tail<L: Lane>(x: L) -> L {
        horner!(x, 0.04166663810610771, -0.0013886968372389674, 2.4395329091930762e-05)
    }

    // `(tan r - r) / r^3`, `z = r^2`, `|r| <= 0.82`: relative error of the function 2^-28.4.
    #[inline(always)]
    fn tan_tail<L: Lane>(x: L) -> L {
        horner!(x, 0.33333367109298706, 0.13332073390483856, 0.05412592366337776, 0.02094603329896927, 0.011694096960127354, -0.0009809434413909912, 0.004895263817161322)
    }

    // `(tanh x - x) / x^3`, `z = x^2`, `|x| <= 0.625`: relative error of the function 2^-27.7.
    #[inline(always)]
    fn tanh_tail<L: Lane>(x: L) -> L {
        horner!(x, -0.3333328068256378, 0.13331416249275208, -0.05373793840408325, 0.02063411846756935, -0.005700091831386089)
    }

    // `(sinh x - x) / x^3`, `z = x^2`, `|x| <= 1`: relative error of the function 2^-31.4.
    #[inline(always)]
    fn sinh_tail<L: Lane>(x: L) -> L {
        horner!(x, 0.1666666716337204, 0.008333315141499043, 0.00019841664470732212, 2.7899995984626003e-06)
    }

    // `(asin x - x) / x^3`, `z = x^2`, `|x| <= 1/2`: relative error of the function 2^-31.7.
    #[inline(always)]
    fn asin_tail<L: Lane>(x: L) -> L {
        horner!(x, 0.16666659712791443, 0.0750051736831665, 0.04451478272676468, 0.03182394430041313, 0.014382301829755306, 0.03759024664759636)
    }

    // `(atan x - x) / x^3`, `z = x^2`, `|x| <= 1`: relative error of the function 2^-28.5.
    #[inline(always)]
    fn atan_tail<L: Lane>(x: L) -> L {
        horner!(x, -0.33333298563957214, 0.1999853551387787, -0.14264124631881714, 0.10951638221740723, -0.08401985466480255, 0.057934246957302094, -0.031155923381447792, 0.010903410613536835, -0.0017912235343828797)
    }

    // `erf(x)/x - 1`, `z = x^2`, `|x| <= 0.75`: relative error of the function 2^-29.2.
    #[inline(always)]
    fn erf_tail<L: Lane>(x: L) -> L {
        horner!(x, 0.12837916612625122, -0.3761261999607086, 0.11283385008573532, -0.0268348827958107, 0.005114710424095392, -0.000675144896376878)
    }

    const ERFCX_C0_HI: f64 = 1.0215827226638794;
    const ERFCX_C0_LO: f64 = -1.741156552270695e-08;
    const ERFCX_C1: f64 = -0.6871606707572937;

    // `(e^(x^2) erfc(x) (x + 2) - ERFCX_C0 - ERFCX_C1 t) / t^2`, `t = (x - 2) / (x + 2)`, `1/2 <= x <= 10.2`: relative error of the function 2^-29.9.
    #[inline(always)]
    fn erfcx_tail<L: Lane>(x: L) -> L {
        horner!(x, 0.27947208285331726, -0.036442629992961884, -0.02151034027338028, 0.006483030039817095, 0.003087192540988326, -0.0008538671536371112, -0.0006475683185271919, 6.88391228322871e-05, 0.00011356186587363482)
    }
}
