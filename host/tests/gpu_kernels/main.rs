//! The GPU kernels without a GPU: run natively in an emulation and compared with the CPU engine and
//! with a plain simulator, bit for bit.

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "a test")]

mod emulated;
mod groups;
#[allow(dead_code, reason = "shared with the tests of the CPU engine")]
#[path = "../engine/programs.rs"]
mod programs;
#[path = "../engine/reference.rs"]
mod reference;

use cuda_std::emulate::Order;
use host::back::gpu::{DeviceJob, DeviceLimits, PlanName, PrepareError};
use host::back::{AfferentMatrix, Initial, Job, ParameterValues, Recorded, Speed, SweptParameter};
use host::experiment::{BalloonWindkessel, Method, Precision};
use host::ir::{BinaryOp, Inst};
use host::monitor::{Haemodynamics, MonitorKind};
use host::simulation::{Options, Record, Simulation};
use host::sweep::{PointResult, RowBlock, Silent, Sink, SinkError, Status, run};
use programs::*;
use std::sync::atomic::AtomicBool;

/// Everything in memory, as bits of 64-bit numbers; all NaN are one.
#[derive(Clone, Debug, Default, PartialEq)]
struct Kept {
    /// `[point][monitor]`, rows one after the other.
    rows: Vec<Vec<Vec<u64>>>,
    means: Vec<Option<Vec<u64>>>,
    status: Vec<Option<Status>>,
}

impl Kept {
    fn new(job: &Job<'_>) -> Self {
        let points = job.points.len();
        Self {
            rows: vec![vec![Vec::new(); job.record.monitors.len()]; points],
            means: vec![None; points],
            status: vec![None; points],
        }
    }
}

fn bits(values: Vec<f64>) -> Vec<u64> {
    values.into_iter().map(|v| if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() }).collect()
}

impl Sink for Kept {
    fn rows(&mut self, rows: RowBlock<'_>) -> Result<(), SinkError> {
        let series = &mut self.rows[rows.point][rows.monitor];
        let per_row = rows.values.len() / rows.rows;
        assert_eq!(series.len(), per_row * rows.first_row as usize, "rows come in order");
        series.extend(bits(rows.values.to_f64()));
        Ok(())
    }
    fn point(&mut self, result: PointResult<'_>) -> Result<(), SinkError> {
        self.status[result.point] = Some(result.status);
        self.means[result.point] = result.mean.map(|m| bits(m.to_f64()));
        Ok(())
    }
}

fn on_cpu(job: &Job<'_>) -> Kept {
    let mut kept = Kept::new(job);
    run(job, 1, &mut kept, &Silent, &AtomicBool::new(false)).unwrap();
    kept
}

/// A device on which small jobs make groups.
const SMALL: DeviceLimits = DeviceLimits { shared_bytes: 160 << 10, processors: 1 };

fn emulated(job: &Job<'_>, fold: bool, steps: u32, order: Order) -> Kept {
    emulated_with(job, fold, steps, order, PlanName::Plain).unwrap()
}

/// The same with a plan; nothing if the job can't be run with it.
fn emulated_with(
    job: &Job<'_>,
    fold: bool,
    steps: u32,
    order: Order,
    plan: PlanName,
) -> Option<Kept> {
    let mut kept = Kept::new(job);
    let device_job = match DeviceJob::with_plan(job, fold, plan, &SMALL) {
        Err(PrepareError::Plan { .. }) => return None,
        other => other.unwrap(),
    };
    match job.precision {
        Precision::F32 => emulated::run::<f32>(&device_job, steps, order, &mut kept),
        Precision::F64 => emulated::run::<f64>(&device_job, steps, order, &mut kept),
    }
    Some(kept)
}

/// Compares the emulated kernels of all plans that run a job with the CPU engine; which those were.
fn assert_same(job: &Job<'_>, what: &str) -> Vec<PlanName> {
    let expected = on_cpu(job);
    let mut plans = Vec::new();
    for plan in [PlanName::Plain, PlanName::Delayed, PlanName::Sparse, PlanName::Dense] {
        if assert_same_with(job, what, &expected, plan) {
            plans.push(plan);
        }
    }
    plans
}

