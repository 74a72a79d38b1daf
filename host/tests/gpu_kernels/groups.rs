//! Kernels that run groups of points a block.

use super::*;

/// A sweep with two speeds, so that groups are full and not.
fn sweep(program: &host::ir::Program, nodes: usize, longest: f64) -> Job<'_> {
    let mut job = job(program, vec![dense(nodes, longest, 5)], nodes);
    (job.dt, job.dt_ms, job.steps, job.transient_steps) = (0.1, 0.1, 90, 7);
    job.points = vec![4, 5, 6, 9, 1 << 33];
    job.parameters.swept = vec![SweptParameter { slot: 0, values: vec![0.1, 0.2, -0.7, 1.5, 0.3] }];
    job.speed = Speed::PerPoint(vec![1.0, 1.0, 1.0, 7.0, 7.0]);
    job.record.mean = true;
    job.record.monitors = vec![
        MonitorKind::Raw,
        MonitorKind::TemporalAverage { period: 10 },
        MonitorKind::GlobalAverage { period: 3 },
    ];
    job
}

#[test]
fn delayed_sums_in_blocks_give_the_bits_of_the_cpu_engine() {
    // Delays of all passes; of none but the far one; of the shortest alone.
    let program = kuramoto(true, true);
    for precision in PRECISIONS {
        for (nodes, longest) in [(11, 20.0), (3, 4.0), (1, 9.0), (33, 0.5)] {
            for method in [Method::Euler, Method::Heun, Method::Rk4] {
                let mut job = sweep(&program, nodes, longest);
                (job.precision, job.method) = (precision, method);
                let what = format!("{precision:?} {method:?} {nodes} nodes, up to {longest} mm");
                let plans = assert_same(&job, &what);
                let delayed = [PlanName::Plain, PlanName::Delayed, PlanName::Sparse];
                if nodes > 1 {
                    assert_eq!(plans, delayed, "{what}");
                }
            }
        }
    }
}

#[test]
fn products_give_the_bits_of_the_cpu_engine() {
    let program = kuramoto(false, true);
    for precision in PRECISIONS {
        for nodes in [1, 5, 34] {
            let mut job = sweep(&program, nodes, 1.0);
            (job.precision, job.method) = (precision, Method::Heun);
            let plans = assert_same(&job, &format!("{precision:?} {nodes} nodes"));
            assert_eq!(plans, [PlanName::Plain, PlanName::Dense]);
        }
    }
}
