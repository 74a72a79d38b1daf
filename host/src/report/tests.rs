//! The page of small results: what it holds, and that it asks nobody for anything.

use super::*;
use crate::output::read::Values;
use crate::output::{ArraySpec, Content, ElementType, create};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const POINTS: u64 = 6;
const ROWS: u64 = 5000;

/// A sweep of 3 × 2 points with a map, a long time course of two channels, and a hostile text.
fn result(folder: &Path) -> ResultFile {
    let dims = |d: &[(&str, u64)]| d.iter().map(|(n, k)| ((*n).to_owned(), *k)).collect();
    let spec = |name: &str, dimensions: Vec<(String, u64)>, content| ArraySpec {
        name: name.to_owned(),
        dimensions,
        content,
    };
    let mut layout = vec![
        spec("score", dims(&[("point", POINTS)]), Content::Streamed(ElementType::F64)),
        spec(
            "series",
            dims(&[("point", POINTS), ("time", ROWS), ("variable", 1), ("node", 2)]),
            Content::Streamed(ElementType::F32),
        ),
        spec("nonfinite_step", dims(&[("point", POINTS)]), Content::Integers(vec![-1; 6])),
        spec("tavg", dims(&[("point", POINTS), ("variable", 1), ("node", 2)]), {
            Content::Reals((0..12).map(f64::from).collect())
        }),
        spec(
            "time",
            dims(&[("time", ROWS)]),
            Content::Regular { first: 5.0, step: 5.0, count: ROWS },
        ),
        spec("node", dims(&[("node", 2)]), Content::Strings(vec!["</script>".into(), "b".into()])),
        spec("G", dims(&[("G", 3)]), Content::Reals(vec![0.0, 0.1, 0.2])),
        spec("v", dims(&[("v", 2)]), Content::Reals(vec![3.0, 9.0])),
    ];
    let names = |a: &ArraySpec| a.dimensions.iter().map(|(n, _)| n.clone()).collect::<Vec<_>>();
    let dimensions: BTreeMap<_, _> = layout.iter().map(|a| (a.name.clone(), names(a))).collect();
    let axis = |n: &str, v: &[f64]| json!({ "name": n, "array": n, "values": v, "unit": null });
    let meta = json!({
        "program": "host", "version": "0", "device": "cpu",
        "label": "<b>{{data}}</b>", "model": "M",
        "sweep": {
            "axes": [axis("G", &[0.0, 0.1, 0.2]), axis("v", &[3.0, 9.0])],
            "shape": [3, 2], "mode": "product",
        },
        "variables": [{ "name": "x", "unit": "mV" }],
        "nodes": 2, "seed": 1, "precision": "f32", "method": "Heun", "dt": 5.0, "steps": ROWS,
        "transient_steps": 0, "ms_per_time_unit": 1.0, "conduction_speed_mm_per_ms": 3.0,
        "experiment": {
            "file": "a.yaml", "sha256": "", "text": "</pre></script><script>alert(1)</script>",
        },
        "dimensions": dimensions,
        "scores": [{ "array": "score", "better": "higher" }],
    });
    layout.push(spec("meta", vec![], Content::Strings(vec![meta.to_string()])));
    let path = folder.join("r.npz");
    let store = create(&path, &layout).unwrap();
    let bytes: Vec<u8> = scores().iter().flat_map(|v| v.to_le_bytes()).collect();
    store.write(0, 0, &bytes).unwrap();
    let bytes: Vec<u8> = series().iter().flat_map(|v| v.to_le_bytes()).collect();
    store.write(1, 0, &bytes).unwrap();
    store.finish().unwrap();
    ResultFile::open(&path).unwrap()
}

fn scores() -> Vec<f64> {
    vec![0.1, f64::NAN, -0.0, 0.7, 1.0 / 3.0, 1e-300]
}

fn series() -> Vec<f32> {
    (0..POINTS * ROWS * 2).map(|k| (k as f32 * 0.37).sin()).collect()
}

/// The JSON of a page, and its arrays by the name of their element.
fn embedded(page: &str) -> (Value, BTreeMap<String, Vec<u8>>) {
    let after = |mark: &str| page.split_once(mark).unwrap().1.split_once("</script>").unwrap().0;
    let head = serde_json::from_str(after("id=\"result\">")).unwrap();
    let mut arrays = BTreeMap::new();
    for part in page.split("<script type=\"application/octet-stream\" id=\"").skip(1) {
        let (id, rest) = part.split_once("\">").unwrap();
        let bytes = STANDARD.decode(rest.split_once("</script>").unwrap().0).unwrap();
        arrays.insert(id.to_owned(), bytes);
    }
    (head, arrays)
}

