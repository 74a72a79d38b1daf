//! `.npz`: a zip of `.npy` members, laid out in full before the first value is known.
//!
//! Members are stored, not compressed, so that each one's place in the file follows from the layout
//! and points can be written in any order, from several threads, without holding the results in
//! memory. Checksums of the pieces are combined at the end. Format: PKWARE's APPNOTE 6.3.10, with
//! the zip64 extensions (sections 4.3.14, 4.5.3) for every member, however small.

use super::{ArraySpec, Content, OutputError, Store, folder_of, npy, require_space, unfinished};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Values of a member that have been written: first byte → (length, checksum), neighbours merged.
type Pieces = BTreeMap<u64, (u64, crc32fast::Hasher)>;

struct Member {
    name: String,
    /// Where its local file header starts.
    start: u64,
    /// Where its values start.
    values_start: u64,
    values_len: u64,
    element: u64,
    npy_header: Vec<u8>,
    pieces: Mutex<Pieces>,
}

/// An `.npz` that is being written.
pub struct NpzStore {
    target: PathBuf,
    /// Removed on drop unless the store was finished.
    temporary: Temporary,
    file: Mutex<File>,
    members: Vec<Member>,
    directory_start: u64,
}

struct Temporary(Option<PathBuf>);

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Nothing can be done about a failure here, and the next run uses another name.
            let _ = std::fs::remove_file(path);
        }
    }
}

const LOCAL_HEADER: u64 = 30;
const ZIP64_EXTRA: u64 = 20;

impl NpzStore {
    /// Lays the file out beside `path` and writes what is known beforehand.
    ///
    /// # Errors
    /// If the folder can't be written or has too little room.
    pub fn create(path: &Path, layout: &[ArraySpec]) -> Result<Self, OutputError> {
        let mut at = 0;
        let mut members = Vec::with_capacity(layout.len());
        for spec in layout {
            let name = format!("{}.npy", spec.name);
            let npy_header = npy::header(spec);
            let head = LOCAL_HEADER + name.len() as u64 + ZIP64_EXTRA + npy_header.len() as u64;
            let values_start = head.saturating_add(at);
            let values_len = npy::values_len(spec);
            let element = match &spec.content {
                Content::Streamed(element) => element.size(),
                _ => 1,
            };
            let pieces = Mutex::default();
            let start = at;
            at = values_start.saturating_add(values_len);
            members.push(Member {
                name,
                start,
                values_start,
                values_len,
                element,
                npy_header,
                pieces,
            });
        }
        require_space(folder_of(path), at)?;
        if path.is_dir() {
            let source = std::io::Error::from(std::io::ErrorKind::IsADirectory);
            return Err(OutputError::Write { path: path.to_owned(), source });
        }
        let temporary = unfinished(path);
        let file = File::create(&temporary).map_err(OutputError::write(path))?;
        let store = Self {
            target: path.to_owned(),
            temporary: Temporary(Some(temporary)),
            file: Mutex::new(file),
            members,
            directory_start: at,
        };
        locked(&store.file).set_len(at).map_err(OutputError::write(path))?;
        for (i, spec) in layout.iter().enumerate() {
            if !matches!(spec.content, Content::Streamed(_)) {
                store.write(i, 0, &npy::values(&spec.content))?;
            }
        }
        Ok(store)
    }

    fn write_at(&self, file: &mut File, at: u64, bytes: &[u8]) -> Result<(), OutputError> {
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.write_all(bytes))
            .map_err(OutputError::write(&self.target))
    }
}

impl Store for NpzStore {
    fn write(&self, array: usize, first: u64, bytes: &[u8]) -> Result<(), OutputError> {
        let member = &self.members[array];
        let from = first * member.element;
        let len = bytes.len() as u64;
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(bytes);
        {
            let mut pieces = locked(&member.pieces);
            let before = pieces.range(..from + len).next_back();
            let overlap = before.is_some_and(|(start, (length, _))| start + length > from);
            if overlap || from + len > member.values_len {
                let what = format!("bytes {from}..{} written twice or past the end", from + len);
                return Err(OutputError::Incomplete { array: member.name.clone(), what });
            }
            insert(&mut pieces, from, len, checksum);
        }
        self.write_at(&mut locked(&self.file), member.values_start + from, bytes)
    }

