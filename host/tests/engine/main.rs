//! The CPU engine against closed forms, against a plain simulator, and against itself under other
//! tiles, threads and instruction sets.

#![allow(missing_docs, unreachable_pub, reason = "a test")]

mod programs;
mod reference;

use host::back::cpu::Isa;
use host::back::{AfferentMatrix, Initial, Job, ParameterValues, Recorded, Speed, SweptParameter};
use host::experiment::{Method, Precision};
use host::monitor::MonitorKind;
use host::sweep::{
    Plan, PointResult, RowBlock, Silent, Sink, SinkError, Status, TilePlan, plan, run_plan,
};
use programs::*;
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

/// Everything in memory, as 64-bit numbers.
#[derive(Clone, Debug, Default)]
struct Kept {
    /// `[point][monitor]`, rows one after the other.
    rows: Vec<Vec<Vec<f64>>>,
    means: Vec<Option<Vec<f64>>>,
    status: Vec<Option<Status>>,
}

impl Sink for Kept {
    fn rows(&mut self, rows: RowBlock<'_>) -> Result<(), SinkError> {
        let series = &mut self.rows[rows.point][rows.monitor];
        let per_row = rows.values.len() / rows.rows;
        assert_eq!(series.len(), per_row * rows.first_row as usize, "rows come in order");
        series.extend(rows.values.to_f64());
        Ok(())
    }
    fn point(&mut self, result: PointResult<'_>) -> Result<(), SinkError> {
        assert!(self.status[result.point].is_none(), "a point ends once");
        self.status[result.point] = Some(result.status);
        self.means[result.point] = result.mean.map(|m| m.to_f64());
        Ok(())
    }
}

/// Equal bit for bit, NaN equal to NaN.
fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
}

impl Kept {
    fn same(&self, other: &Self) -> bool {
        self.status == other.status
            && self.means.iter().zip(&other.means).all(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => same(a, b),
                (None, None) => true,
                _ => false,
            })
            && self.rows.iter().flatten().zip(other.rows.iter().flatten()).all(|(a, b)| same(a, b))
    }
}

fn run_with(job: &Job<'_>, plan: &Plan, isa: Isa) -> Kept {
    let points = job.points.len();
    let mut kept = Kept {
        rows: vec![vec![Vec::new(); job.record.monitors.len()]; points],
        means: vec![None; points],
        status: vec![None; points],
    };
    run_plan(job, plan, isa, &mut kept, &Silent, &AtomicBool::new(false)).expect("the job runs");
    assert!(kept.status.iter().all(Option::is_some), "every point ends");
    kept
}

fn run(job: &Job<'_>) -> Kept {
    run_with(job, &plan(job, 1).expect("the job fits"), Isa::detect())
}

fn reference(job: &Job<'_>, point: usize) -> Vec<f64> {
    let rows = match job.precision {
        Precision::F32 => reference::simulate::<f32>(job, point),
        Precision::F64 => reference::simulate::<f64>(job, point),
    };
    rows.into_iter().flatten().flatten().collect()
}

fn assert_reference(job: &Job<'_>, what: &str) {
    let kept = run(job);
    for point in 0..job.points.len() {
        let expected = reference(job, point);
        let found = &kept.rows[point][0];
        assert_eq!(found.len(), expected.len());
        let width = job.nodes * job.record.variables.len();
        if let Some(at) = (0..found.len()).find(|&i| {
            found[i].to_bits() != expected[i].to_bits()
                && !(found[i].is_nan() && expected[i].is_nan())
        }) {
            panic!(
                "{what}: point {point}, row {}, column {}: {:e} instead of {:e}",
                at / width,
                at % width,
                found[at],
                expected[at]
            );
        }
    }
}

/// Weights and lengths without structure, the same at every call.
fn dense(nodes: usize, longest: f64, seed: u64) -> AfferentMatrix {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let rows: Vec<Vec<(u32, f64, f64)>> = (0..nodes)
        .map(|i| {
            (0..nodes)
                .filter(|&j| j != i)
                .map(|j| {
                    let weight = if uniform() < 0.2 { 0.0 } else { uniform() - 0.3 };
                    (j as u32, weight, uniform() * longest)
                })
                .collect()
        })
        .collect();
    network(&rows)
}

