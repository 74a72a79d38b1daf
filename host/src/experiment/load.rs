//! An experiment from a file.

use super::resolve::{self, Context};
use super::{Experiment, Overrides};
use crate::diagnostic::{Code, Collector, Diagnostic, Diagnostics, Sources, render};
use crate::files::{AllFiles, EMBEDDED, Files};
use crate::library::{self, Shelf};
use crate::yaml;
use std::path::{Path, PathBuf};

/// An experiment, what was noticed on the way, and the texts that places point into.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The experiment.
    pub experiment: Experiment,
    /// Warnings and notes.
    pub warnings: Vec<Diagnostic>,
    /// Texts of all files that were read.
    pub sources: Sources,
    /// The folder that relative paths start from.
    pub base_dir: PathBuf,
}

impl Loaded {
    /// The same text resolved again with changes; what it refers to is read again.
    ///
    /// # Errors
    /// As [`load`].
    pub fn with(&self, overrides: &Overrides) -> Result<Self, LoadError> {
        let (name, text) = &self.experiment.source;
        load_str_with(text, name, &self.base_dir, overrides)
    }
}

/// All that is wrong with an experiment.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{diagnostics}")]
pub struct LoadError {
    /// The findings, warnings among them.
    pub diagnostics: Diagnostics,
    /// Texts of all files that were read.
    pub sources: Sources,
}

impl LoadError {
    /// All findings with the lines that they point at.
    pub fn render(&self, colour: bool) -> String {
        let texts: Vec<_> =
            self.diagnostics.iter().map(|d| render::text(d, &self.sources, colour)).collect();
        texts.join("\n\n")
    }
}

/// Loads an experiment file; a path that starts with `embedded:` names shipped content.
///
/// # Errors
/// Everything that is wrong with it, with places.
pub fn load(path: &Path) -> Result<Loaded, LoadError> {
    load_with(path, &Overrides::default())
}

/// Loads an experiment file with changes.
///
/// # Errors
/// As [`load`].
pub fn load_with(path: &Path, overrides: &Overrides) -> Result<Loaded, LoadError> {
    let name = path.display().to_string();
    let refuse = |message: String, help: Option<String>| {
        let finding = Diagnostic { help, ..Diagnostic::error(Code::Unreadable, message) };
        LoadError { diagnostics: finding.into(), sources: Sources::default() }
    };
    let bytes = AllFiles.read(path).map_err(|e| {
        let missing = e.kind() == std::io::ErrorKind::NotFound;
        let help = missing.then(|| shipped_instead(path)).flatten();
        refuse(format!("can't read {name}: {e}"), help)
    })?;
    let text = String::from_utf8(bytes.into_owned()).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        refuse(format!("{name} is not UTF-8 text: byte {at} starts no character"), None)
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    // The folder of `embedded:x.yaml` is the root of shipped content.
    let folder = match folder.to_str() {
        Some("") if crate::files::is_embedded(path) => Path::new(crate::files::EMBEDDED),
        _ => folder,
    };
    load_str_with(&text, &name, folder, overrides)
}

/// What to say about a file that isn't there: the shipped experiment whose name is nearest.
fn shipped_instead(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let names = || [Shelf::Examples, Shelf::Models].into_iter().flat_map(library::names);
    let same = names().find(|name| name.eq_ignore_ascii_case(stem));
    let name = same.or_else(|| yaml::nearest(stem, names()))?;
    let shipped = library::find_experiment(name)?;
    Some(format!("`{name}` ships with the program, as {EMBEDDED}{}", shipped.path))
}

/// Loads an experiment from its text; relative paths in it start from `base_dir`.
///
/// # Errors
/// As [`load`].
pub fn load_str(text: &str, name: &str, base_dir: &Path) -> Result<Loaded, LoadError> {
    load_str_with(text, name, base_dir, &Overrides::default())
}

/// Loads an experiment from its text with changes.
///
/// # Errors
/// As [`load`].
pub fn load_str_with(
    text: &str,
    name: &str,
    base_dir: &Path,
    overrides: &Overrides,
) -> Result<Loaded, LoadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let mut out = Collector::default();
    let tree = yaml::parse(text, file, &mut out);
    let Some(tree) = tree else {
        if !out.failed() {
            out.push(Diagnostic::error(Code::Syntax, format!("{name} holds no experiment")));
        }
        return Err(LoadError { diagnostics: failed(out), sources });
    };
    let mut cx = Context {
        out,
        skipped: Vec::new(),
        files: &AllFiles,
        sources: &mut sources,
        base: base_dir,
    };
    let experiment = resolve::experiment(&mut cx, &tree, (name, text), overrides);
    match (cx.out.finish(), experiment) {
        (Ok(warnings), Some(experiment)) => {
            Ok(Loaded { experiment, warnings, sources, base_dir: base_dir.to_owned() })
        }
        (Ok(_), None) => {
            let finding = Diagnostic::error(Code::Internal, "the experiment can't be resolved");
            Err(LoadError { diagnostics: finding.into(), sources })
        }
        (Err(diagnostics), _) => Err(LoadError { diagnostics, sources }),
    }
}

fn failed(out: Collector) -> Diagnostics {
    match out.finish() {
        Err(diagnostics) => diagnostics,
        Ok(_) => Diagnostic::error(Code::Internal, "no finding").into(),
    }
}
