//! Opens the driver's library once and finds functions in it.

use std::fmt;
use std::sync::OnceLock;

use libloading::Library;

use crate::CUresult;

/// Names under which the driver's library is looked for, in this order.
#[cfg(not(windows))]
const NAMES: [&str; 3] = ["libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"];
#[cfg(windows)]
const NAMES: [&str; 1] = ["nvcuda.dll"];

/// Why the driver's library could not be opened: what the system's loader said for each name.
#[derive(Debug)]
pub struct DriverUnavailable {
    attempts: Vec<(&'static str, libloading::Error)>,
}

impl fmt::Display for DriverUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no NVIDIA driver library")?;
        for (name, error) in &self.attempts {
            // What the system's loader said is the error's cause, not its text.
            match std::error::Error::source(error) {
                Some(cause) => write!(f, "; {name}: {cause}")?,
                None => write!(f, "; {name}: {error}")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for DriverUnavailable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.attempts.first().map(|(_, error)| error as _)
    }
}

fn library() -> Result<&'static Library, &'static DriverUnavailable> {
    static LIBRARY: OnceLock<Result<Library, DriverUnavailable>> = OnceLock::new();
    LIBRARY
        .get_or_init(|| {
            let mut attempts = Vec::new();
            for name in NAMES {
                // SAFETY: the initialisers of NVIDIA's driver library may run at any time and in
                // any thread; the library is never closed, so its addresses stay valid.
                match unsafe { Library::new(name) } {
                    Ok(library) => return Ok(library),
                    Err(error) => attempts.push((name, error)),
                }
            }
            Err(DriverUnavailable { attempts })
        })
        .as_ref()
}

/// Opens the driver's library, if this has not been done, and says whether it is there.
///
/// # Errors
///
/// What the system's loader answered for each name that was tried.
pub fn driver() -> Result<(), &'static DriverUnavailable> {
    library().map(|_| ())
}

/// One function of the driver, looked up once.
pub(crate) struct Symbol {
    name: &'static str,
    address: OnceLock<Result<usize, CUresult>>,
}

impl Symbol {
    /// `name` ends with a zero byte.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, address: OnceLock::new() }
    }

    /// The function's address, or the result that its call must return.
    pub(crate) fn address(&self) -> Result<*const (), CUresult> {
        let found = self.address.get_or_init(|| {
            let library = library().map_err(|_| CUresult::CUDA_ERROR_NO_DEVICE)?;
            // SAFETY: the pointer is only kept as a number here; the caller gives it its type.
            unsafe { library.get::<*const ()>(self.name.as_bytes()) }
                .map(|symbol| *symbol as usize)
                .map_err(|_| CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND)
        });
        found.map(|address| address as *const ())
    }
}
