//! Many URLs at once.

use library::{Canonical, Reject};
use wasm_bindgen::prelude::*;

/// What became of the lines of a piece of a list. One serves for all pieces, so that it stays in the cache.
#[wasm_bindgen]
#[derive(Default)]
pub struct Batch {
    values: Vec<u8>,
    /// Where each value ends, counted from the first value of the list.
    ends: Vec<u32>,
    /// Bytes of the values of the pieces before.
    before: usize,
    /// 0, or one more than the place of the code in the list of all.
    rejects: Vec<u8>,
    /// 1 for what a set did not hold before.
    pub(crate) added: Vec<u8>,
}

#[wasm_bindgen]
impl Batch {
    /// An empty batch.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// The address of the canonical URLs, one after the other.
    pub fn values(&self) -> usize {
        self.values.as_ptr() as usize
    }

    /// Bytes of the values.
    pub fn size(&self) -> usize {
        self.values.len()
    }

    /// Where each value ends.
    pub fn ends(&self) -> Vec<u32> {
        self.ends.clone()
    }

    /// The code of each rejected line.
    pub fn rejects(&self) -> Vec<u8> {
        self.rejects.clone()
    }

    /// Which lines were new to a set.
    pub fn added(&self) -> Vec<u8> {
        self.added.clone()
    }
}

impl Batch {
    /// Begins the next piece.
    pub(crate) fn next(&mut self) {
        self.before += self.values.len();
        self.values.clear();
        self.ends.clear();
        self.rejects.clear();
        self.added.clear();
    }

    #[inline]
    pub(crate) fn push(&mut self, url: Result<Canonical<'_>, Reject>) {
        match url {
            Ok(url) => self.push_bytes(url.as_bytes(), 0),
            Err(reject) => self.push_bytes(&[], reject.code as u8 + 1),
        }
    }

    #[inline]
    pub(crate) fn push_bytes(&mut self, value: &[u8], reject: u8) {
        // Engines call a function for this, but a loop over chunks of 16 bytes takes 20 ns more for a URL.
        self.values.extend_from_slice(value);
        // A list whose values have 4 GiB or more is refused.
        self.ends.push((self.before + self.values.len()) as u32);
        self.rejects.push(reject);
    }
}
