//! Runs every function of the compute context on a real GPU: one line for each check, and an exit
//! code of 0 (all ok), 1 (a check failed) or 3 (no GPU).
//!
//!     cargo run --release -p host --example compute_probe
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::compute::module::{Function, ModuleCache};
use host::compute::nvrtc::Nvrtc;
use host::compute::{
    Arguments, BufferUsage, BufferView, ComputeError, CpuContext, CudaComputeContext, KernelSpec,
    LaunchShape, OracleContext, Schedule, SourceText, StreamKind, compare_f32, cuda_devices,
};

const PTX: &str = include_str!("kernels.ptx");
const AFFINE_CUDA_C: &str = r#"
extern "C" __global__ void affine(const float* in, float* out, unsigned long long n) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaf(in[i], 1.5f, 0.25f);
}
"#;

/// Begins the detail of a check that could not be made here.
const NOT_RUN: &str = "not run";

type Outcome = Result<String, Box<dyn Error>>;
type Check = (&'static str, fn(&mut CudaComputeContext) -> Outcome);

const CHECKS: &[Check] = &[
    ("limits are plausible", limits),
    ("upload and download, 1 byte to 40 MB", copies),
    ("PTX kernel = CPU body, bit for bit", ptx_kernel),
    ("NVRTC kernel = PTX kernel, bit for bit", nvrtc_kernel),
    ("1,000 replays = 1,000 launches", replays),
    ("replay of 100 launches in one graph", long_graph),
    ("another thread allocates while a graph is recorded", capture_is_thread_local),
    ("nothing is allocated or read while recording", recording_forbids),
    ("prefetch runs beside a kernel", prefetch_overlaps),
    ("prefetched batches reach their launches", prefetched_batches),
    ("results are read while the next kernel runs", read_beside),
    ("cache hit under 50 µs", cache_hit),
    ("one hash, two sources: two functions", collision),
    ("a second context does not compile again", shared_modules),
    ("checkpoints and stale views", checkpoints),
    ("the ring goes round 100 times", laps),
    ("dynamic shared memory beyond 48 KiB", dynamic_shared),
    ("event times follow the work", event_times),
    ("broken PTX gives the JIT log", broken_ptx),
    ("a launch too large is refused", too_large),
    ("wrong arguments are refused", wrong_arguments),
    ("a slab larger than the device is refused", too_much_memory),
    ("a context moves to another thread", other_thread),
    // The last one: afterwards this process cannot use the device any more.
    ("a faulting kernel is a lost device", device_lost),
];

fn main() -> ExitCode {
    let devices = match cuda_devices() {
        Ok(devices) => devices,
        Err(error) => {
            println!("no device: {error}");
            return ExitCode::from(3);
        }
    };
    for device in &devices {
        println!("device {:?}\n  {:?}\n  {:?}", device.identity, device.constraints, device.memory);
    }
    let mut context = match CudaComputeContext::new(256 << 20) {
        Ok(context) => context,
        Err(error) => {
            println!("FAIL  context: {}", chain(&error));
            return ExitCode::from(1);
        }
    };
    let (mut failed, mut not_run) = (0, 0);
    for (name, check) in CHECKS {
        let begin = Instant::now();
        let outcome = check(&mut context);
        let took = begin.elapsed();
        match outcome {
            Ok(detail) if detail.starts_with(NOT_RUN) => {
                not_run += 1;
                println!("----  {name}: {detail}");
            }
            Ok(detail) => println!("ok    {name}: {detail} ({took:.1?})"),
            Err(error) => {
                failed += 1;
                println!("FAIL  {name}: {} ({took:.1?})", chain(&*error));
            }
        }
        // Each check begins with an empty slab.
        let all = context.allocator().write_head();
        let _ = context.advance_read_head(all);
    }
    println!("{} checks, {failed} failed, {not_run} not run", CHECKS.len());
    ExitCode::from(u8::from(failed > 0))
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(" <- {error}");
        cause = error.source();
    }
    text
}