const METHODS: [Method; 4] = [Method::Euler, Method::Heun, Method::Rk4, Method::Map];
const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

#[test]
fn decay_converges_with_the_order_of_the_scheme() {
    let program = decay();
    for (method, order) in [(Method::Euler, 1.0), (Method::Heun, 2.0), (Method::Rk4, 4.0)] {
        let error = |steps: u64| {
            let mut job = job(&program, Vec::new(), 1);
            job.method = method;
            (job.dt, job.steps) = (2.0 / steps as f64, steps);
            job.initial = Initial::Shared(vec![1.0]);
            let kept = run(&job);
            (kept.rows[0][0].last().unwrap() - f64::exp(-0.5 * 2.0)).abs()
        };
        let slope = (error(32) / error(64)).log2();
        assert!((slope - order).abs() < 0.1, "{method:?}: order {slope}");
    }
}

#[test]
fn a_map_is_applied_once_a_step() {
    let mut w = Writer::default();
    let (x, y) = (w.state(0), w.state(1));
    let program = uncoupled(w.results(&[y, x]), 0);
    let mut job = job(&program, Vec::new(), 2);
    job.method = Method::Map;
    job.steps = 3;
    job.initial = Initial::Shared(vec![1.0, 2.0, 3.0, 4.0]);
    let kept = run(&job);
    assert_eq!(kept.rows[0][0], [3., 4., 1., 2., 1., 2., 3., 4., 3., 4., 1., 2.]);
}

#[test]
fn a_change_arrives_exactly_the_delay_later() {
    // x0 grows by 1 a step from 0.1; x1 adds what it hears: it hears 0.1 until the delay has passed.
    let mut emit = Writer::default();
    let x = emit.state(0);
    let mut post = Writer::default();
    let sum = post.input(host::ir::Input::Gathered(0));
    let mut drift = Writer::default();
    let (c, rate) = (drift.input(host::ir::Input::Coupling(0)), drift.parameter(0));
    let f = drift.add(c, rate);
    let program = host::ir::Program {
        emit: emit.results(&[x]),
        gathers: vec![host::ir::Gather {
            source: host::ir::GatherSource::Channel(0),
            matrix: 0,
            delayed: true,
        }],
        post: post.results(&[sum]),
        couplings: vec!["c".into()],
        ..uncoupled(drift.results(&[f]), 1)
    };
    for delay in [0_u32, 1, 2, 31, 32, 33, 63, 64, 65, 96, 127, 500] {
        let matrix = network(&[vec![], vec![(0, 1.0, f64::from(delay))]]);
        let mut job = job(&program, vec![matrix], 2);
        job.steps = 600;
        job.parameters.base[0] = ParameterValues::PerNode(vec![1.0, 0.0]);
        job.initial = Initial::Shared(vec![0.0, 0.0]);
        let kept = run(&job);
        let x1: Vec<f64> = kept.rows[0][0].chunks(2).map(|row| row[1]).collect();
        let first = x1.iter().position(|&x| x != 0.0).unwrap();
        // x0 is 1 at step 1; node 1 feels it in step 1 + delay, which is row 1 + delay.
        assert_eq!(first, 1 + delay as usize, "delay {delay}");
        assert_eq!(x1[first], 1.0);
        assert_eq!(x1[first + 3], 10.0, "1 + 2 + 3 + 4");
    }
}

#[test]
fn the_plain_simulator_agrees_bit_for_bit() {
    let program = everything();
    for precision in PRECISIONS {
        for method in METHODS {
            let mut job = job(&program, vec![dense(7, 90.0, 1), dense(7, 40.0, 2)], 7);
            (job.method, job.precision) = (method, precision);
            (job.dt, job.dt_ms, job.steps, job.transient_steps) = (0.1, 0.7, 130, 9);
            job.points = vec![3, 9, 1 << 20];
            job.parameters.base[1] =
                ParameterValues::PerNode((0..7).map(|i| 0.1 * f64::from(i)).collect());
            job.parameters.swept = vec![SweptParameter { slot: 0, values: vec![0.1, 0.2, -0.7] }];
            job.speed = Speed::PerPoint(vec![1.0, 0.5, 1.0]);
            job.record.variables.push(Recorded::Observed(0));
            assert_reference(&job, &format!("{precision:?} {method:?}"));
        }
    }
}

