//! Normalizes a column of URLs, as tables store them.

use crate::bytes::{Reject, Span};
use crate::normalize::lines::Scratch;
use crate::normalize::normalizer::Normalizer;

/// The canonical forms of a column: concatenated values, and their offsets.
///
/// Up to 2 GiB of values this is the layout of an Arrow `Binary` or `Utf8` array, whose offsets have a sign.
/// Reuse one from column to column.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The canonical URLs, concatenated.
    pub values: Vec<u8>,
    /// Value `i` is `values[offsets[i]..offsets[i + 1]]`; one more entry than there are URLs, once a column
    /// was normalized.
    pub offsets: Vec<u32>,
    /// Whether each URL has a canonical form. The value of a rejected one is empty.
    pub outcomes: Vec<Result<(), Reject>>,
}

impl Batch {
    /// The bytes of value `i`, empty for a rejected URL.
    ///
    /// # Panics
    ///
    /// If there is no value `i`.
    pub fn value(&self, i: usize) -> &[u8] {
        &self.values[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }
}

/// URLs that are normalized before the next look at the size of the output.
const PIECE: usize = 4096;

/// The error for a column with invalid offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadOffsets {
    /// Index of the first offset that is past the end of the values or less than its predecessor, or at
    /// which the output no longer fits 32-bit offsets.
    pub at: usize,
}

impl std::fmt::Display for BadOffsets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "offset {} does not fit the values of this column, or its canonical forms",
            self.at
        )
    }
}

impl std::error::Error for BadOffsets {}

impl Normalizer {
    /// Normalizes a column: URL `i` is `values[offsets[i]..offsets[i + 1]]`. `out` is overwritten.
    ///
    /// ```
    /// use uniqurl::{Batch, Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// let mut out = Batch::default();
    /// crawl.normalize_batch(b"http://a.com/HTTP://B.com", &[0, 13, 25], &mut out)?;
    /// assert_eq!(out.value(0), b"http://a.com/");
    /// assert_eq!(out.value(1), b"http://b.com/");
    /// assert_eq!(out.outcomes, [Ok(()); 2]);
    /// # Ok::<(), uniqurl::BadOffsets>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The offsets do not ascend, an offset is past the end of the values, or the canonical forms together
    /// exceed 4 GiB. The contents of `out` are then unspecified.
    pub fn normalize_batch(
        &self,
        values: &[u8],
        offsets: &[u32],
        out: &mut Batch,
    ) -> Result<(), BadOffsets> {
        self.fill(values, offsets, out, u32::MAX)
    }

    /// [`Self::normalize_batch`] for at most so many bytes of canonical forms.
    fn fill(
        &self,
        values: &[u8],
        offsets: &[u32],
        out: &mut Batch,
        most: u32,
    ) -> Result<(), BadOffsets> {
        out.values.clear();
        out.offsets.clear();
        out.outcomes.clear();
        out.offsets.push(0);
        // Checked before anything is written, so that no form is lost to a later offset.
        let mut before = 0;
        for (at, &offset) in offsets.iter().enumerate() {
            if offset < before || offset as usize > values.len() {
                return Err(BadOffsets { at });
            }
            before = offset;
        }
        let spans: Vec<Span> =
            offsets.windows(2).map(|pair| Span { start: pair[0], end: pair[1] }).collect();
        let mut scratch = Scratch::default();
        // A column that does not fit could otherwise grow to nine times its size before the error.
        for piece in spans.chunks(PIECE) {
            let mut fits = true;
            self.for_each(values, piece, &mut scratch, |_, url| {
                let url = url.map(|url| url.as_bytes());
                let end = out.values.len() + url.map_or(0, <[u8]>::len);
                // The loop cannot be stopped from here, so whatever follows the first form without
                // room is passed over.
                fits &= end <= most as usize;
                if !fits {
                    return;
                }
                out.values.extend_from_slice(url.unwrap_or_default());
                out.offsets.push(end as u32);
                out.outcomes.push(url.map(|_| ()));
            });
            if !fits {
                return Err(BadOffsets { at: out.offsets.len() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    #[test]
    fn nothing_is_written_after_the_url_that_does_not_fit() {
        let crawl = Normalizer::new(Profile::Crawl);
        let count = 2 * PIECE;
        let values = b"http://h/".repeat(count);
        let offsets: Vec<u32> = (0..=count as u32).map(|i| 9 * i).collect();
        for fitting in [0, 1, PIECE - 1, PIECE, PIECE + 1, count] {
            for more in [0, 8] {
                let mut out = Batch::default();
                let result = crawl.fill(&values, &offsets, &mut out, (9 * fitting + more) as u32);
                let at = (fitting < count).then_some(fitting + 1);
                assert_eq!(result.err().map(|bad| bad.at), at);
                assert_eq!((out.values.len(), out.outcomes.len()), (9 * fitting, fitting));
            }
        }
    }

    #[test]
    fn error_for_bad_offsets_holds_their_index() {
        let crawl = Normalizer::new(Profile::Crawl);
        let values = b"http://h/http://h/";
        let columns: [(&[u32], _); 10] = [
            (&[0, 9, 18], None),
            (&[0, 0, 9, 9], None),
            (&[0, 19], Some(1)),
            (&[9, 0], Some(1)),
            (&[0, 9, 19], Some(2)),
            (&[0, 9, 18, 17], Some(3)),
            (&[], None),
            (&[18], None),
            (&[19], Some(0)),
            (&[19, 20], Some(0)),
        ];
        for (offsets, at) in columns {
            let mut out = Batch::default();
            let result = crawl.normalize_batch(values, offsets, &mut out);
            assert_eq!(result.err().map(|bad| bad.at), at, "{offsets:?}");
        }
        let told = BadOffsets { at: 3 }.to_string();
        assert_eq!(told, "offset 3 does not fit the values of this column, or its canonical forms");
    }
}
