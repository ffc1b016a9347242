//! Filters by time and agent against the plain loop, for any threads and chunks.

use uniqurl_engine::{Job, RequestFilter};

use crate::runs::{FIRST, limit, numbers, plan, ran_on};

const AGENTS: [&str; 5] = ["-", "curl/8", "Googlebot/2.1", "bingbot/2.0", "Mozilla/5.0 (X11)"];

/// The path, the second and the agent of a request.
type Request = (u64, u64, &'static str);

fn requests(count: u64) -> Vec<Request> {
    let mut next = numbers(7);
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

#[test]
fn kept_records_are_those_of_the_plain_loop() {
    let requests = requests(3_000);
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
        let mut plan = plan(FIRST);
        plan.job = Job::Normalize { json: false };
        plan.policy.requests = filter.clone();
        limit(&mut plan, threads, chunk_size, None);
        let found = ran_on(&plan, log(&requests).as_bytes()).unwrap();
        assert!(found.text() == expected, "{threads} {chunk_size}");
        assert_eq!(found.report.tally.filtered, dropped, "{threads} {chunk_size}");
    }
}