fn ensure(holds: bool, what: impl Into<String>) -> Result<(), Box<dyn Error>> {
    if holds { Ok(()) } else { Err(what.into().into()) }
}

fn bytes(numbers: &[f32]) -> &[u8] {
    bytemuck::cast_slice(numbers)
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 0.37).sin()).collect()
}

fn function(context: &mut CudaComputeContext, entry: &str) -> Result<Arc<Function>, ComputeError> {
    context.load_function(&KernelSpec::ptx(entry, PTX), &Schedule::default())
}

fn blocks(count: u32) -> LaunchShape {
    LaunchShape { grid: [count.div_ceil(128), 1, 1], block: [128, 1, 1], dynamic_shared_bytes: 0 }
}

fn advance(
    context: &mut CudaComputeContext,
    function: &Function,
    view: BufferView,
) -> Result<(), ComputeError> {
    let count = (view.size() / 4) as u32;
    let arguments = Arguments::new().view(view).value(&count).value(&0.999f32);
    context.launch(function, &blocks(count), &arguments)
}

/// What the kernel `advance` makes of a number.
fn advanced(x: f32) -> f32 {
    x.mul_add(0.999, 1.0)
}

fn limits(context: &mut CudaComputeContext) -> Outcome {
    let c = context.constraints().clone();
    ensure(c.warp_size == 32 && c.max_threads_per_block >= 1_024, "block limits")?;
    ensure(c.shared_bytes_per_block_optin >= c.shared_bytes_per_block, "shared memory")?;
    ensure(c.max_grid[0] >= i32::MAX as u32, "grid limits")?;
    let memory = context.device_memory()?;
    ensure(memory.free < memory.total && memory.total <= c.total_memory, "memory")?;
    let a = context.adapter();
    ensure(a.uuid.is_some() && !a.driver.is_empty(), "identity")?;
    Ok(format!("{}, {}, driver {}", a.vendor, a.device, a.driver))
}

fn copies(context: &mut CudaComputeContext) -> Outcome {
    let mut slowest = f64::INFINITY;
    for size in [1usize, 255, 256, 257, 65_537, 40_000_000] {
        let data: Vec<u8> = (0..size).map(|i| (i * 31 % 251) as u8).collect();
        let view = context.allocate_and_write(&data, 0, 0)?;
        let mut read = vec![0; size];
        let begin = Instant::now();
        context.read_buffer_into(&view, &mut read)?;
        slowest = size as f64 / begin.elapsed().as_secs_f64();
        ensure(read == data, format!("{size} bytes differ"))?;
    }
    Ok(format!("download {:.1} GB/s", slowest / 1e9))
}

fn affine_spec(spec: KernelSpec) -> KernelSpec {
    spec.buffer(0, 0, BufferUsage::Input).buffer(1, 0, BufferUsage::Output).native(|buffers, n| {
        let input: Vec<f32> = bytemuck::pod_collect_to_vec(&*buffers[0]);
        let output: &mut [f32] = bytemuck::cast_slice_mut(buffers[1]);
        for i in 0..n as usize {
            output[i] = input[i].mul_add(1.5, 0.25);
        }
    })
}

fn affine_on(
    context: &mut dyn OracleContext,
    spec: &KernelSpec,
) -> Result<(Vec<f32>, Vec<u64>), ComputeError> {
    let input = numbers(1_000_003);
    let size = input.len() as u64;
    let x = context.allocate_and_write(bytes(&input), 0, 0, BufferUsage::Input)?;
    let y = context.allocate_transient(size * 4, 1, 0, BufferUsage::Output)?;
    let times = context.run_kernel(spec, &Schedule::default(), &[x, y], size, 2, 5)?;
    Ok((context.read_buffer_f32(&y)?, times))
}

fn ptx_kernel(context: &mut CudaComputeContext) -> Outcome {
    let spec = affine_spec(KernelSpec::ptx("affine", PTX));
    let (device, times) = affine_on(context, &spec)?;
    let (oracle, _) = affine_on(&mut CpuContext::new(16 << 20)?, &spec)?;
    compare_f32("affine", &oracle, &device, 0)?;
    Ok(format!("times {times:?} ns"))
}

