//! The normal numbers of the source, of the kernels in Rust and of cuRAND: instruction by instruction as
//! nvcc compiles them, and in bits where a C++ compiler can run them.

use crate::instructions::{can_be_contracted, stored};
use crate::{cplusplus, experiment, root};
use host::back::cuda_c;
use host::back::gpu::kernels;
use host::back::ptx::cut;
use host::experiment::{Normals, Overrides};
use host::simulation::{Options, Simulation};
use kernels_gpu::{curand, philox};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs};

/// One pair by a function of two words.
const PAIR: &str = "
extern \"C\" __global__ void pair(const unsigned int *words, float *normals)
{
    const float2 pair = PAIR(words[0], words[1]);
    normals[0] = pair.x;
    normals[1] = pair.y;
}
";

/// A C++ program that gives the pairs of the words that it reads.
const PROGRAM: &str = "
#include <cstdio>
int main()
{
    unsigned int words[2];
    while (std::fread(words, 4, 2, stdin) == 2) {
        const float2 pair = normal_pair(words[0], words[1]);
        if (std::fwrite(&pair, 4, 2, stdout) != 2)
            return 1;
    }
}
";

/// Those that need nvcc.
pub(crate) fn nvcc_trials(nvcc: &Arc<PathBuf>) -> Vec<Trial> {
    let mut trials = Vec::new();
    let own = Arc::clone(nvcc);
    trials.push(Trial::test("nvcc/curand_normal_has_the_instructions_of_the_kernels", move || {
        let rust = cut(kernels(9, 0)?, "probe_curand_pairs")?;
        let expected = stored(&rust, "probe_curand_pairs")?;
        for text in expected.values() {
            assert!(text.contains(".approx.f32(") && text.contains("sqrt.rn.f32("), "{text}");
        }
        let source = with_curand(&PAIR.replace("PAIR", "_curand_box_muller"));
        for architecture in ["compute_75", "compute_90"] {
            let found = compiled(&own, "curand", &source, &["-arch", architecture])?;
            same(&expected, &found)?;
        }
        // Whatever it is told about contraction.
        let source = with_curand(&(function(Normals::Curand)? + &PAIR.replace("PAIR", NAME)));
        for fmad in ["-fmad=true", "-fmad=false"] {
            same(&expected, &compiled(&own, "exported_curand", &source, &[fmad])?)?;
        }
        // Two roundings of the uniforms are other numbers: the comparison sees the difference.
        let source = with_curand(&PAIR.replace("PAIR", "_curand_box_muller"));
        let other = compiled(&own, "curand_unfused", &source, &["-fmad=false"])?;
        assert_eq!(other.len(), 2, "{other:?}");
        if other == expected { Err("no difference is seen".into()) } else { Ok(()) }
    }));
    let own = Arc::clone(nvcc);
    trials.push(Trial::test("nvcc/portable_normals_are_never_contracted", move || {
        let source = with_curand(&(function(Normals::Portable)? + &PAIR.replace("PAIR", NAME)));
        let [fused, not] = ["-fmad=true", "-fmad=false"]
            .map(|fmad| compiled(&own, &format!("portable{fmad}"), &source, &[fmad]));
        same(&fused?, &not?)
    }));
    trials
}

const NAME: &str = "normal_pair";

/// Those that need a C++ compiler.
pub(crate) fn cplusplus_trials(compiler: &OsString) -> Vec<Trial> {
    let own = compiler.clone();
    let portable =
        Trial::test("cplusplus/portable_normals_have_the_bits_of_the_kernels", move || {
            let words = words();
            let found = run(&own, Normals::Portable, &words)?;
            for (&[x, y], found) in words.iter().zip(found) {
                let (first, second) = philox::normal_pair::<f32>(x, y);
                let expected = [first, second];
                if found.map(f32::to_bits) != expected.map(f32::to_bits) {
                    return Err(format!("{x:#x} {y:#x}: {found:?}, not {expected:?}").into());
                }
            }
            Ok(())
        });
    let own = compiler.clone();
    let curand = Trial::test("cplusplus/curand_normals_are_close_on_a_cpu", move || {
        let words = words();
        let found = run(&own, Normals::Curand, &words)?;
        for (&[x, y], found) in words.iter().zip(found) {
            let (first, second) = curand::normal_pair(x, y);
            for (found, expected) in found.into_iter().zip([first, second]) {
                if (found - expected).abs() > 2e-6 {
                    return Err(format!("{x:#x} {y:#x}: {found:?}, not {expected:?}").into());
                }
            }
        }
        Ok(())
    });
    vec![portable, curand]
}

