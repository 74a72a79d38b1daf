//! The CUDA driver of the compute context against a `libcuda.so.1` made here, which runs on CPU
//! memory: which calls are made, with which flags, and what comes back.
//!
//! The library is opened once per process, so each case runs in a child: this test binary, started
//! again with a search path that holds the stand-in, or nothing.
#![cfg(all(feature = "cuda", target_os = "linux"))]
#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::process::Command;

use host::compute::{
    Arguments, BufferUsage, ComputeError, CudaComputeContext, KernelSpec, LaunchShape, Schedule,
    StreamKind, cuda_devices,
};

const PTX: &str = ".version 7.0\n.visible .entry advance(.param .u64 x, .param .u32 n) { ret; }\n\
    .visible .entry other(.param .u64 x) { ret; }";

/// Runs one ignored test of this binary with a search path; returns what it wrote.
fn in_child(case: &str, search: &Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([case, "--exact", "--ignored", "--nocapture"])
        .env("LD_LIBRARY_PATH", search)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{log}");
    log
}

#[test]
fn the_context_makes_the_right_calls() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda_driver/stand_in.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-o"])
        .arg(folder.path().join("libcuda.so.1"))
        .arg(&source)
        .status()
        .unwrap();
    assert!(built.success());
    let log = in_child("child_with_a_stand_in", folder.path());
    let count = |line: &str| log.lines().filter(|l| l.starts_with(line)).count();

    // CU_STREAM_NON_BLOCKING, which cust's own stream drops: the compute and the prefetch stream.
    assert_eq!(count("cuStreamCreateWithPriority flags 1 priority 0"), 2, "{log}");
    assert_eq!(count("cuStreamCreateWithPriority"), 2, "{log}");
    assert_eq!(count("cuStreamDestroy_v2"), 2, "{log}");
    // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL; a graph is instantiated, uploaded and destroyed once.
    assert_eq!(count("cuStreamBeginCapture_v2 mode 1"), 1, "{log}");
    assert_eq!(count("cuGraphInstantiateWithFlags 0"), 1, "{log}");
    assert_eq!(count("cuGraphUpload"), 1, "{log}");
    assert_eq!(count("cuGraphExecDestroy"), 1, "{log}");
    // No option without a value (CU_JIT_TARGET_FROM_CUCONTEXT); the log is asked for after a refusal.
    assert_eq!(count("cuModuleLoadDataEx options []"), 2, "{log}");
    assert_eq!(count("cuModuleLoadDataEx options [5, 6]"), 1, "{log}");
    assert_eq!(count("cuModuleLoadDataEx"), 3, "{log}");
    // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, once for two launches.
    assert_eq!(count("cuFuncSetAttribute 8 = 102400"), 1, "{log}");
    assert_eq!(count("cuLaunchKernel [3, 1, 1] [32, 1, 1] 102400"), 2, "{log}");
    assert_eq!(count("cuMemHostAlloc flags 1"), 2, "{log}");
    assert_eq!(count("cuMemFree_v2"), 1, "{log}");
}

#[test]
#[ignore = "run by the_context_makes_the_right_calls"]
fn child_with_a_stand_in() {
    // Not linked: opened by the first call, although it lies on the search path.
    let is_loaded = || std::fs::read_to_string("/proc/self/maps").unwrap().contains("libcuda.so");
    assert!(!is_loaded());
    let devices = cuda_devices().unwrap();
    assert!(is_loaded());
    assert_eq!(devices.len(), 1);
    assert_eq!(devices[0].identity.device, "NVIDIA Stand-in");
    assert!(devices[0].identity.driver.contains("CUDA 13.0"));
    assert_eq!(devices[0].identity.uuid, Some([7; 16]));
    assert_eq!(devices[0].constraints.compute_capability, Some((9, 0)));
    assert_eq!(devices[0].constraints.shared_bytes_per_block_optin, 227 << 10);

    let mut context = CudaComputeContext::new(1 << 20).unwrap();
    let view = context.allocate_and_write(bytemuck::cast_slice(&[1.0f32; 64]), 0, 0).unwrap();
    let spec = KernelSpec::ptx("advance", PTX).buffer(0, 0, BufferUsage::InputOutput);
    let function = context.load_function(&spec, &Schedule::default()).unwrap();
    let shape = LaunchShape { grid: [3, 1, 1], block: [32, 1, 1], dynamic_shared_bytes: 100 << 10 };
    let arguments = Arguments::new().view(view).value(&64u32);
    context.launch(&function, &shape, &arguments).unwrap();
    context.begin_graph_capture().unwrap();
    context.launch(&function, &shape, &arguments).unwrap();
    let graph = context.end_graph_capture().unwrap();
    for _ in 0..5 {
        context.launch_graph(&graph).unwrap();
    }
    assert_eq!(context.read_buffer_f32(&view).unwrap(), [7.0; 64]);
    context.write_view_prefetch(&view, bytemuck::cast_slice(&[9.0f32; 32])).unwrap();
    context.join_prefetch().unwrap();
    let read = context.read_buffer_f32(&view).unwrap();
    assert_eq!((read[31], read[32]), (9.0, 7.0));
    context.fill_view(&view, 0).unwrap();
    assert_eq!(context.read_buffer_f32(&view).unwrap(), [0.0; 64]);

    let stamp = context.timestamp(StreamKind::Compute).unwrap();
    assert_eq!(context.elapsed(&stamp, &stamp).unwrap().as_micros(), 250);

    let broken = KernelSpec::ptx("advance", format!("{PTX} BROKEN"));
    let error = context.load_function(&broken, &Schedule::default()).unwrap_err();
    let ComputeError::InvalidKernel { problem, cause, .. } = error else { panic!("{error}") };
    assert_eq!(problem, "ptxas application ptx input, line 2; error: BROKEN");
    assert_eq!(cause.unwrap().name, "CUDA_ERROR_INVALID_PTX");
    // Another entry of the same module: not compiled again, and not there.
    let other = KernelSpec::ptx("other", PTX);
    let error = context.load_function(&other, &Schedule::default()).unwrap_err();
    assert!(matches!(error, ComputeError::InvalidKernel { cause: Some(_), .. }), "{error}");

    let error = CudaComputeContext::new(2 << 30).unwrap_err();
    assert!(matches!(error, ComputeError::OutOfMemory { .. }), "{error}");
    let error = CudaComputeContext::on_device(3, 256).unwrap_err();
    assert!(matches!(error, ComputeError::GpuUnavailable { .. }), "{error}");

    // A thread without a current context: every call makes it current.
    std::thread::spawn(move || {
        assert_eq!(context.read_buffer_f32(&view).unwrap(), [0.0; 64]);
        drop(graph);
    })
    .join()
    .unwrap();
}

#[test]
fn without_a_driver_the_reason_is_given() {
    if let Err(error) = cuda_devices() {
        let ComputeError::GpuUnavailable { reason, .. } = &error else { panic!("{error}") };
        assert!(reason.contains("libcuda.so.1"), "{reason}");
        let error = CudaComputeContext::new(1 << 20).unwrap_err();
        assert!(matches!(error, ComputeError::GpuUnavailable { .. }), "{error}");
    } else {
        CudaComputeContext::new(1 << 20).unwrap();
    }
}