    fn finish(mut self: Box<Self>) -> Result<(), OutputError> {
        let mut directory = Vec::new();
        {
            let mut file = locked(&self.file);
            for member in &self.members {
                let checksum = member.checksum()?;
                let mut head = member.local_header(checksum);
                head.extend(&member.npy_header);
                self.write_at(&mut file, member.start, &head)?;
                directory.extend(member.directory_entry(checksum));
            }
            let end = end_of_directory(
                self.members.len() as u64,
                directory.len() as u64,
                self.directory_start,
            );
            directory.extend(end);
            self.write_at(&mut file, self.directory_start, &directory)?;
            file.sync_all().map_err(OutputError::write(&self.target))?;
        }
        if let Some(temporary) = &self.temporary.0 {
            std::fs::rename(temporary, &self.target).map_err(OutputError::write(&self.target))?;
        }
        self.temporary.0 = None;
        Ok(())
    }
}

/// Adds a piece and merges it with its neighbours.
fn insert(pieces: &mut Pieces, from: u64, len: u64, checksum: crc32fast::Hasher) {
    let (mut from, mut len, mut checksum) = (from, len, checksum);
    if let Some((length, next)) = pieces.remove(&(from + len)) {
        checksum.combine(&next);
        len += length;
    }
    if let Some((&start, (length, _))) = pieces.range(..from).next_back()
        && start + length == from
        && let Some((length, mut previous)) = pieces.remove(&start)
    {
        previous.combine(&checksum);
        (from, len, checksum) = (start, length + len, previous);
    }
    if len > 0 {
        pieces.insert(from, (len, checksum));
    }
}

/// A poisoned lock only means that another thread panicked; the data is checked at the end.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Member {
    /// The checksum of header and values together, once all values are there.
    fn checksum(&self) -> Result<u32, OutputError> {
        let pieces = locked(&self.pieces);
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&self.npy_header);
        let written: u64 = pieces.values().map(|(length, _)| length).sum();
        if written != self.values_len {
            let what = format!("{written} of {} bytes were written", self.values_len);
            return Err(OutputError::Incomplete { array: self.name.clone(), what });
        }
        for (_, piece) in pieces.values() {
            checksum.combine(piece);
        }
        Ok(checksum.finalize())
    }

    fn len(&self) -> u64 {
        self.npy_header.len() as u64 + self.values_len
    }

    fn local_header(&self, checksum: u32) -> Vec<u8> {
        let mut b = Vec::new();
        b.extend(0x0403_4b50_u32.to_le_bytes());
        self.common_fields(&mut b, checksum);
        b.extend((self.name.len() as u16).to_le_bytes());
        b.extend((ZIP64_EXTRA as u16).to_le_bytes());
        b.extend(self.name.as_bytes());
        b.extend(1u16.to_le_bytes());
        b.extend(16u16.to_le_bytes());
        b.extend(self.len().to_le_bytes());
        b.extend(self.len().to_le_bytes());
        b
    }

    fn directory_entry(&self, checksum: u32) -> Vec<u8> {
        let mut b = Vec::new();
        b.extend(0x0201_4b50_u32.to_le_bytes());
        b.extend(45u16.to_le_bytes()); // made by version 4.5
        self.common_fields(&mut b, checksum);
        b.extend((self.name.len() as u16).to_le_bytes());
        b.extend(28u16.to_le_bytes()); // extra field
        b.extend(0u16.to_le_bytes()); // comment
        b.extend(0u16.to_le_bytes()); // disk
        b.extend(0u16.to_le_bytes()); // internal attributes
        b.extend(0u32.to_le_bytes()); // external attributes
        b.extend(u32::MAX.to_le_bytes()); // the offset is in the zip64 field
        b.extend(self.name.as_bytes());
        b.extend(1u16.to_le_bytes());
        b.extend(24u16.to_le_bytes());
        b.extend(self.len().to_le_bytes());
        b.extend(self.len().to_le_bytes());
        b.extend(self.start.to_le_bytes());
        b
    }

    /// Version needed to checksum and sizes, the same in both headers.
    fn common_fields(&self, b: &mut Vec<u8>, checksum: u32) {
        b.extend(45u16.to_le_bytes()); // needs version 4.5: zip64
        b.extend(0x0800u16.to_le_bytes()); // names are UTF-8
        b.extend(0u16.to_le_bytes()); // stored
        b.extend(0u16.to_le_bytes()); // time 00:00
        b.extend(0x0021u16.to_le_bytes()); // date 1980-01-01, so that equal results are equal files
        b.extend(checksum.to_le_bytes());
        b.extend(u32::MAX.to_le_bytes()); // sizes are in the zip64 field
        b.extend(u32::MAX.to_le_bytes());
    }
}

