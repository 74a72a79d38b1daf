//! From a kernel's text to a function on the device, once.
//!
//! Two caches: [`ModuleCache`] of a context holds loaded functions, and a cache of the process holds
//! what NVRTC compiled. The driver keeps loaded modules by the digest of their text, so neither
//! compiler runs twice for one text, whichever context asks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::driver::{Driver, FunctionHandle, FunctionLimits};
use super::error::ComputeError;
use super::kernel::{KernelBody, KernelSpec, PtxText, Schedule, SourceDigest, SourceText};
use super::nvrtc::Nvrtc;
use super::ptx_signature::parameter_sizes;

/// A module to be loaded: its PTX, and machine code for the device where NVRTC made some.
#[derive(Debug, Clone)]
pub struct ModuleImage {
    /// The PTX: it identifies the module, and says which parameters its kernels take.
    pub ptx: PtxText,
    /// Machine code of the same module. An NVRTC newer than the driver writes PTX that the driver
    /// does not read, but its machine code runs.
    pub cubin: Option<Arc<[u8]>>,
}

/// A loaded kernel.
#[derive(Debug)]
pub struct Function {
    entry: String,
    handle: FunctionHandle,
    parameters: Vec<usize>,
    limits: FunctionLimits,
    /// Dynamic shared memory that was permitted so far, in bytes.
    permitted_shared: AtomicU32,
}

impl Function {
    /// Name of the entry point.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// Sizes of the parameters in bytes.
    pub fn parameters(&self) -> &[usize] {
        &self.parameters
    }

    /// What a block of it needs.
    pub fn limits(&self) -> &FunctionLimits {
        &self.limits
    }

    /// The driver's handle.
    pub(super) fn handle(&self) -> &FunctionHandle {
        &self.handle
    }

    /// Asks the driver for more shared memory than the 48 KiB that need no asking, once.
    pub(super) fn permit_shared<D: Driver>(
        &self,
        driver: &D,
        bytes: u32,
    ) -> Result<(), ComputeError> {
        if bytes > self.permitted_shared.load(Ordering::Relaxed) {
            driver.allow_dynamic_shared(&self.handle, bytes)?;
            self.permitted_shared.fetch_max(bytes, Ordering::Relaxed);
        }
        Ok(())
    }
}

struct Cached {
    entry: String,
    digest: SourceDigest,
    function: Arc<Function>,
}

/// Loaded functions by (hash of the source, entry point).
///
/// The hash only chooses where to look: a function is taken when the entry point and the 256-bit
/// digest of the source are equal.
pub struct ModuleCache {
    hasher: fn(&SourceText) -> u64,
    buckets: HashMap<u64, Vec<Cached>>,
    hits: u64,
    misses: u64,
}

impl Default for ModuleCache {
    fn default() -> Self {
        Self::with_hasher(|source| {
            let [a, b, c, d, e, f, g, h, ..] = *source.digest();
            u64::from_le_bytes([a, b, c, d, e, f, g, h])
        })
    }
}

impl std::fmt::Debug for ModuleCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModuleCache")
            .field("functions", &self.len())
            .field("hits", &self.hits)
            .field("misses", &self.misses)
            .finish_non_exhaustive()
    }
}

impl ModuleCache {
    /// A cache that looks under another hash; for tests of collisions.
    pub fn with_hasher(hasher: fn(&SourceText) -> u64) -> Self {
        Self { hasher, buckets: HashMap::new(), hits: 0, misses: 0 }
    }

    /// Functions held.
    pub fn len(&self) -> usize {
        self.buckets.values().map(Vec::len).sum()
    }

    /// Whether no function is held.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// How many look-ups found a function, and how many did not.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        (self.hits, self.misses)
    }

    pub(super) fn get(&mut self, source: &SourceText, entry: &str) -> Option<Arc<Function>> {
        let found = self.buckets.get(&(self.hasher)(source)).and_then(|bucket| {
            bucket.iter().find(|cached| cached.entry == entry && cached.digest == *source.digest())
        });
        match found {
            Some(cached) => {
                self.hits += 1;
                Some(Arc::clone(&cached.function))
            }
            None => {
                self.misses += 1;
                None
            }
        }
    }

    pub(super) fn insert(&mut self, source: &SourceText, function: &Arc<Function>) {
        self.buckets.entry((self.hasher)(source)).or_default().push(Cached {
            entry: function.entry.clone(),
            digest: *source.digest(),
            function: Arc::clone(function),
        });
    }
}

