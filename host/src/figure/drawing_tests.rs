//! Drawings read back as XML: cells have their values' colours, and texts their own places.

use super::cells::{CellFigure, Grid, Side, colour_of};
use super::lines::{Line, LineFigure, Panel};
use super::palette::{DIVERGING, SEQUENTIAL};
use super::svg::{LETTER, css, width};
use proptest::prelude::*;
use resvg::usvg::roxmltree::{Document, Node};

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn side(label: &str, values: Vec<f64>) -> Side {
    let names = values.iter().map(|v| super::number(*v, 5)).collect();
    Side { label: label.into(), values: Some(values), names }
}

fn map(columns: usize, rows: usize, values: Vec<f64>, matrix: bool) -> CellFigure {
    let steps = |n: usize| (0..n).map(|k| k as f64 * 0.25).collect();
    CellFigure {
        grids: vec![Grid {
            title: "a < b & \"c\"".into(),
            values,
            x: side("coupling", steps(columns)),
            y: side("speed (mm/ms)", steps(rows)),
            mark: Some((0, rows - 1)),
        }],
        palette: if matrix { DIVERGING } else { SEQUENTIAL },
        range: (-1.0, 1.0),
        label: "score".into(),
        matrix,
    }
}

/// The colour of every cell, `[row from the top][column]`.
fn colours(svg: &str, columns: usize, rows: usize) -> Vec<Option<String>> {
    let document = Document::parse(svg).unwrap();
    let cells = document.descendants().find(|n| n.attribute("class") == Some("cells")).unwrap();
    let mut found = vec![None; columns * rows];
    for path in cells.children().filter(|n| n.is_element()) {
        for run in path.attribute("d").unwrap().split('M').skip(1) {
            let (start, rest) = run.split_once('h').unwrap();
            let (column, row) = start.split_once(' ').unwrap();
            let length: usize = rest.split_once('v').unwrap().0.parse().unwrap();
            let first = row.parse::<usize>().unwrap() * columns + column.parse::<usize>().unwrap();
            for cell in &mut found[first..first + length] {
                assert!(cell.is_none(), "a cell is drawn twice");
                *cell = Some(path.attribute("fill").unwrap().to_owned());
            }
        }
    }
    found
}

proptest! {
    #[test]
    fn every_cell_has_the_colour_of_its_value(
        columns in 1usize..9,
        rows in 1usize..9,
        matrix: bool,
        seed in prop::collection::vec(prop_oneof![9 => -1.0..1.0f64, 1 => Just(f64::NAN)], 64),
    ) {
        let values = seed[..columns * rows].to_vec();
        let figure = map(columns, rows, values.clone(), matrix);
        let found = colours(&figure.draw(400.0).finish("t"), columns, rows);
        for row in 0..rows {
            for column in 0..columns {
                let value = values[row * columns + column];
                let expected = (!value.is_nan()).then(|| {
                    let place = ((value + 1.0) / 2.0 * 255.0).round() / 255.0;
                    css(figure.palette.at(place))
                });
                let line = if matrix { row } else { rows - 1 - row };
                prop_assert_eq!(&found[line * columns + column], &expected);
            }
        }
    }
}

#[test]
fn colours_end_where_values_do() {
    assert_eq!(colour_of(-1.0, (-1.0, 1.0)), Some(0));
    assert_eq!(colour_of(1.0, (-1.0, 1.0)), Some(255));
    assert_eq!(colour_of(f64::NAN, (-1.0, 1.0)), None);
}

/// Boxes of horizontal texts: left, top, right, bottom, and what is written.
fn boxes(svg: &str) -> Vec<(f64, f64, f64, f64, String)> {
    let document = Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|n| n.has_tag_name("text"));
    texts
        .filter(|n| n.attribute("transform").is_none())
        .map(|n| {
            let text = n.text().unwrap_or_default().to_owned();
            let (x, y, wide) = (number(n, "x"), number(n, "y"), width(&text));
            let left = match n.attribute("text-anchor").unwrap() {
                "start" => x,
                "middle" => x - wide / 2.0,
                _ => x - wide,
            };
            (left, y - LETTER, left + wide, y, text)
        })
        .collect()
}