#[test]
fn the_plain_simulator_agrees_on_oscillators_of_all_sizes() {
    for nodes in [1, 2, 3, 5, 17, 40] {
        for delayed in [false, true] {
            let program = kuramoto(delayed, true);
            let mut job = job(&program, vec![dense(nodes, 80.0, 3)], nodes);
            (job.precision, job.method) = (Precision::F32, Method::Heun);
            (job.dt, job.steps) = (0.05, 70);
            job.points = (0..21).collect();
            let couplings = (0..21).map(|i| 0.1 * f64::from(i)).collect();
            job.parameters.swept = vec![SweptParameter { slot: 1, values: couplings }];
            assert_reference(&job, &format!("{nodes} nodes, delayed: {delayed}"));
        }
    }
}

/// A sweep over coupling and speed with everything in it.
fn sweep<'a>(program: &'a host::ir::Program, points: usize) -> Job<'a> {
    let nodes = 9;
    let mut job = job(program, vec![dense(nodes, 90.0, 5), dense(nodes, 60.0, 6)], nodes);
    job.precision = Precision::F32;
    job.method = Method::Heun;
    (job.dt, job.dt_ms, job.steps, job.transient_steps) = (0.1, 1.0, 100, 20);
    job.points = (0..points as u64).collect();
    let values = (0..points).map(|i| 0.01 * i as f64).collect();
    job.parameters.swept = vec![SweptParameter { slot: 0, values }];
    job.speed = Speed::PerPoint((0..points).map(|i| 0.5 + 0.25 * (i % 4) as f64).collect());
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
fn tiles_threads_and_instruction_sets_change_no_bit() {
    let program = everything();
    let job = sweep(&program, 40);
    let best = Isa::detect();
    let expected = run(&job);
    let base = plan(&job, 1).unwrap();
    for width in [1, 3, 16, 40] {
        let order: Vec<usize> = (0..40).rev().collect();
        let tiles =
            order.chunks(width).map(|p| TilePlan { points: p.to_vec(), bytes: 0 }).collect();
        let other = Plan { tiles, ..base.clone() };
        assert!(run_with(&job, &other, best).same(&expected), "tiles of {width}");
    }
    for threads in [2, 5] {
        assert!(run_with(&job, &plan(&job, threads).unwrap(), best).same(&expected));
    }
    for isa in Isa::available() {
        assert!(run_with(&job, &base, isa).same(&expected), "{isa}");
    }
}

#[test]
fn a_point_alone_equals_the_point_in_a_sweep() {
    let program = everything();
    let all = sweep(&program, 40);
    let expected = run(&all);
    for point in [0, 17, 39] {
        let mut alone = sweep(&program, 40);
        alone.points = vec![point as u64];
        alone.parameters.swept[0].values = vec![0.01 * point as f64];
        alone.speed = Speed::Uniform(0.5 + 0.25 * (point % 4) as f64);
        let kept = run(&alone);
        for monitor in 0..4 {
            assert!(same(&kept.rows[0][monitor], &expected.rows[point][monitor]));
        }
        assert!(same(kept.means[0].as_ref().unwrap(), expected.means[point].as_ref().unwrap()));
    }
}

#[test]
fn the_noise_belongs_to_the_point() {
    let program = kuramoto(true, true);
    let mut one = job(&program, vec![dense(4, 50.0, 3)], 4);
    let first = run(&one);
    one.points = vec![1];
    assert!(!same(&run(&one).rows[0][0], &first.rows[0][0]));
    one.points = vec![0];
    assert!(same(&run(&one).rows[0][0], &first.rows[0][0]));
    one.seed += 1;
    assert!(!same(&run(&one).rows[0][0], &first.rows[0][0]));
}

