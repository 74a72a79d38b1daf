//! NVRTC, the compiler of CUDA C++ at run time, opened when it is first asked for.
//!
//! Only kernels written in CUDA C++ and the check of an export need it; a machine without it runs
//! everything else.
#![expect(unsafe_code, reason = "calls into NVRTC's C interface")]

mod find;

use std::ffi::{CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, LazyLock};

use libloading::Library;

/// Why CUDA C++ was not compiled.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum NvrtcError {
    /// The library was not found.
    #[error(
        "NVRTC is not installed: tried {tried}. Set NVRTC_LIBRARY to libnvrtc.so.13 (or .12), or \
         install it, for example by `pip install nvidia-cuda-nvrtc`"
    )]
    NotFound {
        /// Where it was looked for.
        tried: String,
    },
    /// The library lacks a function.
    #[error("NVRTC at {library} lacks the function {function}")]
    Incomplete {
        /// The library.
        library: String,
        /// The function.
        function: &'static str,
        /// What the loader said.
        #[source]
        cause: Arc<libloading::Error>,
    },
    /// The source has errors.
    #[error("CUDA C++ does not compile:\n{log}")]
    Compilation {
        /// NVRTC's messages, with lines of the source.
        log: String,
    },
    /// NVRTC does not know the device, which is newer, or no longer supports it.
    #[error("NVRTC {version} compiles for {supported}, the device has compute capability {wanted}")]
    Architecture {
        /// NVRTC's version.
        version: String,
        /// Lowest and highest that it knows.
        supported: String,
        /// That of the device.
        wanted: String,
    },
    /// Another refusal.
    #[error("{operation}: NVRTC result {code}")]
    Refused {
        /// Function.
        operation: &'static str,
        /// NVRTC's number of the result.
        code: c_int,
    },
    /// A source or option with a zero byte.
    #[error("the CUDA C++ source or an option contains a zero byte")]
    ZeroByte,
}

/// What NVRTC made of a source.
#[derive(Debug, Clone)]
pub struct NvrtcOutput {
    /// The PTX.
    pub ptx: String,
    /// Machine code, where NVRTC knows the device's own architecture.
    pub cubin: Option<Vec<u8>>,
}

type Program = *mut core::ffi::c_void;

/// Declares the functions that are taken from the library, all at once.
macro_rules! functions {
    ($($field:ident = $symbol:literal : fn($($argument:ty),*);)*) => {
        #[derive(Debug)]
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            fn find(library: &Library, name: &Path) -> Result<Self, NvrtcError> {
                Ok(Self {
                    $($field: {
                        // SAFETY: the type is the one that NVRTC's header declares for this name.
                        let symbol = unsafe { library.get(concat!($symbol, "\0").as_bytes()) };
                        *symbol.map_err(|cause| NvrtcError::Incomplete {
                            library: name.display().to_string(),
                            function: $symbol,
                            cause: Arc::new(cause),
                        })?
                    },)*
                })
            }
        }
    };
}

functions! {
    version = "nvrtcVersion": fn(*mut c_int, *mut c_int);
    count_architectures = "nvrtcGetNumSupportedArchs": fn(*mut c_int);
    architectures = "nvrtcGetSupportedArchs": fn(*mut c_int);
    create = "nvrtcCreateProgram":
        fn(*mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
    destroy = "nvrtcDestroyProgram": fn(*mut Program);
    compile = "nvrtcCompileProgram": fn(Program, c_int, *const *const c_char);
    ptx_size = "nvrtcGetPTXSize": fn(Program, *mut usize);
    ptx = "nvrtcGetPTX": fn(Program, *mut c_char);
    cubin_size = "nvrtcGetCUBINSize": fn(Program, *mut usize);
    cubin = "nvrtcGetCUBIN": fn(Program, *mut c_char);
    log_size = "nvrtcGetProgramLogSize": fn(Program, *mut usize);
    log = "nvrtcGetProgramLog": fn(Program, *mut c_char);
}

/// The opened library.
#[derive(Debug)]
pub struct Nvrtc {
    functions: Functions,
    version: (c_int, c_int),
    architectures: Vec<u32>,
    path: PathBuf,
    /// Keeps the functions' code in memory.
    _library: Library,
}

impl Nvrtc {
    /// The library of this process, opened at the first call.
    ///
    /// # Errors
    ///
    /// [`NvrtcError::NotFound`], which later calls repeat.
    pub fn shared() -> Result<&'static Self, NvrtcError> {
        static SHARED: LazyLock<Result<Nvrtc, NvrtcError>> =
            LazyLock::new(|| Nvrtc::open_first(&find::candidates(|name| std::env::var_os(name))));
        SHARED.as_ref().map_err(Clone::clone)
    }

    fn open_first(candidates: &[PathBuf]) -> Result<Self, NvrtcError> {
        for path in candidates {
            // SAFETY: NVRTC's initialisers may run at any time; the library stays open.
            if let Ok(library) = unsafe { Library::new(path) } {
                return Self::from_library(library, path.clone());
            }
        }
        let tried: Vec<_> = candidates.iter().map(|path| path.display().to_string()).collect();
        Err(NvrtcError::NotFound { tried: tried.join(", ") })
    }

    fn from_library(library: Library, path: PathBuf) -> Result<Self, NvrtcError> {
        let functions = Functions::find(&library, &path)?;
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: both pointers are to local integers.
        check("nvrtcVersion", unsafe { (functions.version)(&mut major, &mut minor) })?;
        // SAFETY: the pointer is to a local integer.
        let code = unsafe { (functions.count_architectures)(&mut count) };
        check("nvrtcGetNumSupportedArchs", code)?;
        let mut architectures = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the list has the length that NVRTC asked for.
        let code = unsafe { (functions.architectures)(architectures.as_mut_ptr()) };
        check("nvrtcGetSupportedArchs", code)?;
        let architectures = architectures.into_iter().filter_map(|a| u32::try_from(a).ok());
        Ok(Self {
            functions,
            version: (major, minor),
            architectures: architectures.collect(),
            path,
            _library: library,
        })
    }

    /// Version (major, minor).
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// The name under which the library was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Folders with CUDA's headers, for `--include-path`: a kernel that includes `curand_kernel.h`
    /// needs them. Those beside the library come first, then those of toolkits and Python packages.
    pub fn include_folders(&self) -> Vec<PathBuf> {
        find::include_folders(&self.path, |name| std::env::var_os(name))
    }

    /// Compiles for a device: machine code where NVRTC knows its architecture, else PTX for the
    /// highest architecture below it, from which the driver goes on.
    ///
    /// # Errors
    ///
    /// [`NvrtcError::Compilation`] with the log; [`NvrtcError::Architecture`].
    pub fn compile(
        &self,
        source: &str,
        compute_capability: (u32, u32),
        options: &[String],
    ) -> Result<NvrtcOutput, NvrtcError> {
        let wanted = compute_capability.0 * 10 + compute_capability.1;
        let known = self.architectures.iter().copied().filter(|a| *a <= wanted).max();
        let Some(architecture) = known else {
            let lowest = self.architectures.first().copied().unwrap_or(0);
            let highest = self.architectures.last().copied().unwrap_or(0);
            return Err(NvrtcError::Architecture {
                version: format!("{}.{}", self.version.0, self.version.1),
                supported: format!("{lowest} to {highest}"),
                wanted: wanted.to_string(),
            });
        };
        let is_exact = architecture == wanted;
        let kind = if is_exact { "sm" } else { "compute" };
        let mut arguments = vec![text(&format!("--gpu-architecture={kind}_{architecture}"))?];
        for option in options {
            arguments.push(text(option)?);
        }
        let program = CompiledProgram::new(self, source, &arguments)?;
        let ptx = program.bytes("nvrtcGetPTX", self.functions.ptx_size, self.functions.ptx)?;
        let cubin = is_exact
            .then(|| {
                program.bytes("nvrtcGetCUBIN", self.functions.cubin_size, self.functions.cubin)
            })
            .transpose()?;
        Ok(NvrtcOutput { ptx: into_text(ptx), cubin })
    }
}

