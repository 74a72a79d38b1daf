//! One matrix, or a few named ones, from `.csv`, `.tsv`, `.txt`, `.npy` and `.npz`.

use super::{npy, text};
use crate::connectome::error::{ConnectomeError, Place};
use crate::connectome::raw::{Piece, RawConnectome};
use crate::files::Files;
use nalgebra::DMatrix;
use std::io::{Cursor, Read};
use std::path::Path;

/// The names under which an `.npz` may hold a piece, most telling first.
const WEIGHTS: &[&str] = &["weights", "weight", "W", "sc", "SC", "connectivity"];
const LENGTHS: &[&str] = &["tract_lengths", "lengths", "length", "L", "distances"];
const LABELS: &[&str] = &["region_labels", "labels", "regions", "names"];
const CENTRES: &[&str] = &["centres", "centers", "coordinates", "positions"];
const DELAYS: &[&str] = &["delays", "delay"];

/// Reads one square matrix.
///
/// # Errors
/// A file that isn't there, a format that isn't one of the above, or a file that doesn't hold one
/// square matrix; each with the line where there are lines.
pub fn matrix(path: &Path, files: &dyn Files) -> Result<Piece<DMatrix<f64>>, ConnectomeError> {
    raw(path, files).map(|raw| raw.weights)
}

/// Reads a matrix as weights, with whatever else the file names: labels, lengths, centres.
///
/// # Errors
/// As [`matrix`].
pub(super) fn raw(path: &Path, files: &dyn Files) -> Result<RawConnectome, ConnectomeError> {
    let place = Place::file(path);
    match super::extension(path).as_str() {
        "npy" => {
            let bytes = files.read(path).map_err(|e| super::unreadable(&place, &e))?;
            let values = npy::numbers(&bytes, &place)?.into_matrix(&place)?;
            Ok(RawConnectome::from_weights(Piece::new(values, place)))
        }
        "npz" => npz(&files.read(path).map_err(|e| super::unreadable(&place, &e))?, &place),
        _ => {
            let reader = files.open(path).map_err(|e| super::unreadable(&place, &e))?;
            let matrix = text::square_matrix(reader, &place)?;
            let mut raw = RawConnectome::from_weights(Piece::new(matrix.values, place.clone()));
            raw.labels = matrix.labels.map(|labels| Piece::new(labels, place));
            Ok(raw)
        }
    }
}

/// The arrays of an `.npz`, which is a zip of `.npy` files.
fn npz(bytes: &[u8], place: &Place) -> Result<RawConnectome, ConnectomeError> {
    let mut archive = super::archive(Cursor::new(bytes), place)?;
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).map_err(|e| super::damaged(place, &e))?;
        let name = member.name().trim_end_matches(".npy").to_string();
        let mut content = Vec::new();
        member
            .read_to_end(&mut content)
            .map_err(|e| super::unreadable(&place.member(&name), &e))?;
        members.push((name, content));
    }
    let find = |names: &[&str]| {
        names.iter().find_map(|&name| members.iter().find(|(member, _)| member == name))
    };
    let matrix = |(name, content): &(String, Vec<u8>)| {
        let place = place.member(name);
        npy::numbers(content, &place)?.into_matrix(&place).map(|m| Piece::new(m, place))
    };
    let weights = match (find(WEIGHTS), &members[..]) {
        (Some(member), _) => member,
        (None, [only]) => only,
        (None, _) => {
            let held: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
            return Err(ConnectomeError::Missing {
                place: place.clone(),
                what: "array `weights`".into(),
                help: format!("the file holds {}", held.join(", ")),
            });
        }
    };
    let mut raw = RawConnectome::from_weights(matrix(weights)?);
    raw.lengths = find(LENGTHS).map(matrix).transpose()?;
    raw.delays = find(DELAYS).map(matrix).transpose()?;
    raw.labels = find(LABELS)
        .map(|(name, content)| {
            let place = place.member(name);
            npy::text(content, &place).map(|labels| Piece::new(labels, place))
        })
        .transpose()?;
    raw.centres = find(CENTRES)
        .map(matrix)
        .transpose()?
        .map(|centres| {
            super::centres(&centres.value, &centres.place)
                .map(|value| Piece::new(value, centres.place))
        })
        .transpose()?;
    Ok(raw)
}
