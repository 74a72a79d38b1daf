//! Results in memory, for callers that want arrays and not files.

use super::{ArraySpec, Content, ElementType, OutputError, Store};
use std::sync::{Arc, Mutex, PoisonError};

/// Streamed arrays in memory, widened to 64 bits; NaN where nothing was written yet.
///
/// A clone shows the same arrays, so that they can be read after [`Store::finish`].
#[derive(Clone, Debug)]
pub struct MemoryStore {
    arrays: Arc<Vec<Mutex<Vec<f64>>>>,
    elements: Arc<Vec<Option<ElementType>>>,
}

impl MemoryStore {
    /// Takes memory for the streamed arrays of a layout.
    pub fn create(layout: &[ArraySpec]) -> Self {
        let element = |spec: &ArraySpec| match spec.content {
            Content::Streamed(element) => Some(element),
            _ => None,
        };
        let array = |spec: &ArraySpec| {
            let count = element(spec).map_or(0, |_| spec.elements() as usize);
            Mutex::new(vec![f64::NAN; count])
        };
        Self {
            arrays: Arc::new(layout.iter().map(array).collect()),
            elements: Arc::new(layout.iter().map(element).collect()),
        }
    }

    /// Takes array `array` (its place in the layout) out of the store.
    pub fn take(&self, array: usize) -> Vec<f64> {
        let mut values = self.arrays[array].lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *values)
    }
}

impl Store for MemoryStore {
    fn write(&self, array: usize, first: u64, bytes: &[u8]) -> Result<(), OutputError> {
        let values: Vec<f64> = match self.elements[array] {
            Some(ElementType::F32) => {
                bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b).into()).collect()
            }
            Some(ElementType::F64) => {
                bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
            }
            Some(ElementType::I64) => {
                bytes.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b) as f64).collect()
            }
            None => Vec::new(),
        };
        let mut whole = self.arrays[array].lock().unwrap_or_else(PoisonError::into_inner);
        let first = first as usize;
        let Some(part) = whole.get_mut(first..first + values.len()) else {
            let what = format!("elements from {first} on are outside it");
            return Err(OutputError::Incomplete { array: array.to_string(), what });
        };
        part.copy_from_slice(&values);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), OutputError> {
        Ok(())
    }
}