/// A program, destroyed when dropped.
struct CompiledProgram<'a> {
    nvrtc: &'a Nvrtc,
    program: Program,
}

impl<'a> CompiledProgram<'a> {
    fn new(nvrtc: &'a Nvrtc, source: &str, options: &[CString]) -> Result<Self, NvrtcError> {
        let source = text(source)?;
        let mut program = ptr::null_mut();
        // SAFETY: the texts end with zero and outlive the call; there are no headers.
        let code = unsafe {
            (nvrtc.functions.create)(
                &mut program,
                source.as_ptr(),
                c"kernel.cu".as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        check("nvrtcCreateProgram", code)?;
        let program = Self { nvrtc, program };
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: `create` made the program; the list holds `count` texts that end with zero.
        let code = unsafe { (nvrtc.functions.compile)(program.program, count, pointers.as_ptr()) };
        if code == 0 {
            return Ok(program);
        }
        let functions = &nvrtc.functions;
        let log = program.bytes("nvrtcGetProgramLog", functions.log_size, functions.log)?;
        let log = into_text(log);
        if log.trim().is_empty() {
            return Err(NvrtcError::Refused { operation: "nvrtcCompileProgram", code });
        }
        Err(NvrtcError::Compilation { log: log.trim_end().to_owned() })
    }

    fn bytes(
        &self,
        operation: &'static str,
        size_of: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        copy: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, NvrtcError> {
        let mut size = 0;
        // SAFETY: `create` made the program; the pointer is to a local integer.
        check(operation, unsafe { size_of(self.program, &mut size) })?;
        let mut bytes = vec![0u8; size];
        // SAFETY: the buffer has the size that NVRTC asked for.
        check(operation, unsafe { copy(self.program, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }
}

impl Drop for CompiledProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: `create` made the program, and nothing else destroys it.
        unsafe { (self.nvrtc.functions.destroy)(&mut self.program) };
    }
}

fn text(source: &str) -> Result<CString, NvrtcError> {
    CString::new(source).map_err(|_| NvrtcError::ZeroByte)
}

fn into_text(mut bytes: Vec<u8>) -> String {
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn check(operation: &'static str, code: c_int) -> Result<(), NvrtcError> {
    if code == 0 { Ok(()) } else { Err(NvrtcError::Refused { operation, code }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absence_is_a_typed_error_that_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("libnvrtc.so.13");
        let error = Nvrtc::open_first(std::slice::from_ref(&absent)).unwrap_err();
        assert!(matches!(error, NvrtcError::NotFound { .. }));
        let message = error.to_string();
        assert!(message.contains(absent.to_str().unwrap()) && message.contains("NVRTC_LIBRARY"));
    }

    #[test]
    fn another_library_is_incomplete() {
        // SAFETY: the C library is already part of this process.
        let Ok(library) = (unsafe { Library::new("libc.so.6") }) else { return };
        let error = Nvrtc::from_library(library, "libc.so.6".into()).unwrap_err();
        assert!(matches!(error, NvrtcError::Incomplete { function: "nvrtcVersion", .. }));
    }
}
