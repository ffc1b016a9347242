//! Every format on hostile bytes: spans lie in their buffers, records stand in order, and where the
//! tests have a second reader, it reads the same. The first byte chooses the format.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/library/record_oracle/mod.rs"]
mod record_oracle;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use record_oracle::{Holds, Known};
use uniqurl::record::{Context, Format, Found, Place, Records, Span, detect};

/// Those that the second reader knows come first.
const NAMES: &[&str] = &[
    "lines",
    "target",
    "clf",
    "combined",
    "vhost",
    "haproxy",
    "ws:1",
    "ws:3",
    "text",
    "w3c",
    "elb",
    "alb",
    "cloudfront",
    "csv:1",
    "csv:url",
    "csv:host=1,target=2,status=3",
    "tsv:2",
    "json:/url",
    "json:caddy",
    "json:nginx-json",
    "json:cloudflare",
    "cdx",
    "cdxj",
    "warc",
    "wat",
    "wat:links",
    "arc",
    "log:%v %t \"%r\" %>s",
    "log:\"%m %U%q %H\"",
];
const KNOWN: usize = 8;

static FORMATS: LazyLock<Vec<Format>> =
    LazyLock::new(|| NAMES.iter().map(|name| Format::parse(name).expect("a format")).collect());

fuzz_target!(|data: &[u8]| {
    let Some((&choice, chunk)) = data.split_first() else { return };
    let choice = choice as usize % FORMATS.len();
    let format = &FORMATS[choice];
    let ctx = Context { max_url: 100, max_record: 300, ..Context::default() };
    let _ = detect("name", chunk);
    let mut out = Records::default();
    format.read(&ctx, chunk, &mut out);
    let bytes = |place, span: Span| span.of(if place == Place::Chunk { chunk } else { &out.side });
    let mut end = 0;
    for record in &out.records {
        let (start, length) = (record.line.start, record.line.of(chunk).len());
        assert!(start >= end || choice >= KNOWN, "records stand in order");
        end = start + length as u32;
        match record.found {
            Found::Url(place, span) | Found::Target(place, span) => {
                assert!(bytes(place, span).len() <= ctx.max_record + chunk.len());
            }
            Found::Joined { url, prefix } => assert!(url.of(&out.side).len() >= prefix as usize),
            _ => {}
        }
    }
    if choice >= KNOWN {
        return;
    }
    let known = Known { base: None, max_url: ctx.max_url, max_record: ctx.max_record };
    // A carriage return ends a line with its line feed, never alone.
    let lines: Vec<&[u8]> = chunk
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| match line.strip_suffix(b"\n") {
            Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
            None => line,
        })
        .collect();
    assert_eq!(out.records.len(), lines.len());
    for (line, record) in lines.into_iter().zip(&out.records) {
        let found = match record.found {
            Found::Blank => Holds::Blank,
            Found::Skipped => Holds::Skipped,
            Found::Filtered => unreachable!("there is no filter"),
            Found::Reject(code, at) => Holds::Reject(code.name(), at as usize),
            Found::Url(place, span) => Holds::Url(bytes(place, span).to_vec()),
            Found::Target(place, span) => Holds::Target(bytes(place, span).to_vec()),
            Found::Joined { url, prefix } => {
                Holds::Joined(url.of(&out.side).to_vec(), prefix as usize)
            }
        };
        assert_eq!(found, record_oracle::read(NAMES[choice], &known, line), "{}", NAMES[choice]);
    }
});