/// Loads a module and finds a function in it.
pub(super) fn load<D: Driver>(
    driver: &D,
    image: &ModuleImage,
    entry: &str,
) -> Result<Function, ComputeError> {
    let invalid = |problem: String, cause| ComputeError::InvalidKernel {
        entry: entry.to_owned(),
        problem,
        cause,
    };
    let parameters = parameter_sizes(image.ptx.as_str(), entry).ok_or_else(|| {
        invalid("the PTX has no such entry point with a readable parameter list".to_owned(), None)
    })?;
    let handle = driver.load_function(image, entry).map_err(|refused| {
        // Out of memory, a lost device and a missing GPU are not the kernel's fault.
        match ComputeError::from(refused.error.clone()) {
            ComputeError::Driver(_) if !refused.error.is_out_of_memory() => {
                let log = refused.log.trim();
                let problem = if log.is_empty() { "the driver did not load it" } else { log };
                invalid(problem.to_owned(), Some(refused.error))
            }
            other => other,
        }
    })?;
    let limits = driver.function_limits(&handle)?;
    Ok(Function {
        entry: entry.to_owned(),
        handle,
        parameters,
        limits,
        permitted_shared: AtomicU32::new((48 << 10) - limits.static_shared_bytes.min(48 << 10)),
    })
}

/// The module of a kernel: its own PTX, or what NVRTC makes of its CUDA C for this schedule.
pub(super) fn image(
    spec: &KernelSpec,
    schedule: &Schedule,
    compute_capability: Option<(u32, u32)>,
) -> Result<ModuleImage, ComputeError> {
    match &spec.body {
        None => Err(ComputeError::NoBody { entry: spec.entry.clone(), missing: "GPU" }),
        Some(KernelBody::Ptx(ptx)) => Ok(ModuleImage { ptx: ptx.clone(), cubin: None }),
        Some(KernelBody::CudaC(source)) => {
            let failed =
                |cause| ComputeError::Nvrtc { entry: spec.entry.clone(), cause: Arc::new(cause) };
            let mut options = vec![
                format!("--define-macro=WORKGROUP_SIZE={}", schedule.workgroup_size),
                format!("--define-macro=ITEMS_PER_INVOCATION={}", schedule.items_per_invocation),
                format!("--define-macro=VECTOR_WIDTH={}", schedule.vector_width),
                // The contract of the Rust kernels: what is fused is written as fused.
                "--fmad=false".to_owned(),
            ];
            let folders = Nvrtc::shared().map_err(failed)?.include_folders();
            options.extend(folders.iter().map(|f| format!("--include-path={}", f.display())));
            compile_once(source, compute_capability.unwrap_or((7, 5)), &options).map_err(failed)
        }
    }
}

/// What NVRTC made in this process, by the digest of source, options and target.
static COMPILED: LazyLock<Mutex<HashMap<SourceDigest, ModuleImage>>> =
    LazyLock::new(Mutex::default);

/// Compiles CUDA C for a compute capability, or takes what was compiled before.
///
/// # Errors
///
/// NVRTC is not there, or finds errors.
pub fn compile_once(
    source: &SourceText,
    compute_capability: (u32, u32),
    options: &[String],
) -> Result<ModuleImage, super::nvrtc::NvrtcError> {
    let mut key = Sha256::new();
    key.update(source.digest());
    for option in options {
        key.update(option.as_bytes());
        key.update([0]);
    }
    key.update(compute_capability.0.to_le_bytes());
    key.update(compute_capability.1.to_le_bytes());
    let key: SourceDigest = key.finalize().into();
    // Held while compiling: a second caller of the same source waits instead of compiling it too.
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(image) = compiled.get(&key) {
        return Ok(image.clone());
    }
    let output = Nvrtc::shared()?.compile(source.as_str(), compute_capability, options)?;
    let image =
        ModuleImage { ptx: SourceText::new(output.ptx), cubin: output.cubin.map(Into::into) };
    compiled.insert(key, image.clone());
    Ok(image)
}
