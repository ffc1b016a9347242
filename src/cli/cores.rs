//! How many cores there are.

/// Cores that this process may use; one where the system does not say.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
