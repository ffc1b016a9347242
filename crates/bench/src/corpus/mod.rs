//! Corpora of any size from a seed, together with the truth about them.
//!
//! The true numbers are known by construction: every line is a variant of the canonical URL of some
//! index, and it is the indices that are counted. Nothing here calls the normalizer, so a corpus can
//! convict it. Memory stays constant whatever the size.

// Programs that need nothing but std include this module by its path, and each uses a part of it.
#![allow(dead_code)]

mod access;
pub mod random;
mod url;
mod words;

use std::collections::BTreeMap;

use self::access::{Log, Request};
use self::random::Rng;
use self::url::{Base, Style};
use self::words::{BLANKS, REJECTS};

/// The style of the kind `clean`.
const CLEAN: Style = Style { triplets: 0, idn: 0 };

/// The kind of URLs in a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Canonical URLs without a triplet; 9 of 13 are new.
    Clean,
    /// As `clean`, some triplets, and one line in ten needs work.
    Mixed,
    /// Every line needs work.
    Dirty,
    /// As `clean`, but with 65 lines for each URL, and no more than 200,000 of those.
    Dup,
    /// A log in the combined format with some 200,000 targets.
    Access,
    /// A list for tests: mixed, with rejected and blank lines and some CRLF.
    Sample,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 6] =
        [Kind::Clean, Kind::Mixed, Kind::Dirty, Kind::Dup, Kind::Access, Kind::Sample];

    /// The kind's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Clean => "clean",
            Kind::Mixed => "mixed",
            Kind::Dirty => "dirty",
            Kind::Dup => "dup",
            Kind::Access => "access",
            Kind::Sample => "sample",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Approximate bytes of a line, used to turn a size into a number of lines.
    fn line_length(self) -> u64 {
        if self == Kind::Access { 230 } else { 77 }
    }
}

/// The amount to write.
#[derive(Clone, Copy, Debug)]
pub enum Amount {
    /// Whole lines, until at least this many bytes are written.
    Bytes(u64),
    /// This many lines.
    Lines(u64),
}

/// The counts that a correct run under `crawl` finds in a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Lines, each a record.
    pub lines: u64,
    /// Bytes of the corpus.
    pub bytes: u64,
    /// Lines that differ from their canonical URL.
    pub dirty: u64,
    /// Lines of blanks only.
    pub blank: u64,
    /// Lines that yield no URL.
    pub rejected: u64,
    /// The rejected lines of a log, by code.
    pub codes: BTreeMap<&'static str, u64>,
    /// Distinct canonical URLs; of a log without `--base`, targets and absolute URLs.
    pub distinct: u64,
    /// Bytes of those, without line ends.
    pub distinct_bytes: u64,
    /// Distinct canonical URLs of a log read with `--base` [`Truth::BASE`]; otherwise `distinct`.
    pub distinct_with_base: u64,
}

impl Truth {
    /// The base that `distinct_with_base` is meant for.
    pub const BASE: &'static str = access::ORIGIN;

    /// The truth as one JSON object.
    pub fn json(&self, kind: Kind, seed: u64) -> String {
        let codes: Vec<String> =
            self.codes.iter().map(|(code, n)| format!("\"{code}\":{n}")).collect();
        format!(
            "{{\"kind\":\"{}\",\"seed\":{seed},\"lines\":{},\"bytes\":{},\"dirty\":{},\"blank\":{},\"rejected\":{},\
             \"codes\":{{{}}},\"distinct\":{},\"distinct_bytes\":{},\"base\":\"{}\",\"distinct_with_base\":{}}}",
            kind.name(),
            self.lines,
            self.bytes,
            self.dirty,
            self.blank,
            self.rejected,
            codes.join(","),
            self.distinct,
            self.distinct_bytes,
            Truth::BASE,
            self.distinct_with_base,
        )
    }
}

/// Writes a corpus piece by piece.
#[derive(Debug)]
pub struct Corpus {
    kind: Kind,
    seed: u64,
    amount: Amount,
    rng: Rng,
    base: Base,
    log: Log,
    /// Number of indices to draw from; 0 if every new line may have a new index.
    pool: u64,
    seen: Bits,
    seen_absolute: Bits,
    truth: Truth,
}

impl Corpus {
    /// The corpus of that kind and seed. For a pool of few distinct URLs its size matters from the
    /// first line on: a smaller corpus is not the beginning of a larger one.
    pub fn new(kind: Kind, seed: u64, amount: Amount) -> Self {
        let lines = match amount {
            Amount::Bytes(bytes) => bytes / kind.line_length(),
            Amount::Lines(lines) => lines,
        };
        let pool = match kind {
            Kind::Dup => (lines / 65).clamp(1, 200_000),
            Kind::Access => (lines / 20).clamp(500, 215_000),
            _ => 0,
        };
        Self {
            kind,
            seed,
            amount,
            rng: Rng::new(seed),
            base: Base::default(),
            log: Log::new(),
            pool,
            seen: Bits::new(pool),
            seen_absolute: Bits::new(if kind == Kind::Access { pool } else { 0 }),
            truth: Truth::default(),
        }
    }

