//! The set of canonical URLs.

use library::{Normalizer, UrlSet};
use wasm_bindgen::prelude::*;

use crate::batch::Batch;
use crate::buffers::{Buffers, Outcome};
use crate::rules::Rules;

/// A set, and the rules by which its URLs are the same.
#[wasm_bindgen]
pub struct Set {
    normalizer: Normalizer,
    urls: UrlSet,
    /// Whether the last URL was new.
    is_new: bool,
}

#[wasm_bindgen]
impl Set {
    /// An empty set. The seed has to be random: whoever knows it can find URLs that make the set slow.
    #[wasm_bindgen(constructor)]
    pub fn new(rules: &Rules, seed: u64) -> Self {
        Self { normalizer: rules.normalizer().clone(), urls: UrlSet::seeded(seed), is_new: false }
    }

    /// Adds the URL in the first `bytes` of the input.
    ///
    /// # Errors
    ///
    /// The memory is full; the set is as it was.
    pub fn add(&mut self, buffers: &mut Buffers, bytes: usize) -> Result<i32, JsError> {
        let (url, out) = buffers.of(bytes);
        let canonical = self.normalizer.canonical(url, out);
        if let Ok(canonical) = canonical {
            self.is_new = self.urls.insert(canonical)?;
        }
        let outcome = Outcome::of(canonical, url);
        Ok(buffers.number(outcome))
    }

    /// Whether the last URL that was added was new.
    #[wasm_bindgen(js_name = isNew)]
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Whether the set holds the URL in the first `bytes` of the input. It holds no rejected one.
    pub fn has(&self, buffers: &mut Buffers, bytes: usize) -> bool {
        let (url, out) = buffers.of(bytes);
        self.normalizer.canonical(url, out).is_ok_and(|url| self.urls.contains(url))
    }

    /// Adds the lines of a list.
    ///
    /// # Errors
    ///
    /// The memory is full; the lines before that were added.
    #[wasm_bindgen(js_name = addBatch)]
    pub fn add_batch(&mut self, lines: &[u8], batch: &mut Batch) -> Result<(), JsError> {
        let mut full = None;
        batch.next();
        self.normalizer.lines(lines).for_each(|url| {
            let is_new = match url {
                Ok(url) if full.is_none() => self.urls.insert(url).unwrap_or_else(|error| {
                    full = Some(error);
                    false
                }),
                _ => false,
            };
            batch.added.push(is_new.into());
            batch.push(url);
        });
        full.map_or(Ok(()), |full| Err(full.into()))
    }

    /// The number of URLs.
    pub fn size(&self) -> usize {
        self.urls.len()
    }

    /// The URLs, in no particular order.
    pub fn urls(&self) -> Batch {
        let mut batch = Batch::new();
        self.urls.iter().for_each(|url| batch.push_bytes(url, 0));
        batch
    }
}
