//! Vector code: where the lines of a chunk end, which URLs are proven clean, and a hash (`vaes`).
//!
//! The plain loop, for a URL that starts with `http://` or `https://`:
//!
//! ```text
//! skip the host: every byte in CLEAN_HOST, at least one, the last no dot
//! the next byte is a slash
//! every byte from there on is in CLEAN_TAIL, and no dot follows a slash
//! every percent sign starts a triplet that stays as it is
//! ```
//!
//! A URL that passes is its own normal form by RFC 3986, so there is nothing to write. Other rules have
//! sets of their own (`rules`): the loop is compiled for each. The kernels prove it 64 bytes at a time, from
//! four bit masks a block: bytes outside CLEAN_HOST, bytes outside CLEAN_TAIL (percent signs are),
//! slashes, dots. Nearly every URL fits into two blocks, which are checked unconditionally, so its
//! length costs no branch.
//!
//! A caller with more rules than the proof implements `FastPath` (`masked_url`). The masks of slashes
//! and question marks and the first and last bytes nearly always show that nothing is left to do, or
//! give the text to write. Bytes that such rules usually change should be left out of CLEAN_TAIL, which
//! costs nothing.
//!
//! Scalar decides and vector accelerates: an instruction set loads a block, compares it with a byte and
//! looks it up in a set (`Lanes`). The masks from that are bit-identical ([`Vector`]), and all share the
//! code that uses them (`proof`, `loops`). A canonical URL may be reported as dirty, which costs time. A
//! dirty URL reported as clean would be a bug.
//!
//! To add an instruction set: add one file with an implementation of `Lanes` and `Vector` and a `run`; in
//! [`Backend`] its variant, its place in `ALL` (the slowest first: `best` takes the last that the CPU has), its name
//! and its test; and its arm in `Kernel::run`.
//!
//! This module is the only one with unsafe code. Most of it has one of two reasons:
//!
//! - An intrinsic may run only on a CPU that has it. `Kernel::new` asks the CPU, `Kernel::run` calls the
//!   `run` of that backend, and only there a value of the backend is made. Each method of such a value
//!   relies on that. Helper functions are safe: `target_feature` makes their callers promise the CPU.
//! - A load or store goes through a pointer. It is made from a reference to an array of the same size.
#![allow(unsafe_code)]

mod block;
mod url_kind;
mod masked_url;
mod kernel;
mod line_ends;
mod lines;
mod loops;
mod proof;
mod rules;
mod scalar;
mod vector;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
// On big-endian Arm the lanes come in another order, which nobody has tried, so it has
// the scalar backend.
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg(target_arch = "x86_64")]
mod sse42;
#[cfg(target_arch = "x86_64")]
mod vaes;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;

mod output_buffer;
mod prefetch;
#[cfg(test)]
pub(crate) mod tests;

use crate::bytes::Span;
use crate::bytes::names::by_name;

pub use block::{BLOCK, Block, up_to};
pub use kernel::Kernel;
#[cfg(test)]
pub(crate) use loops::Bits;
pub use loops::SpanBatch;
pub(crate) use loops::{ByFastPath, ByFastPathOr, Clean, FastPathResult, Plain, Verbatim, Visitor};
pub(crate) use masked_url::{FastPath, MaskedUrl, Slashes};
pub(crate) use output_buffer::OutputBuffer;
pub use prefetch::prefetch;
pub(crate) use rules::{Query, Rfc3986, Rules, all_bits, query_of};
pub use url_kind::UrlKind;
#[cfg(target_arch = "x86_64")]
pub(crate) use vaes::Vaes;
pub use vector::{Survey, Vector, VectorOp};

/// An instruction set that the scanner can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Plain Rust, on every processor. It defines the results.
    Scalar,
    /// x86-64 with SSE4.2.
    Sse42,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 F, BW, VBMI and VBMI2, as Intel has had since Ice Lake, AMD since Zen 4.
    Avx512,
    /// aarch64 with NEON.
    Neon,
    /// WebAssembly with `simd128`, if the library is compiled for it.
    Wasm,
}

impl Backend {
    /// Every backend, including those of other processors.
    pub const ALL: &'static [Backend] = &[
        Backend::Scalar,
        Backend::Sse42,
        Backend::Avx2,
        Backend::Avx512,
        Backend::Neon,
        Backend::Wasm,
    ];

    /// The name, as `--backend` of the command takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Scalar => "scalar",
            Backend::Sse42 => "sse4.2",
            Backend::Avx2 => "avx2",
            Backend::Avx512 => "avx512",
            Backend::Neon => "neon",
            Backend::Wasm => "wasm",
        }
    }

    /// The backends that this CPU can run, slowest first.
    pub fn available() -> Vec<Backend> {
        Self::ALL.iter().copied().filter(|backend| backend.is_available()).collect()
    }

    /// The fastest backend that this CPU can run.
    pub fn best() -> Backend {
        Kernel::best().backend()
    }

    /// True if this CPU can run it.
    pub fn is_available(self) -> bool {
        match self {
            Backend::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Backend::Sse42 => is_x86_feature_detected!("sse4.2"),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx2 => has_bmi() && is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => {
                has_bmi()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Backend::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Backend::Wasm => true,
            #[allow(unreachable_patterns, reason = "other processors have other arms")]
            _ => false,
        }
    }
}

by_name!(Backend "backend");

/// Appends a span for each line of `bytes`, without its LF or CRLF. A last line without a line end
/// counts.
///
/// Uses the scalar backend if this CPU lacks `backend`.
///
/// ```
/// use uniqurl::internal::{self, Backend, Span};
///
/// let mut lines = Vec::new();
/// internal::lines(Backend::best(), b"a\r\n\nbc", &mut lines);
/// assert_eq!(lines, [(0, 1), (3, 3), (4, 6)].map(|(start, end)| Span { start, end }));
/// ```
///
/// # Panics
///
/// If `bytes` holds 4 GiB or more.
pub fn lines(backend: Backend, bytes: &[u8], out: &mut Vec<Span>) {
    Kernel::new(backend).unwrap_or_else(Kernel::scalar).lines(bytes, out);
}

/// True if the CPU has the bit manipulation that compilers use together with AVX2 and AVX-512. Every
/// known CPU with those has it, but emulators can be configured without.
#[cfg(target_arch = "x86_64")]
fn has_bmi() -> bool {
    is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}
