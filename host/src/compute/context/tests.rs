//! The context on the fake device, whose order of concurrent work a seed chooses.

mod sequential;

use super::*;
use crate::compute::driver::{HostRange, LaunchShape};
use crate::compute::fake::{FakeDriver, FakeLaunch};
use crate::compute::launch::Arguments;
use crate::compute::module::Function;
use crate::compute::slab::Lifetime;
use crate::compute::{
    BufferUsage, CpuContext, KernelSpec, OracleContext, Schedule, SourceText, compare_f32,
};

const SEEDS: std::ops::Range<u64> = 0..60;

/// A module with three entry points; the fake device gives them their meaning by name.
const PTX: &str = "
.version 8.0
.target sm_75
.visible .entry scale(.param .u64 in, .param .u64 out, .param .u64 n) { ret; }
.visible .entry increment(.param .u64 x, .param .u32 n) { ret; }
.visible .entry unknown(.param .u64 x) { ret; }
";

fn scale(launch: &mut FakeLaunch<'_>) {
    let count = launch.value::<u64>(2) as usize;
    let scaled: Vec<f32> = launch.read(0, count).iter().map(|x| x * 2.0).collect();
    launch.write(1, &scaled);
}

fn increment(launch: &mut FakeLaunch<'_>) {
    let count = launch.value::<u32>(1) as usize;
    let next: Vec<f32> = launch.read(0, count).iter().map(|x| x + 1.0).collect();
    launch.write(0, &next);
}

fn device(seed: u64) -> Arc<FakeDriver> {
    let driver = FakeDriver::new(1 << 20, seed);
    Arc::new(driver.kernel("scale", scale).kernel("increment", increment))
}

fn context(driver: &Arc<FakeDriver>) -> ComputeContext<FakeDriver> {
    ComputeContext::with_driver(Arc::clone(driver), 64 << 10).unwrap()
}

/// Runs a test under many orders; nothing undefined may happen and nothing may be left over.
fn under_all_orders(test: impl Fn(&mut ComputeContext<FakeDriver>)) {
    for seed in SEEDS {
        let driver = device(seed);
        let mut context = context(&driver);
        test(&mut context);
        drop(context);
        assert_eq!(driver.violations(), Vec::<String>::new(), "seed {seed}");
        assert_eq!(driver.leaks(), Vec::<String>::new(), "seed {seed}");
    }
}

fn bytes(numbers: &[f32]) -> &[u8] {
    bytemuck::cast_slice(numbers)
}

fn function(context: &mut ComputeContext<FakeDriver>, entry: &str) -> Arc<Function> {
    context.load_function(&KernelSpec::ptx(entry, PTX), &Schedule::default()).unwrap()
}

const SHAPE: LaunchShape = LaunchShape { grid: [1; 3], block: [64, 1, 1], dynamic_shared_bytes: 0 };

fn increment_view(context: &mut ComputeContext<FakeDriver>, view: BufferView) {
    let function = function(context, "increment");
    let count = (view.size() / 4) as u32;
    context.launch(&function, &SHAPE, &Arguments::new().view(view).value(&count)).unwrap();
}

#[test]
fn what_is_written_is_read_back() {
    under_all_orders(|context| {
        let numbers: Vec<f32> = (0..3_000).map(|i| i as f32).collect();
        let view = context.allocate_and_write(bytes(&numbers), 0, 0).unwrap();
        // More uploads than there are staging chunks, in the order in which they were made.
        for round in 0..10 {
            let more = vec![round as f32; 1_000];
            context.write_view(&view, bytes(&more)).unwrap();
        }
        let read = context.read_buffer_f32(&view).unwrap();
        assert_eq!(&read[..1_000], &[9.0; 1_000]);
        assert_eq!(&read[1_000..], &numbers[1_000..]);
        let mut words = [0u32; 2];
        context.read_buffer_u32_into(&view, &mut words).unwrap();
        assert_eq!(words, [9.0f32.to_bits(); 2]);
        let doubles = context.allocate_and_write(&1.5f64.to_ne_bytes(), 0, 0).unwrap();
        assert_eq!(context.read_buffer_f64(&doubles).unwrap(), [1.5]);
    });
}

