//! How many cases the tests of the modules draw.

/// `most`, and fewer on other processors than x86-64, which are emulated as a rule, in an interpreter, and
/// where `UNIQURL_CASES` says so, whose default is 20,000.
pub(crate) fn cases(most: usize) -> usize {
    if cfg!(miri) {
        return (most / 4000).max(8);
    }
    let asked = std::env::var("UNIQURL_CASES").map_or(20_000, |n| n.parse().expect("a number"));
    let most = if cfg!(target_arch = "x86_64") { most } else { most.min(5_000) };
    most.min(asked * 10)
}