fn nvrtc_kernel(context: &mut CudaComputeContext) -> Outcome {
    let nvrtc = match Nvrtc::shared() {
        Ok(nvrtc) => nvrtc,
        Err(absent) => {
            // Absence must be the typed error, for those who ask.
            let spec = affine_spec(KernelSpec::cuda_c("affine", AFFINE_CUDA_C));
            let error = affine_on(context, &spec).err().ok_or("compiled without NVRTC")?;
            ensure(matches!(error, ComputeError::Nvrtc { .. }), "untyped absence")?;
            return Ok(format!("{NOT_RUN}: {absent}"));
        }
    };
    let (cuda_c, _) =
        affine_on(context, &affine_spec(KernelSpec::cuda_c("affine", AFFINE_CUDA_C)))?;
    let (ptx, _) = affine_on(context, &affine_spec(KernelSpec::ptx("affine", PTX)))?;
    compare_f32("affine", &ptx, &cuda_c, 0)?;
    let broken = KernelSpec::cuda_c("affine", "no kernel");
    let error = context.load_function(&broken, &Schedule::default()).err().ok_or("compiled")?;
    ensure(chain(&error).contains("kernel.cu(1)"), chain(&error))?;
    Ok(format!("NVRTC {:?} at {}", nvrtc.version(), nvrtc.path().display()))
}

fn replays(context: &mut CudaComputeContext) -> Outcome {
    let f = function(context, "advance")?;
    let start = numbers(100_000);
    let replayed = context.allocate_and_write(bytes(&start), 0, 0)?;
    let launched = context.allocate_and_write(bytes(&start), 0, 0)?;
    context.begin_graph_capture()?;
    advance(context, &f, replayed)?;
    let graph = context.end_graph_capture()?;
    let untouched = context.read_buffer_f32(&replayed)?;
    compare_f32("recording runs nothing", &start, &untouched, 0)?;
    context.synchronize()?;
    let begin = Instant::now();
    for _ in 0..1_000 {
        context.launch_graph(&graph)?;
    }
    context.synchronize()?;
    let by_graph = begin.elapsed();
    let begin = Instant::now();
    for _ in 0..1_000 {
        advance(context, &f, launched)?;
    }
    context.synchronize()?;
    let by_launch = begin.elapsed();
    let expected: Vec<f32> =
        start.iter().map(|x| (0..1_000).fold(*x, |x, _| advanced(x))).collect();
    compare_f32("launches", &expected, &context.read_buffer_f32(&launched)?, 0)?;
    compare_f32("replays", &expected, &context.read_buffer_f32(&replayed)?, 0)?;
    Ok(format!("replays {by_graph:.1?}, launches {by_launch:.1?}"))
}

fn long_graph(context: &mut CudaComputeContext) -> Outcome {
    let f = function(context, "advance")?;
    let view = context.allocate_transient(4_096, 0, 0)?;
    context.begin_graph_capture()?;
    context.fill_view(&view, 0)?;
    for _ in 0..100 {
        advance(context, &f, view)?;
    }
    let graph = context.end_graph_capture()?;
    ensure(graph.launches() == 101, "number of launches")?;
    for _ in 0..3 {
        context.launch_graph(&graph)?;
    }
    context.synchronize()?;
    let begin = Instant::now();
    for _ in 0..100 {
        context.launch_graph(&graph)?;
    }
    context.synchronize()?;
    let each = begin.elapsed() / 10_000;
    let expected = (0..100).fold(0.0f32, |x, _| advanced(x));
    compare_f32("graph", &[expected; 1_024], &context.read_buffer_f32(&view)?, 0)?;
    Ok(format!("{each:?} for each launch in the graph"))
}

