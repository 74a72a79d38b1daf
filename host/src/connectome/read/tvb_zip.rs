//! The Virtual Brain's connectivity archive: a zip with `weights.txt`, `tract_lengths.txt` and
//! `centres.txt`.
//!
//! Members may lie in a folder of the archive and may be compressed once more as `.bz2`. The other
//! members of such archives say nothing about who is connected to whom, and are not read: areas,
//! average orientations, cortical and hemisphere flags, and a description.

use super::text::{self, Lines};
use crate::connectome::error::{ConnectomeError, Place};
use crate::connectome::raw::{Piece, RawConnectome};
use crate::files::Files;
use bzip2::read::MultiBzDecoder;
use std::io::{Cursor, Read};
use std::path::Path;

type Archive<'b> = zip::ZipArchive<Cursor<&'b [u8]>>;

/// Reads an archive.
///
/// # Errors
/// A file that isn't a zip, no weights in it, two members that could both be the weights, or a
/// member that isn't what its name says; each with the member and the line.
pub fn tvb_zip(path: &Path, files: &dyn Files) -> Result<RawConnectome, ConnectomeError> {
    let place = Place::file(path);
    let bytes = files.read(path).map_err(|e| super::unreadable(&place, &e))?;
    let mut archive = super::archive(Cursor::new(bytes.as_ref()), &place)?;
    let weights = member(&archive, &["weights", "weight"], &place)?.ok_or_else(|| {
        let held: Vec<&str> = archive.file_names().collect();
        ConnectomeError::Missing {
            place: place.clone(),
            what: "weights.txt".into(),
            help: format!("the archive holds {}", held.join(", ")),
        }
    })?;
    let lengths = member(&archive, &["tract_lengths", "tract_length", "lengths"], &place)?;
    let centres = member(&archive, &["centres", "centers", "centre", "position"], &place)?;
    let mut raw = RawConnectome::from_weights(matrix(&mut archive, &weights, &place)?);
    raw.lengths = lengths.map(|name| matrix(&mut archive, &name, &place)).transpose()?;
    if let Some(name) = centres {
        let place = place.member(&name);
        let (labels, centres) = nodes(open(&mut archive, &name, &place)?, &place)?;
        raw.labels = labels.map(|labels| Piece::new(labels, place.clone()));
        raw.centres = Some(Piece::new(centres, place));
    }
    Ok(raw)
}

/// The member whose file name, without folders and endings, is one of `names`.
fn member(
    archive: &Archive<'_>,
    names: &[&str],
    place: &Place,
) -> Result<Option<String>, ConnectomeError> {
    let mut found: Vec<String> = archive
        .file_names()
        .filter(|path| {
            // What an archiver on a Mac adds beside each member.
            let foreign = path.starts_with("__MACOSX/");
            let file = path.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
            let file = file.strip_suffix(".bz2").unwrap_or(&file);
            !foreign && file.strip_suffix(".txt").is_some_and(|stem| names.contains(&stem))
        })
        .map(str::to_string)
        .collect();
    found.sort();
    match found.len() {
        0 => Ok(None),
        1 => Ok(found.pop()),
        _ => Err(ConnectomeError::Ambiguous {
            place: place.clone(),
            what: format!("{}.txt", names[0]),
            found,
        }),
    }
}

/// A member as text, whatever it is compressed with.
fn open<'a>(
    archive: &'a mut Archive<'_>,
    name: &str,
    place: &Place,
) -> Result<Box<dyn Read + 'a>, ConnectomeError> {
    let member = archive.by_name(name).map_err(|e| super::damaged(place, &e))?;
    if name.to_lowercase().ends_with(".bz2") {
        Ok(Box::new(MultiBzDecoder::new(member)))
    } else {
        Ok(Box::new(member))
    }
}

fn matrix(
    archive: &mut Archive<'_>,
    name: &str,
    place: &Place,
) -> Result<Piece<nalgebra::DMatrix<f64>>, ConnectomeError> {
    let place = place.member(name);
    let values = text::square_matrix(open(archive, name, &place)?, &place)?.values;
    Ok(Piece::new(values, place))
}

/// Labels, where every row has one, and centres.
type Nodes = (Option<Vec<String>>, Vec<[f64; 3]>);

