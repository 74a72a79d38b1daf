//! cuRAND's normals: the kernels in Rust against cuRAND's own functions, compiled here by NVRTC, bit for
//! bit.
//!
//! Needs NVRTC and cuRAND's headers beside it (`pip install nvidia-cuda-nvrtc nvidia-curand`);
//! `NVRTC_LIBRARY` names another library, `CUDA_INCLUDE` one more folder with headers.

use host::back::cuda_c;
use host::back::gpu::kernels;
use host::back::ptx::cut;
use host::compute::module::compile_once;
use host::compute::nvrtc::Nvrtc;
use host::compute::{
    Arguments, BufferUsage, BufferView, CudaComputeContext, KernelSpec, LaunchShape, Schedule,
    SourceText,
};
use host::experiment::{Experiment, Normals, Overrides, Precision, load_str_with};
use host::simulation::{Device, Options, Record, RunResult, Simulation};
use kernels_gpu::philox;
use libtest_mimic::Failed;
use std::path::Path;
use std::sync::Arc;

/// Pairs of normals that are compared.
const PAIRS: usize = 1 << 20;
const SEED: u64 = 0x0123_4567_89ab_cdef;

/// cuRAND as a program in CUDA uses it.
const CURAND: &str = "
#include <curand_kernel.h>

extern \"C\" __global__ void pairs(const unsigned int *words, float *normals, unsigned long long n)
{
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float2 pair = _curand_box_muller(words[2 * i], words[2 * i + 1]);
    normals[2 * i] = pair.x;
    normals[2 * i + 1] = pair.y;
}

/* Normals 4 i to 4 i + 3 of subsequence i. */
extern \"C\" __global__ void by_number(const unsigned long long *seed, float *normals, unsigned long long n)
{
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    curandStatePhilox4_32_10_t state;
    curand_init(seed[0], i, 4 * i, &state);
    for (int k = 0; k < 4; ++k)
        normals[4 * i + k] = curand_normal(&state);
}

/* The first PER_NODE normals of every node of point 0: [number][node]. */
extern \"C\" __global__ void by_step(const unsigned long long *seed, float *normals, unsigned long long n)
{
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    curandStatePhilox4_32_10_t state;
    curand_init(seed[0], i, 0, &state);
    for (int k = 0; k < PER_NODE; ++k)
        normals[k * n + i] = curand_normal(&state);
}
";

/// Linear, so that no function of CUDA is in it; three noisy variables, so that pairs of normals are
/// torn apart by the steps.
const LINEAR: &str = include_str!("../experiments/linear.yaml");

type Check = fn() -> Result<(), Failed>;

/// Names and checks.
pub(crate) fn checks() -> Vec<(&'static str, Check)> {
    vec![
        ("curand::pairs_of_words", pairs_of_words),
        ("curand::normals_by_number", normals_by_number),
        ("curand::engine_draws_curand_normal_f32", || engine(Precision::F32)),
        ("curand::engine_draws_curand_normal_f64", || engine(Precision::F64)),
        ("curand::export_equals_engine_curand_f32", || export(Normals::Curand, Precision::F32)),
        ("curand::export_equals_engine_curand_f64", || export(Normals::Curand, Precision::F64)),
        ("curand::export_equals_engine_portable_f32", || export(Normals::Portable, Precision::F32)),
        ("curand::export_equals_engine_portable_f64", || export(Normals::Portable, Precision::F64)),
    ]
}

/// The extremes, and words of the generator between them.
fn pairs_of_words() -> Result<(), Failed> {
    let edges = [0, 1, 2, 1 << 29, 1 << 30, 1 << 31, 3 << 30, u32::MAX - 128, u32::MAX];
    let mut words: Vec<u32> =
        edges.into_iter().flat_map(|x| edges.map(|y| [x, y])).flatten().collect();
    words.extend((0..PAIRS as u64 / 2).flat_map(|block| philox::words(SEED, 1, block)));
    let n = words.len() / 2;
    compare("probe_curand_pairs", "pairs", bytemuck::cast_slice(&words), 2 * n, n)
}

/// Two pairs a thread.
fn normals_by_number() -> Result<(), Failed> {
    let n = PAIRS / 2;
    compare("probe_curand_normals", "by_number", &SEED.to_ne_bytes(), 4 * n, n)
}