fn capture_is_thread_local(context: &mut CudaComputeContext) -> Outcome {
    let f = function(context, "advance")?;
    let view = context.allocate_and_write(bytes(&[1.0; 64]), 0, 0)?;
    context.begin_graph_capture()?;
    let other = std::thread::spawn(|| {
        let mut other = CudaComputeContext::new(1 << 20)?;
        let view = other.allocate_and_write(bytes(&[2.0; 64]), 0, 0)?;
        other.read_buffer_f32(&view)
    });
    let read = other.join().map_err(|_| "the other thread panicked")?;
    advance(context, &f, view)?;
    let graph = context.end_graph_capture()?;
    ensure(read? == [2.0; 64], "the other thread's bytes")?;
    context.launch_graph(&graph)?;
    ensure(context.read_buffer_f32(&view)? == [advanced(1.0); 64], "the replay's bytes")?;
    Ok("both did their work".to_owned())
}

fn recording_forbids(context: &mut CudaComputeContext) -> Outcome {
    let view = context.allocate_and_write(bytes(&[1.0; 64]), 0, 0)?;
    context.begin_graph_capture()?;
    let refused = [
        context.allocate_transient(4, 0, 0).err(),
        context.write_view(&view, &[0]).err(),
        context.write_view_prefetch(&view, &[0]).err(),
        context.read_buffer_f32(&view).err(),
        context.synchronize().err(),
    ];
    let graph = context.end_graph_capture()?;
    for error in refused {
        ensure(matches!(error, Some(ComputeError::RecordingForbids { .. })), format!("{error:?}"))?;
    }
    context.launch_graph(&graph)?;
    context.synchronize()?;
    Ok("5 calls refused, the empty graph runs".to_owned())
}

fn prefetch_overlaps(context: &mut CudaComputeContext) -> Outcome {
    let f = function(context, "wait_cycles")?;
    let data = vec![1u8; 64 << 20];
    let view = context.allocate_transient(data.len() as u64, 0, 0)?;
    context.prefetch_stream()?;
    context.synchronize()?;
    let one = LaunchShape { grid: [1; 3], block: [1; 3], dynamic_shared_bytes: 0 };
    let begin = context.timestamp(StreamKind::Compute)?;
    context.launch(&f, &one, &Arguments::new().value(&200_000_000u64))?;
    let kernel_end = context.timestamp(StreamKind::Compute)?;
    let copy_begin = context.timestamp(StreamKind::Prefetch)?;
    context.write_view_prefetch(&view, &data)?;
    let copy_end = context.timestamp(StreamKind::Prefetch)?;
    let kernel = context.elapsed(&begin, &kernel_end)?;
    let copy = context.elapsed(&copy_begin, &copy_end)?;
    let spare = context.elapsed(&copy_end, &kernel_end)?;
    context.join_prefetch()?;
    let mut read = vec![0u8; data.len()];
    context.read_buffer_into(&view, &mut read)?;
    ensure(read == data, "the bytes")?;
    let text =
        format!("kernel {kernel:.2?}, copy {copy:.2?}, copy done {spare:.2?} before the kernel");
    ensure(spare > Duration::ZERO && copy > Duration::ZERO, text.clone())?;
    Ok(format!("{text}, {:.1} GB/s", data.len() as f64 / copy.as_secs_f64() / 1e9))
}

fn prefetched_batches(context: &mut CudaComputeContext) -> Outcome {
    let f = function(context, "affine")?;
    let count = 1u64 << 20;
    let inputs = [
        context.allocate_transient(count * 4, 0, 0)?,
        context.allocate_transient(count * 4, 0, 0)?,
    ];
    let mut outputs = Vec::new();
    for _ in 0..20 {
        outputs.push(context.allocate_transient(count * 4, 1, 0)?);
    }
    let batch = |k: usize| vec![k as f32; count as usize];
    context.write_view_prefetch(&inputs[0], bytes(&batch(0)))?;
    for (k, output) in outputs.iter().enumerate() {
        context.join_prefetch()?;
        let arguments = Arguments::new().view(inputs[k % 2]).view(*output).value(&count);
        context.launch(&f, &blocks(count as u32), &arguments)?;
        context.write_view_prefetch(&inputs[(k + 1) % 2], bytes(&batch(k + 1)))?;
    }
    for (k, output) in outputs.iter().enumerate() {
        let expected = (k as f32).mul_add(1.5, 0.25);
        let read = context.read_buffer_f32(output)?;
        ensure(read.iter().all(|x| *x == expected), format!("batch {k}"))?;
    }
    Ok("20 batches".to_owned())
}

