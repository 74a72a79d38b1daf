//! Every file of `diagnostics/` is refused, with the text beside it. `BLESS=1` rewrites the texts.

use host::experiment::load_str;
use std::path::{Path, PathBuf};

fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/diagnostics");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a readable folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_input_is_refused_as_written() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut faults = Vec::new();
    let inputs = inputs();
    assert!(inputs.len() > 40, "only {} inputs were found", inputs.len());
    for path in inputs {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        // A base folder that exists nowhere keeps the texts the same on every machine.
        let shown = match load_str(&text, name, Path::new("nowhere")) {
            Ok(_) => {
                faults.push(format!("{name} was accepted"));
                continue;
            }
            Err(error) => error.render(false) + "\n",
        };
        let expected = path.with_extension("txt");
        if bless {
            std::fs::write(&expected, shown).unwrap();
        } else if std::fs::read_to_string(&expected).ok().as_deref() != Some(&shown) {
            faults.push(format!("{name} says:\n{shown}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_text_has_an_input() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/diagnostics");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(path.with_extension("yaml").exists(), "{} is not used", path.display());
    }
}
