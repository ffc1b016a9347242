//! How many cores there are, and how many threads they can serve.

/// Cores that this process may use; one where the system does not say.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The number of threads that find work on `cores` cores.
///
/// Threads that wait look at each other for work before they sleep, so the time that they take to start
/// grows with the square of their number. On two cores 64 take 20 ms, 250 take 0.14 s, and 1,000 take 9 s.
pub fn most_threads(cores: usize) -> usize {
    (16 * cores).max(64)
}

/// The number of threads that compute on `cores` cores; the others of a run wait for inputs.
///
/// A round takes a few chunks for each of them, and each has buffers, so more of them cost memory and switches:
/// on two cores 64 took three times as long as two for 1 MB, and 150 MB in place of 38.
pub fn most_workers(cores: usize) -> usize {
    (2 * cores).max(4)
}

#[cfg(test)]
mod tests {
    use super::{most_threads, most_workers};

    #[test]
    fn every_core_has_two_workers() {
        assert_eq!([1, 2, 8, 64].map(most_workers), [4, 4, 16, 128]);
    }

    #[test]
    fn at_least_64_threads_are_allowed_and_more_by_the_number_of_cores() {
        assert_eq!([1, 2, 4, 8, 64].map(most_threads), [64, 64, 64, 128, 1024]);
    }
}