#[test]
fn large_copies_go_through_many_chunks() {
    for seed in SEEDS {
        let driver = device(seed);
        let stream = Owned::new(&driver, driver.create_stream().unwrap());
        let memory = Owned::new(&driver, driver.allocate(4_096).unwrap());
        let address = driver.address(&memory);
        let mut staging = Staging::new(&driver, 100).unwrap();
        let data: Vec<u8> = (0..2_345).map(|i| (i * 7 % 251) as u8).collect();
        staging.upload(&stream, &data, address).unwrap();
        let mut read = vec![0; data.len()];
        staging.download(&stream, address, &mut read).unwrap();
        assert_eq!(read, data, "seed {seed}");
        driver.synchronize(&stream).unwrap();
        assert!(driver.violations().is_empty());
    }
}

#[test]
fn a_sweep_with_prefetched_batches_gives_each_batch_its_own_data() {
    under_all_orders(|context| {
        let count = 256;
        let inputs = [0, 1].map(|_| context.allocate_transient(count * 4, 0, 0).unwrap());
        let outputs: Vec<_> =
            (0..8).map(|_| context.allocate_transient(count * 4, 1, 0).unwrap()).collect();
        let function = function(context, "scale");
        let batch = |k: usize| vec![k as f32; count as usize];
        context.write_view_prefetch(&inputs[0], bytes(&batch(0))).unwrap();
        for k in 0..outputs.len() {
            context.join_prefetch().unwrap();
            let arguments = Arguments::new().view(inputs[k % 2]).view(outputs[k]).value(&count);
            context.launch(&function, &SHAPE, &arguments).unwrap();
            // Overwrites what the launch before the last one read.
            context.write_view_prefetch(&inputs[(k + 1) % 2], bytes(&batch(k + 1))).unwrap();
        }
        for (k, output) in outputs.iter().enumerate() {
            assert_eq!(context.read_buffer_f32(output).unwrap(), vec![2.0 * k as f32; 256]);
        }
    });
}

#[test]
fn results_are_read_beside_the_next_launch() {
    under_all_orders(|context| {
        let views = [0.0, 10.0].map(|x| context.allocate_and_write(bytes(&[x; 64]), 0, 0).unwrap());
        let mut read = [0.0f32; 64];
        for batch in 0..6 {
            let [current, previous] = [views[batch % 2], views[(batch + 1) % 2]];
            increment_view(context, current);
            if batch > 0 {
                let out = bytemuck::cast_slice_mut(&mut read);
                context.read_buffer_beside(&previous, out).unwrap();
                let expected = [10.0, 0.0][batch % 2] + batch.div_ceil(2) as f32;
                assert_eq!(read, [expected; 64], "batch {batch}");
            }
        }
    });
}

#[test]
fn a_prefetch_is_ordered_even_without_a_join() {
    under_all_orders(|context| {
        let view = context.allocate_and_write(bytes(&[1.0; 64]), 0, 0).unwrap();
        increment_view(context, view);
        context.write_view_prefetch(&view, bytes(&[10.0; 64])).unwrap();
        increment_view(context, view);
        assert_eq!(context.read_buffer_f32(&view).unwrap(), [11.0; 64]);
        context.write_view_prefetch(&view, bytes(&[20.0; 64])).unwrap();
        context.write_view(&view, bytes(&[30.0; 1])).unwrap();
        let read = context.read_buffer_f32(&view).unwrap();
        assert_eq!((read[0], read[1]), (30.0, 20.0));
    });
}

#[test]
fn recycled_memory_is_safe_from_both_streams() {
    under_all_orders(|context| {
        for round in 0..6 {
            let checkpoint = context.write_checkpoint();
            let view = context.allocate_transient(16 << 10, 0, 0).unwrap();
            context.write_view_prefetch(&view, &[round; 16 << 10]).unwrap();
            // Released while the prefetch may still be under way, and given out again.
            context.restore_checkpoint(checkpoint).unwrap();
            let again = context.allocate_and_write(bytes(&[5.0; 4_096]), 0, 0).unwrap();
            assert_eq!(again.start(), view.start());
            increment_view(context, again);
            if round % 2 == 0 {
                assert_eq!(context.read_buffer_f32(&again).unwrap(), [6.0; 4_096]);
            }
            context.restore_checkpoint(checkpoint).unwrap();
            let third = context.allocate_transient(16 << 10, 0, 0).unwrap();
            context.write_view_prefetch(&third, bytes(&[7.0; 4_096])).unwrap();
            assert_eq!(context.read_buffer_f32(&third).unwrap(), [7.0; 4_096]);
            context.clear_transient_allocations().unwrap();
        }
    });
}

