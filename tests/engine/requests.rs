//! Filters by time and agent against the plain loop, for any threads and chunks.

use std::path::Path;
use std::sync::Arc;

use uniqurl::{Normalizer, Profile};
use uniqurl_engine::{
    IdleFilter, InputFormat, Job, JobPlan, RequestFilter, RunError, Sinks, Watch, run,
};
use uniqurl_formats::{input, record};

const AGENTS: [&str; 5] = ["-", "curl/8", "Googlebot/2.1", "bingbot/2.0", "Mozilla/5.0 (X11)"];

/// The path, the second and the agent of a request.
type Request = (u64, u64, &'static str);

fn requests(count: u64) -> Vec<Request> {
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    (0..count).map(|_| (next(500), next(86_400), AGENTS[next(5) as usize])).collect()
}

fn log(requests: &[Request]) -> String {
    let line = |(page, second, agent): &Request| {
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        let time = format!("10/Oct/2000:{hour:02}:{minute:02}:{second:02} +0000");
        format!("h - - [{time}] \"GET /{page} HTTP/1.1\" 200 5 \"-\" \"{agent}\"\n")
    };
    requests.iter().map(line).collect()
}

/// The first second of that day.
const DAY: i64 = 971_136_000;

fn plan(requests: RequestFilter, threads: usize, chunk_size: usize) -> JobPlan {
    let normalizer = Normalizer::new(Profile::Crawl);
    let mut plan = JobPlan::new(normalizer, Job::Normalize { json: false });
    plan.policy.requests = requests;
    plan.limits.threads = threads;
    plan.limits.chunk_size = chunk_size;
    plan
}

fn ran(plan: &JobPlan, paths: &[&Path]) -> (String, u64, Result<(), RunError>) {
    let paths: Vec<_> = paths.iter().map(|path| path.to_path_buf()).collect();
    let inputs = input::check(&paths).0;
    let mut out = Vec::new();
    let (report, result) = run(plan, &inputs, Sinks::to(&mut out), &Watch::default());
    (String::from_utf8(out).unwrap(), report.tally.filtered, result)
}

#[test]
fn kept_records_are_those_of_the_plain_loop() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let requests = requests(3_000);
    std::fs::write(&path, log(&requests)).unwrap();
    let is_bot = |agent: &str| agent.contains("bot");
    let mut filter = RequestFilter::default();
    filter.agent("bot|Mozilla").unwrap();
    filter.unwanted_agent("bing").unwrap();
    filter.since(DAY + 30_000);
    filter.until(DAY + 60_000);
    let is_kept = |(_, second, agent): &Request| {
        (30_000..60_000).contains(second)
            && (is_bot(agent) || agent.contains("Mozilla"))
            && !agent.contains("bing")
    };
    let line = |request: &Request| match is_kept(request) {
        true => format!("/{}\n", request.0),
        false => "\n".to_owned(),
    };
    let expected: String = requests.iter().map(line).collect();
    let dropped = requests.iter().filter(|request| !is_kept(request)).count() as u64;
    assert!(dropped > 0 && dropped < 3_000);
    for (threads, chunk_size) in [(1, 1 << 20), (1, 100), (2, 100), (2, 5_000)] {
        let (out, filtered, result) = ran(&plan(filter.clone(), threads, chunk_size), &[&path]);
        result.unwrap();
        assert_eq!((out == expected, filtered), (true, dropped), "{threads} {chunk_size}");
    }
}

#[test]
fn a_filter_that_no_input_answers_ends_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (list, csv) = (file("list", "http://a/\n"), file("t.csv", "url,n\nhttp://b/,1\n"));
    let (log, empty) = (file("log", &log(&requests(2))), file("empty", ""));
    let mut filter = RequestFilter::default();
    filter.since(0);
    for threads in [1, 2] {
        let mut plan = plan(filter.clone(), threads, 1 << 20);
        let idle = |paths: &[&Path], plan: &JobPlan| match ran(plan, paths).2 {
            Err(RunError::Idle(IdleFilter { field: "time", format })) => Some(format),
            Ok(()) => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(idle(&[&list], &plan), Some(Some("lines".into())));
        assert_eq!(idle(&[&list, &empty, &list], &plan), Some(Some("lines".into())));
        assert_eq!(idle(&[&list, &csv], &plan), Some(None));
        assert_eq!(idle(&[&list, &log], &plan), None);
        assert_eq!(idle(&[&empty], &plan), None);
        // A format with a name is checked by the caller.
        plan.input.format = InputFormat::Fixed(Arc::new(record::Format::Lines));
        assert_eq!(idle(&[&list], &plan), None);
    }
}
