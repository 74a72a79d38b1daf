//! A matrix as text: one row a line, separated by commas, semicolons, tabs or blanks.
//!
//! The text is read line by line and given up at the first line that shows that it isn't a square
//! matrix, so that a file of any size is refused in bounded memory. Blank lines are skipped, and so
//! are remarks: lines that start with `#` or `%`, and what follows a blank and a `#`. A first row of names and a first column of names, as spreadsheets and
//! data frames write them, are taken as labels.

use crate::connectome::error::{ConnectomeError, Place};
use nalgebra::DMatrix;
use std::io::{BufRead, BufReader, Read};

/// The most bytes of a line that are read: a million columns of 16 bytes.
const LONGEST_LINE: u64 = 16 << 20;

/// A text's matrix, with the names of its columns if it had any.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TextMatrix {
    /// The values.
    pub(super) values: DMatrix<f64>,
    /// The names in the first row.
    pub(super) labels: Option<Vec<String>>,
}

/// What stands between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    Character(char),
    Blanks,
}

/// Reads a square matrix.
///
/// # Errors
/// Text that isn't numbers, rows of different length, more rows than columns or fewer; each with
/// the line.
pub(super) fn square_matrix(text: impl Read, place: &Place) -> Result<TextMatrix, ConnectomeError> {
    let matrix = table(text, place, Some(0))?;
    let (rows, columns) = matrix.values.shape();
    if rows != columns {
        return Err(ConnectomeError::NotSquare { place: place.clone(), rows, columns });
    }
    Ok(matrix)
}

/// Reads a matrix of any shape, or with `surplus` one of at most so many more rows than columns.
///
/// # Errors
/// Text that isn't numbers, rows of different length, too many rows; each with the line.
pub(super) fn table(
    text: impl Read,
    place: &Place,
    surplus: Option<usize>,
) -> Result<TextMatrix, ConnectomeError> {
    let mut lines = Lines::new(text, place);
    let mut values: Vec<f64> = Vec::new();
    let mut columns = 0;
    let mut rows = 0;
    let mut separator = None;
    let mut header: Option<Vec<String>> = None;
    let mut named_rows = false;
    while let Some((line, text)) = lines.next_line()? {
        let separator = *separator.get_or_insert_with(|| separator_of(text));
        let at = place.line(line);
        let mut cells = split(text, separator);
        if rows == 0 && header.is_none() && is_header(&cells) {
            header = Some(cells);
            continue;
        }
        if rows == 0 {
            let first_is_name = cells.len() > 1 && number(&cells[0], separator).is_none();
            named_rows = match header.as_deref() {
                Some([corner, rest @ ..]) => {
                    corner.is_empty() || cells.len() == rest.len() + 2 || first_is_name
                }
                _ => first_is_name,
            };
        }
        if named_rows && !cells.is_empty() {
            cells.remove(0);
        }
        if rows == 0 {
            columns = cells.len();
        }
        if cells.len() != columns {
            return Err(ConnectomeError::Ragged {
                place: at,
                expected: columns,
                found: cells.len(),
            });
        }
        if surplus.is_some_and(|surplus| rows == columns + surplus) {
            return Err(ConnectomeError::TooManyRows { place: at, columns });
        }
        for (column, cell) in cells.iter().enumerate() {
            values.push(number(cell, separator).ok_or_else(|| ConnectomeError::NotANumber {
                place: at.clone(),
                column: column + 1 + usize::from(named_rows),
                text: cell.chars().take(40).collect(),
            })?);
        }
        rows += 1;
    }
    if rows == 0 {
        return Err(ConnectomeError::Empty { place: place.clone() });
    }
    let labels = header.map(|mut names| {
        if names.len() == columns + 1 {
            names.remove(0);
        }
        names
    });
    Ok(TextMatrix { values: DMatrix::from_row_slice(rows, columns, &values), labels })
}

/// Whether a first row holds names: none of its cells is a number, or its first is empty and what
/// follows names the columns, as data frames write it.
fn is_header(cells: &[String]) -> bool {
    match cells {
        [first, rest @ ..] if first.is_empty() => !rest.is_empty(),
        [] => false,
        _ => cells.iter().all(|c| number(c, Separator::Blanks).is_none()),
    }
}

/// What separates the values of a text whose first row is `line`.
fn separator_of(line: &str) -> Separator {
    match ['\t', ';', ','].into_iter().find(|&c| line.contains(c)) {
        // Values lined up with tabs and blanks at once.
        Some('\t') if line.split('\t').any(|cell| numbers_in(cell) > 1) => Separator::Blanks,
        Some(character) => Separator::Character(character),
        None => Separator::Blanks,
    }
}

fn numbers_in(cell: &str) -> usize {
    cell.split_whitespace().filter(|word| word.parse::<f64>().is_ok()).count()
}

