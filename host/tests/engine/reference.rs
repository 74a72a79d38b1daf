//! A simulator that is as plain as can be: one number at a time, the whole past in memory, every
//! edge looked up by its delay. It shares with the engine the elementary functions and the program
//! it is given, and nothing else.

use host::back::{Job, ParameterValues, Recorded};
use host::experiment::Method;
use host::ir::{
    BinaryOp, Bound, CompareOp, Function1, Function2, GatherSource, Input, Inst, LogicOp, Section,
    UnaryOp,
};
use kernels_gpu::lane::Lane;
use kernels_gpu::{math, philox};

/// All recorded variables of one point after every recorded step, `[step][variable][node]`.
pub fn simulate<T: Lane<Mask = bool> + Copy + Into<f64>>(
    job: &Job<'_>,
    point: usize,
) -> Vec<Vec<Vec<f64>>> {
    Simulation::<T>::new(job, point).run()
}

#[derive(Clone, Copy)]
enum Value<T> {
    Real(T),
    Bool(bool),
}

struct Simulation<'a, T> {
    job: &'a Job<'a>,
    point: usize,
    /// `[node][state]`
    x: Vec<Vec<T>>,
    /// Emitted channels, then states: `[time][node][..]`; time 0 is t = 0.
    past: Vec<Vec<Vec<T>>>,
    before: Vec<Vec<T>>,
}

struct Context<'a, T> {
    node: usize,
    time: f64,
    step: u64,
    state: &'a [T],
    coupling: &'a [T],
    gathered: &'a [T],
    source: &'a [T],
}

impl<'a, T: Lane<Mask = bool> + Copy + Into<f64>> Simulation<'a, T> {
    fn new(job: &'a Job<'a>, point: usize) -> Self {
        let n = job.nodes;
        let initial = job.initial.of(point);
        let x = (0..n)
            .map(|i| (0..job.program.states.len()).map(|s| T::splat(initial[s * n + i])).collect())
            .collect();
        Self { job, point, x, past: Vec::new(), before: Vec::new() }
    }

    fn parameter(&self, slot: usize, node: usize) -> T {
        for swept in &self.job.parameters.swept {
            if swept.slot == slot {
                return T::splat(swept.values[self.point]);
            }
        }
        match &self.job.parameters.base[slot] {
            ParameterValues::Uniform(v) => T::splat(*v),
            ParameterValues::PerNode(v) => T::splat(v[node]),
        }
    }

