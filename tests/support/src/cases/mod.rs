//! The number of cases, and their seed.
//!
//! `UNIQURL_CASES` is the number of generated URLs for each profile, `UNIQURL_SEED` the seed of the
//! first. A failure prints the seed of its one case: with that, and `UNIQURL_CASES=1`, it runs
//! alone.

use proptest::test_runner::Config;

use crate::generator::Rng;

/// Generated URLs for each profile. Emulated processors get fewer, and `scripts/prove` draws millions.
pub fn cases() -> u64 {
    let default = if cfg!(target_arch = "aarch64") { 500 } else { 2_000 };
    number_from("UNIQURL_CASES").unwrap_or(default)
}

fn first_seed() -> u64 {
    number_from("UNIQURL_SEED").unwrap_or(0x756E_6971_7572_6C00)
}

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// Runs `test` with a generator for each case, and names the case that fails.
pub fn for_each_case(share: u64, mut test: impl FnMut(&mut Rng)) {
    struct Named(u64);
    impl Drop for Named {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("to run this case first: UNIQURL_SEED={}", self.0);
            }
        }
    }
    for case in 0..cases().div_ceil(share) {
        let named = Named(first_seed().wrapping_add(case));
        test(&mut Rng::new(named.0));
    }
}

/// The same number of cases for properties, which shrink but are slower.
pub fn of_properties() -> Config {
    Config {
        cases: u32::try_from((cases() / 4).clamp(16, 100_000)).unwrap(),
        // A failure is printed whole, so no file of old failures is kept.
        failure_persistence: None,
        ..Config::default()
    }
}