/// The zip64 end of directory record, its locator and the old record.
fn end_of_directory(members: u64, length: u64, start: u64) -> Vec<u8> {
    let mut b = Vec::new();
    b.extend(0x0606_4b50_u32.to_le_bytes());
    b.extend(44u64.to_le_bytes());
    b.extend(45u16.to_le_bytes());
    b.extend(45u16.to_le_bytes());
    b.extend(0u32.to_le_bytes());
    b.extend(0u32.to_le_bytes());
    b.extend(members.to_le_bytes());
    b.extend(members.to_le_bytes());
    b.extend(length.to_le_bytes());
    b.extend(start.to_le_bytes());
    b.extend(0x0706_4b50_u32.to_le_bytes());
    b.extend(0u32.to_le_bytes());
    b.extend((start + length).to_le_bytes());
    b.extend(1u32.to_le_bytes());
    b.extend(0x0605_4b50_u32.to_le_bytes());
    b.extend([0xff; 16]);
    b.extend(0u16.to_le_bytes());
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{ElementType, create};
    use std::io::Read;

    fn layout() -> Vec<ArraySpec> {
        vec![
            ArraySpec {
                name: "tavg".into(),
                dimensions: vec![("point".into(), 5), ("node".into(), 3)],
                content: Content::Streamed(ElementType::F32),
            },
            ArraySpec {
                name: "node".into(),
                dimensions: vec![("node".into(), 3)],
                content: Content::Strings(vec!["links".into(), "Süd".into(), String::new()]),
            },
            ArraySpec {
                name: "meta".into(),
                dimensions: vec![],
                content: Content::Strings(vec!["{}".into()]),
            },
        ]
    }

    fn fill(store: &dyn Store, order: &[u64]) {
        for &p in order {
            let row: Vec<u8> = (0..3).flat_map(|n| ((p * 10 + n) as f32).to_le_bytes()).collect();
            store.write(0, p * 3, &row).unwrap();
        }
    }

    #[test]
    fn any_order_gives_the_same_file_and_another_reader_agrees() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        for order in [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1], [1, 0, 4, 3, 2]] {
            let path = folder.path().join("r.npz");
            let store = create(&path, &layout()).unwrap();
            fill(store.as_ref(), &order);
            store.finish().unwrap();
            files.push(std::fs::read(&path).unwrap());
        }
        assert_eq!(files[0], files[1]);
        assert_eq!(files[0], files[2]);
        // The zip crate checks the checksums as it reads.
        let mut zip = zip::ZipArchive::new(std::io::Cursor::new(&files[0])).unwrap();
        let mut bytes = Vec::new();
        zip.by_name("tavg.npy").unwrap().read_to_end(&mut bytes).unwrap();
        let array = npy::parse(&bytes).unwrap();
        assert_eq!(array.shape, [5, 3]);
        assert_eq!(array.values[4], 11.0);
        assert_eq!(zip.len(), 3);
    }

    #[test]
    fn nothing_is_left_without_finish() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.npz");
        std::fs::write(&path, "old").unwrap();
        let store = create(&path, &layout()).unwrap();
        fill(store.as_ref(), &[0, 1]);
        drop(store);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_gap_or_an_overlap_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.npz");
        let store = create(&path, &layout()).unwrap();
        fill(store.as_ref(), &[0, 1, 2, 3]);
        assert!(store.write(0, 11, &[0; 8]).is_err());
        assert!(store.write(0, 14, &[0; 8]).is_err());
        assert!(store.finish().unwrap_err().to_string().contains("48 of 60 bytes"));
        assert!(!path.exists());
    }

    #[test]
    fn bad_targets_are_reported_before_anything_is_computed() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/r.npz");
        let text = create(&missing, &layout()).err().unwrap().to_string();
        assert!(text.contains("no"), "{text}");
        let text = create(&folder.path().join("r.csv"), &layout()).err().unwrap().to_string();
        assert!(text.contains(".npz or .zarr"), "{text}");
        let mut huge = layout();
        huge[0].dimensions[0].1 = 1 << 50;
        let text = create(&folder.path().join("r.npz"), &huge).err().unwrap().to_string();
        assert!(text.contains("are free there"), "{text}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