    fn eval(&self, section: &Section, c: &Context<'_, T>) -> Vec<T> {
        let mut values: Vec<Value<T>> = Vec::new();
        for inst in &section.insts {
            let r = |v: host::ir::Value| match values[v.0 as usize] {
                Value::Real(x) => x,
                Value::Bool(_) => panic!("not a real"),
            };
            let b = |v: host::ir::Value| match values[v.0 as usize] {
                Value::Bool(x) => x,
                Value::Real(_) => panic!("not a boolean"),
            };
            values.push(match *inst {
                Inst::Const(v) => Value::Real(T::splat(v)),
                Inst::Bool(v) => Value::Bool(v),
                Inst::Input(input) => Value::Real(match input {
                    Input::Time => T::splat(c.time),
                    Input::State(s) => c.state[s as usize],
                    Input::Parameter(p) => self.parameter(p as usize, c.node),
                    Input::Coupling(k) => c.coupling[k as usize],
                    Input::Gathered(g) => c.gathered[g as usize],
                    Input::SourceState(s) => c.source[s as usize],
                    Input::Signal(s) => T::splat(
                        *self.job.signals[s as usize].samples.get(c.step as usize).unwrap_or(&0.0),
                    ),
                }),
                Inst::Unary(op, a) => Value::Real(match op {
                    UnaryOp::Neg => -r(a),
                    UnaryOp::Abs => r(a).abs(),
                    UnaryOp::Sqrt => r(a).sqrt(),
                    UnaryOp::Floor => math::floor(r(a)),
                    UnaryOp::Ceil => math::ceil(r(a)),
                    UnaryOp::Trunc => math::trunc(r(a)),
                    UnaryOp::Sign => math::sign(r(a)),
                }),
                Inst::Binary(op, x, y) => Value::Real(match op {
                    BinaryOp::Add => r(x) + r(y),
                    BinaryOp::Sub => r(x) - r(y),
                    BinaryOp::Mul => r(x) * r(y),
                    BinaryOp::Div => r(x) / r(y),
                    BinaryOp::Min => {
                        if Lane::lt(r(x), r(y)) {
                            r(x)
                        } else {
                            r(y)
                        }
                    }
                    BinaryOp::Max => {
                        if Lane::gt(r(x), r(y)) {
                            r(x)
                        } else {
                            r(y)
                        }
                    }
                    BinaryOp::Rem => math::rem_floor(r(x), r(y)),
                }),
                Inst::MulAdd(x, y, z) => Value::Real(r(x).mul_add(r(y), r(z))),
                Inst::Compare(op, x, y) => Value::Bool(match op {
                    CompareOp::Lt => Lane::lt(r(x), r(y)),
                    CompareOp::Le => Lane::le(r(x), r(y)),
                    CompareOp::Gt => Lane::gt(r(x), r(y)),
                    CompareOp::Ge => Lane::ge(r(x), r(y)),
                    CompareOp::Eq => Lane::eq(r(x), r(y)),
                    CompareOp::Ne => Lane::ne(r(x), r(y)),
                }),
                Inst::Logic(LogicOp::And, x, y) => Value::Bool(b(x) && b(y)),
                Inst::Logic(LogicOp::Or, x, y) => Value::Bool(b(x) || b(y)),
                Inst::Not(x) => Value::Bool(!b(x)),
                Inst::Select(q, x, y) => Value::Real(if b(q) { r(x) } else { r(y) }),
                Inst::Call1(f, x) => Value::Real(match f {
                    Function1::Exp => math::exp(r(x)),
                    Function1::Expm1 => math::expm1(r(x)),
                    Function1::Ln => math::ln(r(x)),
                    Function1::Ln1p => math::ln_1p(r(x)),
                    Function1::Log2 => math::log2(r(x)),
                    Function1::Log10 => math::log10(r(x)),
                    Function1::Sin => math::sin(r(x)),
                    Function1::Cos => math::cos(r(x)),
                    Function1::Tan => math::tan(r(x)),
                    Function1::Sinh => math::sinh(r(x)),
                    Function1::Cosh => math::cosh(r(x)),
                    Function1::Tanh => math::tanh(r(x)),
                    Function1::Asin => math::asin(r(x)),
                    Function1::Acos => math::acos(r(x)),
                    Function1::Atan => math::atan(r(x)),
                    Function1::Erf => math::erf(r(x)),
                    Function1::Erfc => math::erfc(r(x)),
                }),
                Inst::Call2(f, x, y) => Value::Real(match f {
                    Function2::Pow => math::pow(r(x), r(y)),
                    Function2::Atan2 => math::atan2(r(x), r(y)),
                }),
            });
        }
        section
            .results
            .iter()
            .map(|v| match values[v.0 as usize] {
                Value::Real(x) => x,
                Value::Bool(_) => panic!("a result is a boolean"),
            })
            .collect()
    }

    /// Channels and states of node `j`, `delay` steps before `step`.
    fn source(&self, step: u64, j: usize, delay: u64) -> &[T] {
        if delay > step { &self.before[j] } else { &self.past[(step - delay) as usize][j] }
    }

    fn emit(&self, step: u64) -> Vec<Vec<T>> {
        let time = step as f64 * self.job.dt;
        (0..self.job.nodes)
            .map(|node| {
                let state = &self.x[node];
                let c =
                    Context { node, time, step, state, coupling: &[], gathered: &[], source: &[] };
                let mut all = self.eval(&self.job.program.emit, &c);
                all.extend(state);
                all
            })
            .collect()
    }

    fn gather(&self, step: u64, node: usize) -> Vec<T> {
        let program = self.job.program;
        let speed = self.job.speed.of(self.point);
        let sum = |gather: &host::ir::Gather| {
            let matrix = &self.job.matrices[gather.matrix as usize];
            let delays = matrix.delay_steps(speed, self.job.dt_ms).expect("valid delays");
            let mut acc = T::splat(0.0);
            for delays_of_pass in [32..u64::MAX, 8..32, 0..8] {
                for (edge, j, weight) in matrix.row(node) {
                    let delay = if gather.delayed { u64::from(delays[edge]) } else { 0 };
                    if !delays_of_pass.contains(&delay) {
                        continue;
                    }
                    let all = self.source(step, j, delay);
                    let h = match gather.source {
                        GatherSource::Ones => T::splat(1.0),
                        GatherSource::Channel(c) => all[c as usize],
                        GatherSource::Edge(e) => {
                            let c = Context {
                                node,
                                time: step as f64 * self.job.dt,
                                step,
                                state: &self.x[node],
                                coupling: &[],
                                gathered: &[],
                                source: &all[program.emit.results.len()..],
                            };
                            self.eval(&program.edges[e as usize], &c)[0]
                        }
                    };
                    acc = T::splat(weight).mul_add(h, acc);
                }
            }
            // −0 becomes +0.
            if Lane::eq(acc, T::splat(0.0)) { T::splat(0.0) } else { acc }
        };
        program.gathers.iter().map(sum).collect()
    }

