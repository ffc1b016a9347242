//! The sizes that allocators hand out.

/// Rounds a length up to the allocator's size class: four per power of two.
pub(crate) fn allocated(length: usize) -> usize {
    length.next_multiple_of((length.next_power_of_two() / 8).max(16))
}
