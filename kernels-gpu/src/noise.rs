//! Which random number belongs to which point, node, state variable and step.
//!
//! Every node of every sweep point has its own Philox subsequence; within it the normals are numbered
//! by step and noisy state variable. Nothing else enters, so the numbers do not depend on the batch,
//! the device or the number of threads.

/// The Philox subsequence of a node of a sweep point: `point·2^32 + node`.
#[inline(always)]
pub const fn subsequence(point: u64, node: u32) -> u64 {
    (point << 32) | node as u64
}

/// The number of the normal that noisy variable `variable` of `variables` gets at `step`.
#[inline(always)]
pub const fn normal_index(step: u64, variables: u32, variable: u32) -> u64 {
    step * variables as u64 + variable as u64
}