#[test]
fn the_fake_device_shows_a_missing_wait() {
    // The same double write without the event that the context puts between the streams.
    let outcome = |seed| {
        let driver = device(seed);
        let [first, second] = [0, 1].map(|_| Owned::new(&driver, driver.create_stream().unwrap()));
        let memory = Owned::new(&driver, driver.allocate(256).unwrap());
        let at = driver.address(&memory);
        driver.fill(&first, at, 256, 1).unwrap();
        driver.fill(&second, at, 256, 2).unwrap();
        let mut read = [0];
        driver.synchronize(&first).unwrap();
        driver.synchronize(&second).unwrap();
        Staging::new(&driver, 64).unwrap().download(&first, at, &mut read).unwrap();
        read[0]
    };
    let outcomes: Vec<u8> = SEEDS.map(outcome).collect();
    assert!(outcomes.contains(&1) && outcomes.contains(&2));
}

#[test]
fn the_fake_device_notes_what_is_undefined() {
    let driver = device(1);
    let stream = Owned::new(&driver, driver.create_stream().unwrap());
    let host = Owned::new(&driver, driver.allocate_host(1_024).unwrap());
    let memory = driver.allocate(1_024).unwrap();
    let at = driver.address(&memory);
    for _ in 0..20 {
        let range = HostRange { memory: &host, offset: 0, size: 512 };
        driver.copy_to_host(&stream, at, range).unwrap();
    }
    driver.read_host(&host, 0, &mut [0; 4]).unwrap();
    driver.read_host(&host, 600, &mut [0; 4]).unwrap();
    assert_eq!(driver.violations(), ["read_host while a copy of these bytes is under way"]);
    driver.free(memory).unwrap();
    driver.synchronize(&stream).unwrap();
    assert!(driver.violations().iter().any(|v| v == "a download outside memory"));
    driver.begin_capture(&stream).unwrap();
    driver.synchronize(&stream).unwrap_err();
    driver.allocate(256).unwrap_err();
    assert!(driver.violations().iter().any(|v| v == "allocate while recording"));
}

#[test]
fn a_replay_does_what_the_launches_did() {
    under_all_orders(|context| {
        let replayed = context.allocate_and_write(bytes(&[0.0; 64]), 0, 0).unwrap();
        let launched = context.allocate_and_write(bytes(&[0.0; 64]), 0, 0).unwrap();
        function(context, "increment");
        context.begin_graph_capture().unwrap();
        for _ in 0..3 {
            increment_view(context, replayed);
        }
        let graph = context.end_graph_capture().unwrap();
        assert_eq!(graph.launches(), 3);
        assert_eq!(context.read_buffer_f32(&replayed).unwrap(), [0.0; 64]);
        for _ in 0..10 {
            context.launch_graph(&graph).unwrap();
        }
        for _ in 0..30 {
            increment_view(context, launched);
        }
        let launched = context.read_buffer_f32(&launched).unwrap();
        assert_eq!(context.read_buffer_f32(&replayed).unwrap(), launched);
        // A replay waits for a prefetch into its views, and a prefetch for the replay.
        context.write_view_prefetch(&replayed, bytes(&[100.0; 64])).unwrap();
        context.launch_graph(&graph).unwrap();
        context.write_view_prefetch(&replayed, bytes(&[7.0; 1])).unwrap();
        let read = context.read_buffer_f32(&replayed).unwrap();
        assert_eq!((read[0], read[1]), (7.0, 103.0));
    });
}

