//! Many URLs in one buffer, as a column of a table holds them.

use super::canonical::Canonical;
use super::normalizer::Normalizer;
use super::outcome::{Outcome, Reject};
use crate::record::Span;
use crate::scan::{Lead, Vector, Work, is_clean_by_ladder};

/// The canonical forms of a column: values back to back, and where each one ends.
///
/// This is the layout of an Arrow `Binary` or `Utf8` array. Reuse one from column to column.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The canonical URLs, one behind the other.
    pub values: Vec<u8>,
    /// Value `i` is `values[offsets[i]..offsets[i + 1]]`; one more entry than there are URLs.
    pub offsets: Vec<u32>,
    /// What became of each URL. The value of a rejected one is empty.
    pub outcomes: Vec<Outcome>,
}

impl Batch {
    /// The bytes of value `i`, empty for a rejected URL.
    ///
    /// # Panics
    ///
    /// When there is no value `i`.
    pub fn value(&self, i: usize) -> &[u8] {
        &self.values[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }
}

/// A column whose offsets do not describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadOffsets {
    /// Index of the first offset that lies behind the values or before its predecessor, or where the
    /// output no longer fits 32-bit offsets.
    pub at: usize,
}

impl std::fmt::Display for BadOffsets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "offset {} does not fit the values of this column", self.at)
    }
}

impl std::error::Error for BadOffsets {}

/// Buffers of [`Normalizer::for_each`], reused from call to call.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    clean: Vec<u64>,
    url: Vec<u8>,
}

/// What [`Normalizer::for_each`] does where nothing acts but the ladder: proof and rewriting in one
/// loop, so that a dirty URL costs no call and is not guessed wrong twice.
struct ForEach<'a, F> {
    normalizer: &'a Normalizer,
    bytes: &'a [u8],
    spans: &'a [Span],
    url: &'a mut Vec<u8>,
    visit: F,
}

impl<F: FnMut(usize, Result<Canonical<'_>, Reject>)> Work for ForEach<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(mut self, vector: V) {
        for (i, span) in self.spans.iter().enumerate() {
            if is_clean_by_ladder(vector, self.bytes, *span) {
                (self.visit)(i, Ok(Canonical::new(span.of(self.bytes))));
                continue;
            }
            self.url.clear();
            let range = span.start as usize..span.end as usize;
            let rewrite = self.normalizer.rewrite_of(Lead::Absolute, self.bytes, &range, self.url);
            let result = match rewrite.run(vector) {
                true => Ok(()),
                false => self.normalizer.rewrite_by_steps(self.bytes, range, self.url),
            };
            (self.visit)(i, result.map(|()| Canonical::new(self.url)));
        }
    }
}

impl Normalizer {
    /// Calls `visit` with the canonical form of each URL `spans[i]` of `bytes`, in order: the fastest
    /// way through many URLs, since clean ones are handed over where they stand.
    ///
    /// ```
    /// use uniqurl::{Backend, Normalizer, Profile, Scratch, scan};
    ///
    /// let crawl = Normalizer::new(&Profile::CRAWL);
    /// let list = b"http://a.com/b\nHTTP://A.com/%62\nx\n";
    /// let mut lines = Vec::new();
    /// scan::lines(Backend::best(), list, &mut lines);
    /// let mut canonical = Vec::new();
    /// crawl.for_each(list, &lines, &mut Scratch::default(), |_, url| {
    ///     canonical.extend(url.map(|url| url.as_bytes().to_vec()));
    /// });
    /// assert_eq!(canonical, [b"http://a.com/b", b"http://a.com/b"]);
    /// ```
    ///
    /// # Panics
    ///
    /// When a span lies outside `bytes`.
    pub fn for_each(
        &self,
        bytes: &[u8],
        spans: &[Span],
        scratch: &mut Scratch,
        mut visit: impl FnMut(usize, Result<Canonical<'_>, Reject>),
    ) {
        if self.rules_alone_act() {
            let url = &mut scratch.url;
            return self.kernel().run(ForEach { normalizer: self, bytes, spans, url, visit });
        }
        scratch.clean.clear();
        self.clean(bytes, spans, &mut scratch.clean);
        for (word, group) in spans.chunks(64).enumerate() {
            let clean = scratch.clean[word];
            for (i, span) in group.iter().enumerate() {
                let url = span.of(bytes);
                if clean >> i & 1 == 1 {
                    visit(word * 64 + i, Ok(Canonical::new(url)));
                    continue;
                }
                scratch.url.clear();
                let range = span.start as usize..span.end as usize;
                let result = self.rewrite_in(bytes, range, &mut scratch.url);
                visit(word * 64 + i, result.map(|()| Canonical::new(&scratch.url)));
            }
        }
    }

    /// Normalizes a column: URL `i` is `values[offsets[i]..offsets[i + 1]]`. `out` is overwritten.
    ///
    /// ```
    /// use uniqurl::{Batch, Normalizer, Outcome, Profile};
    ///
    /// let crawl = Normalizer::new(&Profile::CRAWL);
    /// let mut out = Batch::default();
    /// crawl.normalize_batch(b"http://a.com/HTTP://B.com", &[0, 13, 25], &mut out).unwrap();
    /// assert_eq!(out.value(0), b"http://a.com/");
    /// assert_eq!(out.value(1), b"http://b.com/");
    /// assert_eq!(out.outcomes, [Outcome::Canonical; 2]);
    /// ```
    ///
    /// # Errors
    ///
    /// The offsets do not ascend, lie behind the values, or the canonical forms together pass 4 GiB.
    pub fn normalize_batch(
        &self,
        values: &[u8],
        offsets: &[u32],
        out: &mut Batch,
    ) -> Result<(), BadOffsets> {
        out.values.clear();
        out.offsets.clear();
        out.outcomes.clear();
        out.offsets.push(0);
        let spans: Vec<Span> =
            offsets.windows(2).map(|pair| Span { start: pair[0], end: pair[1] }).collect();
        let fits = |span: &Span| span.start <= span.end && span.end as usize <= values.len();
        if let Some(at) = spans.iter().position(|span| !fits(span)) {
            return Err(BadOffsets { at: at + 1 });
        }
        let mut overflow = None;
        self.for_each(values, &spans, &mut Scratch::default(), |i, url| {
            let outcome = match url {
                Ok(url) => {
                    out.values.extend_from_slice(url.as_bytes());
                    Outcome::Canonical
                }
                Err(reject) => Outcome::Reject(reject),
            };
            out.outcomes.push(outcome);
            match u32::try_from(out.values.len()) {
                Ok(end) => out.offsets.push(end),
                Err(_) => overflow = overflow.or(Some(i + 1)),
            }
        });
        overflow.map_or(Ok(()), |at| Err(BadOffsets { at }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn offsets_that_fit_no_column_are_refused_by_their_index() {
        let crawl = Normalizer::new(&Profile::CRAWL);
        let values = b"http://h/http://h/";
        let columns: [(&[u32], _); 6] = [
            (&[0, 9, 18], None),
            (&[0, 0, 9, 9], None),
            (&[0, 19], Some(1)),
            (&[9, 0], Some(1)),
            (&[0, 9, 19], Some(2)),
            (&[0, 9, 18, 17], Some(3)),
        ];
        for (offsets, at) in columns {
            let mut out = Batch::default();
            let result = crawl.normalize_batch(values, offsets, &mut out);
            assert_eq!(result.err().map(|bad| bad.at), at, "{offsets:?}");
        }
        let told = BadOffsets { at: 3 }.to_string();
        assert_eq!(told, "offset 3 does not fit the values of this column");
    }
}
