//! What the kernel is called with: the arrays of a job in the kernel's layout.

use super::function::Place;
use crate::back::{Job, JobError, ParameterValues};

/// The arrays that the kernel reads and starts from, in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    /// Work items: points of the sweep.
    pub n_item: usize,
    /// Nodes of the network.
    pub n_node: usize,
    /// Steps that the history holds: the longest delay of all work items and 1.
    pub n_ring: usize,
    /// `[n_item][n_parameter]`
    pub parameters: Vec<f64>,
    /// `[n_node_parameter][n_node]`
    pub node_parameters: Vec<f64>,
    /// `[n_matrix][target][source]`, 0 where there is no connection.
    pub weights: Vec<f64>,
    /// Delays in steps, `[n_delay_class][target][source]`.
    pub delays: Vec<i64>,
    /// Which of those each work item has, `[n_item]`.
    pub delay_class: Vec<i64>,
    /// Initial states, `[n_item][n_state][n_node]`.
    pub state: Vec<f64>,
}

/// Where every parameter slot is, and how many there are of each kind.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    pub(super) places: Vec<Place>,
    /// Values a work item.
    pub(super) item: usize,
    /// Rows of node parameters.
    pub(super) node: usize,
}

impl Placement {
    /// A parameter with one value a node that no sweep sets is kept by node, all others by work item.
    pub(super) fn new(job: &Job<'_>) -> Self {
        let (mut item, mut node) = (0, 0);
        let swept = |slot| job.parameters.swept.iter().any(|s| s.slot == slot);
        let mut take = |(slot, values): (usize, &ParameterValues)| {
            let (kind, count): (fn(usize) -> Place, _) = match values {
                ParameterValues::PerNode(_) if !swept(slot) => (Place::Node, &mut node),
                _ => (Place::Item, &mut item),
            };
            *count += 1;
            kind(*count - 1)
        };
        let places = job.parameters.base.iter().enumerate().map(&mut take).collect();
        Self { places, item, node }
    }
}

impl Arguments {
    /// The arrays of a job.
    ///
    /// # Errors
    /// A job whose parts don't fit together, or with delays that can't be had.
    pub fn new(job: &Job<'_>) -> Result<Self, JobError> {
        job.check()?;
        let (n_item, n_node) = (job.points.len(), job.nodes);
        let placement = Placement::new(job);
        let mut parameters = vec![0.0; n_item * placement.item];
        let mut node_parameters = vec![0.0; n_node * placement.node];
        for (values, place) in job.parameters.base.iter().zip(&placement.places) {
            match (values, *place) {
                (ParameterValues::Uniform(value), Place::Item(at)) => {
                    parameters
                        .iter_mut()
                        .skip(at)
                        .step_by(placement.item)
                        .for_each(|p| *p = *value);
                }
                (ParameterValues::PerNode(values), Place::Node(at)) => {
                    node_parameters[at * n_node..][..n_node].copy_from_slice(values);
                }
                // Swept: below.
                _ => {}
            }
        }
        for swept in &job.parameters.swept {
            if let Place::Item(at) = placement.places[swept.slot] {
                let column = parameters.iter_mut().skip(at).step_by(placement.item);
                column.zip(&swept.values).for_each(|(p, value)| *p = *value);
            }
        }
        let mut weights = vec![0.0; job.matrices.len() * n_node * n_node];
        for (matrix, dense) in job.matrices.iter().zip(weights.chunks_exact_mut(n_node * n_node)) {
            for target in 0..n_node {
                for (_, source, weight) in matrix.row(target) {
                    dense[target * n_node + source] = weight;
                }
            }
        }
        let (delays, delay_class) = delays(job)?;
        // Only delayed sums look back.
        let delayed = job.program.gathers.iter().any(|g| g.delayed);
        let longest = if delayed { delays.iter().max().copied().unwrap_or(0) } else { 0 };
        let state = (0..n_item).flat_map(|item| job.initial.of(item)).copied().collect();
        let n_ring = longest as usize + 1;
        Ok(Self {
            n_item,
            n_node,
            n_ring,
            parameters,
            node_parameters,
            weights,
            delays,
            delay_class,
            state,
        })
    }
}

/// Delays by class, and the class of each work item: those of one speed share theirs. All matrices have
/// the same tract lengths.
fn delays(job: &Job<'_>) -> Result<(Vec<i64>, Vec<i64>), JobError> {
    let n_node = job.nodes;
    let (mut speeds, mut delays, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    for item in 0..job.points.len() {
        let speed = job.speed.of(item);
        let class = match speeds.iter().position(|s| *s == speed.to_bits()) {
            Some(class) => class,
            None => {
                speeds.push(speed.to_bits());
                let mut dense = vec![0; n_node * n_node];
                for matrix in &job.matrices {
                    let steps = matrix.delay_steps(speed, job.dt_ms)?;
                    for target in 0..n_node {
                        for (edge, source, _) in matrix.row(target) {
                            dense[target * n_node + source] = i64::from(steps[edge]);
                        }
                    }
                }
                delays.extend(dense);
                speeds.len() - 1
            }
        };
        classes.push(class as i64);
    }
    Ok((delays, classes))
}