fn assert_same_with(job: &Job<'_>, what: &str, expected: &Kept, plan: PlanName) -> bool {
    for (fold, steps, order) in [(true, 1000, Order::Ascending), (false, 37, Order::Descending)] {
        let Some(found) = emulated_with(job, fold, steps, order, plan) else { return false };
        let what = format!("{what}, plan {}", plan.name());
        assert!(expected.status == found.status, "{what}: {:?}", found.status);
        for (point, (a, b)) in expected.rows.iter().zip(&found.rows).enumerate() {
            for (monitor, (a, b)) in a.iter().zip(b).enumerate() {
                assert_eq!(a.len(), b.len(), "{what}: point {point} monitor {monitor}");
                if let Some(at) = (0..a.len()).find(|&i| a[i] != b[i]) {
                    let (a, b) = (f64::from_bits(a[at]), f64::from_bits(b[at]));
                    panic!(
                        "{what}, {steps} steps a launch: point {point} monitor {monitor} value {at}: {b:e} instead of {a:e}"
                    );
                }
            }
        }
        assert!(expected.means == found.means, "{what}: means");
    }
    true
}

/// Weights and lengths without structure, the same at every call.
fn dense(nodes: usize, longest: f64, seed: u64) -> AfferentMatrix {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let mut edge = |j: usize| {
        let weight = if uniform() < 0.2 { 0.0 } else { uniform() - 0.3 };
        (j as u32, weight, uniform() * longest)
    };
    let rows: Vec<Vec<(u32, f64, f64)>> =
        (0..nodes).map(|i| (0..nodes).filter(|&j| j != i).map(&mut edge).collect()).collect();
    network(&rows)
}

const METHODS: [Method; 4] = [Method::Euler, Method::Heun, Method::Rk4, Method::Map];
const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

/// A sweep over a parameter and the speed of a program with all that there is.
fn everything_job(program: &host::ir::Program) -> Job<'_> {
    let mut job = job(program, vec![dense(7, 90.0, 1), dense(7, 40.0, 2)], 7);
    (job.dt, job.dt_ms, job.steps, job.transient_steps) = (0.1, 0.7, 130, 9);
    job.points = vec![3, 9, 1 << 20];
    job.parameters.base[1] = ParameterValues::PerNode((0..7).map(|i| 0.1 * f64::from(i)).collect());
    job.parameters.swept = vec![SweptParameter { slot: 0, values: vec![0.1, 0.2, -0.7] }];
    job.speed = Speed::PerPoint(vec![1.0, 0.5, 1.0]);
    job.record.variables.push(Recorded::Observed(0));
    job.record.monitors = vec![
        MonitorKind::Raw,
        MonitorKind::SubSample { period: 7 },
        MonitorKind::TemporalAverage { period: 10 },
        MonitorKind::GlobalAverage { period: 3 },
    ];
    job
}

#[test]
fn kernels_over_registers_give_the_bits_of_the_cpu_engine() {
    let program = everything();
    for precision in PRECISIONS {
        for method in METHODS {
            let mut job = everything_job(&program);
            (job.method, job.precision) = (method, precision);
            assert_same(&job, &format!("{precision:?} {method:?}"));
        }
    }
}