#[test]
fn while_recording_only_launches_are_possible() {
    under_all_orders(|context| {
        let view = context.allocate_and_write(bytes(&[1.0; 64]), 0, 0).unwrap();
        function(context, "increment");
        context.begin_graph_capture().unwrap();
        let forbidden = |result: Result<(), ComputeError>| {
            assert!(matches!(result, Err(ComputeError::RecordingForbids { .. })), "{result:?}");
        };
        forbidden(context.allocate_transient(256, 0, 0).map(drop));
        forbidden(context.allocate_and_write(&[0], 0, 0).map(drop));
        forbidden(context.write_view(&view, &[0]));
        forbidden(context.write_view_prefetch(&view, &[0]));
        forbidden(context.prefetch_stream().map(drop));
        forbidden(context.read_buffer_f32(&view).map(drop));
        forbidden(context.synchronize());
        forbidden(context.timestamp(StreamKind::Compute).map(drop));
        forbidden(context.clear_transient_allocations());
        forbidden(context.restore_checkpoint(0));
        forbidden(context.advance_read_head(0));
        let scale = KernelSpec::ptx("scale", PTX);
        forbidden(context.load_function(&scale, &Schedule::default()).map(drop));
        let twice = context.begin_graph_capture();
        assert!(matches!(twice, Err(ComputeError::Capture { .. })));
        increment_view(context, view);
        let graph = context.end_graph_capture().unwrap();
        assert_eq!(graph.launches(), 1);
        assert!(matches!(context.end_graph_capture(), Err(ComputeError::Capture { .. })));
    });
}

#[test]
fn a_context_dropped_while_recording_leaves_nothing() {
    under_all_orders(|context| {
        let view = context.allocate_and_write(bytes(&[1.0; 64]), 0, 0).unwrap();
        function(context, "increment");
        context.begin_graph_capture().unwrap();
        increment_view(context, view);
    });
}

#[test]
fn a_released_view_is_refused_everywhere() {
    let driver = device(3);
    let mut context = context(&driver);
    let view = context.allocate_and_write(bytes(&[1.0; 64]), 0, 0).unwrap();
    let function = function(&mut context, "increment");
    context.begin_graph_capture().unwrap();
    increment_view(&mut context, view);
    let graph = context.end_graph_capture().unwrap();
    context.advance_read_head(view.end()).unwrap();
    // The same bytes, under another view.
    context.restore_checkpoint(context.write_checkpoint()).unwrap();
    let stale = |result: Result<(), ComputeError>| {
        assert!(matches!(result, Err(ComputeError::StaleView { .. })), "{result:?}");
    };
    stale(context.read_buffer_f32(&view).map(drop));
    stale(context.write_view(&view, &[0]));
    stale(context.write_view_prefetch(&view, &[0]));
    stale(context.fill_view(&view, 0));
    stale(context.launch_graph(&graph));
    let arguments = Arguments::new().view(view).value(&64u32);
    stale(context.launch(&function, &SHAPE, &arguments));

    let mut other = ComputeContext::with_driver(Arc::clone(&driver), 4_096).unwrap();
    let foreign = other.allocate_transient(256, 0, 0).unwrap();
    context.allocate_transient(256, 0, 0).unwrap();
    stale(context.read_buffer_f32(&foreign).map(drop));
}

#[test]
fn a_launch_is_checked_before_the_driver_sees_it() {
    let driver = device(4);
    let mut context = context(&driver);
    let view = context.allocate_and_write(bytes(&[1.0; 64]), 0, 0).unwrap();
    let function = function(&mut context, "increment");
    let good = Arguments::new().view(view).value(&64u32);
    for bad in [
        Arguments::new().view(view),
        Arguments::new().view(view).value(&64u64),
        Arguments::new().value(&64u32).view(view),
        good.clone().value(&0u32),
    ] {
        let error = context.launch(&function, &SHAPE, &bad).unwrap_err();
        assert!(matches!(error, ComputeError::InvalidArguments { .. }), "{error}");
    }
    for shape in [
        LaunchShape { grid: [0, 1, 1], ..SHAPE },
        LaunchShape { grid: [1, 70_000, 1], ..SHAPE },
        LaunchShape { block: [1, 1, 65], ..SHAPE },
        LaunchShape { block: [513, 1, 1], ..SHAPE }, // Its registers allow 512.
        LaunchShape { dynamic_shared_bytes: 99 << 10, ..SHAPE }, // 1 KiB is declared.
    ] {
        let error = context.launch(&function, &shape, &good).unwrap_err();
        assert!(matches!(error, ComputeError::InvalidSchedule { .. }), "{error}");
    }
    let most = LaunchShape { dynamic_shared_bytes: 98 << 10, ..SHAPE };
    context.launch(&function, &most, &good).unwrap();
}