/// The cells of a line, trimmed and without quotes.
fn split(line: &str, separator: Separator) -> Vec<String> {
    let Separator::Character(separator) = separator else {
        return line.split_whitespace().map(unquoted).collect();
    };
    let mut cells = Vec::new();
    let mut cell_start = 0;
    let mut quoted = false;
    for (at, character) in line.char_indices() {
        if character == '"' {
            quoted = !quoted;
        } else if character == separator && !quoted {
            cells.push(unquoted(&line[cell_start..at]));
            cell_start = at + separator.len_utf8();
        }
    }
    let last = unquoted(&line[cell_start..]);
    // A separator at the end of a line ends its last value, it doesn't start another.
    if !last.is_empty() {
        cells.push(last);
    }
    cells
}

fn unquoted(cell: &str) -> String {
    let cell = cell.trim();
    match cell.strip_prefix('"').and_then(|c| c.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\"").trim().to_string(),
        None => cell.to_string(),
    }
}

/// A cell's number. `n/a`, BIDS' missing value, is NaN. A decimal comma is one where commas don't
/// separate.
fn number(cell: &str, separator: Separator) -> Option<f64> {
    if cell == "n/a" {
        return Some(f64::NAN);
    }
    let number = cell.parse().ok();
    if number.is_none() && separator == Separator::Character(';') && !cell.contains('.') {
        return cell.replacen(',', ".", 1).parse().ok();
    }
    number
}

/// The lines of a text that hold something, numbered from 1, without remarks.
pub(super) struct Lines<'p, R> {
    reader: BufReader<R>,
    place: &'p Place,
    number: usize,
    bytes: Vec<u8>,
}

impl<'p, R: Read> Lines<'p, R> {
    pub(super) fn new(reader: R, place: &'p Place) -> Self {
        Self { reader: BufReader::new(reader), place, number: 0, bytes: Vec::new() }
    }

    /// The next line that isn't empty.
    pub(super) fn next_line(&mut self) -> Result<Option<(usize, &str)>, ConnectomeError> {
        loop {
            self.bytes.clear();
            let unreadable = |place, reason: String| ConnectomeError::Unreadable { place, reason };
            let read = (&mut self.reader)
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut self.bytes)
                .map_err(|e| unreadable(self.place.clone(), e.to_string()))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let at = || self.place.line(self.number);
            if read as u64 == LONGEST_LINE {
                let reason = format!("this line is longer than {} MiB", LONGEST_LINE >> 20);
                return Err(unreadable(at(), reason));
            }
            if self.number == 1 {
                if let [0xff, 0xfe, ..] | [0xfe, 0xff, ..] = self.bytes[..] {
                    let reason = "this text is UTF-16; save it as UTF-8".to_string();
                    return Err(unreadable(self.place.clone(), reason));
                }
                if self.bytes.starts_with(b"\xef\xbb\xbf") {
                    self.bytes.drain(..3);
                }
            }
            self.bytes.truncate(remark_start(&self.bytes));
            if self.bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            // Borrowed again below, because the borrow checker can't see that the loop ends here.
            if std::str::from_utf8(&self.bytes).is_err() {
                return Err(unreadable(at(), "this is not text".to_string()));
            }
            break;
        }
        let text = std::str::from_utf8(&self.bytes).unwrap_or_default();
        Ok(Some((self.number, text.trim_end_matches(['\n', '\r']))))
    }
}

