//! A `libcuda.so.1` on CPU memory, for the test beside it: every function that the compute context
//! calls, run at once, with a line on standard error for each call whose arguments matter.
//!
//! One kernel exists, `advance`: x[i] = x[i] + 1 for i < n.
#![allow(non_snake_case, unsafe_op_in_unsafe_fn, reason = "the driver's own names; all of it is unsafe")]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};

type Handle = usize;

#[derive(Clone, Copy)]
struct Launch {
    x: u64,
    n: u32,
}

thread_local! {
    static RECORDING: RefCell<Option<Vec<Launch>>> = const { RefCell::new(None) };
    static CURRENT: RefCell<Handle> = const { RefCell::new(0) };
}

/// Result of a call that needs a current context.
fn with_context(work: impl FnOnce()) -> i32 {
    if CURRENT.with_borrow(|current| *current == 0) {
        return 201;
    }
    work();
    0
}

macro_rules! export {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $body:expr)*) => {
        $(#[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> i32 { $body })*
    };
}

export! {
    fn cuInit(_flags: u32) 0
    fn cuDriverGetVersion(version: *mut i32) { *version = 13_000; 0 }
    fn cuDeviceGetCount(count: *mut i32) { *count = 1; 0 }
    fn cuDeviceGet(device: *mut i32, ordinal: i32) { *device = 5; if ordinal == 0 { 0 } else { 101 } }
    fn cuDeviceGetName(name: *mut c_char, _size: i32, _device: i32) {
        std::ptr::copy_nonoverlapping(c"NVIDIA Stand-in".as_ptr(), name, 16);
        0
    }
    fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], _device: i32) { *uuid = [7; 16]; 0 }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: i32) { *bytes = 1 << 30; 0 }
    fn cuDeviceGetAttribute(value: *mut i32, attribute: i32, _device: i32) {
        *value = match attribute {
            1..=3 => 1_024,
            4 => 64,
            5..=7 => 65_535,
            8 => 48 << 10,
            10 => 32,
            75 => 9,
            76 => 0,
            97 => 227 << 10,
            _ => 1,
        };
        0
    }
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, _device: i32) { *context = 0xC0; 0 }
    fn cuCtxSetCurrent(context: Handle) { CURRENT.set(context); 0 }
    fn cuGetErrorString(_error: i32, _text: *mut *const c_char) 1
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) { *free = 1; *total = 1 << 30; 0 }

    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        if bytes > 1 << 30 { return 2; }
        with_context(|| *address = Box::leak(vec![0u8; bytes].into_boxed_slice()).as_ptr() as u64)
    }
    fn cuMemFree_v2(_address: u64) { eprintln!("cuMemFree_v2"); with_context(|| ()) }
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: u32) {
        eprintln!("cuMemHostAlloc flags {flags}");
        with_context(|| *pointer = Box::leak(vec![0xA5u8; bytes].into_boxed_slice()).as_mut_ptr().cast())
    }
    fn cuMemFreeHost(_pointer: *mut c_void) with_context(|| ())
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, _stream: Handle) {
        with_context(|| std::ptr::copy_nonoverlapping(from, to as *mut u8, bytes))
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut u8, from: u64, bytes: usize, _stream: Handle) {
        with_context(|| std::ptr::copy_nonoverlapping(from as *const u8, to, bytes))
    }
    fn cuMemsetD8Async(at: u64, value: u8, bytes: usize, _stream: Handle) {
        with_context(|| (at as *mut u8).write_bytes(value, bytes))
    }

    fn cuStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: i32) {
        eprintln!("cuStreamCreateWithPriority flags {flags} priority {priority}");
        with_context(|| *stream = 0x51)
    }
    fn cuStreamDestroy_v2(_stream: Handle) { eprintln!("cuStreamDestroy_v2"); with_context(|| ()) }
    fn cuStreamSynchronize(_stream: Handle) with_context(|| ())
    fn cuStreamWaitEvent(_stream: Handle, _event: Handle, _flags: u32) with_context(|| ())
    fn cuEventCreate(event: *mut Handle, flags: u32) {
        if flags == 0 { eprintln!("cuEventCreate timed"); }
        with_context(|| *event = 0xE7)
    }
    fn cuEventDestroy_v2(_event: Handle) with_context(|| ())
    fn cuEventRecord(_event: Handle, _stream: Handle) with_context(|| ())
    fn cuEventSynchronize(_event: Handle) with_context(|| ())
    fn cuEventElapsedTime(milliseconds: *mut f32, _from: Handle, _to: Handle) { *milliseconds = 0.25; 0 }

    fn cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_char,
        count: u32,
        options: *const i32,
        values: *const *mut c_char
    ) {
        eprintln!("cuModuleLoadDataEx options {:?}", (0..count as usize).map(|i| *options.add(i)).collect::<Vec<_>>());
        let is_broken = CStr::from_ptr(image).to_string_lossy().contains("BROKEN");
        if is_broken {
            if count == 2 {
                let log = c"ptxas application ptx input, line 2; error: BROKEN";
                std::ptr::copy_nonoverlapping(log.as_ptr(), *values, log.count_bytes() + 1);
                assert!(*values.add(1) as usize > log.count_bytes());
            }
            return 218;
        }
        with_context(|| *module = 0x30D)
    }
    fn cuModuleUnload(_module: Handle) { eprintln!("cuModuleUnload"); with_context(|| ()) }
    fn cuModuleGetFunction(function: *mut Handle, _module: Handle, name: *const c_char) {
        *function = 0xF0;
        if CStr::from_ptr(name) == c"advance" { 0 } else { 500 }
    }
    fn cuFuncGetAttribute(value: *mut i32, attribute: i32, _function: Handle) {
        *value = if attribute == 0 { 1_024 } else { 16 };
        0
    }
    fn cuFuncSetAttribute(_function: Handle, attribute: i32, value: i32) {
        eprintln!("cuFuncSetAttribute {attribute} = {value}");
        0
    }
    fn cuLaunchKernel(
        _function: Handle,
        gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32,
        shared: u32,
        _stream: Handle,
        arguments: *const *const c_void,
        extra: *const *const c_void
    ) {
        assert!(extra.is_null());
        eprintln!("cuLaunchKernel {:?} {:?} {shared}", [gx, gy, gz], [bx, by, bz]);
        let launch = Launch {
            x: (*arguments).cast::<u64>().read_unaligned(),
            n: (*arguments.add(1)).cast::<u32>().read_unaligned(),
        };
        with_context(|| RECORDING.with_borrow_mut(|recording| match recording {
            Some(launches) => launches.push(launch),
            None => run(launch),
        }))
    }

    fn cuStreamBeginCapture_v2(_stream: Handle, mode: i32) {
        eprintln!("cuStreamBeginCapture_v2 mode {mode}");
        RECORDING.set(Some(Vec::new()));
        0
    }
    fn cuStreamEndCapture(_stream: Handle, graph: *mut Handle) {
        *graph = Box::leak(Box::new(RECORDING.take().unwrap_or_default())) as *const _ as Handle;
        0
    }
    fn cuGraphInstantiateWithFlags(executable: *mut Handle, graph: Handle, flags: u64) {
        eprintln!("cuGraphInstantiateWithFlags {flags}");
        *executable = graph;
        0
    }
    fn cuGraphUpload(_executable: Handle, _stream: Handle) { eprintln!("cuGraphUpload"); 0 }
    fn cuGraphDestroy(_graph: Handle) 0
    fn cuGraphExecDestroy(_executable: Handle) { eprintln!("cuGraphExecDestroy"); 0 }
    fn cuGraphLaunch(executable: Handle, _stream: Handle) {
        for launch in &*(executable as *const Vec<Launch>) { run(*launch); }
        0
    }
}

fn run(launch: Launch) {
    for i in 0..launch.n as usize {
        // The context gave an address that `cuMemAlloc_v2` made, and a count inside it.
        unsafe { *(launch.x as *mut f32).add(i) += 1.0 };
    }
}
