//! The entry of the engine: does the job of a plan, on threads of its own.

use crate::accounts::Accounts;
use crate::error::RunError;
use crate::pipeline::Pipeline;
use crate::plan::JobPlan;
use crate::report::Report;
use crate::sink::Sinks;
use crate::watch::Watch;
use uniqurl::internal::HashKey;
#[cfg(test)]
use uniqurl::internal::alloc::failing;
use uniqurl_formats::input::Input;

/// Does the job of a plan: reads the inputs, and writes to the sinks.
///
/// The report is complete even if the run fails. Spilled records stay undecided until the end. Time is linear in the
/// bytes read, memory in those of the distinct URLs, up to
/// [`ResourceLimits::memory`](crate::ResourceLimits::memory).
///
/// # Errors
///
/// An input that cannot be read, unless [`InputOptions::keep_going`](crate::InputOptions::keep_going)
/// allows to give it up; a list of [`InputOptions::seen`](crate::InputOptions::seen) that cannot be used; a
/// store that cannot be read or written; an output or a temporary file that cannot be written; memory that
/// runs out; more rejected records than [`RecordPolicy::max_rejected`](crate::RecordPolicy::max_rejected);
/// and [`Watch::stop`]. Bytes written
/// before the error stay written.
///
/// ```
/// use uniqurl::{Normalizer, Profile};
/// use uniqurl_engine::{Job, JobPlan, Sinks, Watch, run};
/// use uniqurl_formats::input;
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("urls.txt");
/// std::fs::write(&path, "http://a.com\nHTTP://A.com/\nx\n")?;
/// let (inputs, errors) = input::check(&[path]);
/// assert!(errors.is_empty());
/// let mut plan = JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(Default::default()));
/// plan.limits.threads = 2;
/// let mut out = Vec::new();
/// let (report, result) = run(&plan, &inputs, Sinks::to(&mut out), &Watch::default());
/// result?;
/// assert_eq!(out, b"http://a.com/\n");
/// assert_eq!((report.tally.unique, report.tally.duplicates, report.tally.rejected), (1, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    plan: &JobPlan,
    inputs: &[Input],
    sinks: Sinks<'_>,
    watch: &Watch,
) -> (Report, Result<(), RunError>) {
    let hasher = HashKey::random(plan.normalizer.kernel());
    run_with(plan, inputs, sinks, watch, hasher)
}

/// The same with a given hash.
pub(crate) fn run_with(
    plan: &JobPlan,
    inputs: &[Input],
    sinks: Sinks<'_>,
    watch: &Watch,
    hasher: HashKey,
) -> (Report, Result<(), RunError>) {
    // Callers may ask for any numbers.
    let plan = &plan.within_bounds();
    let accounts = Accounts::new(plan, inputs, watch);
    // A pool of its own: the global one can be built only once, and with one number of threads.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(plan.limits.workers())
        .thread_name(|i| format!("uniqurl-{i}"));
    #[cfg(test)]
    let pool = {
        let plan = failing::plan();
        pool.start_handler(move |_| failing::follow(plan.clone()))
    };
    match pool.build() {
        // Also sorting and compression run on the threads of this pool.
        Ok(pool) => pool.install(|| {
            let columns = plan.extracted_columns();
            let mut pipeline = Pipeline::new(plan, inputs, &columns, sinks, accounts, hasher);
            let result = pipeline.work();
            (pipeline.finish(), result)
        }),
        Err(error) => (accounts.finish(0), Err(RunError::Threads(error.to_string()))),
    }
}