/// A ring of states, more than fit into registers or as many as are padded.
fn many_states(states: usize) -> host::ir::Program {
    let mut drift = Writer::default();
    let x: Vec<_> = (0..states as u32).map(|s| drift.state(s)).collect();
    let c = drift.input(host::ir::Input::Coupling(0));
    let rate = drift.parameter(0);
    let mut results = Vec::new();
    for s in 0..states {
        let next = drift.push(Inst::Binary(BinaryOp::Sub, x[(s + 1) % states], x[s]));
        let bent = drift.call(host::ir::Function1::Tanh, next);
        let scaled = drift.mul(rate, bent);
        results.push(if s == 0 { drift.add(scaled, c) } else { scaled });
    }
    let oscillator = kuramoto(true, true);
    let mut program = uncoupled(drift.results(&results), 3);
    program.noisy = vec![0, states as u32 - 1];
    let mut diffusion = Writer::default();
    let (a, b) = (diffusion.parameter(1), diffusion.parameter(2));
    program.diffusion = diffusion.results(&[a, b]);
    program.bounds[states - 1] = host::ir::Bound::Clamp { lo: -0.2, hi: 0.3 };
    host::ir::Program {
        emit: oscillator.emit,
        gathers: oscillator.gathers,
        post: oscillator.post,
        couplings: oscillator.couplings,
        ..program
    }
}

#[test]
fn padded_and_memory_kernels_give_the_bits_of_the_cpu_engine() {
    for (states, entry) in
        [(9, "simulate_f32_10"), (16, "simulate_f32_16"), (19, "simulate_f32_memory")]
    {
        let program = many_states(states);
        for method in METHODS {
            let mut job = job(&program, vec![dense(5, 50.0, 4)], 5);
            (job.method, job.precision, job.dt) = (method, Precision::F32, 0.1);
            let values = (0..states * 5).map(|i| 0.01 * i as f64).collect();
            job.initial = Initial::Shared(values);
            assert_eq!(DeviceJob::new(&job, true).unwrap().kernel().entry, entry);
            assert_same(&job, &format!("{states} states {method:?}"));
        }
    }
}

#[test]
fn events_edges_and_bounds_work_in_memory_too() {
    // The program with all that there is, and dummy states that make it too large for registers.
    let mut program = everything();
    let mut drift = Writer(program.drift.clone());
    let zero = drift.constant(0.0);
    let mut events = Writer(program.events.clone());
    for state in 2..20 {
        program.states.push(format!("x{state}"));
        program.bounds.push(host::ir::Bound::Free);
        drift.0.results.push(zero);
        let kept = events.state(state);
        events.0.results.push(kept);
    }
    (program.drift, program.events) = (drift.0, events.0);
    for method in METHODS {
        let mut job = everything_job(&program);
        job.method = method;
        let kept = DeviceJob::new(&job, true).unwrap();
        assert_eq!(kept.kernel().entry, "simulate_f64_memory");
        assert_same(&job, &format!("{method:?}"));
    }
}

#[test]
fn more_nodes_than_threads_are_shared_out() {
    let program = kuramoto(true, true);
    for nodes in [1, 33, 300] {
        let mut job = job(&program, vec![dense(nodes, 45.0, 3)], nodes);
        (job.precision, job.method, job.dt, job.steps) = (Precision::F32, Method::Heun, 0.05, 40);
        job.record.monitors = vec![MonitorKind::GlobalAverage { period: 4 }];
        assert_same(&job, &format!("{nodes} nodes"));
    }
}

#[test]
fn a_point_that_leaves_the_finite_numbers_is_flagged_alone() {
    let mut drift = Writer::default();
    let (x, rate) = (drift.state(0), drift.parameter(0));
    let square = drift.mul(x, x);
    let f = drift.mul(square, rate);
    let program = uncoupled(drift.results(&[f]), 1);
    let mut job = job(&program, Vec::new(), 3);
    job.points = vec![0, 1];
    job.parameters.swept = vec![SweptParameter { slot: 0, values: vec![3.0, 0.01] }];
    job.record.monitors.push(MonitorKind::TemporalAverage { period: 5 });
    assert!(matches!(on_cpu(&job).status[0], Some(Status::NonFinite { .. })));
    assert_eq!(on_cpu(&job).status[1], Some(Status::Finite));
    assert_same(&job, "explosion");
}

/// The response to some variables, in steps long enough to be seen within a short run.
fn response(variables: Vec<usize>, period: u64, stride: u64) -> MonitorKind {
    let model = BalloonWindkessel::default();
    MonitorKind::Bold(Haemodynamics { variables, period, stride, seconds: 0.05, model })
}