fn check_texts(svg: &str, total: f64) {
    let boxes = boxes(svg);
    assert!(boxes.len() > 3);
    for (at, a) in boxes.iter().enumerate() {
        assert!(a.0 >= -1.0 && a.2 <= total + 1.0, "`{}` leaves the picture: {a:?}", a.4);
        for b in &boxes[at + 1..] {
            let apart = a.2 <= b.0 || b.2 <= a.0 || a.3 <= b.1 || b.3 <= a.1;
            assert!(apart, "`{}` and `{}` overlap: {a:?} {b:?}", a.4, b.4);
        }
    }
}

#[test]
fn texts_do_not_overlap() {
    for total in [200.0, 320.0, 529.0, 900.0] {
        for (columns, rows) in [(1, 1), (3, 2), (8, 16), (256, 256)] {
            let values = (0..columns * rows).map(|k| (k as f64).sin()).collect();
            check_texts(&map(columns, rows, values, false).draw(total).finish("t"), total);
        }
        for scale in [1e-9, 0.37, 12345.0] {
            for log_y in [false, true] {
                let x: Vec<f64> = (0..5000).map(|k| f64::from(k) * 0.1).collect();
                let y = |n: f64| x.iter().map(|t| scale * ((t * n).sin() + 2.0)).collect();
                let line = |k: usize| {
                    let label = Some(format!("a node of a long name {k}"));
                    Line { label, y: y(k as f64) }
                };
                let lines: Vec<Line> = (0..6).map(line).collect();
                let panel = Panel { title: "G = 1".into(), lines, marks: vec![7] };
                let figure = LineFigure {
                    x: x.clone(),
                    x_label: "Time (ms)".into(),
                    y_label: "v (mV)".into(),
                    log_y,
                    dots: false,
                    panels: vec![panel.clone(), panel],
                };
                check_texts(&figure.draw(total).finish("t"), total);
            }
        }
    }
}

#[test]
fn gaps_break_a_line_and_titles_are_escaped() {
    let line = Line { label: Some("x".into()), y: vec![1.0, 2.0, f64::NAN, 3.0, 4.0] };
    let panel = Panel { title: String::new(), lines: vec![line], marks: vec![] };
    let figure = LineFigure {
        x: (0..5).map(f64::from).collect(),
        x_label: "t".into(),
        y_label: "x".into(),
        log_y: false,
        dots: false,
        panels: vec![panel],
    };
    let svg = figure.draw(300.0).finish("<&\"\u{1}>");
    let document = Document::parse(&svg).unwrap();
    assert_eq!(
        document.descendants().find(|n| n.has_tag_name("title")).unwrap().text(),
        Some("<&\">")
    );
    let path = document.descendants().find(|n| n.attribute("stroke-linejoin").is_some()).unwrap();
    let d = path.attribute("d").unwrap();
    assert_eq!((d.matches('M').count(), d.matches('L').count()), (2, 2), "{d}");
}

#[test]
fn a_picture_has_the_figures_size_and_text_in_it() {
    let svg = map(4, 4, vec![0.5; 16], false).draw(288.0).finish("t");
    let with = super::png::encode(&svg, 96.0).unwrap();
    assert_eq!(&with[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(u32::from_be_bytes(with[16..20].try_into().unwrap()), 288);
    let start = svg.find("<text").unwrap();
    let without =
        format!("{}{}", &svg[..start], &svg[svg[start..].find("</text>").unwrap() + start + 7..]);
    assert_ne!(with, super::png::encode(&without, 96.0).unwrap(), "the font draws nothing");
    assert!(super::png::encode(&svg, 1e9).unwrap_err().contains("can't be made"));
}