/// A kernel in Rust and one with cuRAND give the same floats.
fn compare(rust: &str, curand: &str, input: &[u8], values: usize, n: usize) -> Result<(), Failed> {
    let mut context = CudaComputeContext::new(256 << 20)?;
    let (major, minor) = capability(&context);
    let own = KernelSpec::ptx(rust, cut(kernels(major, minor)?, rust)?);
    let found = floats(&mut context, own, input, values, n)?;
    let source = compile(&context, CURAND, &["--define-macro=PER_NODE=1"])?;
    let expected = floats(&mut context, KernelSpec::ptx(curand, source), input, values, n)?;
    let differs = |(a, b): (&f32, &f32)| a.to_bits() != b.to_bits();
    let count = found.iter().zip(&expected).filter(|&pair| differs(pair)).count();
    if !expected.iter().all(|z| z.abs() < 7.0) {
        return Err("these are no normal numbers".into());
    }
    match found.iter().zip(&expected).position(differs) {
        None => Ok(()),
        Some(at) => Err(format!(
            "{count} of {values} differ, the first at {at}: {:?}, curand_normal gives {:?}",
            found[at], expected[at]
        )
        .into()),
    }
}

fn capability(context: &CudaComputeContext) -> (u32, u32) {
    context.constraints().compute_capability.unwrap_or((7, 5))
}

/// Compiles CUDA C++ that includes cuRAND, with contraction unless an option forbids it.
fn compile(context: &CudaComputeContext, source: &str, options: &[&str]) -> Result<String, Failed> {
    let mut folders = Nvrtc::shared()?.include_folders();
    folders.extend(std::env::var_os("CUDA_INCLUDE").map(Into::into));
    let mut options: Vec<String> = options.iter().map(|&o| o.to_owned()).collect();
    options.extend(folders.iter().map(|f| format!("--include-path={}", f.display())));
    let image = compile_once(&SourceText::new(source), capability(context), &options)?;
    Ok(image.ptx.as_str().to_owned())
}

/// What a kernel of an input and an output writes.
fn floats(
    context: &mut CudaComputeContext,
    spec: KernelSpec,
    input: &[u8],
    values: usize,
    n: usize,
) -> Result<Vec<f32>, Failed> {
    let spec = spec.buffer(0, 0, BufferUsage::Input).buffer(1, 0, BufferUsage::Output);
    let input = context.allocate_and_write(input, 0, 0)?;
    let output = context.allocate_and_write(&vec![0xff; 4 * values], 1, 0)?;
    context.run_kernel(&spec, &Schedule::default(), &[input, output], n as u64, 0, 1)?;
    Ok(context.read_buffer_f32(&output)?)
}

fn experiment(method: &str, precision: Precision, normals: Normals) -> Result<Experiment, Failed> {
    let changes = Overrides {
        precision: Some(precision),
        normals: Some(normals),
        seed: Some(SEED),
        ..Overrides::default()
    };
    let text = LINEAR.replace("method: euler", &format!("method: {method}"));
    let loaded = load_str_with(&text, "linear.yaml", Path::new("."), &changes);
    Ok(loaded.map_err(|error| error.render(false))?.experiment)
}

fn options(device: Device) -> Options {
    Options { record: Some(Record::Raw), device, ..Options::default() }
}

fn same(expected: &RunResult, found: &RunResult) -> Result<(), Failed> {
    for (a, b) in expected.arrays().iter().zip(found.arrays()) {
        bits(&a.name, &a.values, &b.values)?;
    }
    Ok(())
}

fn bits(name: &str, expected: &[f64], found: &[f64]) -> Result<(), Failed> {
    let differs = |(a, b): (&f64, &f64)| a.to_bits() != b.to_bits();
    let count = expected.iter().zip(found).filter(|&pair| differs(pair)).count();
    if expected.len() != found.len() || expected.iter().any(|v| !v.is_finite()) {
        return Err(format!("{name}: {} and {} values", expected.len(), found.len()).into());
    }
    match expected.iter().zip(found).position(differs) {
        None => Ok(()),
        Some(at) => Err(format!(
            "{name}: {count} of {} values differ, the first at {at}: {:?} and {:?}",
            expected.len(),
            expected[at],
            found[at]
        )
        .into()),
    }
}

