//! Every format on hostile bytes: spans lie in their buffers, records are in order, and a second
//! reader, if there is one, agrees. The first byte chooses the format and the base.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/formats/record_oracle/mod.rs"]
mod record_oracle;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use record_oracle::{Holds, Known, Slashless};
use uniqurl::internal::{Origin, Span, Targets};
use uniqurl_formats::record::{
    BufferId, Context, EnvelopeChoice, Extracted, Format, FormatTable, Records, wrap,
};

const NAMES: &[&str] = &[
    "lines",
    "target",
    "clf",
    "combined",
    "vhost",
    "haproxy",
    "ltsv",
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
    "tsv:url",
];

const BASES: [Option<(&str, &str)>; 3] =
    [None, Some(("https", "b.example")), Some(("ws", "u@b:81"))];

static FORMATS: LazyLock<Vec<Format>> =
    LazyLock::new(|| NAMES.iter().map(|name| Format::parse(name).expect("a format")).collect());

/// A second reader's result for `chunk`, where there is one.
fn second(format: &str, known: &Known, chunk: &[u8]) -> Option<Vec<Holds>> {
    match format {
        "lines" | "target" | "clf" | "combined" | "vhost" | "haproxy" | "ws:1" | "ws:3" => {
            Some(lines(chunk).map(|line| record_oracle::read(format, known, line)).collect())
        }
        "text" | "w3c" | "elb" | "ltsv" | "cloudfront" | "csv:1" | "csv:url" | "tsv:2"
        | "tsv:url" | "cdx" => Some(record_oracle::tables::read_all(format, known, chunk)),
        "alb" => Some(record_oracle::tables::read_all("elb", known, chunk)),
        "json:/url" => lines(chunk).map(|line| json("/url", known, line)).collect(),
        _ => None,
    }
}

/// A carriage return ends a line with its line feed, never alone.
fn lines(chunk: &[u8]) -> impl Iterator<Item = &[u8]> {
    chunk.split_inclusive(|byte| *byte == b'\n').map(|line| match line.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => line,
    })
}

/// Reads a value that is standard JSON; of other values more is read than serde_json reads.
fn json(pointer: &str, known: &Known, line: &[u8]) -> Option<Holds> {
    if line.len() > known.max_record {
        return Some(Holds::Reject("too-long", 0));
    }
    if line.iter().all(|byte| b" \t".contains(byte)) {
        return Some(Holds::Blank);
    }
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    Some(match value.pointer(pointer).and_then(|url| url.as_str()) {
        None => Holds::Reject("no-field", 0),
        Some(url) if url.len() > known.max_url => Holds::Reject("too-long", known.max_url),
        Some(url) => Holds::Url(url.as_bytes().to_vec()),
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, chunk)) = data.split_first() else { return };
    // The pipeline removes a byte-order mark at the start of an input.
    let chunk = chunk.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(chunk);
    let choice = usize::from(choice);
    let (name, format) = (NAMES[choice % NAMES.len()], &FORMATS[choice % NAMES.len()]);
    let known = Known {
        base: BASES[choice / NAMES.len() % 3],
        max_url: 100,
        max_record: 300,
        trims: choice % 2 == 0,
        asks_for_slashes: false,
        slashless: Slashless::Rejected,
    };
    let ctx = Context {
        base: known.base.map(|(scheme, authority)| Origin {
            scheme: scheme.into(),
            authority: authority.into(),
        }),
        targets: if known.trims { Targets::Trimmed } else { Targets::Verbatim },
        max_url: known.max_url,
        max_record: known.max_record,
        ..Context::default()
    };
    let _ = FormatTable::shipped().detect_in(EnvelopeChoice::Auto, "name", chunk, true);
    for choice in EnvelopeChoice::NAMES.into_iter().filter_map(EnvelopeChoice::named) {
        let mut out = Records::default();
        if let Some(wrapped) = wrap(choice, format, chunk, true) {
            wrapped.read(&ctx, chunk, &mut out);
        }
        for record in &out.records {
            record.line.of(chunk);
        }
    }
    let mut out = Records::default();
    format.read(&ctx, chunk, &mut out);
    let bytes =
        |place, span: Span| span.of(if place == BufferId::Chunk { chunk } else { &out.scratch });
    let expected = second(name, &known, chunk);
    let mut end = 0;
    let mut found = Vec::new();
    for record in &out.records {
        let (start, length) = (record.line.start, record.line.of(chunk).len());
        assert!(start >= end || name == "text" || name == "wat:links", "records stand in order");
        end = start + length as u32;
        found.push(match record.found {
            Extracted::Blank => Holds::Blank,
            Extracted::Skipped => Holds::Skipped,
            Extracted::Filtered => unreachable!("there is no filter"),
            Extracted::Reject(code, at) => Holds::Reject(code.name(), at as usize),
            Extracted::Url(place, span) => Holds::Url(bytes(place, span).to_vec()),
            Extracted::Target(place, span) => Holds::Target(bytes(place, span).to_vec()),
            Extracted::Joined { url, prefix } => {
                Holds::Joined(url.of(&out.scratch).to_vec(), prefix as usize)
            }
        });
        match found.last().expect("it was pushed") {
            Holds::Url(url) | Holds::Target(url) => {
                assert!(url.len() <= ctx.max_record + chunk.len())
            }
            Holds::Joined(url, prefix) => assert!(url.len() >= *prefix),
            _ => {}
        }
    }
    if let Some(expected) = expected {
        assert_eq!(found, expected, "{name}");
    }
});