#[test]
fn an_edge_without_weight_does_not_exist() {
    let program = kuramoto(true, false);
    let rows = |extra: Option<(u32, f64, f64)>| {
        let mut first = vec![(1, 0.5, 40.0)];
        first.extend(extra);
        network(&[first, vec![(0, 0.25, 10.0)], vec![(0, 1.0, 0.0)]])
    };
    let with = job(&program, vec![rows(Some((2, 0.0, 1e5)))], 3);
    let without = job(&program, vec![rows(None)], 3);
    assert!(run(&with).same(&run(&without)));
    let plan = plan(&with, 1).unwrap();
    assert_eq!((plan.points[0].longest_delay, plan.points[0].history_steps), (40, 64));
}

#[test]
fn no_length_is_no_delay() {
    let (delayed, direct) = (kuramoto(true, true), kuramoto(false, true));
    let a = job(&delayed, vec![dense(11, 0.0, 9)], 11);
    let mut b = job(&direct, vec![dense(11, 90.0, 9)], 11);
    assert_eq!(b.matrices[0].edges(), a.matrices[0].edges());
    assert!(run(&a).same(&run(&b)));
    b.speed = Speed::Uniform(1e-3);
    assert!(run(&a).same(&run(&b)), "the speed matters to no one");
}

#[test]
fn an_exploding_point_is_flagged_and_harms_no_other() {
    // dx/dt = p0·x²: explodes for a large p0 only.
    let mut w = Writer::default();
    let (x, p) = (w.state(0), w.parameter(0));
    let square = w.mul(x, x);
    let f = w.mul(p, square);
    let program = uncoupled(w.results(&[f]), 1);
    let make = |values: Vec<f64>| {
        let mut job = job(&program, Vec::new(), 3);
        job.precision = Precision::F32;
        (job.dt, job.steps, job.transient_steps) = (0.1, 70, 5);
        job.points = (0..values.len() as u64).collect();
        job.parameters.swept = vec![SweptParameter { slot: 0, values }];
        job.record.monitors.push(MonitorKind::TemporalAverage { period: 10 });
        job.initial = Initial::Shared(vec![0.1, 0.1, 1.0]);
        job
    };
    let mut values: Vec<f64> = (0..50).map(|i| 0.001 * f64::from(i)).collect();
    values[20] = 1e3;
    let all = make(values.clone());
    let found = run(&all);
    values[20] = 0.0;
    let calm = make(values);
    let expected = run(&calm);
    // By hand: x ← x + 100·x² from 1, in 32 bits.
    let mut x = 1.0_f32;
    let first = (0..)
        .find(|_| {
            x = 0.1_f32.mul_add(1e3 * (x * x), x);
            !x.is_finite()
        })
        .unwrap();
    for point in 0..50 {
        if point == 20 {
            assert_eq!(found.status[point], Some(Status::NonFinite { step: first }));
            assert!(found.means[point].as_ref().unwrap().iter().all(|x| x.is_nan()));
            let rows = &found.rows[point][0];
            let finite = (first - 5.min(first)) as usize;
            for (index, row) in rows.chunks(3).enumerate() {
                assert_eq!(row.iter().any(|x| x.is_nan()), index >= finite, "row {index}");
            }
            assert_eq!(rows.len(), 70 * 3);
            assert!(found.rows[point][1].iter().all(|x| x.is_nan()));
        } else {
            assert_eq!(found.status[point], Some(Status::Finite));
            assert!(same(&found.rows[point][0], &expected.rows[point][0]));
            assert!(same(&found.rows[point][1], &expected.rows[point][1]));
            assert!(same(
                found.means[point].as_ref().unwrap(),
                expected.means[point].as_ref().unwrap()
            ));
        }
    }
    let alone = make(vec![1e3]);
    let alone = run(&alone);
    assert_eq!(alone.rows[0][0].len(), 70 * 3, "rows that were never reached are NaN");
    assert_eq!(alone.rows[0][1].len(), 7 * 3);
}

#[test]
fn a_clamped_state_that_is_not_a_number_is_not_hidden() {
    let mut w = Writer::default();
    let x = w.state(0);
    let zero = w.sub(x, x);
    let f = w.div(zero, zero);
    let mut program = uncoupled(w.results(&[f]), 0);
    program.bounds = vec![host::ir::Bound::Clamp { lo: 0.0, hi: 1.0 }];
    assert_eq!(run(&job(&program, Vec::new(), 1)).status[0], Some(Status::NonFinite { step: 0 }));
}

