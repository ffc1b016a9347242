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
/// A few chunks are on their way for each of them, so with more of them than cores, chunks leave the caches before
/// their next stage: two for each core take 1.3 times the CPU time of one. One core has two, since a thread that
/// waits for a disk or a slow output leaves its core to the other.
pub fn most_workers(cores: usize) -> usize {
    cores.max(2)
}

#[cfg(test)]
mod tests {
    use super::{most_threads, most_workers};

    #[test]
    fn every_core_has_a_worker_and_a_single_core_two() {
        assert_eq!([1, 2, 8, 64].map(most_workers), [2, 2, 8, 64]);
    }

    #[test]
    fn at_least_64_threads_are_allowed_and_more_by_the_number_of_cores() {
        assert_eq!([1, 2, 4, 8, 64].map(most_threads), [64, 64, 64, 128, 1024]);
    }
}