fn values(head: &Value, arrays: &BTreeMap<String, Vec<u8>>, name: &str, kind: &str) -> Values {
    let list = head["arrays"].as_array().unwrap();
    let entry = list.iter().find(|a| a["name"] == name && a["kind"] == kind).unwrap();
    let element = match entry["data"]["type"].as_str().unwrap() {
        "f4" => ElementType::F32,
        "f8" => ElementType::F64,
        _ => ElementType::I64,
    };
    Values::from_le_bytes(element, &arrays[entry["data"]["id"].as_str().unwrap()])
}

#[test]
fn what_a_page_holds_is_what_the_result_holds() {
    let folder = tempfile::tempdir().unwrap();
    let result = result(folder.path());
    let page = html(&result, Limit::default()).unwrap();
    let (head, arrays) = embedded(&page);
    let bits = |v: Values| v.to_f64().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let expected: Vec<u64> = scores().iter().map(|v| v.to_bits()).collect();
    assert_eq!(bits(values(&head, &arrays, "score", "map")), expected);
    assert_eq!(values(&head, &arrays, "series", "series"), Values::F32(series()));
    let means: Vec<f64> = (0..6).map(|p| f64::from(2 * p) + 0.5).collect();
    assert_eq!(values(&head, &arrays, "tavg", "map"), Values::F64(means));
    assert!(head["kept"].is_null());
    assert_eq!(head["labels"]["node"], json!(["</script>", "b"]));
    let list = head["arrays"].as_array().unwrap();
    // Nothing left the finite numbers, so that there is nothing to show of it.
    assert!(list.iter().all(|a| a["name"] != "nonfinite_step"));
    let spectrum = list.iter().find(|a| a["name"] == "spectrum of series").unwrap();
    let n = spectrum["frequency"]["n"].as_u64().unwrap() as usize;
    let spectra = values(&head, &arrays, "spectrum of series", "spectrum");
    assert_eq!(spectra.len(), n * 2 * POINTS as usize);
    // A step of 0.37 rad between the first and the second channel, so 0.74 rad a sample of 5 ms.
    let first = &spectra.to_f64()[..n];
    let peak = first.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
    let hertz = peak as f64 * spectrum["resolution"].as_f64().unwrap();
    assert!((hertz - 0.74 / std::f64::consts::TAU / 0.005).abs() < 0.3, "{hertz}");
}

#[test]
fn a_small_page_thins_time_first_and_keeps_the_best_point() {
    let folder = tempfile::tempdir().unwrap();
    let result = result(folder.path());
    let (head, arrays) = embedded(&html(&result, Limit(20_000)).unwrap());
    let kept: Vec<u64> =
        head["kept"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
    assert!(kept.contains(&3), "the best of the scores is point 3: {kept:?}");
    let list = head["arrays"].as_array().unwrap();
    let entry = list.iter().find(|a| a["name"] == "series").unwrap();
    assert_eq!(entry["thinned"], ROWS);
    let samples = entry["time"]["n"].as_u64().unwrap() as usize;
    let thinned = values(&head, &arrays, "series", "series");
    assert_eq!(thinned.len(), samples * 2 * kept.len());
    // The extremes of the kept points are those of all their samples.
    let (thinned, all) = (thinned.to_f64(), series());
    for (at, point) in kept.iter().enumerate() {
        let of_thinned = &thinned[at * samples * 2..(at + 1) * samples * 2];
        let of_all = &all[*point as usize * ROWS as usize * 2..][..ROWS as usize * 2];
        let highest = of_all.iter().fold(f32::MIN, |a, b| a.max(*b));
        assert_eq!(of_thinned.iter().fold(f64::MIN, |a, b| a.max(*b)), f64::from(highest));
    }
    let whole = values(&head, &arrays, "score", "map");
    assert_eq!(whole.len(), POINTS as usize, "a map is always whole");
}

#[test]
fn a_page_asks_nobody_and_no_text_escapes() {
    let folder = tempfile::tempdir().unwrap();
    let page = html(&result(folder.path()), Limit::default()).unwrap();
    assert!(page.contains("default-src 'none'"), "the page forbids itself the network");
    for word in ["http:", "https:", " src=", "url(", "@import", "fetch(", "XMLHttp", "import("] {
        assert!(!page.contains(word), "`{word}` is in the page");
    }
    let scripts = page.matches("<script").count();
    assert_eq!(scripts, page.matches("</script>").count());
    assert!(!page.contains("<script>alert"), "the experiment's text is text");
    assert!(page.contains("&lt;b&gt;{{data}}&lt;/b&gt;"), "so is its label");
    assert!(!page.contains("{{style}}") && !page.contains("{{script}}"));
}

#[test]
fn a_place_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let result = result(folder.path());
    for path in [folder.path().join("no/r.html"), folder.path().to_owned()] {
        let error = write(&result, &path, Limit::default()).unwrap_err();
        assert!(error.to_string().contains("can't write the report"), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
}
