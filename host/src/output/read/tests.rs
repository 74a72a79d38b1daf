//! What a store was given is what a reader gets.

use super::*;
use crate::output::{ArraySpec, Content, create};

fn meta() -> String {
    serde_json::json!({
        "program": "host", "version": "0", "device": "cpu", "label": null, "model": "M",
        "sweep": { "axes": [], "shape": [3], "mode": "product" },
        "variables": [{ "name": "x", "unit": null }],
        "nodes": 2, "seed": 1, "precision": "f32", "method": "Heun", "dt": 0.1, "steps": 4,
        "transient_steps": 0, "ms_per_time_unit": 1.0, "conduction_speed_mm_per_ms": null,
        "experiment": { "file": "a.yaml", "sha256": "", "text": "" },
        "dimensions": {
            "tavg": ["point", "variable", "node"], "node": ["node"], "x": ["x"],
            "nonfinite_step": ["point"],
        },
    })
    .to_string()
}

fn layout() -> Vec<ArraySpec> {
    let dims = |d: &[(&str, u64)]| d.iter().map(|(n, k)| ((*n).to_owned(), *k)).collect();
    let spec =
        |name: &str, dimensions, content| ArraySpec { name: name.to_owned(), dimensions, content };
    vec![
        spec(
            "tavg",
            dims(&[("point", 3), ("variable", 2), ("node", 2)]),
            Content::Streamed(ElementType::F32),
        ),
        spec("nonfinite_step", dims(&[("point", 3)]), Content::Integers(vec![-1, 7, -1])),
        spec("x", dims(&[("x", 3)]), Content::Reals(vec![0.5, f64::NAN, -1e300])),
        spec(
            "node",
            dims(&[("node", 2)]),
            Content::Strings(vec!["a \"quoted\" one".into(), "Süd".into()]),
        ),
        spec("meta", vec![], Content::Strings(vec![meta()])),
    ]
}

fn written(path: &Path) {
    let store = create(path, &layout()).unwrap();
    let bytes: Vec<u8> = (0..12).flat_map(|i| (i as f32 / 4.0).to_le_bytes()).collect();
    store.write(0, 0, &bytes).unwrap();
    store.finish().unwrap();
}

#[test]
fn what_was_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["r.npz", "r.zarr"] {
        let path = folder.path().join(name);
        written(&path);
        let result = ResultFile::open(&path).unwrap();
        let names: Vec<&str> = result.arrays().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["node", "nonfinite_step", "tavg", "x"], "{name}");
        let tavg = result.array("tavg").unwrap();
        let expected = [("point", 3), ("variable", 2), ("node", 2)].map(|(n, k)| (n.to_owned(), k));
        assert_eq!(tavg.dimensions, expected);
        let all: Vec<f32> = (0..12).map(|i| i as f32 / 4.0).collect();
        assert_eq!(result.values("tavg").unwrap(), Values::F32(all.clone()));
        assert_eq!(result.entries("tavg", 1..3).unwrap(), Values::F32(all[4..].to_vec()));
        assert!(result.entries("tavg", 2..2).unwrap().is_empty());
        assert_eq!(result.values("nonfinite_step").unwrap(), Values::I64(vec![-1, 7, -1]));
        let Values::F64(x) = result.values("x").unwrap() else { panic!("64-bit floats") };
        assert!(x[0] == 0.5 && x[1].is_nan() && x[2] == -1e300);
        assert_eq!(result.texts("node").unwrap(), ["a \"quoted\" one", "Süd"]);
        assert_eq!((result.manifest().model.as_str(), result.manifest().nodes), ("M", 2));
    }
}

#[test]
fn a_compressed_archive_is_read_too() {
    use std::io::{Read, Write};
    let folder = tempfile::tempdir().unwrap();
    let (stored, packed) = (folder.path().join("a.npz"), folder.path().join("b.npz"));
    written(&stored);
    let mut from = zip::ZipArchive::new(std::fs::File::open(&stored).unwrap()).unwrap();
    let mut to = zip::ZipWriter::new(std::fs::File::create(&packed).unwrap());
    for at in 0..from.len() {
        let mut bytes = Vec::new();
        let mut member = from.by_index(at).unwrap();
        member.read_to_end(&mut bytes).unwrap();
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated);
        to.start_file(member.name(), options).unwrap();
        to.write_all(&bytes).unwrap();
    }
    to.finish().unwrap();
    let [a, b] = [stored, packed].map(|p| ResultFile::open(&p).unwrap());
    assert_eq!(a.entries("tavg", 1..2).unwrap(), b.entries("tavg", 1..2).unwrap());
    assert_eq!(a.texts("node").unwrap(), b.texts("node").unwrap());
}

#[test]
fn mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str| match ResultFile::open(&folder.path().join(name)) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{name} was opened"),
    };
    assert!(open("missing.npz").contains("can't read"));
    assert!(open("missing.zarr").contains("can't read"));
    assert!(open("r.csv").contains(".npz files or .zarr"));
    std::fs::write(folder.path().join("text.npz"), "no zip").unwrap();
    assert!(open("text.npz").contains("not a result"));
    std::fs::create_dir(folder.path().join("empty.zarr")).unwrap();
    assert!(open("empty.zarr").contains("no zarr.json"));
    let mut other = layout();
    other.retain(|a| a.name != "meta" && a.name != "tavg");
    for name in ["other.npz", "other.zarr"] {
        create(&folder.path().join(name), &other).unwrap().finish().unwrap();
        assert!(open(name).contains("no manifest `meta`"), "{}", open(name));
    }
    let path = folder.path().join("r.npz");
    written(&path);
    let result = ResultFile::open(&path).unwrap();
    let text = result.values("fc").unwrap_err().to_string();
    assert!(text.contains("no array `fc`") && text.contains("tavg"), "{text}");
    assert!(result.values("node").unwrap_err().to_string().contains("holds names"));
    assert!(result.texts("tavg").unwrap_err().to_string().contains("holds numbers"));
    assert!(result.entries("tavg", 2..9).unwrap_err().to_string().contains("of 3"));
}

#[test]
fn a_damaged_archive_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.npz");
    written(&path);
    let bytes = std::fs::read(&path).unwrap();
    for cut in (0..bytes.len()).step_by(97) {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        assert!(ResultFile::open(&path).is_err(), "cut at {cut}");
    }
}
