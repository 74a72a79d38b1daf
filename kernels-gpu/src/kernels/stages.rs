//! The stages of a step, one after the other, so that the drift stands in a kernel once.
//!
//! A large model's drift is most of a kernel, and a driver takes long for each copy. So all schemes
//! share one loop: the first stage is at the state, each further one at the state moved along the
//! derivative before it.

use super::KernelFloat;
use super::block::Scheme;
use crate::abi::features;
use crate::scheme::{self, StepSizes};
use core::array;

/// The states after the scheme and the noise, before bounds: of a node whose states are in registers.
///
/// `word` has the scheme, see [`features`]; `time` gives the time at a part of the step, `drift` the
/// derivative (or the next state of a map), `disturb` the states moved by the noise.
#[inline(always)]
pub(super) fn integrate<T: KernelFloat, const S: usize>(
    word: u32,
    dt: StepSizes<T>,
    x: [T; S],
    time: impl Fn(f64) -> T,
    drift: impl Fn([T; S], T) -> [T; S],
    disturb: impl Fn([T; S]) -> [T; S],
) -> [T; S] {
    let along = |h: T, k: [T; S]| array::from_fn(|s| scheme::advance(x[s], h, k[s]));
    // Runge–Kutta's first derivative, and the sum of those between the first and the last; Heun's
    // first is such a sum. Sums start at −0, which changes nothing.
    let (mut first, mut middle) = ([T::NEGATIVE_ZERO; S], [T::NEGATIVE_ZERO; S]);
    let (mut place, mut now) = (x, time(0.0));
    let mut stages = Stages::new(word);
    let last = loop {
        let k = drift(place, now);
        if stages.is_last() {
            break k;
        }
        if stages.is_first_of_four() {
            first = k;
        } else {
            middle = array::from_fn(|s| middle[s] + k[s]);
        }
        let to_end = stages.next_is_last();
        place = along(if to_end { dt.whole } else { dt.half }, k);
        now = time(if to_end { 1.0 } else { 0.5 });
        if stages.disturbed() {
            place = disturb(place);
        }
        stages.advance();
    };
    let undisturbed = match Scheme::of(word) {
        Scheme::Euler => along(dt.whole, last),
        Scheme::Heun => array::from_fn(|s| scheme::heun(x[s], dt.half, middle[s], last[s])),
        Scheme::Rk4 => array::from_fn(|s| {
            let k = [first[s], middle[s], T::NEGATIVE_ZERO, last[s]];
            scheme::rk4(x[s], dt.sixth, T::TWO, k)
        }),
        Scheme::Map => last,
    };
    if word & features::NOISE != 0 { disturb(undisturbed) } else { undisturbed }
}

/// The current stage of a step, and how many are left.
///
/// The compiler does not see through the counts: it would unroll the loop, or make one for each scheme.
/// The assembler does, and keeps of a loop what the scheme needs.
#[derive(Clone, Copy)]
pub(super) struct Stages {
    number: u32,
    /// Stages after the current one, and [`DISTURBED`].
    left: u32,
}

/// Number of stages.
const COUNT: u32 = 0b11;
/// The noise is added before the next stage: the predictor of Heun's scheme.
const DISTURBED: u32 = 0b100;

impl Stages {
    /// Before the first stage of a step.
    #[inline(always)]
    pub(super) fn new(word: u32) -> Self {
        let predictor = if word & features::NOISE != 0 { 1 | DISTURBED } else { 1 };
        let method = word & features::METHOD;
        let further = if method == features::HEUN {
            predictor
        } else if method == features::RK4 {
            3
        } else {
            0
        };
        Self { number: opaque(0), left: opaque(further) }
    }

    /// The current stage, from 0.
    #[inline(always)]
    pub(super) fn number(self) -> u32 {
        self.number
    }

    /// No stage follows.
    #[inline(always)]
    pub(super) fn is_last(self) -> bool {
        self.left & COUNT == 0
    }

    /// One follows, at the end of the step; else it is in the middle.
    #[inline(always)]
    pub(super) fn next_is_last(self) -> bool {
        self.left & COUNT == 1
    }

    /// Three follow: this is the first of Runge–Kutta's.
    #[inline(always)]
    pub(super) fn is_first_of_four(self) -> bool {
        self.left & COUNT == 3
    }

    /// The next stage is at a state with noise.
    #[inline(always)]
    pub(super) fn disturbed(self) -> bool {
        self.left & DISTURBED != 0
    }

    /// On to the next stage.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.number = opaque(self.number + 1);
        self.left = opaque(self.left - 1);
    }
}

/// The same number, of which the compiler knows nothing.
#[inline(always)]
fn opaque(number: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let same;
        // SAFETY: one move between registers.
        unsafe {
            core::arch::asm!(
                "mov.u32 {same}, {number};",
                same = out(reg32) same,
                number = in(reg32) number,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        same
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        number
    }
}