/// The rows of `centres.txt`: a label, three coordinates in mm, and perhaps a last column of words.
///
/// Labels may hold blanks, and rows may start with one: the coordinates are the last three numbers
/// of a row, and what is before them is the label.
fn nodes(text: impl Read, place: &Place) -> Result<Nodes, ConnectomeError> {
    let mut lines = Lines::new(text, place);
    let mut labels = Vec::new();
    let mut centres = Vec::new();
    while let Some((line, text)) = lines.next_line()? {
        let not_a_node = || ConnectomeError::Unsupported {
            place: place.line(line),
            what: format!("`{}` is not a label and three coordinates", text.trim()),
            help: "write a label and x, y and z in mm on each line".into(),
        };
        let is_break = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
        let mut rest = text.trim_matches(is_break);
        let mut coordinates = [0.0; 3];
        let mut found = 0;
        while found < 3 {
            let start = rest.rfind(is_break).map_or(0, |at| at + 1);
            // A break may be a blank of several bytes.
            let start = rest.ceil_char_boundary(start);
            let word = &rest[start..];
            match word.parse::<f64>() {
                Ok(value) => {
                    coordinates[2 - found] = value;
                    found += 1;
                }
                // A last column of words, such as "None".
                Err(_) if found == 0 && start > 0 => {}
                Err(_) => return Err(not_a_node()),
            }
            if start == 0 && found < 3 {
                return Err(not_a_node());
            }
            rest = rest[..start].trim_end_matches(is_break);
        }
        let label = rest.trim_matches(|c: char| is_break(c) || matches!(c, '"' | '\''));
        labels.push(label.to_string());
        centres.push(coordinates);
    }
    let labels = labels.iter().any(|label| !label.is_empty()).then_some(labels);
    Ok((labels, centres))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connectome::read::MemoryFiles;
    use std::io::Write;
    use zip::CompressionMethod;
    use zip::write::SimpleFileOptions;

    fn archive(members: &[(&str, &str)], method: CompressionMethod) -> MemoryFiles {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in members {
            writer
                .start_file(*name, SimpleFileOptions::default().compression_method(method))
                .unwrap();
            if name.ends_with(".bz2") {
                let mut packed = bzip2::write::BzEncoder::new(&mut writer, Default::default());
                packed.write_all(text.as_bytes()).unwrap();
                packed.finish().unwrap();
            } else {
                writer.write_all(text.as_bytes()).unwrap();
            }
        }
        MemoryFiles::new(&[("net.zip", &writer.finish().unwrap().into_inner())])
    }

    fn read(members: &[(&str, &str)]) -> Result<RawConnectome, ConnectomeError> {
        let files = archive(members, CompressionMethod::Deflated);
        tvb_zip(Path::new("net.zip"), &files)
    }

    const WEIGHTS: &str = "   0.0000000e+00   1.5000000e+00\n   2.0000000e+00   0.0000000e+00\n";
    const LENGTHS: &str = "0 0\n31.5 0\n";
    const CENTRES: &str = " rA 1. 2.5 -3e1 None\n left area 4  4 5 6 None \n";

    #[test]
    fn plain_nested_and_twice_compressed_archives_are_the_same() {
        let plain =
            [("weights.txt", WEIGHTS), ("tract_lengths.txt", LENGTHS), ("centres.txt", CENTRES)];
        let nested = [
            ("net_2/", ""),
            ("net_2/areas.txt.bz2", "not read"),
            ("__MACOSX/net_2/weights.txt", "not read"),
            ("net_2/weights.txt.bz2", WEIGHTS),
            ("net_2/tract_lengths.txt.bz2", LENGTHS),
            ("net_2/centres.txt.bz2", CENTRES),
        ];
        let (expected, warnings) = read(&plain).unwrap().finish().unwrap();
        assert_eq!(warnings, []);
        assert_eq!(expected.weights[(0, 1)], 1.5);
        assert_eq!(expected.weights[(1, 0)], 2.0);
        assert_eq!(expected.tract_lengths_mm[(1, 0)], 31.5);
        assert_eq!(expected.tract_lengths_mm[(0, 1)], 0.0, "length 0 with a weight is allowed");
        assert_eq!(expected.labels, ["rA", "left area 4"]);
        assert_eq!(read(&nested).unwrap().finish().unwrap().0, expected);
        for method in [CompressionMethod::Stored, CompressionMethod::Bzip2] {
            let raw = tvb_zip(Path::new("net.zip"), &archive(&plain, method)).unwrap();
            assert_eq!(raw.finish().unwrap().0, expected);
        }
    }

    #[test]
    fn centres_in_every_spelling() {
        let rows = |text: &str| nodes(text.as_bytes(), &Place::file("centres.txt"));
        for text in [
            "A b 1 2 3\n",
            "  A b\t1\t2\t3\tNone\n",
            "A b,1,2,3\n",
            "\"A b\"; 1; 2; 3; None \r\n",
            "A b   1.0 2e0 +3   \n",
        ] {
            let (labels, centres) = rows(text).unwrap();
            assert_eq!(labels.unwrap(), ["A b"], "{text:?}");
            assert_eq!(centres, [[1.0, 2.0, 3.0]], "{text:?}");
        }
        assert_eq!(rows("1 2 3\n4 5 6\n").unwrap().0, None);
        for text in ["A 1 2\n", "A\n", "1 2\n", "A 1 x 3\n", "A 1 2 3 None None 4\n"] {
            let error = rows(text).unwrap_err().to_string();
            assert!(error.starts_with("centres.txt: line 1: `"), "{error}");
        }
    }

    #[test]
    fn missing_and_doubled_members() {
        let error = read(&[("a/areas.txt", "1")]).unwrap_err();
        assert_eq!(error.to_string(), "net.zip: weights.txt not found");
        assert_eq!(error.help(), "the archive holds a/areas.txt");
        let error = read(&[("a/weights.txt", WEIGHTS), ("b/weights.txt", WEIGHTS)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "net.zip: more than one weights.txt: a/weights.txt, b/weights.txt"
        );
        let (connectome, _) = read(&[("weights.txt", WEIGHTS)]).unwrap().finish().unwrap();
        assert_eq!(connectome.labels, ["0", "1"]);
        let error = read(&[("a/weights.txt", "1 2\n3 x\n")]).unwrap_err();
        assert!(
            error.to_string().starts_with("net.zip: a/weights.txt: line 2: column 2 holds `x`")
        );
    }

    #[test]
    fn damaged_archives_are_refused() {
        let files = MemoryFiles::new(&[("net.zip", b"not a zip")]);
        let error = tvb_zip(Path::new("net.zip"), &files).unwrap_err();
        assert_eq!(error.code(), crate::diagnostic::Code::Unreadable);
        let files = archive(&[("weights.txt", "x")], CompressionMethod::Stored);
        let mut bytes = files.read(Path::new("net.zip")).unwrap().into_owned();
        let at = bytes.iter().position(|&b| b == b'x').unwrap();
        bytes[at] = b'1';
        let files = MemoryFiles::new(&[("net.zip", &bytes)]);
        let error = tvb_zip(Path::new("net.zip"), &files).unwrap_err();
        assert!(error.to_string().starts_with("net.zip: weights.txt: "), "{error}");
    }

    #[test]
    fn lengths_without_weights_and_weights_without_lengths() {
        // Asymmetric, a self-connection, an absent edge with a length, a present one without.
        let weights = "0.5 1 0\n0 0 2\n1 0 0\n";
        let lengths = "0 0 80\n7 0 30\n20 5 0\n";
        let raw = read(&[("weights.txt", weights), ("tract_lengths.txt", lengths)]).unwrap();
        let (connectome, warnings) = raw.finish().unwrap();
        assert_eq!(connectome.weights[(0, 0)], 0.5);
        assert_eq!(connectome.tract_lengths_mm[(0, 2)], 80.0);
        assert_eq!(warnings, []);
    }

    proptest::proptest! {
        #[test]
        fn no_centres_make_it_panic(text in "[a-c0-9 ,;\t.é\u{2003}\u{85}\r\n-]{0,60}") {
            let _ = nodes(text.as_bytes(), &Place::file("centres.txt"));
        }
    }
}
