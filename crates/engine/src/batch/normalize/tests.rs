//! Batched loops against the normalizer on one URL at a time.

use super::*;
use uniqurl::internal::{HashKey, UrlKind};
use uniqurl::{Normalizer, Profile, Redirects};
use uniqurl_formats::input::Data;
use uniqurl_formats::record::{Context, Format};

/// Parses a chunk, in as many batches as it takes, and returns the canonical URL of each record, or why it
/// was rejected; and the number of batches.
fn parsed(text: &str, format: &Format, rules: &ParseRules<'_>) -> (Vec<Vec<u8>>, usize) {
    let mut batch = WorkBatch::default();
    let chunk = Chunk { data: Data::Shared(text.to_owned().into()), offset: 0, frames: Vec::new() };
    let (mut found, mut batches) = (Vec::new(), 0);
    let mut next = Some((chunk, 0));
    while let Some((chunk, from)) = next {
        batch.clear();
        batch.sequence.from = from;
        batch.text.chunk = Some(chunk);
        batch.parse(format, rules).unwrap();
        let mut rejected = batch.rejected.iter();
        for key in &batch.keys {
            found.push(match key.is_rejected() {
                true => format!("{:?}", rejected.next().unwrap().reject.code).into_bytes(),
                false => batch.text.get(*key).to_vec(),
            });
        }
        batches += 1;
        next = batch.take_rest();
    }
    (found, batches)
}

fn rules<'a>(normalizer: &'a Normalizer, context: Context) -> ParseRules<'a> {
    ParseRules::plain(normalizer, context, HashKey::random(normalizer.kernel()), 0)
}

/// The same, one URL at a time.
fn one_by_one<'u>(
    normalizer: &Normalizer,
    kind: UrlKind,
    urls: impl Iterator<Item = &'u str>,
) -> Vec<Vec<u8>> {
    urls.map(|url| {
        let mut out = Vec::new();
        match normalizer.append_as(kind, url.as_bytes(), &mut out) {
            Ok(()) => out,
            Err(reject) => format!("{:?}", reject.code).into_bytes(),
        }
    })
    .collect()
}

/// URLs of several kinds in turn, so that runs of all lengths follow each other.
fn urls() -> Vec<String> {
    let kinds = [
        |n: usize| format!("http://a.example/{n}"),
        |n| format!("HTTP://A.example:80/%7Euser/{n}"),
        |n| format!("http://a.example/\"{n}\""),
        |n| format!("no url {n}"),
        |n| format!("http://a.example/../x/{n}?q=%zz"),
    ];
    (0..400).map(|n| kinds[(n * n / 7 + n / 3) % kinds.len()](n)).collect()
}

const PROFILES: [Profile; 5] =
    [Profile::Crawl, Profile::String, Profile::Servlet, Profile::Whatwg, Profile::Aggressive];

#[test]
fn urls_in_two_buffers_normalize_as_single_urls_do() {
    let urls = urls();
    // A quoted field is unescaped into the scratch buffer, any other stays in the chunk.
    let csv: String =
        urls.iter().map(|url| format!("\"{}\",x\n", url.replace('"', "\"\""))).collect();
    let list: String = urls.iter().map(|url| format!("{url}\n")).collect();
    let plain: String = urls
        .iter()
        .map(|url| if url.contains('"') { String::new() } else { url.clone() } + "\n")
        .collect();
    for profile in PROFILES {
        let normalizer = Normalizer::new(profile);
        let rules = rules(&normalizer, Context::default());
        let expected = one_by_one(&normalizer, UrlKind::Absolute, urls.iter().map(|url| &url[..]));
        let csv_format = Format::parse("csv:1").unwrap();
        assert_eq!(parsed(&csv, &csv_format, &rules).0, expected, "{}", profile.name());
        assert_eq!(parsed(&list, &Format::Lines, &rules).0, expected, "{}", profile.name());
        let text = parsed(&plain, &Format::Lines, &rules).0;
        let blank = |(url, expected): (&String, &Vec<u8>)| {
            if url.contains('"') { Vec::new() } else { expected.clone() }
        };
        let some: Vec<_> = urls.iter().zip(&expected).map(blank).collect();
        assert_eq!(text, some, "{}", profile.name());
    }
}

#[test]
fn batch_of_targets_normalizes_as_single_targets_do() {
    let targets: Vec<String> = (0..60).map(|n| format!("/a/../%7E{}", "x".repeat(n))).collect();
    let text: String = targets.iter().map(|target| format!("{target}\n")).collect();
    for profile in PROFILES {
        let normalizer = Normalizer::new(profile);
        let context = Context { targets: normalizer.targets(), ..Context::default() };
        let expected =
            one_by_one(&normalizer, UrlKind::Target, targets.iter().map(|target| &target[..]));
        let found = parsed(&text, &Format::Target, &rules(&normalizer, context)).0;
        assert_eq!(found, expected, "{}", profile.name());
    }
}

#[test]
fn full_batch_continues_in_the_next() {
    // Each short URL is replaced by one of 100 KB.
    let long = format!("http://r/\thttp://long/{}\n", "x".repeat(100_000));
    let redirects = Redirects::parse(long.as_bytes()).unwrap();
    let normalizer = Normalizer::new(Profile::Crawl).with_redirects(&redirects).unwrap();
    let rules = rules(&normalizer, Context::default());
    let urls: Vec<String> = (0..300)
        .map(|n| if n % 3 == 0 { format!("http://a/{n}") } else { "http://r".into() })
        .collect();
    let expected = one_by_one(&normalizer, UrlKind::Absolute, urls.iter().map(|url| &url[..]));
    for (format, line) in [("lines", "URL\n"), ("csv:1", "URL,x\n"), ("csv:1", "\"URL\",\"\"\n")] {
        let text: String = urls.iter().map(|url| line.replace("URL", url)).collect();
        let (found, batches) = parsed(&text, &Format::parse(format).unwrap(), &rules);
        assert!(found == expected, "{format}");
        assert!(batches > 1, "{format}");
    }
}

#[test]
fn blank_lines_that_are_left_out_are_counted() {
    let normalizer = Normalizer::new(Profile::Crawl);
    let plain = rules(&normalizer, Context::default());
    let short = ParseRules { drops_blanks: true, ..rules(&normalizer, Context::default()) };
    let text = "\n \n\t\n\r\nhttp://a/\n\n\nx\n\n\n\n\nhttp://b/\n\n\n";
    let counted = |rules: &ParseRules<'_>| {
        let mut batch = WorkBatch::default();
        let data = Data::Shared(text.to_owned().into());
        batch.text.chunk = Some(Chunk { data, offset: 0, frames: Vec::new() });
        batch.parse(&Format::Lines, rules).unwrap();
        let tally = batch.tally.records.clone();
        let keys = batch.keys.iter().filter(|key| key.is_canonical());
        let urls: Vec<_> = keys.map(|key| batch.text.get(*key).to_vec()).collect();
        let counts = (tally.records, tally.blank, tally.canonical, tally.rejected);
        (counts, batch.position_of_rejected(0), urls, batch.keys.len())
    };
    let (expected, found) = (counted(&plain), counted(&short));
    assert_eq!((&found.0, &found.1, &found.2), (&expected.0, &expected.1, &expected.2));
    assert!(found.3 == 3 && expected.3 == 15, "{found:?} {expected:?}");
}
