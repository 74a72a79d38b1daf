//! NVIDIA's assembler.

use crate::nvidia_tool;
use libtest_mimic::Failed;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
        let ptxas = nvidia_tool::find("PTXAS", "ptxas").ok_or("there is no ptxas")?;
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