    fn run(mut self) -> Vec<Vec<Vec<f64>>> {
        let (job, program) = (self.job, self.job.program);
        let n = job.nodes;
        self.before = self.emit(0);
        let mut rows = Vec::new();
        for step in 0..job.total_steps() {
            let emitted = self.emit(step);
            self.past.push(emitted);
            let k = step as f64;
            let (t0, t_half, t1) = (k * job.dt, (k + 0.5) * job.dt, (k + 1.0) * job.dt);
            let mut next = Vec::new();
            let mut observed = Vec::new();
            for node in 0..n {
                let x = self.x[node].clone();
                let gathered = self.gather(step, node);
                let at = |time, state: &[T], section: &Section, coupling: &[T]| {
                    let c = Context {
                        node,
                        time,
                        step,
                        state,
                        coupling,
                        gathered: &gathered,
                        source: &[],
                    };
                    self.eval(section, &c)
                };
                let coupling = at(t0, &x, &program.post, &[]);
                let sigma = at(t0, &x, &program.diffusion, &[]);
                let mut xi = vec![None; x.len()];
                for (v, &s) in program.noisy.iter().enumerate() {
                    let index = step * program.noisy.len() as u64 + v as u64;
                    let key = (job.points[self.point] << 32) | node as u64;
                    let z = T::splat(f64::from(philox::normal(job.seed, key, index)));
                    xi[s as usize] = Some(sigma[v] * T::splat(job.dt.sqrt()) * z);
                }
                let noisy = |y: Vec<T>| -> Vec<T> {
                    y.into_iter().zip(&xi).map(|(y, xi)| xi.map_or(y, |xi| y + xi)).collect()
                };
                let (dt, half, sixth) =
                    (T::splat(job.dt), T::splat(job.dt / 2.0), T::splat(job.dt / 6.0));
                let along = |h: T, k: &[T]| -> Vec<T> {
                    x.iter().zip(k).map(|(&x, &k)| h.mul_add(k, x)).collect()
                };
                let f = |time, state: &[T]| at(time, state, &program.drift, &coupling);
                let k1 = f(t0, &x);
                let y = match job.method {
                    Method::Map => noisy(k1),
                    Method::Euler => noisy(along(dt, &k1)),
                    Method::Heun => {
                        let k2 = f(t1, &noisy(along(dt, &k1)));
                        let both: Vec<T> = k1.iter().zip(&k2).map(|(&a, &b)| a + b).collect();
                        noisy(along(half, &both))
                    }
                    Method::Rk4 => {
                        let k2 = f(t_half, &along(half, &k1));
                        let k3 = f(t_half, &along(half, &k2));
                        let k4 = f(t1, &along(dt, &k3));
                        let sum: Vec<T> = (0..x.len())
                            .map(|s| T::splat(2.0).mul_add(k2[s] + k3[s], k1[s] + k4[s]))
                            .collect();
                        noisy(along(sixth, &sum))
                    }
                };
                let y: Vec<T> =
                    y.into_iter().zip(&program.bounds).map(|(y, b)| bound(y, b)).collect();
                let y = if program.events.results.is_empty() {
                    y
                } else {
                    at(t1, &y, &program.events, &coupling)
                };
                observed.push(at(t0, &x, &program.observe, &coupling));
                next.push(y);
            }
            self.x = next;
            if step >= job.transient_steps {
                let row = job.record.variables.iter().map(|&variable| {
                    let value = |node: usize| match variable {
                        Recorded::State(s) => self.x[node][s],
                        Recorded::Observed(o) => observed[node][o],
                    };
                    (0..n).map(|node| value(node).into()).collect()
                });
                rows.push(row.collect());
            }
        }
        rows
    }
}

fn bound<T: Lane<Mask = bool>>(x: T, bound: &Bound) -> T {
    match *bound {
        Bound::Free => x,
        Bound::Clamp { lo, hi } => {
            if Lane::lt(x, T::splat(lo)) {
                T::splat(lo)
            } else if Lane::gt(x, T::splat(hi)) {
                T::splat(hi)
            } else {
                x
            }
        }
        Bound::Wrap { lo, hi } => {
            T::splat(lo) + math::rem_floor(x - T::splat(lo), T::splat(hi - lo))
        }
    }
}