#[test]
fn kernels_that_do_not_load_say_why() {
    let driver = device(5);
    let mut context = context(&driver);
    let mut load =
        |spec: &KernelSpec| context.load_function(spec, &Schedule::default()).unwrap_err();
    let broken = PTX.replace(".version", ".vers1on");
    let ComputeError::InvalidKernel { problem, cause, .. } =
        load(&KernelSpec::ptx("increment", broken))
    else {
        panic!()
    };
    assert!(problem.contains("missing .version directive") && cause.is_some());
    let error = load(&KernelSpec::ptx("absent", PTX));
    assert!(matches!(error, ComputeError::InvalidKernel { cause: None, .. }), "{error}");
    let error = load(&KernelSpec::ptx("unknown", PTX));
    assert!(matches!(error, ComputeError::InvalidKernel { cause: Some(_), .. }), "{error}");
    let error = load(&KernelSpec { body: None, ..KernelSpec::ptx("x", "") });
    assert!(matches!(error, ComputeError::NoBody { missing: "GPU", .. }), "{error}");
}

#[test]
fn two_sources_with_one_hash_stay_two_functions() {
    let driver = device(6);
    let mut context = context(&driver);
    context.set_module_cache(ModuleCache::with_hasher(|_: &SourceText| 7));
    let mut load = |entry: &str, text: &str| {
        context.load_function(&KernelSpec::ptx(entry, text), &Schedule::default()).unwrap()
    };
    let other = PTX.replace("param .u32 n", "param .u64 n");
    let first = load("increment", PTX);
    let second = load("increment", &other);
    let third = load("scale", PTX);
    assert_eq!(first.parameters(), [8, 4]);
    assert_eq!(second.parameters(), [8, 8]);
    assert_eq!(third.parameters(), [8, 8, 8]);
    assert!(Arc::ptr_eq(&first, &load("increment", PTX)));
    assert!(Arc::ptr_eq(&second, &load("increment", &other)));
    assert_eq!(context.module_cache().len(), 3);
    assert_eq!(context.module_cache().hits_and_misses(), (2, 3));
    assert_eq!(driver.compilations(), 2);
}

#[test]
fn a_text_is_compiled_once_for_all_contexts() {
    let driver = device(7);
    for _ in 0..3 {
        let mut context = context(&driver);
        function(&mut context, "scale");
        function(&mut context, "increment");
    }
    assert_eq!(driver.compilations(), 1);
}

#[test]
fn sizes_are_checked() {
    let driver = device(8);
    let mut context = context(&driver);
    let view = context.allocate_transient(10, 0, 0).unwrap();
    let size = |result: Result<(), ComputeError>| {
        assert!(matches!(result, Err(ComputeError::ViewSize { .. })), "{result:?}");
    };
    size(context.write_view(&view, &[0; 11]));
    size(context.write_view_prefetch(&view, &[0; 11]));
    size(context.read_buffer_f32(&view).map(drop));
    size(context.read_buffer_f64(&view).map(drop));
    size(context.read_buffer_u32_into(&view, &mut [0; 3]));
    let error = context.allocate_transient(1 << 20, 0, 0).unwrap_err();
    assert!(matches!(error, ComputeError::OutOfSlab(_)), "{error}");
    let error = ComputeContext::with_driver(Arc::clone(&driver), 2 << 20).unwrap_err();
    assert!(matches!(error, ComputeError::OutOfMemory { requested: 2_097_152, .. }), "{error}");
    // Nothing to copy is no copy.
    let empty = context.allocate_and_write(&[], 0, 0).unwrap();
    assert!(context.read_buffer_f32(&empty).unwrap().is_empty());
}

