//! Loaded modules of a device, by the digest of their PTX.

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cust::context::Context;
use cust::module::Module;
use cust::sys::{self, CUcontext, CUjit_option_enum as JitOption, CUresult};
use indexmap::IndexMap;

use super::{DriverError, FunctionHandle, LoadError, check, cust_error, driver_error};
use crate::compute::kernel::SourceDigest;
use crate::compute::module::ModuleImage;

/// Modules that are kept although no context uses them.
const KEPT: usize = 256;

/// Bytes for the JIT compiler's messages.
const LOG_BYTES: usize = 16 << 10;

/// The modules, oldest first. Held by every context of the process that uses the device, so that
/// the JIT compiler sees a text once.
#[derive(Debug, Default)]
pub(super) struct Modules(Mutex<IndexMap<SourceDigest, Arc<LoadedModule>>>);

/// A module, unloaded in its own context whichever thread drops it.
#[derive(Debug)]
struct LoadedModule {
    module: Option<Module>,
    context: u64,
}

impl Drop for LoadedModule {
    fn drop(&mut self) {
        // SAFETY: the driver that made the module retains the context for the whole process.
        unsafe { sys::cuCtxSetCurrent(self.context as CUcontext) };
        drop(self.module.take());
    }
}

impl Modules {
    /// A function of the module, which is loaded now if it was not. `context` is current.
    pub(super) fn function(
        &self,
        context: &Context,
        image: &ModuleImage,
        entry: &str,
    ) -> Result<FunctionHandle, LoadError> {
        // Held while compiling: a second caller of the same text waits instead of compiling it too.
        let mut modules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = match modules.get(image.ptx.digest()) {
            Some(loaded) => Arc::clone(loaded),
            None => {
                let loaded = Arc::new(LoadedModule {
                    module: Some(load(image)?),
                    context: context.as_raw() as u64,
                });
                if modules.len() >= KEPT {
                    modules.retain(|_, module| Arc::strong_count(module) > 1);
                }
                modules.insert(*image.ptx.digest(), Arc::clone(&loaded));
                loaded
            }
        };
        let function = match &loaded.module {
            Some(module) => module.get_function(entry).map(|function| function.to_raw() as u64),
            None => Err(cust::error::CudaError::InvalidHandle),
        };
        match function {
            Ok(raw) => Ok(FunctionHandle { raw, _module: loaded }),
            Err(error) => Err(plain(cust_error("cuModuleGetFunction", error))),
        }
    }
}

fn plain(error: DriverError) -> LoadError {
    LoadError { error, log: String::new() }
}

/// Loads the machine code if there is some that the device takes, else the PTX.
fn load(image: &ModuleImage) -> Result<Module, LoadError> {
    if let Some(cubin) = &image.cubin
        && let Ok(module) = Module::from_cubin(cubin, &[])
    {
        return Ok(module);
    }
    // `Module::from_ptx` panics at a zero byte.
    let text = CString::new(image.ptx.as_str()).map_err(|_| LoadError {
        error: driver_error("cuModuleLoadDataEx", CUresult::CUDA_ERROR_INVALID_PTX),
        log: "the PTX contains a zero byte".to_owned(),
    })?;
    Module::from_ptx_cstr(&text, &[]).map_err(|error| {
        // `cust` has no room for the compiler's messages, so the refused text is compiled again.
        explain(&text).unwrap_or_else(|| plain(cust_error("cuModuleLoadDataEx", error)))
    })
}

/// The result and the messages of the JIT compiler for a text that it refused.
fn explain(text: &CStr) -> Option<LoadError> {
    let mut log = vec![0u8; LOG_BYTES];
    // Values that fit a pointer are passed in its place; both options have one.
    let mut options =
        [JitOption::CU_JIT_ERROR_LOG_BUFFER, JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values: [*mut c_void; 2] =
        [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
    let mut module = ptr::null_mut();
    // SAFETY: the text ends with zero; both arrays have two elements; the buffer has the size that
    // the second option says, and outlives the call.
    let result = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let Err(error) = check("cuModuleLoadDataEx", result) else {
        // SAFETY: the call just now made the module.
        unsafe { sys::cuModuleUnload(module) };
        return None;
    };
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    log.truncate(end);
    Some(LoadError { error, log: String::from_utf8_lossy(&log).trim().to_owned() })
}
