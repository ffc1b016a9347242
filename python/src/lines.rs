//! The lines of a set as a column.

use std::collections::HashMap;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{ArrayRef, LargeBinaryArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use pyo3::PyResult;

use crate::values::{self, fault};

/// Values back to back. It is written to as lines, in parts of any size.
#[derive(Default)]
pub struct Lines {
    /// Set once it takes no more.
    stop: Arc<AtomicBool>,
    values: Vec<u8>,
    ends: Vec<i64>,
}

impl Lines {
    /// Starts empty, and accepts nothing more once `stop` is set.
    pub fn until(stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..Self::default() }
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub fn push(&mut self, value: &[u8]) {
        self.values.extend_from_slice(value);
        self.ends.push(self.values.len() as i64);
    }

    /// The values in the order of their bytes.
    pub fn sorted(self) -> Self {
        self.ordered(|a, b| a.cmp(b))
    }

    /// The values in the order of their counts, the greatest first, and then of their bytes.
    pub fn sorted_by_count(self, counts: &HashMap<Vec<u8>, u64>) -> Self {
        self.ordered(|a, b| counts.get(b).cmp(&counts.get(a)).then_with(|| a.cmp(b)))
    }

    fn ordered(self, compare: impl Fn(&[u8], &[u8]) -> std::cmp::Ordering) -> Self {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let mut places: Vec<_> = starts.zip(self.ends.iter().copied()).collect();
        let value = |(start, end): (i64, i64)| &self.values[start as usize..end as usize];
        // The values of a set are distinct, so the sort need not be stable.
        places.sort_unstable_by(|a, b| {
            if self.is_stopped() {
                // Only a panic ends a sort early.
                resume_unwind(Box::new("stopped"));
            }
            compare(value(*a), value(*b))
        });
        let mut sorted = Self::default();
        sorted.values.reserve_exact(self.values.len());
        places.into_iter().for_each(|place| sorted.push(value(place)));
        sorted
    }

    /// The column: text, or binary if the values may hold any byte.
    pub fn column(self, is_text: bool) -> PyResult<ArrayRef> {
        let mut offsets = Vec::with_capacity(self.ends.len() + 1);
        offsets.push(0);
        offsets.extend_from_slice(&self.ends);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let values = Buffer::from_vec(self.values);
        let values = LargeBinaryArray::try_new(offsets, values, None).map_err(fault)?;
        values::column(values, is_text)
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_stopped() {
            return Err(io::Error::other("stopped"));
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(line) => self.push(line),
                // The rest of this line comes with the next write, which sets its end.
                None => self.values.extend_from_slice(part),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