/// Where the remark of a line starts: at a `#` or `%` that starts the line, or a `#` after a blank.
fn remark_start(line: &[u8]) -> usize {
    let text_start = line.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
    let starts = |at: usize| match line[at] {
        b'#' => at == text_start || line[at - 1].is_ascii_whitespace(),
        b'%' => at == text_start,
        _ => false,
    };
    (0..line.len()).find(|&at| starts(at)).unwrap_or(line.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn read(text: &str) -> Result<TextMatrix, ConnectomeError> {
        square_matrix(text.as_bytes(), &Place::file("w.csv"))
    }

    #[test]
    fn every_separator_gives_the_same_matrix() {
        let expected = DMatrix::from_row_slice(2, 2, &[0.0, 1.5, -2e-3, 4.0]);
        for text in [
            "0,1.5\n-2e-3,4\n",
            "0;1.5\n-2e-3;4",
            "0;1,5\n-0,002;4,0\n",
            "0\t1.5\n-2e-3\t4\n",
            "  0   1.5 \r\n -2e-3\t4.0  \r\n\r\n",
            "0 \t 1.5\n-2e-3 \t 4\n",
            "# a remark\n\n0 1.5 # another\n% a third\n-2e-3 4",
            "0,1.5,\n-2e-3,4,\n",
            "\u{feff}0, 1.5\n-2e-3, 4",
        ] {
            let matrix = read(text).unwrap();
            assert_eq!(matrix.values, expected, "{text:?}");
            assert_eq!(matrix.labels, None, "{text:?}");
        }
    }

    #[test]
    fn names_of_rows_and_columns_are_labels() {
        for text in [
            ",A,\"B, left\"\nA,1,2\n\"B, left\",3,4\n",
            "A,\"B, left\"\n1,2\n3,4\n",
            "region;A;B, left\nA;1;2\nB, left;3;4\n",
            "A\tB, left\nA\t1\t2\nB, left\t3\t4\n",
        ] {
            let matrix = read(text).unwrap();
            assert_eq!(matrix.values, DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]));
            assert_eq!(matrix.labels.unwrap(), ["A", "B, left"], "{text:?}");
        }
        assert_eq!(read(",0,1\n0,1,2\n1,3,4\n").unwrap().labels.unwrap(), ["0", "1"]);
        assert_eq!(read("A 1 2\nB 3 4\n").unwrap().values[(1, 0)], 3.0);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, message) in [
            ("1,2\n\n3,x4\n", "w.csv: line 3: column 2 holds `x4`, which is not a number"),
            ("1,2\n3\n", "w.csv: line 2: 1 values in this row, 2 in the first"),
            ("1,,2\n3,4,5\n6,7,8", "w.csv: line 1: column 2 holds ``, which is not a number"),
            (
                "1 2\n3 4\n5 6\n",
                "w.csv: line 3: not a square matrix: more than 2 row(s) of 2 value(s)",
            ),
            ("1\n2\n", "w.csv: line 2: not a square matrix: more than 1 row(s) of 1 value(s)"),
            (
                "1 2 3\n4 5 6\n",
                "w.csv: 2 rows and 3 columns, but one row and one column a node is needed",
            ),
            ("# nothing\n", "w.csv: no values"),
            ("", "w.csv: no values"),
            ("1,2\n\"\"\n", "w.csv: line 2: 0 values in this row, 2 in the first"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), message, "{text:?}");
        }
        let utf16 = [0xff, 0xfe, b'1', 0];
        let error = square_matrix(&utf16[..], &Place::file("w.csv")).unwrap_err();
        assert!(error.to_string().contains("UTF-16"));
        assert!(square_matrix(&b"\x93NUMPY\xc3\x28"[..], &Place::file("w.csv")).is_err());
    }

    #[test]
    fn missing_and_infinite_values_are_kept_for_the_check() {
        let values = read("n/a inf\nnan -inf").unwrap().values;
        assert!(values[(0, 0)].is_nan() && values[(1, 0)].is_nan());
        assert_eq!((values[(0, 1)], values[(1, 1)]), (f64::INFINITY, f64::NEG_INFINITY));
    }

    /// An endless text that counts what is read of it.
    struct Endless<'a> {
        line: &'a [u8],
        at: usize,
        served: &'a Cell<usize>,
    }

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            for byte in &mut *buffer {
                *byte = self.line[self.at];
                self.at = (self.at + 1) % self.line.len();
            }
            self.served.set(self.served.get() + buffer.len());
            Ok(buffer.len())
        }
    }

    #[test]
    fn a_text_that_is_no_matrix_is_given_up_at_once() {
        let long = [b'1', b' '].repeat(50);
        let endless: [(&[u8], usize); 4] = [
            (b"0.123456\n", 1 << 16),
            (b"0.5,0.5\n", 1 << 16),
            (&[long, b"\n".to_vec()].concat(), 1 << 16),
            (b"1 ", LONGEST_LINE as usize + (1 << 16)),
        ];
        for (line, most) in endless {
            let served = Cell::new(0);
            let text = Endless { line, at: 0, served: &served };
            assert!(square_matrix(text, &Place::file("w.csv")).is_err());
            assert!(served.get() <= most, "{} bytes of {line:?}", served.get());
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z0-9 ,;\t\"#%.é\u{2003}\r\n-]{0,60}") {
            let _ = read(&text);
        }

        #[test]
        fn every_square_matrix_is_read_back(n in 1usize..6, seed: u32, separator in "[,;\t ]") {
            let value = |i: usize, j: usize| {
                (f64::from(seed) + 1.0).sin() * 10f64.powi(i as i32 * 3 - 6) + j as f64
            };
            let values = DMatrix::from_fn(n, n, value);
            let text: String = values
                .row_iter()
                .map(|row| {
                    let cells: Vec<String> = row.iter().map(f64::to_string).collect();
                    cells.join(&separator) + "\n"
                })
                .collect();
            proptest::prop_assert_eq!(read(&text).unwrap().values, values);
        }
    }
}
