//! Fetches a cache line before it is needed.

/// Fetches the cache line of `slice[i]` in the background; an index outside the slice is ignored.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], i: usize) {
    let Some(item) = slice.get(i) else { return };
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86-64, and a prefetch of any address is no access; this one is that
        // of a live reference besides.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
