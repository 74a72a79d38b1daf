//! Habits that no compiler checks: which module may use which, how long a file may be, and that
//! every golden file belongs to a test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A module of `host` and the modules it may name. Nothing may import `cli`.
const MAY_USE: &[(&str, &[&str])] = &[
    ("compute", &[]),
    ("diagnostic", &[]),
    ("library", &[]),
    ("files", &["library"]),
    ("expr", &["diagnostic"]),
    ("ir", &[]),
    ("analysis", &[]),
    ("opt", &["ir"]),
    ("yaml", &["diagnostic"]),
    ("connectome", &["diagnostic", "expr", "files"]),
    ("experiment", &["analysis", "connectome", "diagnostic", "expr", "files", "library", "yaml"]),
    ("lower", &["diagnostic", "experiment", "expr", "ir", "opt"]),
    // A monitor is the part of the CPU engine that watches lanes, and is made of the engine's.
    ("monitor", &["back", "experiment"]),
    ("back", &["compute", "connectome", "experiment", "ir", "lower", "monitor", "opt"]),
    ("sweep", &["back", "connectome", "experiment", "ir", "lower", "monitor", "opt"]),
    ("output", &["experiment"]),
    ("figure", &["analysis", "output"]),
    ("report", &["figure", "output"]),
    (
        "simulation",
        &[
            "analysis",
            "back",
            "compute",
            "connectome",
            "diagnostic",
            "experiment",
            "ir",
            "lower",
            "monitor",
            "opt",
            "output",
            "sweep",
        ],
    ),
    ("api", &["back", "compute", "diagnostic", "experiment", "output", "simulation", "sweep"]),
    (
        "cli",
        &[
            "analysis",
            "back",
            "compute",
            "connectome",
            "diagnostic",
            "experiment",
            "expr",
            "figure",
            "files",
            "ir",
            "library",
            "lower",
            "monitor",
            "opt",
            "output",
            "report",
            "simulation",
            "sweep",
        ],
    ),
];

/// Longest file, in lines; a longer one wants to be two.
const MAX_LINES: usize = 800;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a readable folder");
    for path in entries.map(|e| e.expect("an entry").path()) {
        if path.is_dir() {
            if path.file_name().is_some_and(|n| n != "target") {
                rust_files(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn source_files(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in folders.iter().map(|f| root().join(f)).filter(|f| f.is_dir()) {
        rust_files(&folder, &mut found);
    }
    found.sort();
    let read = |p: PathBuf| {
        let text = std::fs::read_to_string(&p).expect("readable source");
        (p, text)
    };
    found.into_iter().map(read).collect()
}

/// The top-level modules that a text names through `crate::`.
fn named_modules(text: &str) -> Vec<String> {
    let mut named = Vec::new();
    let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    for (at, _) in text.match_indices("crate::") {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let list = &list[..list.find("};").unwrap_or(list.len())];
            let mut depth = 0;
            let mut expect = true;
            for (i, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => expect = true,
                    c if expect && c.is_alphabetic() => {
                        named.push(word(&list[i..]));
                        expect = false;
                    }
                    _ => {}
                }
            }
        } else {
            named.push(word(rest));
        }
    }
    named
}

#[test]
fn modules_depend_in_one_direction() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let source = root().join("host/src");
    let mut wrong = Vec::new();
    for (path, text) in source_files(&["host/src"]) {
        let within = path.strip_prefix(&source).expect("below src");
        let module = within.components().next().expect("a name").as_os_str();
        let module = module.to_string_lossy().trim_end_matches(".rs").to_owned();
        let of_tests = within.components().any(|c| c.as_os_str() == "tests");
        if module == "lib" || module == "main" || of_tests {
            continue;
        }
        let Some(may) = allowed.get(module.as_str()) else {
            wrong.push(format!("{}: `{module}` is not in the table", within.display()));
            continue;
        };
        for named in named_modules(&text) {
            let is_module = allowed.contains_key(named.as_str());
            if is_module && named != module && !may.contains(&named.as_str()) {
                wrong.push(format!("{}: `{module}` may not use `{named}`", within.display()));
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_has_no_circle() {
    for (at, (module, may)) in MAY_USE.iter().enumerate() {
        for used in *may {
            let place = MAY_USE.iter().position(|(m, _)| m == used);
            let pair = [*module, *used] == ["monitor", "back"];
            assert!(
                pair || place.is_some_and(|p| p < at),
                "`{module}` uses `{used}`, which comes later"
            );
        }
    }
}

#[test]
fn files_can_be_read_in_one_sitting() {
    let long: Vec<String> = source_files(&["host", "kernels-gpu", "crates", "tests"])
        .iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(path, lines)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