/// `normal_pair` of a source.
fn function(normals: Normals) -> Result<String, Failed> {
    let changes = Overrides { normals: Some(normals), ..Overrides::default() };
    let experiment = experiment(&root().join("examples/hopf_noise.yaml"), &changes)?;
    let simulation = Simulation::new(&experiment, &Options::default())?;
    let text = cuda_c::source(&experiment, &simulation.job())?;
    let start = text.find("static __device__ __forceinline__ float2 normal_pair(");
    let rest = &text[start.ok_or("the source has no normal_pair")?..];
    let end = rest.find("\n}\n").ok_or("it has no end")?;
    Ok(rest[..end + 3].to_owned())
}

fn with_curand(text: &str) -> String {
    format!("#include <curand_kernel.h>\n{text}")
}

/// What nvcc makes of the kernel `pair` of a source.
fn compiled(
    nvcc: &Path,
    name: &str,
    source: &str,
    options: &[&str],
) -> Result<BTreeMap<u32, String>, Failed> {
    let folder = folder()?;
    let (path, ptx) = (folder.join(format!("{name}.cu")), folder.join(format!("{name}.ptx")));
    fs::write(&path, source)?;
    let output =
        Command::new(nvcc).arg("-ptx").args(options).arg("-o").arg(&ptx).arg(&path).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(stored(&fs::read_to_string(ptx)?, "pair")?)
}

/// The same two results, whose rounding no assembler can change.
fn same(a: &BTreeMap<u32, String>, b: &BTreeMap<u32, String>) -> Result<(), Failed> {
    if a.keys().copied().collect::<Vec<_>>() != [0, 4] {
        return Err(format!("not two results: {a:?}").into());
    }
    if let Some(text) = a.values().chain(b.values()).find(|text| can_be_contracted(text)) {
        return Err(format!("may be contracted: {text}").into());
    }
    if a == b { Ok(()) } else { Err(format!("{a:#?}\nand\n{b:#?}").into()) }
}

fn folder() -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("normals");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Pairs of words: the extremes, and many between.
fn words() -> Vec<[u32; 2]> {
    let mut words = Vec::new();
    let edges = [0, 1, 2, 1 << 29, 1 << 30, 1 << 31, 3 << 30, u32::MAX - 128, u32::MAX];
    for x in edges {
        words.extend(edges.map(|y| [x, y]));
    }
    for block in 0..1 << 17 {
        let [a, b, c, d] = philox::words(5, 0, block);
        words.extend([[a, b], [c, d]]);
    }
    words
}

/// The pairs that the source's function gives when a C++ compiler compiles it.
fn run(compiler: &OsString, normals: Normals, words: &[[u32; 2]]) -> Result<Vec<[f32; 2]>, Failed> {
    let folder = folder()?;
    let stem = folder.join(format!("cplusplus_{}", normals.name()));
    let source = stem.with_extension("cpp");
    fs::write(&source, with_curand(&(function(normals)? + PROGRAM)))?;
    cplusplus::build(compiler, &[], &source, &stem)?;
    let mut child = Command::new(&stem).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let bytes: Vec<u8> = words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    let mut input = child.stdin.take().ok_or("no input")?;
    // In a thread of its own: the program writes while it reads.
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| "the writer panicked")??;
    if !output.status.success() {
        return Err(format!("{}: {}", stem.display(), output.status).into());
    }
    let floats = output.stdout.chunks_exact(8).map(|pair| {
        let float =
            |at: usize| f32::from_le_bytes([pair[at], pair[at + 1], pair[at + 2], pair[at + 3]]);
        [float(0), float(4)]
    });
    let floats: Vec<[f32; 2]> = floats.collect();
    if floats.len() == words.len() { Ok(floats) } else { Err("pairs are missing".into()) }
}
