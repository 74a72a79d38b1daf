//! Kernels with slots: Euler steps of models that are not known yet.

use cuda_std::float::GpuFloat;
use cuda_std::{kernel, slot, thread};

slot! {
    /// A drift of 16 states from 40 values.
    pub fn wide_drift(state: [f32; 16], afferent: [f32; 16], more: [f32; 7], at: u32) -> [f32; 16];
    /// An output of each kind, from parameters in memory.
    ///
    /// # Safety
    /// `parameters` is what the slot's body expects.
    pub unsafe fn mixed(parameters: *const f32, index: u32, sign: i32, x: f64) -> ([f32; 2], u32, f64);
}

/// One slot and one kernel for a float type, a number of states and of afferents.
macro_rules! euler {
    ($($drift:ident, $kernel:ident: $float:ident, $states:literal, $afferents:literal;)*) => {
        $(
            slot! {
                /// The drift of a model.
                pub fn $drift(state: [$float; $states], afferent: [$float; $afferents], time: $float) -> [$float; $states];
            }

            /// Euler steps of one model per thread; the afferents are the first states.
            ///
            /// # Safety
            /// `states` holds the states for each thread.
            #[kernel]
            pub unsafe fn $kernel(steps: u32, dt: $float, states: *mut $float) {
                // SAFETY: the caller's contract.
                unsafe {
                    let states = states.cast::<[$float; $states]>().add(thread::index_1d() as usize);
                    let mut x = *states;
                    let mut step = 0;
                    while step < steps {
                        let mut afferent = [0.0; $afferents];
                        afferent.copy_from_slice(&x[..$afferents]);
                        let drift = $drift(x, afferent, step as $float * dt);
                        let mut at = 0;
                        while at < $states {
                            x[at] = dt.fused_mul_add(drift[at], x[at]);
                            at += 1;
                        }
                        step += 1;
                    }
                    *states = x;
                }
            }
        )*
    };
}

euler! {
    drift_f32_1_1, euler_f32_1_1: f32, 1, 1;
    drift_f32_2_1, euler_f32_2_1: f32, 2, 1;
    drift_f64_2_1, euler_f64_2_1: f64, 2, 1;
    drift_f64_6_2, euler_f64_6_2: f64, 6, 2;
}

/// One Euler step of 16 states.
///
/// # Safety
/// `states` holds 16 values for each thread.
#[kernel]
pub unsafe fn euler_wide(steps: u32, dt: f32, states: *mut f32) {
    // SAFETY: the caller's contract.
    unsafe {
        let states = states.cast::<[f32; 16]>().add(thread::index_1d() as usize);
        let mut x = *states;
        let mut step = 0;
        while step < steps {
            let more = [x[0], x[1], x[2], x[3], x[4], x[5], dt];
            let drift = wide_drift(x, x, more, step);
            let mut at = 0;
            while at < 16 {
                x[at] = dt.fused_mul_add(drift[at], x[at]);
                at += 1;
            }
            step += 1;
        }
        *states = x;
    }
}

/// Calls the slot of mixed operands once.
///
/// # Safety
/// Each array holds what one thread writes, `parameters` what the slot reads.
#[kernel]
pub unsafe fn mixed_operands(parameters: *const f32, f: *mut f32, u: *mut u32, d: *mut f64) {
    // SAFETY: the caller's contract.
    unsafe {
        let ([a, b], c, e) = mixed(parameters, thread::thread_idx_x(), -1, *d);
        *f = a;
        *f.add(1) = b;
        *u = c;
        *d = e;
    }
}