#[test]
fn a_mean_of_ten_million_steps_loses_no_digit() {
    let mut w = Writer::default();
    let x = w.state(0);
    let program = uncoupled(w.results(&[x]), 0);
    let mut job = job(&program, Vec::new(), 1);
    (job.precision, job.method) = (Precision::F32, Method::Map);
    job.steps = 10_000_000;
    job.record.monitors.clear();
    job.initial = Initial::Shared(vec![0.1]);
    assert_eq!(run(&job).means[0].as_ref().unwrap()[0], f64::from(0.1_f32));
}

#[test]
fn averages_are_those_of_the_rows() {
    let program = everything();
    let mut job = sweep(&program, 3);
    job.precision = Precision::F64;
    let kept = run(&job);
    let width = 9 * 3;
    for point in 0..3 {
        let rows: Vec<&[f64]> = kept.rows[point][0].chunks(width).collect();
        assert_eq!(rows.len(), 100);
        let mean = |from: usize, to: usize, column: usize| {
            rows[from..to].iter().map(|r| r[column]).sum::<f64>() / (to - from) as f64
        };
        for column in 0..width {
            approx::assert_relative_eq!(
                kept.means[point].as_ref().unwrap()[column],
                mean(0, 100, column),
                epsilon = 1e-13
            );
            for window in 0..10 {
                approx::assert_relative_eq!(
                    kept.rows[point][2][window * width + column],
                    mean(window * 10, window * 10 + 10, column),
                    epsilon = 1e-13
                );
            }
        }
        for sample in 0..14 {
            assert_eq!(&kept.rows[point][1][sample * width..][..width], rows[sample * 7 + 6]);
        }
        assert_eq!(kept.rows[point][3].len(), 33 * 3);
        for sample in 0..33 {
            for variable in 0..3 {
                let row = &rows[sample * 3 + 2][variable * 9..][..9];
                approx::assert_relative_eq!(
                    kept.rows[point][3][sample * 3 + variable],
                    row.iter().sum::<f64>() / 9.0,
                    epsilon = 1e-13
                );
            }
        }
    }
}

#[test]
fn jobs_that_do_not_fit_are_refused() {
    let program = kuramoto(true, false);
    let fails = |change: &dyn Fn(&mut Job<'_>)| {
        let mut job = job(&program, vec![dense(3, 10.0, 1)], 3);
        change(&mut job);
        plan(&job, 1).unwrap_err().to_string()
    };
    assert!(fails(&|j| j.speed = Speed::Uniform(0.0)).contains("speed"));
    assert!(fails(&|j| j.dt = -1.0).contains("dt"));
    assert!(fails(&|j| j.nodes = 4).contains("rows of a weight matrix"));
    assert!(fails(&|j| j.matrices.clear()).contains("weight matrix"));
    assert!(
        fails(&|j| j.matrices = vec![network(&[vec![(1, 1.0, f64::NAN)], vec![], vec![]])])
            .contains("delay")
    );
    assert!(
        fails(&|j| j.record.monitors = vec![MonitorKind::SubSample { period: 0 }])
            .contains("period")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn random_networks_agree_with_the_plain_simulator(
        nodes in 1_usize..9,
        points in 1_usize..6,
        longest in 0.0..120.0_f64,
        dt_ms in 0.3..2.0_f64,
        seed in any::<u64>(),
        method in 0_usize..4,
        double in any::<bool>(),
    ) {
        let program = everything();
        let mut job = job(&program, vec![dense(nodes, longest, seed), dense(nodes, 30.0, !seed)], nodes);
        job.method = METHODS[method];
        job.precision = PRECISIONS[usize::from(double)];
        (job.dt, job.dt_ms, job.steps) = (0.1, dt_ms, 75);
        job.seed = seed;
        job.points = (0..points as u64).map(|p| p * 77).collect();
        job.speed = Speed::PerPoint((0..points).map(|p| 1.0 + (p / 2) as f64).collect());
        assert_reference(&job, "random");
    }
}
