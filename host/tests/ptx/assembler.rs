//! NVIDIA's assembler.

use libtest_mimic::Failed;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The program and where its files go.
pub(crate) struct Assembler {
    ptxas: PathBuf,
    folder: PathBuf,
}

impl Assembler {
    /// Looks for the program.
    pub(crate) fn find() -> Result<Self, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("modules");
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let ptxas = ptxas().ok_or("there is no ptxas")?;
        Ok(Self { ptxas, folder })
    }

    /// Assembles a module and asks that nothing goes to local memory.
    pub(crate) fn assemble(
        &self,
        name: &str,
        module: &str,
        major: u32,
        minor: u32,
    ) -> Result<(), Failed> {
        let path = self.folder.join(format!("{name}.ptx"));
        fs::write(&path, module)?;
        let output = Command::new(&self.ptxas)
            .args(["-v", "-arch", &format!("sm_{major}{minor}"), "-o"])
            .arg(path.with_extension("cubin"))
            .arg(&path)
            .output()?;
        let messages = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{}: {messages}", path.display()).into());
        }
        fs::write(path.with_extension("log"), messages.as_bytes())?;
        let clean = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";
        let frames: Vec<&str> =
            messages.lines().filter(|line| line.contains("bytes stack frame")).collect();
        if frames.is_empty() || frames.iter().any(|line| line.trim() != clean) {
            return Err(format!("{}: {messages}", path.display()).into());
        }
        Ok(())
    }
}

fn ptxas() -> Option<PathBuf> {
    if let Some(named) = env::var_os("PTXAS") {
        return Some(named.into());
    }
    let mut folders: Vec<PathBuf> =
        env::var_os("PATH").iter().flat_map(|path| env::split_paths(path)).collect();
    folders.push("/usr/local/cuda/bin".into());
    if let Some(python) = env::var_os("VIRTUAL_ENV") {
        let versions = sub_folders(&Path::new(&python).join("lib"));
        let packages = versions.iter().map(|version| version.join("site-packages/nvidia"));
        folders.extend(packages.flat_map(|nvidia| sub_folders(&nvidia)).map(|p| p.join("bin")));
    }
    folders.into_iter().map(|folder| folder.join("ptxas")).find(|ptxas| ptxas.is_file())
}

fn sub_folders(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default()
}
