//! The whole way of `host export --verify` but the device: NVRTC compiles the source, the compute context
//! allocates, uploads, launches and reads, on a driver that runs the same source as C++ in place of a
//! kernel. NVRTC's PTX says which arguments the kernel takes, and the context checks the launch by it.

use crate::cplusplus::{EVERYTHING, EXPLOSION};
use crate::{absent, experiment, only_means, root};
use host::back::cuda_c::{self, Arguments};
use host::compute::fake::{FakeDriver, FakeLaunch};
use host::compute::nvrtc::Nvrtc;
use host::compute::{ComputeContext, ComputeError};
use host::experiment::{Experiment, Overrides, Precision, load_str_with};
use host::simulation::{Simulation, Verification};
use libloading::Library;
use libtest_mimic::{Failed, Trial};
use std::ffi::{OsString, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::{env, fs};

/// Where the driver of these trials has its arrays among the kernel's arguments.
const ARRAYS: std::ops::Range<usize> = 8..18;

/// `launch` of `tests/cuda_shim/library.cpp`.
type Launch = unsafe extern "C" fn(u32, i64, i32, i32, f64, u64, i64, i64, i32, *const *mut c_void);

pub(crate) fn trials() -> Vec<Trial> {
    let compiler = env::var_os("CXX").unwrap_or_else(|| "g++".into());
    if let Err(error) = Command::new(&compiler).arg("--version").output() {
        let reason = format!("{}: {error}", compiler.to_string_lossy());
        return vec![absent("nvrtc", "REQUIRE_CXX", reason)];
    }
    let headers = |nvrtc: &Nvrtc| {
        nvrtc.include_folders().iter().any(|folder| folder.join("curand_kernel.h").exists())
    };
    match Nvrtc::shared() {
        Err(error) => return vec![absent("nvrtc", "REQUIRE_NVRTC", error.to_string())],
        Ok(nvrtc) if !headers(nvrtc) => {
            let reason = "cuRAND's headers are not installed".to_owned();
            return vec![absent("nvrtc", "REQUIRE_NVRTC", reason)];
        }
        Ok(_) => {}
    }
    let mut trials = Vec::new();
    for (name, precision, steps) in [
        ("jansen_rit_delays", Precision::F32, 1200),
        ("kuramoto_sweep", Precision::F64, 300),
        ("hopf_noise", Precision::F32, 300),
        ("izhikevich_event", Precision::F32, 300),
    ] {
        let compiler = compiler.clone();
        trials.push(Trial::test(format!("nvrtc/{name}"), move || {
            let changes = Overrides {
                precision: Some(precision),
                steps: Some(steps),
                transient: Some(0.0),
                ..Overrides::default()
            };
            let path = root().join(format!("examples/{name}.yaml"));
            verify(&compiler, name, &experiment(&path, &changes)?)
        }));
    }
    for (name, text) in
        [("everything", EVERYTHING.replace("@METHOD@", "heun")), ("explosion", EXPLOSION.into())]
    {
        let compiler = compiler.clone();
        trials.push(Trial::test(format!("nvrtc/{name}"), move || {
            let loaded = load_str_with(&text, name, Path::new("nowhere"), &Overrides::default());
            let loaded = loaded.map_err(|error| error.render(false))?;
            verify(&compiler, name, &loaded.experiment)
        }));
    }
    trials.push(Trial::test("nvrtc/another_source_does_not_agree", move || {
        let path = root().join("examples/three_nodes.yaml");
        let expected = experiment(&path, &Overrides::default())?;
        let set = vec![("I".to_owned(), 0.4)];
        let other = experiment(&path, &Overrides { set, ..Overrides::default() })?;
        let found = verification(&compiler, "another", &expected, &other)?;
        assert!(!found.agrees(), "{found:?}");
        Ok(())
    }));
    trials
}

fn verify(compiler: &OsString, name: &str, experiment: &Experiment) -> Result<(), Failed> {
    let verification = verification(compiler, name, experiment, experiment)?;
    if verification.agrees() { Ok(()) } else { Err(format!("{verification:?}").into()) }
}

/// The means of one experiment by the CPU engine against those of another's source.
fn verification(
    compiler: &OsString,
    name: &str,
    expected: &Experiment,
    experiment: &Experiment,
) -> Result<Verification, Failed> {
    let options = only_means(experiment.sweep.points().unwrap_or(1).min(3));
    let expected = Simulation::new(expected, &options)?.run()?;
    let simulation = Simulation::new(experiment, &options)?;
    let job = simulation.job();
    let library = compiled(compiler, name, &cuda_c::source(experiment, &job)?)?;
    let bytes = cuda_c::slab_bytes(&job, &Arguments::new(&job)?);
    let driver = FakeDriver::new(bytes + (1 << 20), 7)
        .kernel(cuda_c::ENTRY, move |launch: &mut FakeLaunch<'_>| run(&library, launch));
    let driver = Arc::new(driver);
    let mut context = ComputeContext::with_driver(Arc::clone(&driver), bytes)?;
    let verified = Verification::of(&mut context, &simulation, &expected);
    let verification = verified.map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        format!("{error}: {}", cause.unwrap_or_default())
    })?;
    let launches = driver.launches_and_replays().0;
    assert_eq!(launches as u64, job.total_steps().div_ceil(1000), "launches");
    assert_eq!(context.slab_report().used, 0, "arrays are left in the slab");
    drop(context);
    assert_eq!((driver.violations(), driver.leaks()), (vec![], vec![]));
    // A slab that is too small is said to be.
    let mut small = ComputeContext::with_driver(driver, bytes / 4)?;
    match Verification::of(&mut small, &simulation, &expected) {
        Err(host::simulation::VerifyError::Compute(ComputeError::OutOfSlab(_))) => {}
        other => return Err(format!("{other:?}").into()),
    }
    Ok(verification)
}

fn compiled(compiler: &OsString, name: &str, text: &str) -> Result<Library, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda_c_nvrtc");
    fs::create_dir_all(&folder)?;
    let source: PathBuf = folder.join(format!("{name}.cu"));
    let library = source.with_extension("so");
    fs::write(&source, text)?;
    let shim = root().join("tests/cuda_shim");
    let output = Command::new(compiler)
        .args(["-std=c++20", "-O1", "-ffp-contract=off", "-pthread", "-shared", "-fPIC"])
        .arg(format!("-DKERNEL=\"{}\"", source.display()))
        .arg("-I")
        .arg(&shim)
        .arg(shim.join("library.cpp"))
        .arg("-o")
        .arg(&library)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    // SAFETY: the library was compiled just now from sources of this repository; its initialisers
    // are those of the C++ runtime.
    Ok(unsafe { Library::new(&library) }?)
}

/// A launch of the kernel, by the C++ in its place.
fn run(library: &Library, launch: &mut FakeLaunch<'_>) {
    let arrays: Vec<*mut c_void> =
        ARRAYS.map(|argument| launch.bytes(argument).as_mut_ptr().cast()).collect();
    // SAFETY: the type is that of the function in `library.cpp`.
    let function = unsafe { library.get::<Launch>(b"launch\0") }.expect("the function is there");
    // SAFETY: the arrays are in the memory of the fake device, which is not touched meanwhile, and
    // have the sizes that the source's comment asks for.
    unsafe {
        function(
            launch.shape.grid[0],
            launch.value(0),
            launch.value(1),
            launch.value(2),
            launch.value(3),
            launch.value(4),
            launch.value(5),
            launch.value(6),
            launch.value(7),
            arrays.as_ptr(),
        );
    }
}