    /// Appends whole lines until `out` holds `enough` bytes or the corpus ends; false at the end.
    pub fn fill(&mut self, out: &mut Vec<u8>, enough: usize) -> bool {
        while out.len() < enough {
            let over = match self.amount {
                Amount::Bytes(bytes) => self.truth.bytes >= bytes,
                Amount::Lines(lines) => self.truth.lines >= lines,
            };
            if over {
                return false;
            }
            let start = out.len();
            self.line(out);
            self.truth.lines += 1;
            self.truth.bytes += (out.len() - start) as u64;
        }
        true
    }

    /// The expected counts for the lines written so far.
    pub fn truth(&self) -> &Truth {
        &self.truth
    }

    fn line(&mut self, out: &mut Vec<u8>) {
        match self.kind {
            Kind::Clean => self.list_line(CLEAN, 0, out),
            Kind::Mixed => self.list_line(Style { triplets: 20, idn: 3 }, 100, out),
            Kind::Dirty => self.list_line(Style { triplets: 60, idn: 10 }, 1000, out),
            Kind::Dup => {
                let index = self.rng.below(self.pool);
                self.base.write(self.seed, index, CLEAN);
                if self.seen.insert(index) {
                    self.count_new(self.base.bytes.len());
                }
                out.extend_from_slice(&self.base.bytes);
            }
            Kind::Access => self.log_line(out),
            Kind::Sample => {
                match self.rng.below(40) {
                    0 => {
                        out.extend_from_slice(self.rng.pick(&BLANKS).as_bytes());
                        self.truth.blank += 1;
                    }
                    1 => {
                        out.extend_from_slice(self.rng.pick(&REJECTS).as_bytes());
                        self.truth.rejected += 1;
                    }
                    _ => self.list_line(Style { triplets: 60, idn: 10 }, 400, out),
                }
                if self.rng.chance(100) {
                    out.push(b'\r');
                }
            }
        }
        out.push(b'\n');
    }

    /// A URL that is new in 9 lines of 13, otherwise one of the earlier ones, all as likely: no
    /// order for a cache to profit from.
    fn list_line(&mut self, style: Style, dirty_per_mille: u64, out: &mut Vec<u8>) {
        let known = self.truth.distinct;
        let index =
            // New indices come in order, so the number of distinct URLs is the next one.
            if known == 0 || self.rng.below(13) < 9 { known } else { self.rng.below(known) };
        self.base.write(self.seed, index, style);
        if index == known {
            self.count_new(self.base.bytes.len());
        }
        if self.rng.chance(dirty_per_mille) {
            self.truth.dirty += 1;
            self.base.write_variant(&mut self.rng, out);
        } else {
            out.extend_from_slice(&self.base.bytes);
        }
    }

    fn log_line(&mut self, out: &mut Vec<u8>) {
        let request = Request::draw(&mut self.rng);
        let index = self.rng.rank(self.pool, 10);
        self.base.write_target(self.seed, index, access::STYLE);
        self.truth.dirty += u64::from(self.log.write(request, &self.base, &mut self.rng, out));
        let code = match request {
            Request::Origin | Request::Absolute => {
                let absolute = request == Request::Absolute;
                let (set, other, prefix) = if absolute {
                    (&mut self.seen_absolute, &self.seen, access::ORIGIN.len())
                } else {
                    (&mut self.seen, &self.seen_absolute, 0)
                };
                if set.insert(index) {
                    // With the base, the same page may have been counted in the other form.
                    let joined_too = !other.contains(index);
                    self.count_new(self.base.bytes.len() + prefix);
                    self.truth.distinct_with_base -= u64::from(!joined_too);
                }
                return;
            }
            Request::Asterisk => "asterisk-form",
            Request::Authority => "authority-form",
            Request::None => "log-syntax",
            Request::Truncated => "truncated",
        };
        self.truth.rejected += 1;
        *self.truth.codes.entry(code).or_default() += 1;
    }

    fn count_new(&mut self, bytes: usize) {
        self.truth.distinct += 1;
        self.truth.distinct_with_base += 1;
        self.truth.distinct_bytes += bytes as u64;
    }
}

/// A whole corpus in memory, and the truth about it.
pub fn in_memory(kind: Kind, seed: u64, amount: Amount) -> (Vec<u8>, Truth) {
    let mut corpus = Corpus::new(kind, seed, amount);
    let mut out = Vec::new();
    while corpus.fill(&mut out, usize::MAX) {}
    (out, corpus.truth)
}

/// A size with its unit: `K`, `M`, `G` are powers of 1024, `KB`, `MB`, `GB` of 1000, `lines` counts
/// lines.
pub fn parse_amount(text: &str) -> Option<Amount> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: u64 = text[..digits].parse().ok()?;
    let unit: u64 = match &text[digits..] {
        "lines" => return Some(Amount::Lines(number)),
        "" | "B" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit).map(Amount::Bytes)
}

/// A set of small numbers.
#[derive(Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(n: u64) -> Self {
        Self(vec![0; n.div_ceil(64) as usize])
    }

    /// True if `i` was not in the set.
    fn insert(&mut self, i: u64) -> bool {
        let new = !self.contains(i);
        self.0[(i / 64) as usize] |= 1 << (i % 64);
        new
    }

    fn contains(&self, i: u64) -> bool {
        self.0[(i / 64) as usize] >> (i % 64) & 1 == 1
    }
}
