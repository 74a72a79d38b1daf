//! The kernel around a program's functions.

use super::function::{Function, Helper, Names, suffix};
use super::literal;
use super::template::Template;
use crate::back::{Job, Recorded};
use crate::experiment::Method;
use crate::ir::{Bound, Gather, GatherSource};
use kernels_gpu::ring::{BLOCK, NEAR_BLOCK};
use kernels_gpu::summation::Pass;
use std::fmt::Write;

/// The functions of a program that the kernel calls; those without results are left out.
#[derive(Clone, Debug)]
pub(super) struct Functions {
    pub(super) emit: Option<Function>,
    pub(super) edges: Vec<Function>,
    pub(super) post: Option<Function>,
    pub(super) observe: Option<Function>,
    pub(super) drift: Function,
    pub(super) diffusion: Option<Function>,
    pub(super) events: Option<Function>,
}

impl Functions {
    /// All of them, in the order in which they run.
    pub(super) fn all(&self) -> impl Iterator<Item = &Function> {
        let first = self.emit.iter().chain(&self.edges).chain(&self.post).chain(&self.observe);
        first.chain(&self.diffusion).chain([&self.drift]).chain(&self.events)
    }
}

/// The kernel.
pub(super) fn text(job: &Job<'_>, names: &Names, functions: &Functions) -> String {
    let program = job.program;
    let mut template = Template::default();
    let channels = names.channels + names.edge_states.len();
    let reads_time = |f: &Function| f.reads.time;
    let reads_node = |f: &Function| f.reads.node;
    let drift_time = functions.drift.reads.time;
    let (heun, rk4) = (job.method == Method::Heun, job.method == Method::Rk4);
    let start = functions
        .all()
        .any(|f| f.reads.time && functions.events.as_ref().is_none_or(|e| e.name != f.name));
    let end = (drift_time && (heun || rk4)) || functions.events.iter().any(reads_time);
    template.keep("parameters", functions.all().any(|f| f.reads.item));
    template.keep("history", channels > 0);
    template.keep("alone", channels == 0);
    template.keep("delayed", program.gathers.iter().any(|g| g.delayed));
    // Heun's and Runge and Kutta's stages take a whole step; without states there are no stages.
    let stages = (heun || rk4) && functions.drift.reads.states;
    template.keep("whole", job.method == Method::Euler || stages);
    template.keep("half", heun || (rk4 && functions.drift.reads.states));
    template.keep("sixth", rk4);
    template.keep("noise", !program.noisy.is_empty());
    template.keep("start_time", start);
    template.keep("middle_time", rk4 && drift_time);
    template.keep("end_time", end);
    template.keep("emit_node", functions.emit.iter().any(reads_node));
    let emit_name = functions.emit.as_ref().map(|f| &f.name);
    template.keep("node", functions.all().any(|f| f.reads.node && Some(&f.name) != emit_name));
    template.keep("gather", !program.gathers.is_empty());
    template.keep("post", functions.post.is_some());
    template.keep("observe", functions.observe.is_some());
    template.keep("bounds", program.bounds.iter().any(|b| *b != Bound::Free));
    template.keep("events", functions.events.is_some());

    template.insert("first_emit", emit(names, functions, "(real)0"));
    template.insert("emit", emit(names, functions, "t"));
    template.insert("gather", gathers(job, functions));
    let call = |f: &Option<Function>, t, x, out| {
        f.as_ref().map_or_else(String::new, |f| format!("{};", f.call(t, x, Some(out))))
    };
    template.insert("post", call(&functions.post, "t", "x", "c"));
    template.insert("observe", call(&functions.observe, "t", "x", "o"));
    let sigma = call(&functions.diffusion, "t", "x", "sigma");
    template.insert("diffusion", format!("real sigma[N_NOISY];\n{sigma}"));
    template.insert("integrate", integrate(job, functions));
    template.insert("bounds", bounds(job));
    let events = call(&functions.events, "t_end", "y", "after");
    let copy = "for (int s = 0; s < N_STATE; ++s)\n    y[s] = after[s];";
    template.insert("events", format!("real after[N_STATE];\n{events}\n{copy}"));
    let recorded = job.record.variables.iter().map(|variable| match variable {
        Recorded::State(s) => format!("y[{s}]"),
        Recorded::Observed(o) => format!("o[{o}]"),
    });
    let recorded = recorded.collect::<Vec<_>>().join(", ");
    template.insert("recorded", format!("const real value[N_RECORDED] = {{{recorded}}};"));
    let nan = literal::real(f64::NAN, job.precision);
    template.fill(include_str!("kernel.cu.in")).replace("@NAN@", &nan)
}