/// The GPU engine against the CPU engine that is given the numbers of `curand_normal`.
fn engine(precision: Precision) -> Result<(), Failed> {
    let curand = experiment("heun", precision, Normals::Curand)?;
    let found = Simulation::new(&curand, &options(Device::cuda([0])))?.run()?;
    let portable = experiment("heun", precision, Normals::Portable)?;
    let mut simulation = Simulation::new(&portable, &options(Device::Cpu))?;
    let other = simulation.run()?;
    let (nodes, per_node) = {
        let job = simulation.job();
        (job.nodes, job.total_steps() as usize * job.program.noisy.len())
    };
    let mut context = CudaComputeContext::new(64 << 20)?;
    let source = compile(&context, CURAND, &[&format!("--define-macro=PER_NODE={per_node}")])?;
    let spec = KernelSpec::ptx("by_step", source);
    let normals = floats(&mut context, spec, &SEED.to_ne_bytes(), per_node * nodes, nodes)?;
    simulation.replay_noise(normals.into_iter().map(f64::from).collect::<Arc<[f64]>>());
    same(&simulation.run()?, &found)?;
    // Portable normals are other numbers: the comparison would see it.
    if same(&other, &found).is_ok() { Err("both normals are the same".into()) } else { Ok(()) }
}

/// The exported source, compiled here, against the GPU engine.
fn export(normals: Normals, precision: Precision) -> Result<(), Failed> {
    let experiment = experiment("euler", precision, normals)?;
    let simulation = Simulation::new(&experiment, &options(Device::cuda([0])))?;
    let expected = simulation.run()?;
    let job = simulation.job();
    let arguments = cuda_c::Arguments::new(&job)?;
    let mut context = CudaComputeContext::new(64 << 20)?;
    let text = cuda_c::source(&experiment, &job)?;
    let source = compile(&context, &text, &["--fmad=false"])?;
    let function =
        context.load_function(&KernelSpec::ptx("simulate", source), &Schedule::default())?;
    let reals = |values: &[f64]| -> Vec<u8> {
        match precision {
            Precision::F32 => values.iter().flat_map(|v| (*v as f32).to_ne_bytes()).collect(),
            Precision::F64 => values.iter().flat_map(|v| v.to_ne_bytes()).collect(),
        }
    };
    let integers = |values: &[i64]| -> Vec<u8> {
        values.iter().flat_map(|v| (*v as i32).to_ne_bytes()).collect()
    };
    let states = job.program.states.len();
    let recorded = job.record.variables.len();
    let channels = job.program.emit.results.len();
    let nodes = arguments.n_node;
    let mut array = |mut bytes: Vec<u8>| -> Result<BufferView, Failed> {
        bytes.resize(bytes.len().max(8), 0);
        Ok(context.allocate_and_write(&bytes, 0, 0)?)
    };
    let zeros = |count: usize| reals(&vec![0.0; count]);
    let parameters = array(reals(&arguments.parameters))?;
    let node_parameters = array(reals(&arguments.node_parameters))?;
    let weights = array(reals(&arguments.weights))?;
    let delays = array(integers(&arguments.delays))?;
    let delay_class = array(integers(&arguments.delay_class))?;
    let state = array(reals(&arguments.state))?;
    let history = array(zeros(arguments.n_ring * channels * nodes))?;
    let accumulator = array(zeros(2 * recorded * nodes))?;
    let tavg = array(zeros(recorded * nodes))?;
    let nonfinite = array(vec![0; 8])?;
    let shape = LaunchShape { grid: [1, 1, 1], block: [128, 1, 1], dynamic_shared_bytes: 0 };
    // In two launches, the second of which begins in the middle of a pair of normals.
    let total = job.total_steps();
    for (first, steps) in [(0, 123), (123, total - 123)] {
        let call = Arguments::new()
            .value(&(first as i64))
            .value(&(nodes as i32))
            .value(&(steps as i32))
            .value(&job.dt)
            .value(&job.seed)
            .value(&0_i64)
            .value(&(job.transient_steps as i64))
            .value(&(arguments.n_ring as i32))
            .view(parameters)
            .view(node_parameters)
            .view(weights)
            .view(delays)
            .view(delay_class)
            .view(state)
            .view(history)
            .view(accumulator)
            .view(tavg)
            .view(nonfinite);
        context.launch(&function, &shape, &call)?;
    }
    let mut read = |view: &BufferView| -> Result<Vec<f64>, Failed> {
        Ok(match precision {
            Precision::F32 => context.read_buffer_f32(view)?.into_iter().map(f64::from).collect(),
            Precision::F64 => context.read_buffer_f64(view)?,
        })
    };
    let series = expected.series().ok_or("no series")?;
    // All recorded variables are states, in their order.
    bits("the last state", &series.values[series.values.len() - states * nodes..], &read(&state)?)?;
    bits("tavg", &expected.tavg().values, &read(&tavg)?)
}
