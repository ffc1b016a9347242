//! The selected scanner, and its entry points into the vector code.

use std::ops::Range;
use std::sync::OnceLock;

use super::lines::Lines;
use super::loops::{Each, Judge, One, SpanBatch, Visitor};
use super::vector::VectorOp;
use super::{Backend, scalar};
use crate::bytes::Span;

/// A backend that this CPU supports. Only `Kernel::new` makes one, after asking the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Backend);

impl Kernel {
    /// Returns the kernel of `backend`, if the CPU has it.
    pub(crate) fn new(backend: Backend) -> Option<Self> {
        backend.is_available().then_some(Self(backend))
    }

    pub(crate) fn scalar() -> Self {
        Self(Backend::Scalar)
    }

    /// Returns the fastest available kernel. Backends are listed slowest first.
    pub fn best() -> Self {
        // Asking the CPU takes as long as a short URL.
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| {
            let mut fastest_first = Backend::ALL.iter().rev();
            fastest_first.find_map(|backend| Self::new(*backend)).unwrap_or_else(Self::scalar)
        })
    }

    pub(crate) fn backend(self) -> Backend {
        self.0
    }

    /// True if [`Vector::padded`](super::Vector::padded) is fast.
    pub(crate) fn pads(self) -> bool {
        self.0 == Backend::Avx512
    }

    /// Appends the lines of `bytes`. See [`super::lines`].
    pub fn lines(self, bytes: &[u8], out: &mut Vec<Span>) {
        // A span has 32 bits for an offset.
        assert!(u32::try_from(bytes.len()).is_ok(), "a chunk is smaller than 4 GiB");
        self.run(Lines { bytes, out });
    }

    /// Decides about the URL or target `bytes[range]`. Bytes of `bytes` after the range save a copy, but
    /// do not change the result.
    ///
    /// # Panics
    ///
    /// When the range lies outside `bytes`.
    #[inline]
    pub(crate) fn judge<J: Judge>(self, bytes: &[u8], range: Range<usize>, judge: J) -> J::Verdict {
        self.run(One { bytes, range, judge })
    }

    /// Visits each URL and passes the decision about it.
    ///
    /// # Panics
    ///
    /// When a span lies outside `bytes`.
    #[inline(always)]
    pub(crate) fn judge_each(
        self,
        batch: SpanBatch<'_>,
        judge: impl Judge<Verdict = bool> + Copy,
        visitor: impl Visitor,
    ) {
        self.run(Each { batch, judge, visitor });
    }

    /// Runs `work` with the selected instruction set.
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
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Backend::Wasm => super::wasm::run(work),
            Backend::Scalar => scalar::run(work),
            // Backends of other architectures, which `new` never makes. They are named, so that a new backend
            // without a line here does not compile.
            #[cfg(not(target_arch = "x86_64"))]
            Backend::Sse42 | Backend::Avx2 | Backend::Avx512 => scalar::run(work),
            #[cfg(not(all(target_arch = "aarch64", target_endian = "little")))]
            Backend::Neon => scalar::run(work),
            #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
            Backend::Wasm => scalar::run(work),
        }
    }
}