/// The channels of a node into `h`: those of `emit`, then the states that edges read.
fn emit(names: &Names, functions: &Functions, t: &str) -> String {
    let mut text = String::new();
    if let Some(emit) = &functions.emit {
        let _ = writeln!(text, "{};", emit.call(t, "x", Some("h")));
    }
    for (at, state) in names.edge_states.iter().enumerate() {
        let _ = writeln!(text, "h[{}] = x[{state}];", names.channels + at);
    }
    text
}

/// All sums; those over the same edges share a loop.
fn gathers(job: &Job<'_>, functions: &Functions) -> String {
    let mut kinds: Vec<(u32, bool)> = Vec::new();
    for gather in &job.program.gathers {
        if !kinds.contains(&(gather.matrix, gather.delayed)) {
            kinds.push((gather.matrix, gather.delayed));
        }
    }
    let one = literal::real(1.0, job.precision);
    let f = suffix(job.precision);
    let mut text = String::new();
    for (matrix, delayed) in kinds {
        let mut sums = String::new();
        let mut reads_history = false;
        let same = |g: &&(usize, &Gather)| g.1.matrix == matrix && g.1.delayed == delayed;
        for (at, gather) in
            job.program.gathers.iter().enumerate().collect::<Vec<_>>().iter().filter(same)
        {
            let value = match gather.source {
                GatherSource::Ones => one.clone(),
                GatherSource::Channel(channel) => {
                    reads_history = true;
                    format!("source[{channel} * n_node]")
                }
                GatherSource::Edge(edge) => {
                    let function = &functions.edges[edge as usize];
                    reads_history |= function.reads.source;
                    function.call("t", "x", None)
                }
            };
            let _ = writeln!(sums, "g[{at}] = fma{f}(w[j], {value}, g[{at}]);");
        }
        let row = if matrix == 0 {
            "weights + (size_t)i * n_node".to_owned()
        } else {
            format!("weights + ((size_t){matrix} * n_node + i) * n_node")
        };
        let mut body = String::new();
        if delayed {
            body += "/* Far, middle, near: pass 0, 1, 2. */\n\
                     const int part = (d[j] < FAR_DELAY) + (d[j] < MIDDLE_DELAY);\n\
                     if (w[j] == 0 || part != pass)\n    continue;\n";
            if reads_history {
                body += "const int past = now >= d[j] ? now - d[j] : now - d[j] + n_ring;\n\
                         const real *const source = ring + (size_t)past * N_CHANNEL * n_node + j;\n";
            }
        } else {
            let _ = writeln!(body, "if (w[j] == 0)\n    continue;");
            if reads_history {
                body += "const real *const source = ring + (size_t)now * N_CHANNEL * n_node + j;\n";
            }
        }
        body += &sums;
        let indented = |text: &str, by: &str| {
            text.lines().map(|line| format!("{by}{line}\n")).collect::<String>()
        };
        if delayed {
            let _ = write!(
                text,
                "{{\n    const real *const w = {row};\n    \
                 const int *const d = delay + (size_t)i * n_node;\n    \
                 for (int pass = 0; pass < {}; ++pass) {{\n        \
                 for (int j = 0; j < n_node; ++j) {{\n{}        }}\n    }}\n}}\n",
                Pass::ALL.len(),
                indented(&body, "            ")
            );
        } else {
            let _ = write!(
                text,
                "{{\n    const real *const w = {row};\n    \
                 for (int j = 0; j < n_node; ++j) {{\n{}    }}\n}}\n",
                indented(&body, "        ")
            );
        }
    }
    text
}

