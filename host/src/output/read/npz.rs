//! Reading `.npz`: the members' headers at once, values when they are asked for.

use super::{ArrayInfo, ElementType, ReadError, Values};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The head of a `.npy` member can't be longer than this; it holds a shape and a type.
const MAX_HEADER: u64 = 1 << 16;
/// The largest manifest that is read.
const MAX_META: u64 = 1 << 28;

struct Member {
    /// Its place in the archive.
    index: usize,
    /// The NumPy type, for example `<f4`.
    descr: String,
    /// Bytes before the values.
    header: u64,
    /// Bytes of the values.
    len: u64,
    /// Where the member starts in the file, if it is not compressed.
    stored_at: Option<u64>,
}

/// An archive whose members are known.
pub(super) struct Archive {
    path: PathBuf,
    members: BTreeMap<String, Member>,
}

/// Opens an archive: what it holds, and the text of `meta`.
pub(super) fn open(path: &Path) -> Result<(Archive, Vec<ArrayInfo>, String), ReadError> {
    let read = |source| ReadError::Read { path: path.to_owned(), source };
    let not = |why: &str| ReadError::NotAResult { path: path.to_owned(), why: why.to_owned() };
    let file = File::open(path).map_err(read)?;
    if file.metadata().map_err(read)?.is_dir() {
        return Err(read(io::ErrorKind::IsADirectory.into()));
    }
    let mut zip = zip::ZipArchive::new(file).map_err(|e| not(&format!("no .npz: {e}")))?;
    let mut archive = Archive { path: path.to_owned(), members: BTreeMap::new() };
    let mut arrays = Vec::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(|e| not(&format!("no .npz: {e}")))?;
        let Some(name) = entry.name().strip_suffix(".npy").map(str::to_owned) else { continue };
        let stored = entry.compression() == zip::CompressionMethod::Stored;
        let stored_at = entry.data_start().filter(|_| stored);
        let size = entry.size();
        let (header, length) =
            header(&mut entry).map_err(|why| not(&format!("`{name}`: {why}")))?;
        let (descr, shape) =
            parse_header(&header).map_err(|why| not(&format!("`{name}`: {why}")))?;
        let len = size.saturating_sub(length);
        if name != "meta" {
            let dimensions = shape.iter().map(|&n| (String::new(), n)).collect();
            let element = element(&descr);
            let info = ArrayInfo { name: name.clone(), dimensions, element };
            let width = match element {
                Some(element) => Some(element.size()),
                None => descr.strip_prefix("<U").and_then(|n| n.parse().ok()).map(|n: u64| 4 * n),
            };
            let expected = width.map(|w| info.elements().saturating_mul(w));
            if expected != Some(len) {
                return Err(not(&format!("`{name}` has {len} bytes of type {descr}")));
            }
            arrays.push(info);
        }
        let member = Member { index, descr, header: length, len, stored_at };
        archive.members.insert(name, member);
    }
    let meta = archive.members.get("meta").ok_or_else(|| not("it has no manifest `meta`"))?;
    if meta.len > MAX_META {
        return Err(not("its manifest `meta` is far too long"));
    }
    let meta = archive.texts("meta").map_err(|why| not(&format!("`meta`: {why}")))?;
    let meta = meta.into_iter().next().unwrap_or_default();
    Ok((archive, arrays, meta))
}

/// The header's text, and how long all before the values is.
fn header(from: &mut impl Read) -> Result<(String, u64), String> {
    let mut start = [0; 8];
    from.read_exact(&mut start).map_err(|_| "it ends within its header")?;
    if &start[..6] != b"\x93NUMPY" {
        return Err("this is not .npy".into());
    }
    let mut length = [0; 4];
    let size = if start[6] == 1 { 2 } else { 4 };
    from.read_exact(&mut length[..size]).map_err(|_| "it ends within its header")?;
    let length = u64::from(u32::from_le_bytes(length));
    let mut text = Vec::new();
    from.take(length.min(MAX_HEADER)).read_to_end(&mut text).map_err(|e| e.to_string())?;
    if text.len() as u64 != length {
        return Err("it ends within its header".into());
    }
    let text = String::from_utf8(text).map_err(|_| "its header is not text")?;
    Ok((text, 8 + size as u64 + length))
}

/// Type and shape of a header in C order.
fn parse_header(header: &str) -> Result<(String, Vec<u64>), String> {
    let field = |name: &str| {
        let start = header.find(&format!("'{name}':"))? + name.len() + 3;
        Some(header[start..].trim_start())
    };
    let descr = field("descr").and_then(|f| f.strip_prefix('\'')?.split_once('\''));
    let (descr, _) = descr.ok_or("its header has no type")?;
    if field("fortran_order").is_some_and(|f| f.starts_with("True")) {
        return Err("its columns come first".into());
    }
    let (list, _) = (field("shape").and_then(|f| f.strip_prefix('(')?.split_once(')')))
        .ok_or("its header has no shape")?;
    let entries = list.split(',').map(str::trim).filter(|n| !n.is_empty());
    let shape: Option<Vec<u64>> = entries.map(|n| n.parse().ok()).collect();
    Ok((descr.to_owned(), shape.ok_or("its header has no shape")?))
}

fn element(descr: &str) -> Option<ElementType> {
    match descr {
        "<f4" => Some(ElementType::F32),
        "<f8" => Some(ElementType::F64),
        "<i8" => Some(ElementType::I64),
        _ => None,
    }
}

impl Archive {
    /// `count` elements from element `first` on.
    pub(super) fn read(
        &self,
        name: &str,
        element: ElementType,
        first: u64,
        count: u64,
    ) -> Result<Values, String> {
        let bytes = self.bytes(name, first * element.size(), count * element.size())?;
        Ok(Values::from_le_bytes(element, &bytes))
    }

    /// All texts of an array of them.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let member = self.members.get(name).ok_or("it isn't there")?;
        let width: Option<usize> = member.descr.strip_prefix("<U").and_then(|n| n.parse().ok());
        let width = width.filter(|&w| w > 0).ok_or("it is not text")?;
        let bytes = self.bytes(name, 0, member.len)?;
        let text = |bytes: &[u8]| -> Option<String> {
            let characters = bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b));
            characters.take_while(|&c| c != 0).map(char::from_u32).collect()
        };
        let texts: Option<Vec<String>> = bytes.chunks_exact(4 * width).map(text).collect();
        texts.ok_or_else(|| "it holds what is no character".into())
    }

    fn bytes(&self, name: &str, from: u64, len: u64) -> Result<Vec<u8>, String> {
        let member = self.members.get(name).ok_or("it isn't there")?;
        let mut file = File::open(&self.path).map_err(|e| e.to_string())?;
        let mut bytes = Vec::new();
        if let Some(start) = member.stored_at {
            let at = SeekFrom::Start(start + member.header + from);
            file.seek(at).map_err(|e| e.to_string())?;
            file.take(len).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        } else {
            // Compressed by another program: there is no way in but from the start.
            let mut zip = zip::ZipArchive::new(file).map_err(|e| e.to_string())?;
            let mut entry = zip.by_index(member.index).map_err(|e| e.to_string())?;
            let mut before = entry.by_ref().take(member.header + from);
            io::copy(&mut before, &mut io::sink()).map_err(|e| e.to_string())?;
            entry.take(len).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        }
        if bytes.len() as u64 == len { Ok(bytes) } else { Err("the file ends within it".into()) }
    }
}