fn read_beside(context: &mut CudaComputeContext) -> Outcome {
    let (f, wait) = (function(context, "advance")?, function(context, "wait_cycles")?);
    let view = context.allocate_and_write(bytes(&[1.0; 1 << 16]), 0, 0)?;
    let mut read = vec![0.0f32; 1 << 16];
    context.read_buffer_beside(&view, bytemuck::cast_slice_mut(&mut read))?;
    advance(context, &f, view)?;
    let one = LaunchShape { grid: [1; 3], block: [1; 3], dynamic_shared_bytes: 0 };
    let begin = Instant::now();
    context.launch(&wait, &one, &Arguments::new().value(&100_000_000u64))?;
    context.read_buffer_beside(&view, bytemuck::cast_slice_mut(&mut read))?;
    let read_at = begin.elapsed();
    context.synchronize()?;
    let kernel_at = begin.elapsed();
    ensure(read.iter().all(|x| *x == advanced(1.0)), "the bytes")?;
    let text = format!("read after {read_at:.2?}, kernel after {kernel_at:.2?}");
    ensure(read_at < kernel_at / 2, text.clone())?;
    Ok(text)
}

fn cache_hit(context: &mut CudaComputeContext) -> Outcome {
    // As long as a kernel of the engine.
    let padded = format!("{PTX}\n// {}\n", "x".repeat(200_000));
    let spec = KernelSpec::ptx("affine", padded);
    let begin = Instant::now();
    context.load_function(&spec, &Schedule::default())?;
    let first = begin.elapsed();
    let mut slowest = Duration::ZERO;
    let begin = Instant::now();
    for _ in 0..1_000 {
        let one = Instant::now();
        context.load_function(&spec, &Schedule::default())?;
        slowest = slowest.max(one.elapsed());
    }
    let mean = begin.elapsed() / 1_000;
    let text = format!("first {first:.1?}, hit {mean:?} on average, {slowest:?} at most");
    ensure(mean < Duration::from_micros(50), text.clone())?;
    Ok(text)
}

fn collision(context: &mut CudaComputeContext) -> Outcome {
    context.set_module_cache(ModuleCache::with_hasher(|_: &SourceText| 42));
    let other = PTX.replace("0f3E800000", "0f3F000000"); // + 0.5 in place of + 0.25
    let x = context.allocate_and_write(bytes(&[2.0; 64]), 0, 0)?;
    let mut results = Vec::new();
    for text in [PTX, &other, PTX] {
        let f = context.load_function(&KernelSpec::ptx("affine", text), &Schedule::default())?;
        let y = context.allocate_transient(256, 1, 0)?;
        let arguments = Arguments::new().view(x).view(y).value(&64u64);
        context.launch(&f, &blocks(64), &arguments)?;
        results.push(context.read_buffer_f32(&y)?[63]);
    }
    let counts = context.module_cache().hits_and_misses();
    context.set_module_cache(ModuleCache::default());
    ensure(results == [3.25, 3.5, 3.25], format!("{results:?}"))?;
    ensure(counts == (1, 2), format!("hits and misses {counts:?}"))?;
    Ok(format!("{results:?}"))
}