/// The scheme and the noise: the states `y` before bounds.
fn integrate(job: &Job<'_>, functions: &Functions) -> String {
    let f = suffix(job.precision);
    let two = literal::real(2.0, job.precision);
    let drift = |t, x, out: &str| {
        format!("real {out}[N_STATE];\n{};\n", functions.drift.call(t, x, Some(out)))
    };
    let each = |what: &str| format!("for (int s = 0; s < N_STATE; ++s)\n    {what};\n");
    let disturb = |array: &str| -> String {
        let noisy = job.program.noisy.iter().enumerate();
        noisy.map(|(v, state)| format!("{array}[{state}] += xi[{v}];\n")).collect()
    };
    let step = |array: &str, dt: &str, k: &str| {
        let update = format!("{array}[s] = fma{f}({dt}, {k}[s], x[s])");
        format!("real {array}[N_STATE];\n") + &each(&update)
    };
    // The states of a stage, unless nothing reads them.
    let stage = |array: &str, dt: &str, k: &str, disturbed: bool| {
        if !functions.drift.reads.states {
            return String::new();
        }
        step(array, dt, k) + &if disturbed { disturb(array) } else { String::new() }
    };
    match job.method {
        Method::Map => drift("t", "x", "y") + &disturb("y"),
        Method::Euler => drift("t", "x", "k1") + &step("y", "dt_whole", "k1") + &disturb("y"),
        Method::Heun => {
            drift("t", "x", "k1")
                + &stage("x1", "dt_whole", "k1", true)
                + &drift("t_end", "x1", "k2")
                + "real y[N_STATE];\n"
                + &each(&format!("y[s] = fma{f}(dt_half, k1[s] + k2[s], x[s])"))
                + &disturb("y")
        }
        Method::Rk4 => {
            let sum = format!("fma{f}({two}, k2[s] + k3[s], k1[s] + k4[s])");
            drift("t", "x", "k1")
                + &stage("x1", "dt_half", "k1", false)
                + &drift("t_middle", "x1", "k2")
                + &stage("x2", "dt_half", "k2", false)
                + &drift("t_middle", "x2", "k3")
                + &stage("x3", "dt_whole", "k3", false)
                + &drift("t_end", "x3", "k4")
                + "real y[N_STATE];\n"
                + &each(&format!("y[s] = fma{f}(dt_sixth, {sum}, x[s])"))
                + &disturb("y")
        }
    }
}

/// What the bounds call.
pub(super) fn helpers(job: &Job<'_>) -> Vec<Helper> {
    let helpers = job.program.bounds.iter().flat_map(|bound| match bound {
        Bound::Free => vec![],
        Bound::Clamp { .. } => vec![Helper::Lesser, Helper::Greater],
        Bound::Wrap { .. } => vec![Helper::FloorMod],
    });
    helpers.collect()
}

fn bounds(job: &Job<'_>) -> String {
    let real = |value| literal::real(value, job.precision);
    let bounds = job.program.bounds.iter().enumerate().map(|(s, bound)| match *bound {
        Bound::Free => String::new(),
        Bound::Clamp { lo, hi } => {
            format!("y[{s}] = lesser({}, greater({}, y[{s}]));\n", real(hi), real(lo))
        }
        Bound::Wrap { lo, hi } => {
            let (lo, width) = (real(lo), real(hi - lo));
            format!("y[{s}] = {lo} + floor_mod(y[{s}] - {lo}, {width});\n")
        }
    });
    bounds.collect()
}

/// The constants that the kernel is written with.
pub(super) fn constants(job: &Job<'_>, names: &Names, parameters: usize) -> String {
    let program = job.program;
    let counts = [
        ("N_STATE", program.states.len()),
        ("N_PARAMETER", parameters),
        ("N_CHANNEL", names.channels + names.edge_states.len()),
        ("N_GATHER", program.gathers.len()),
        ("N_COUPLING", program.couplings.len()),
        ("N_NOISY", program.noisy.len()),
        ("N_OBSERVED", program.observed.len()),
        ("N_RECORDED", job.record.variables.len()),
        ("FAR_DELAY", BLOCK),
        ("MIDDLE_DELAY", NEAR_BLOCK),
    ];
    counts.iter().map(|(name, count)| format!("#define {name} {count}\n")).collect()
}
