//! The scanner that was chosen, and the way into its vector code.

use std::marker::PhantomData;
use std::ops::Range;

use super::lines::Lines;
use super::loops::{
    CleanEach, Each, FastPathEach, FastPathResult, IsClean, IsVerbatim, OneFastPath, SpanBatch,
    VerbatimEach, Visitor,
};
use super::masked_url::FastPath;
use super::rules::Rules;
use super::vector::VectorOp;
use super::{Backend, scalar};
use crate::bytes::Span;

/// A backend that this CPU is known to have: only `Kernel::new` makes one, and it asks the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Backend);

/// What is read: it decides where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UrlKind {
    /// A URL, or whatever stands in its place in a list; the scanner proves those clean that start with
    /// `http://` or `https://` and a host.
    Absolute,
    /// A request target whose host is not known. It starts with a slash.
    Target,
}

impl Kernel {
    /// The kernel of this backend, if the CPU has it.
    pub(crate) fn new(backend: Backend) -> Option<Self> {
        backend.is_available().then_some(Self(backend))
    }

    pub(crate) fn scalar() -> Self {
        Self(Backend::Scalar)
    }

    /// The last available one: they are listed slowest first.
    pub fn best() -> Self {
        Backend::ALL
            .iter()
            .rev()
            .find_map(|backend| Self::new(*backend))
            .unwrap_or_else(Self::scalar)
    }

    pub(crate) fn backend(self) -> Backend {
        self.0
    }

    /// See [`super::lines`].
    pub fn lines(self, bytes: &[u8], out: &mut Vec<Span>) {
        assert!(u32::try_from(bytes.len()).is_ok(), "a chunk is smaller than 4 GiB");
        self.run(Lines { bytes, out });
    }

    /// Does something about each URL, by whether it is proven clean.
    ///
    /// # Panics
    ///
    /// When a span lies outside `bytes`.
    #[inline(always)]
    pub(crate) fn clean_each<R: Rules>(self, batch: SpanBatch<'_>, visitor: impl Visitor) {
        self.run(CleanEach { batch, visitor, rules: PhantomData::<R> });
    }

    /// Does something about each URL, by whether it is a single line that is not blank.
    ///
    /// # Panics
    ///
    /// When a span lies outside `bytes`.
    #[inline(always)]
    pub(crate) fn verbatim_each(self, batch: SpanBatch<'_>, visitor: impl Visitor) {
        self.run(VerbatimEach { batch, visitor });
    }

    /// Does something about each URL, by what `is_clean` says of it.
    ///
    /// # Panics
    ///
    /// When a span lies outside `bytes`.
    #[inline(always)]
    pub(crate) fn each(
        self,
        batch: SpanBatch<'_>,
        is_clean: impl Fn(&Span) -> bool,
        visitor: impl Visitor,
    ) {
        self.run(Each { batch, is_clean, visitor });
    }

    /// Whether the URL or target `bytes[range]` is proven clean. What stands behind it in `bytes` saves
    /// a copy, and changes nothing.
    ///
    /// # Panics
    ///
    /// When the range lies outside `bytes`.
    #[inline]
    pub(crate) fn is_clean<R: Rules>(
        self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
    ) -> bool {
        let Range { start, end } = range;
        if u32::try_from(end - start).is_err() {
            return false;
        }
        self.run(IsClean { bytes, start, end, kind, rules: PhantomData::<R> })
    }

    /// Whether `bytes[range]` is a single line that is not blank.
    ///
    /// # Panics
    ///
    /// When the range lies outside `bytes`.
    #[inline]
    pub(crate) fn is_verbatim(self, bytes: &[u8], range: Range<usize>) -> bool {
        let Range { start, end } = range;
        self.run(IsVerbatim { bytes, start, end })
    }

    /// Whether the URL or target `bytes[range]` is proven clean, and whether the fast path finishes it.
    ///
    /// # Panics
    ///
    /// When the range lies outside `bytes`.
    #[inline]
    pub(crate) fn fast_path<R: Rules>(
        self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        fast_path: impl FastPath,
    ) -> FastPathResult {
        let Range { start, end } = range;
        if u32::try_from(end - start).is_err() {
            return FastPathResult::Unclean;
        }
        self.run(OneFastPath { bytes, start, end, kind, fast_path, rules: PhantomData::<R> })
    }

    /// Does something about each URL, by whether it is proven clean and the fast path finishes it.
    /// `is_clean` decides about a clean URL that it does not finish.
    ///
    /// # Panics
    ///
    /// When a span lies outside `bytes`.
    #[inline(always)]
    pub(crate) fn fast_path_each<R: Rules>(
        self,
        batch: SpanBatch<'_>,
        fast_path: impl FastPath + Copy,
        is_clean: impl Fn(&[u8], FastPathResult) -> bool,
        visitor: impl Visitor,
    ) {
        self.run(FastPathEach { batch, fast_path, is_clean, visitor, rules: PhantomData::<R> });
    }

    /// Does `work` with the chosen instruction set.
    #[inline]
    pub fn run<W: VectorOp>(self, work: W) -> W::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Kernel` of this backend exists only if the CPU has it (`Kernel::new`).
            Backend::Sse42 => unsafe { super::sse42::run(work) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Backend::Avx2 => unsafe { super::avx2::run(work) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Backend::Avx512 => unsafe { super::avx512::run(work) },
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            // SAFETY: as above.
            Backend::Neon => unsafe { super::neon::run(work) },
            _ => scalar::run(work),
        }
    }
}