fn shared_modules(_: &mut CudaComputeContext) -> Outcome {
    let text = PTX.replace("0f3E800000", "0f3F400000");
    let time = || -> Result<Duration, ComputeError> {
        let mut context = CudaComputeContext::new(1 << 20)?;
        let spec = KernelSpec::ptx("affine", text.as_str());
        let begin = Instant::now();
        context.load_function(&spec, &Schedule::default())?;
        Ok(begin.elapsed())
    };
    let (first, second) = (time()?, time()?);
    ensure(second < Duration::from_millis(1), format!("{first:?}, then {second:?}"))?;
    Ok(format!("first {first:.1?}, second {second:.1?}"))
}

fn checkpoints(context: &mut CudaComputeContext) -> Outcome {
    let kept = context.allocate_and_write(bytes(&[1.0; 64]), 0, 0)?;
    let checkpoint = context.write_checkpoint();
    let gone = context.allocate_and_write(bytes(&[2.0; 1_000]), 0, 0)?;
    context.restore_checkpoint(checkpoint)?;
    let again = context.allocate_and_write(bytes(&[3.0; 1_000]), 0, 0)?;
    ensure(again.start() == gone.start(), "the place was not reused")?;
    ensure(context.read_buffer_f32(&kept)? == [1.0; 64], "what was kept")?;
    ensure(context.read_buffer_f32(&again)? == [3.0; 1_000], "what is new")?;
    let stale = context.read_buffer_f32(&gone);
    ensure(matches!(stale, Err(ComputeError::StaleView { .. })), "a stale view was read")?;
    let transient = context.allocate_transient(256, 0, 0)?;
    context.clear_transient_allocations()?;
    ensure(context.fill_view(&transient, 0).is_err(), "a cleared view was filled")?;
    Ok(format!("{:?}", context.slab_report()))
}

fn laps(context: &mut CudaComputeContext) -> Outcome {
    let f = function(context, "advance")?;
    let capacity = context.allocator().capacity();
    let mut previous: Option<(BufferView, f32)> = None;
    let from = context.allocator().write_head();
    let mut round = 0u32;
    while context.allocator().write_head() - from < 100 * capacity {
        let size = (capacity / 3) as usize / 1_024 * 1_024;
        let view = context.allocate_transient(size as u64, 0, 0)?;
        context.fill_view(&view, 0)?;
        context.write_view(&view, bytes(&[round as f32; 256]))?;
        advance(context, &f, view)?;
        if let Some((view, value)) = previous {
            let mut first = [0u32; 1];
            context.read_buffer_u32_into(&view, &mut first)?;
            ensure(f32::from_bits(first[0]) == advanced(value), format!("round {round}"))?;
            context.advance_read_head(view.end())?;
        }
        previous = Some((view, round as f32));
        round += 1;
    }
    Ok(format!("{round} allocations"))
}

fn dynamic_shared(context: &mut CudaComputeContext) -> Outcome {
    let f = function(context, "through_shared")?;
    let most = context.constraints().shared_bytes_per_block_optin;
    let view = context.allocate_transient(4, 0, 0)?;
    for size in [1_024, 48 << 10, most] {
        let shape = LaunchShape { grid: [1; 3], block: [1; 3], dynamic_shared_bytes: size };
        context.launch(&f, &shape, &Arguments::new().view(view).value(&size))?;
        let mut read = [0];
        context.read_buffer_u32_into(&view, &mut read)?;
        ensure(read[0] == size, format!("{size}: read {}", read[0]))?;
    }
    let shape = LaunchShape { grid: [1; 3], block: [1; 3], dynamic_shared_bytes: most + 4 };
    let error = context.launch(&f, &shape, &Arguments::new().view(view).value(&most));
    ensure(matches!(error, Err(ComputeError::InvalidSchedule { .. })), format!("{error:?}"))?;
    Ok(format!("up to {most} bytes"))
}

fn event_times(context: &mut CudaComputeContext) -> Outcome {
    let f = function(context, "wait_cycles")?;
    let one = LaunchShape { grid: [1; 3], block: [1; 3], dynamic_shared_bytes: 0 };
    let mut times = Vec::new();
    for cycles in [1_000_000u64, 10_000_000] {
        let begin = context.timestamp(StreamKind::Compute)?;
        context.launch(&f, &one, &Arguments::new().value(&cycles))?;
        let end = context.timestamp(StreamKind::Compute)?;
        times.push(context.elapsed(&begin, &end)?);
    }
    let ratio = times[1].as_secs_f64() / times[0].as_secs_f64();
    ensure((7.0..13.0).contains(&ratio), format!("{times:?}"))?;
    Ok(format!("{times:.2?}"))
}

