//! Hostile files: whatever they claim to be, a run ends in a result or an error, two runs agree,
//! and the accounting adds up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use uniqurl::{Normalizer, Profile};
use uniqurl_engine::output::JobKind;
use uniqurl_engine::{Job, JobPlan, Sinks, Watch, run};
use uniqurl_formats::input;

fuzz_target!(|data: &[u8]| {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("input");
    std::fs::write(&path, data).expect("written");
    let (inputs, errors) = input::check(&[path]);
    if !errors.is_empty() {
        return;
    }
    let results = [(1, 64), (2, 1 << 16)].map(|(threads, chunk_size)| {
        let watch = Watch::default();
        let mut plan =
            JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(Default::default()));
        plan.limits.threads = threads;
        plan.limits.chunk_size = chunk_size;
        plan.input.keep_going = true;
        let (mut out, mut rejects) = (Vec::new(), Vec::new());
        let (report, result) =
            run(&plan, &inputs, Sinks::to(&mut out).with_rejects(&mut rejects), &watch);
        assert!(report.tally.adds_up(JobKind::Dedup), "{:?}", report.tally);
        (out, rejects, report.tally, result.map_err(|error| error.to_string()))
    });
    assert_eq!(results[0], results[1]);
});
