//! `host export`: the experiment as CUDA C.

use super::args::ExportArgs;
use super::{exit, load, terminal};
use crate::simulation::{ExportError, save_cuda, save_cuda_with_driver};
use std::path::Path;

/// Runs the command.
pub(super) fn export(args: &ExportArgs) -> u8 {
    let loaded = match load::load(&args.file, &args.changes) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    terminal::report(&loaded.warnings, &loaded.sources);
    let stem = Path::new(&args.file).file_stem().unwrap_or("kernel".as_ref());
    let out = args.out.clone().unwrap_or_else(|| Path::new(stem).with_extension("cu"));
    let written = if args.driver {
        save_cuda_with_driver(&loaded.experiment, &out).map(|e| vec![e.source, e.driver, e.inputs])
    } else {
        save_cuda(&loaded.experiment, &out).map(|source| vec![source])
    };
    match written {
        Ok(paths) => {
            for path in paths {
                terminal::say(&path.display().to_string());
            }
            exit::DONE
        }
        Err(ExportError::Experiment(findings)) => {
            terminal::report(findings.iter(), &loaded.sources);
            exit::REFUSED
        }
        Err(error) => {
            terminal::complain(&format!("error: {}", terminal::chain(&error)));
            match error {
                ExportError::Write { .. } | ExportError::Inputs(_) => exit::USAGE,
                ExportError::Experiment(_) | ExportError::Source(_) => exit::REFUSED,
            }
        }
    }
}
