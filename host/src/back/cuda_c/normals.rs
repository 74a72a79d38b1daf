//! Standard normal numbers in the source: a function of two words of Philox.

use crate::experiment::Normals;

/// `normal_pair`, the function that the kernel calls.
pub(super) fn text(normals: Normals) -> &'static str {
    match normals {
        Normals::Portable => include_str!("normals_portable.cu.in"),
        Normals::Curand => include_str!("normals_curand.cu.in"),
    }
}

/// What the header says about them.
pub(super) fn remark(normals: Normals) -> &'static str {
    match normals {
        Normals::Portable => {
            "\
The normals are those of `host run`, to the bit and with any option of the compiler but -use_fast_math: see
normal_pair. They are not those of curand_normal, which takes the hardware's sine and cosine; for these
export with `--normal curand`."
        }
        Normals::Curand => {
            "\
The normals are those of curand_normal, to the bit as nvcc compiles it by default, also with -fmad=false: see
normal_pair. `host run --normal curand` on a GPU draws the same; `host run` without it draws others."
        }
    }
}