/// One test for whichever context: the sum of the interface.
fn doubled_on(context: &mut dyn OracleContext, count: usize) -> Vec<f32> {
    let spec = KernelSpec::ptx("scale", PTX)
        .buffer(0, 0, BufferUsage::Input)
        .buffer(1, 0, BufferUsage::Output)
        .native(|buffers, count| {
            let input: Vec<f32> = bytemuck::pod_collect_to_vec(&*buffers[0]);
            let output: &mut [f32] = bytemuck::cast_slice_mut(buffers[1]);
            for element in 0..count as usize {
                output[element] = input[element] + input[element];
            }
        });
    let numbers: Vec<f32> = (0..count).map(|i| (i as f32).sqrt()).collect();
    // Given in another order than that of the arguments.
    let output = context.allocate_transient(count as u64 * 4, 1, 0, BufferUsage::Output).unwrap();
    let input = context.allocate_and_write(bytes(&numbers), 0, 0, BufferUsage::Input).unwrap();
    let schedule = Schedule { workgroup_size: 64, ..Schedule::default() };
    let times = context.run_kernel(&spec, &schedule, &[output, input], count as u64, 2, 3).unwrap();
    assert_eq!(times.len(), 3);
    let read = context.read_buffer_f32(&output).unwrap();
    context.clear_transient_allocations().unwrap();
    assert!(matches!(context.read_buffer_f32(&output), Err(ComputeError::StaleView { .. })));
    assert_eq!(context.read_buffer_f32(&input).unwrap(), numbers);
    assert!(!context.adapter().device.is_empty());
    let wide = Schedule { vector_width: 3, ..schedule };
    let error = context.run_kernel(&spec, &wide, &[], 1, 0, 1).unwrap_err();
    assert!(matches!(error, ComputeError::InvalidSchedule { what: "vector_width", .. }));
    let error = context.run_kernel(&spec, &schedule, &[input], 1, 0, 1).unwrap_err();
    assert!(matches!(error, ComputeError::InvalidArguments { .. }));
    read
}

#[test]
fn the_same_test_runs_on_both_contexts() {
    let mut cpu = CpuContext::new(64 << 10).unwrap();
    let oracle = doubled_on(&mut cpu, 1_000);
    assert!(!cpu.timestamp_supported());
    under_all_orders(|context| {
        let device = doubled_on(context, 1_000);
        compare_f32("scale", &oracle, &device, 0).unwrap();
        assert!(context.timestamp_supported());
    });
    let driver = device(9);
    let mut context = context(&driver);
    doubled_on(&mut context, 10);
    // Two warm-ups and three timed runs.
    assert_eq!(driver.launches_and_replays(), (5, 0));
}

#[test]
fn a_schedule_covers_every_element() {
    let driver = device(10);
    let constraints = context(&driver).constraints().clone();
    let schedule = Schedule { workgroup_size: 32, items_per_invocation: 3, vector_width: 2 };
    for (elements, blocks) in [(0, 1), (1, 1), (192, 1), (193, 2), (1_920, 10)] {
        assert_eq!(schedule.launch_shape(elements, &constraints).unwrap().grid, [blocks, 1, 1]);
    }
    let refused = |schedule: Schedule, elements, quantity| {
        let error = schedule.launch_shape(elements, &constraints).unwrap_err();
        assert!(matches!(error, ComputeError::InvalidSchedule { what, .. } if what == quantity));
    };
    refused(Schedule { workgroup_size: 0, ..schedule }, 1, "workgroup_size");
    refused(Schedule { workgroup_size: 1_025, ..schedule }, 1, "workgroup_size");
    refused(Schedule { items_per_invocation: 0, ..schedule }, 1, "items_per_invocation");
    refused(schedule, u64::MAX, "number of workgroups");
}

#[test]
#[ignore = "needs NVRTC: set NVRTC_LIBRARY or put it on the loader's path"]
fn cuda_c_becomes_a_function() {
    let driver = device(11);
    let mut context = context(&driver);
    let source = "extern \"C\" __global__ void scale(const float* in, float* out, \
                  unsigned long long n) { out[0] = in[0] * VECTOR_WIDTH; }";
    let spec = KernelSpec::cuda_c("scale", source);
    let function = context.load_function(&spec, &Schedule::default()).unwrap();
    assert_eq!(function.parameters(), [8, 8, 8]);
    let again = context.load_function(&spec, &Schedule::default()).unwrap();
    assert!(Arc::ptr_eq(&function, &again));
    // The schedule's macros are part of the source.
    let wide = Schedule { vector_width: 4, ..Schedule::default() };
    let other = context.load_function(&spec, &wide).unwrap();
    assert!(!Arc::ptr_eq(&function, &other));
    let broken = KernelSpec::cuda_c("scale", "this is no kernel");
    let error = context.load_function(&broken, &Schedule::default()).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("kernel.cu(1)"), "{cause}");
}
