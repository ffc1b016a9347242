//! The document of `--stats`: the accounting of a run, in all and for each input, as one JSON object.

use super::json_object::{base64, escape_controls};
use super::summary::{Before, Filters, Inputs, JobKind, Summary, Tally};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use uniqurl::Key;
use uniqurl::key::suffix_list_date;
use uniqurl_formats::input::InputState;
use uniqurl_store::spill::Spilled;

/// A run: its options, its outcome and the accounting.
#[derive(Debug, Clone, Copy)]
pub struct Stats<'a> {
    /// Exit status.
    pub status: u8,
    /// Profile with its version, like `crawl@1`.
    pub profile: &'a str,
    /// The kind of key that was written, and so the kind that is unique.
    pub key: Key,
    /// The scanner that did the work.
    pub backend: &'a str,
    /// Threads that computed.
    pub threads: usize,
    /// Bytes of temporary files, since the set did not fit into memory.
    pub spilled: Spilled,
    /// Totals.
    pub summary: &'a Summary,
    /// One entry for each input, in order.
    pub files: &'a [FileStats],
}

/// The accounting of one input.
#[derive(Debug, Clone, PartialEq)]
pub struct FileStats {
    /// Its name.
    pub path: PathBuf,
    /// The state it was found in.
    pub state: InputState,
    /// Bytes read from it.
    pub bytes: u64,
    /// Its records.
    pub tally: Tally,
}

impl Stats<'_> {
    /// Writes the document.
    ///
    /// # Errors
    ///
    /// That of `out`.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let Summary { job, filters, before, .. } = *self.summary;
        let terms = (job, filters, before);
        let document = Document {
            version: env!("CARGO_PKG_VERSION"),
            command: job.name(),
            profile: self.profile,
            key: self.key.name(),
            suffix_list: suffix_list_date(),
            backend: self.backend,
            threads: self.threads,
            status: self.status,
            bytes: self.summary.bytes,
            spilled: self.spilled.written,
            spilling: (self.spilled.written > 0).then(|| Spilling {
                unpacked: self.spilled.bytes,
                packing: self.spilled.packing(),
            }),
            seconds: self.summary.seconds,
            inputs: self.summary.inputs,
            counts: Counts::new(terms, &self.summary.tally),
            files: FileDocuments { terms, files: self.files },
        };
        let mut out = BufWriter::new(out);
        serde_json::to_writer_pretty(Escaped(&mut out), &document)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

/// Escapes characters that act on a terminal. serde_json writes strings in parts of whole characters.
struct Escaped<W>(W);

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.0.write_all(escape_controls(text).as_bytes())?,
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

// A field for each member of the document, so more than a dozen.
#[derive(Serialize)]
struct Document<'a> {
    version: &'a str,
    command: &'a str,
    profile: &'a str,
    key: &'a str,
    /// The date of the Public Suffix List, by which domains are told.
    suffix_list: &'static str,
    backend: &'a str,
    threads: usize,
    status: u8,
    bytes: u64,
    spilled: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    spilling: Option<Spilling>,
    seconds: f64,
    inputs: Inputs,
    #[serde(flatten)]
    counts: Counts,
    files: FileDocuments<'a>,
}

/// How the bytes of temporary files came about.
#[derive(Serialize)]
struct Spilling {
    unpacked: u64,
    packing: &'static str,
}

/// The documents of all inputs, made one by one while they are written: there may be a million.
struct FileDocuments<'a> {
    terms: Terms,
    files: &'a [FileStats],
}

impl Serialize for FileDocuments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.files.iter().map(|file| FileDocument::new(self.terms, file)))
    }
}

#[derive(Serialize)]
struct FileDocument<'a> {
    #[serde(flatten)]
    name: FileName<'a>,
    state: InputState,
    bytes: u64,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
enum FileName<'a> {
    #[serde(rename = "file")]
    Text(&'a str),
    #[serde(rename = "file_base64")]
    Base64(String),
}

/// The settings that decide which terms are present.
type Terms = (JobKind, Filters, Before);

/// A [`Tally`] with the terms of one job.
#[derive(Serialize)]
struct Counts {
    records: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unique: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicates: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undecided: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filtered: Option<u64>,
    rejected: u64,
    blank: u64,
    skipped: u64,
    codes: BTreeMap<&'static str, u64>,
}