#[test]
fn haemodynamic_responses_give_the_bits_of_the_cpu_engine() {
    let mut program = everything();
    program.bounds = vec![host::ir::Bound::Clamp { lo: 0.0, hi: 0.9 }; program.states.len()];
    for precision in PRECISIONS {
        let mut job = everything_job(&program);
        (job.method, job.precision) = (Method::Heun, precision);
        let two = vec![1, 0];
        job.record.monitors = vec![
            response(vec![0], 4, 1),
            MonitorKind::TemporalAverage { period: 10 },
            response(two.clone(), 7, 7),
            // Haemodynamic steps that end with none of the periods, or with some.
            response(two.clone(), 10, 3),
            response(two, 50, 49),
        ];
        let rows = &on_cpu(&job).rows[0];
        let lengths: Vec<usize> = rows.iter().map(Vec::len).collect();
        assert_eq!(lengths, [32 * 7, 13 * 3 * 7, 18 * 14, 12 * 14, 14]);
        let moves =
            |&value: &u64| f64::from_bits(value).is_finite() && f64::from_bits(value) != 0.0;
        assert!(rows[3].iter().filter(|value| moves(value)).count() > 100, "{precision:?}");
        assert_same(&job, &format!("{precision:?}"));
    }
}

#[test]
fn responses_of_a_point_that_is_flagged_end_where_the_cpu_engine_ends_them() {
    let mut drift = Writer::default();
    let (x, rate) = (drift.state(0), drift.parameter(0));
    let square = drift.mul(x, x);
    let f = drift.mul(square, rate);
    let program = uncoupled(drift.results(&[f]), 1);
    let mut job = job(&program, Vec::new(), 3);
    job.points = vec![0, 1];
    job.parameters.swept = vec![SweptParameter { slot: 0, values: vec![3.0, 0.01] }];
    let Some(Status::NonFinite { step }) = on_cpu(&job).status[0] else { panic!("finite") };
    // A sample whose period is over before the step, and whose haemodynamic step is not.
    for stride in 1..=step {
        job.record.monitors.push(response(vec![0], step, stride));
    }
    assert_same(&job, "explosion");
}

#[test]
fn shipped_experiments_give_the_bits_of_the_cpu_engine() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut count = 0;
    for folder in ["models", "examples"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "yaml") {
                continue;
            }
            let name = path.display().to_string();
            let mut experiment = host::experiment::load(&path).unwrap().experiment;
            let points = experiment.sweep.points().unwrap_or(1);
            // The last points of a sweep have the strongest couplings.
            let options = Options {
                points: std::iter::once(points.saturating_sub(2)..points).collect(),
                record: Some(Record::Raw),
                ..Options::default()
            };
            for precision in PRECISIONS {
                experiment.precision = precision;
                let simulation = Simulation::new(&experiment, &options).unwrap();
                let mut job = simulation.job();
                (job.steps, job.transient_steps) = (45, 3);
                job.record.monitors.retain(|monitor| monitor.period() < 40);
                let signal = host::back::Signal { samples: vec![0.5, -1.5, 2.0, 0.25] };
                job.signals.iter_mut().for_each(|s| *s = signal.clone());
                assert_same(&job, &format!("{name} {precision:?}"));
            }
            count += 1;
        }
    }
    assert!(count > 25, "only {count} experiments were found");
}

#[test]
fn kernels_agree_with_the_plain_simulator() {
    let program = everything();
    let mut job = everything_job(&program);
    (job.method, job.record.monitors) = (Method::Heun, vec![MonitorKind::Raw]);
    let found = emulated(&job, false, 50, Order::Ascending);
    for point in 0..job.points.len() {
        let rows = reference::simulate::<f64>(&job, point);
        let expected = bits(rows.into_iter().flatten().flatten().collect());
        assert!(found.rows[point][0] == expected, "point {point}");
    }
}