fn broken_ptx(context: &mut CudaComputeContext) -> Outcome {
    let broken = PTX.replace("fma.rn.f32 %x, %x", "fma.rn.f32 %undeclared, %x");
    let spec = KernelSpec::ptx("affine", broken);
    let error = context.load_function(&spec, &Schedule::default()).err().ok_or("it was loaded")?;
    let ComputeError::InvalidKernel { problem, .. } = &error else {
        return Err(chain(&error).into());
    };
    ensure(problem.contains("undeclared"), problem.clone())?;
    Ok(chain(&error).replace('\n', " | "))
}

fn too_large(context: &mut CudaComputeContext) -> Outcome {
    let f = function(context, "advance")?;
    let view = context.allocate_transient(256, 0, 0)?;
    let arguments = Arguments::new().view(view).value(&64u32).value(&1.0f32);
    let shape = LaunchShape { grid: [1; 3], block: [2_048, 1, 1], dynamic_shared_bytes: 0 };
    let error = context.launch(&f, &shape, &arguments).err().ok_or("it was launched")?;
    ensure(matches!(error, ComputeError::InvalidSchedule { .. }), chain(&error))?;
    context.launch(&f, &blocks(64), &arguments)?;
    context.synchronize()?;
    Ok(chain(&error))
}

fn wrong_arguments(context: &mut CudaComputeContext) -> Outcome {
    let f = function(context, "advance")?;
    let view = context.allocate_transient(256, 0, 0)?;
    let arguments = Arguments::new().view(view).value(&64u64);
    let error = context.launch(&f, &blocks(64), &arguments).err().ok_or("it was launched")?;
    ensure(matches!(error, ComputeError::InvalidArguments { .. }), chain(&error))?;
    Ok(chain(&error))
}

fn too_much_memory(context: &mut CudaComputeContext) -> Outcome {
    let total = context.device_memory()?.total;
    let error = CudaComputeContext::new(2 * total).err().ok_or("it was allocated")?;
    ensure(matches!(error, ComputeError::OutOfMemory { .. }), chain(&error))?;
    let error = CudaComputeContext::on_device(1_000, 256).err().ok_or("device 1000 exists")?;
    ensure(matches!(error, ComputeError::GpuUnavailable { .. }), chain(&error))?;
    Ok(chain(&error))
}

fn other_thread(_: &mut CudaComputeContext) -> Outcome {
    let mut moved = CudaComputeContext::new(1 << 20)?;
    let view = moved.allocate_and_write(bytes(&[1.0; 64]), 0, 0)?;
    let worker = std::thread::spawn(move || {
        let f = function(&mut moved, "advance")?;
        advance(&mut moved, &f, view)?;
        moved.read_buffer_f32(&view)
    });
    let read = worker.join().map_err(|_| "the thread panicked")??;
    ensure(read == [advanced(1.0); 64], format!("{}", read[0]))?;
    Ok("and is dropped there".to_owned())
}

fn device_lost(context: &mut CudaComputeContext) -> Outcome {
    let f = function(context, "fault")?;
    let one = LaunchShape { grid: [1; 3], block: [1; 3], dynamic_shared_bytes: 0 };
    context.launch(&f, &one, &Arguments::new())?;
    let error = context.synchronize().err().ok_or("nothing was noticed")?;
    ensure(matches!(error, ComputeError::DeviceLost(_)), chain(&error))?;
    let later = context.allocate_and_write(&[0; 256], 0, 0).err().ok_or("it still works")?;
    ensure(matches!(later, ComputeError::DeviceLost(_)), chain(&later))?;
    Ok(chain(&error))
}
