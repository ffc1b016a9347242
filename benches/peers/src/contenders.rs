//! The contenders, and the exact work each of them does with a corpus.
//!
//! Every normalizer finds its lines itself, makes the canonical form of each one and folds its length
//! and last byte into a checksum. A peer does the nearest equivalent of the profile `crawl`:
//!
//! - `ada-url` and `url` parse and serialize by the WHATWG URL Standard;
//! - `fluent-uri` and `iri-string` normalize by RFC 3986 section 6.2 and reject text that is not a URI.

use iri_string::format::ToDedicatedString;
use iri_string::types::UriStr;
use memchr::memchr_iter;
use uniqurl::{Normalizer, Profile};

/// The name of the contender that the others are compared with.
pub const OURS: &str = "uniqurl";

/// The counts and the checksum of a pass over a corpus.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Fold {
    /// Accepted lines; for the limits, all lines.
    pub accepted: u64,
    sum: u64,
}

impl Fold {
    #[inline]
    fn add(&mut self, canonical: &[u8]) {
        self.accepted += 1;
        let last = canonical.last().copied().unwrap_or_default();
        self.sum = self.sum.wrapping_add(canonical.len() as u64).rotate_left(1) ^ u64::from(last);
    }
}

/// One contender: a pass over a corpus.
pub struct Contender {
    /// Its name in the table.
    pub name: &'static str,
    /// The package whose version in the lock file the table shows.
    pub package: Option<&'static str>,
    /// The pass. The second buffer is as long as the corpus, for passes that copy.
    pub run: fn(&str, &mut [u8]) -> Fold,
}

/// In the order of the table: two limits of the machine, then the normalizers.
pub const CONTENDERS: [Contender; 8] = [
    Contender { name: "copy", package: None, run: copy },
    Contender { name: "newlines counted", package: Some("memchr"), run: count_newlines },
    Contender { name: "lines split", package: Some("memchr"), run: split_lines },
    Contender { name: OURS, package: Some("uniqurl"), run: uniqurl },
    Contender { name: "ada-url", package: Some("ada-url"), run: ada },
    Contender { name: "url", package: Some("url"), run: url },
    Contender { name: "fluent-uri", package: Some("fluent-uri"), run: fluent_uri },
    Contender { name: "iri-string", package: Some("iri-string"), run: iri_string },
];

fn copy(corpus: &str, to: &mut [u8]) -> Fold {
    to.copy_from_slice(corpus.as_bytes());
    let mut fold = Fold::default();
    fold.add(to);
    fold
}

fn count_newlines(corpus: &str, _: &mut [u8]) -> Fold {
    Fold { accepted: memchr_iter(b'\n', corpus.as_bytes()).count() as u64, sum: 0 }
}

fn split_lines(corpus: &str, _: &mut [u8]) -> Fold {
    each_line(corpus, |line, fold| fold.add(line.as_bytes()))
}

fn uniqurl(corpus: &str, _: &mut [u8]) -> Fold {
    let profile = "crawl".parse::<Profile>().expect("a built-in profile");
    let normalizer = Normalizer::new(profile);
    let mut fold = Fold::default();
    normalizer.lines(corpus.as_bytes()).for_each(|url| {
        if let Ok(url) = url {
            fold.add(url.as_bytes());
        }
    });
    fold
}

fn ada(corpus: &str, _: &mut [u8]) -> Fold {
    each_line(corpus, |line, fold| {
        if let Ok(url) = ada_url::Url::parse(line, None) {
            fold.add(url.href().as_bytes());
        }
    })
}

fn url(corpus: &str, _: &mut [u8]) -> Fold {
    each_line(corpus, |line, fold| {
        if let Ok(url) = url::Url::parse(line) {
            fold.add(url.as_str().as_bytes());
        }
    })
}

fn fluent_uri(corpus: &str, _: &mut [u8]) -> Fold {
    each_line(corpus, |line, fold| {
        if let Ok(uri) = fluent_uri::Uri::parse(line) {
            fold.add(uri.normalize().as_str().as_bytes());
        }
    })
}

fn iri_string(corpus: &str, _: &mut [u8]) -> Fold {
    each_line(corpus, |line, fold| {
        if let Ok(uri) = UriStr::new(line) {
            fold.add(uri.normalize().to_dedicated_string().as_str().as_bytes());
        }
    })
}

#[inline]
fn each_line(corpus: &str, mut visit: impl FnMut(&str, &mut Fold)) -> Fold {
    let mut fold = Fold::default();
    let mut start = 0;
    for newline in memchr_iter(b'\n', corpus.as_bytes()) {
        visit(&corpus[start..newline], &mut fold);
        start = newline + 1;
    }
    if start < corpus.len() {
        visit(&corpus[start..], &mut fold);
    }
    fold
}
