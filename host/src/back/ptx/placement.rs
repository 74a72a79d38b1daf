//! Where a kernel finds the value of a parameter slot.

use crate::back::{Job, ParameterValues};

/// Where the value of a parameter slot is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterPlacement {
    /// In the instructions: the same for all points and nodes.
    Constant(f64),
    /// The value with this number of the point's parameters.
    PerPoint(u32),
    /// The parameter with this number of the node's parameters, the same for all points.
    PerNode(u32),
}

impl ParameterPlacement {
    /// Places all slots of a job. With `fold`, values that are the same for all its points and nodes
    /// become constants, else only the parameters that are swept or given by node decide, and one
    /// module serves jobs that differ in values alone.
    pub fn of_job(job: &Job<'_>, fold: bool) -> Vec<Self> {
        let (mut points, mut nodes) = (0, 0);
        let next = |counter: &mut u32| {
            *counter += 1;
            *counter - 1
        };
        let swept = |slot| job.parameters.swept.iter().find(|swept| swept.slot == slot);
        let placements =
            job.parameters.base.iter().enumerate().map(|(slot, base)| match (swept(slot), base) {
                (Some(swept), _) => match single(&swept.values) {
                    Some(value) if fold => Self::Constant(value),
                    _ => Self::PerPoint(next(&mut points)),
                },
                (None, ParameterValues::PerNode(values)) => match single(values) {
                    Some(value) if fold => Self::Constant(value),
                    _ => Self::PerNode(next(&mut nodes)),
                },
                (None, ParameterValues::Uniform(value)) if fold => Self::Constant(*value),
                (None, ParameterValues::Uniform(_)) => Self::PerPoint(next(&mut points)),
            });
        placements.collect()
    }

    /// How many parameters are by point and by node.
    pub fn counts(placements: &[Self]) -> (u32, u32) {
        let by_point = placements.iter().filter(|p| matches!(p, Self::PerPoint(_))).count();
        let by_node = placements.iter().filter(|p| matches!(p, Self::PerNode(_))).count();
        (by_point as u32, by_node as u32)
    }
}

/// The value that all of them have, to the bit.
fn single(values: &[f64]) -> Option<f64> {
    let (&first, rest) = values.split_first()?;
    rest.iter().all(|v| v.to_bits() == first.to_bits()).then_some(first)
}