impl Counts {
    fn new((job, filters, before): Terms, tally: &Tally) -> Self {
        let of_set = |count| (job == JobKind::Dedup).then_some(count);
        Self {
            records: tally.records,
            // Of a set it is the sum of its terms.
            canonical: (job != JobKind::Dedup).then_some(tally.canonical),
            unique: of_set(tally.unique),
            duplicates: of_set(tally.duplicates),
            seen: of_set(tally.seen).filter(|_| before == Before::Seen),
            undecided: of_set(tally.undecided).filter(|count| *count > 0),
            filtered: (filters == Filters::InPlay).then_some(tally.filtered),
            rejected: tally.rejected,
            blank: tally.blank,
            skipped: tally.skipped,
            codes: tally.codes().map(|(code, count)| (code.name(), count)).collect(),
        }
    }
}

impl<'a> FileDocument<'a> {
    fn new(terms: Terms, file: &'a FileStats) -> Self {
        Self {
            name: FileName::new(&file.path),
            state: file.state,
            bytes: file.bytes,
            counts: Counts::new(terms, &file.tally),
        }
    }
}

impl<'a> FileName<'a> {
    fn new(path: &'a Path) -> Self {
        match path.to_str() {
            Some(text) => FileName::Text(text),
            None => FileName::Base64(base64(path.as_os_str().as_encoded_bytes())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use uniqurl::RejectReason;

    fn document(job: JobKind) -> Value {
        let mut tally = Tally::default();
        (0..3).for_each(|_| tally.canonical());
        tally.reject(RejectReason::Port);
        tally.blank();
        let totals = Tally { unique: 2, duplicates: 1, ..tally };
        let file = FileStats {
            path: PathBuf::from("a b.txt"),
            state: InputState::Ok,
            bytes: 60,
            tally: totals.clone(),
        };
        let summary = Summary {
            job,
            tally: totals,
            filters: Filters::None,
            before: Before::Nothing,
            inputs: Inputs { ok: 1, ..Inputs::default() },
            bytes: 60,
            seconds: 0.25,
        };
        let stats = Stats {
            status: 0,
            profile: "crawl@1",
            key: Key::Url,
            backend: "avx2",
            threads: 2,
            spilled: Spilled { bytes: 6, written: 4, packed: 6 },
            summary: &summary,
            files: &[file],
        };
        let mut out = Vec::new();
        stats.write(&mut out).expect("a vector takes everything");
        assert_eq!(out.last(), Some(&b'\n'));
        serde_json::from_slice(&out).expect("one document")
    }

    #[test]
    fn stats_hold_totals_and_each_file() {
        assert_eq!(
            document(JobKind::Dedup),
            json!({
                "version": env!("CARGO_PKG_VERSION"), "command": "dedup", "profile": "crawl@1",
                "key": "url", "suffix_list": suffix_list_date(), "backend": "avx2", "threads": 2, "status": 0, "bytes": 60, "spilled": 4,
                "spilling": {"unpacked": 6, "packing": "lz4"},
                "seconds": 0.25,
                "inputs": {"ok": 1, "damaged": 0, "missing": 0},
                "records": 5, "unique": 2, "duplicates": 1, "rejected": 1, "blank": 1, "skipped": 0,
                "codes": {"port": 1},
                "files": [{
                    "file": "a b.txt", "state": "ok", "bytes": 60,
                    "records": 5, "unique": 2, "duplicates": 1, "rejected": 1, "blank": 1,
                    "skipped": 0, "codes": {"port": 1},
                }],
            })
        );
    }

    #[test]
    fn normalize_counts_canonical_urls() {
        let document = document(JobKind::Normalize);
        assert_eq!(document["canonical"], 3);
        assert!(document.get("unique").is_none() && document.get("duplicates").is_none());
    }

    #[test]
    fn file_name_that_is_not_utf8_is_written_as_base64() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"caf\xE9"));
        let name = serde_json::to_value(FileName::new(path)).expect("an object");
        assert_eq!(name, json!({"file_base64": base64(b"caf\xE9")}));
    }

    /// There is one for each input of a run, and no budget counts them.
    #[test]
    fn the_accounting_of_an_input_is_small() {
        // A name, a state, the bytes, ten counts, and an empty vector of codes.
        assert_eq!(size_of::<FileStats>(), 24 + 8 + 8 + 10 * 8 + 24);
        assert_eq!(Tally::default().by_code.capacity(), 0);
    }

    #[test]
    fn names_cannot_act_on_a_terminal() {
        let mut out = Vec::new();
        let names = ["\u{9B}31m", "caf\u{E9}", "\u{1B}[2J"];
        serde_json::to_writer_pretty(Escaped(&mut out), &names).expect("a vector takes everything");
        let text = "[\n  \"\\u009b31m\",\n  \"caf\u{E9}\",\n  \"\\u001b[2J\"\n]";
        assert_eq!(String::from_utf8(out).expect("UTF-8"), text);
    }
}
