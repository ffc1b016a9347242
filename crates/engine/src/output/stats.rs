//! The document of `--stats`: the accounting of a run, in all and for each input, as one JSON object.

use super::json::{base64, escape_controls};
use super::summary::Summary;
use super::tally::{Accounting, Tally, Terms};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use uniqurl::Key;
use uniqurl::key::suffix_list_date;
use uniqurl_formats::input::{InputError, InputState};
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
    /// One entry for each list of hosts.
    pub host_lists: &'a [HostListStats],
}

/// What a list of hosts did in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostListStats {
    /// The option that named it, without dashes.
    pub option: &'static str,
    /// Its file.
    pub file: String,
    /// Its names.
    pub names: usize,
    /// Records whose host it holds: what it kept, or what it dropped.
    pub records: u64,
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

impl FileStats {
    /// An input before its first byte is read.
    pub fn unread(path: PathBuf, state: InputState) -> Self {
        Self { path, state, bytes: 0, tally: Tally::default() }
    }

    /// An input that was not opened.
    pub fn unopened(error: InputError) -> Self {
        let state = error.state_unopened();
        Self::unread(error.path, state)
    }
}

impl Stats<'_> {
    /// Writes the document.
    ///
    /// # Errors
    ///
    /// That of `out`.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        // The serializer writes each bracket and comma by itself.
        let mut out = BufWriter::new(out);
        serde_json::to_writer_pretty(Escaped(&mut out), self)?;
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
            // Bytes that are no text hold no such character.
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Serialize for Stats<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { summary, spilled, files, host_lists, .. } = self;
        let terms = summary.terms;
        let mut document = serializer.serialize_map(None)?;
        document.serialize_entry("version", env!("CARGO_PKG_VERSION"))?;
        document.serialize_entry("command", terms.job.name())?;
        document.serialize_entry("profile", self.profile)?;
        document.serialize_entry("key", self.key.name())?;
        // The date of the Public Suffix List, by which domains are told.
        document.serialize_entry("suffix_list", suffix_list_date())?;
        document.serialize_entry("backend", self.backend)?;
        document.serialize_entry("threads", &self.threads)?;
        document.serialize_entry("status", &self.status)?;
        document.serialize_entry("bytes", &summary.bytes)?;
        document.serialize_entry("spilled", &spilled.written)?;
        if spilled.written > 0 {
            let (unpacked, packing) = (spilled.bytes, spilled.packing());
            document.serialize_entry("spilling", &Spilling { unpacked, packing })?;
        }
        document.serialize_entry("seconds", &summary.seconds)?;
        document.serialize_entry("inputs", &summary.inputs)?;
        summary.accounting().serialize_into(&mut document)?;
        if !host_lists.is_empty() {
            document.serialize_entry("host_lists", host_lists)?;
        }
        document.serialize_entry("files", &FileDocuments { terms, files })?;
        document.end()
    }
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
        let terms = self.terms;
        serializer.collect_seq(self.files.iter().map(|file| FileDocument { terms, file }))
    }
}

struct FileDocument<'a> {
    terms: Terms,
    file: &'a FileStats,
}

impl Serialize for FileDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FileStats { path, state, bytes, tally } = self.file;
        let mut document = serializer.serialize_map(None)?;
        match path.to_str() {
            Some(text) => document.serialize_entry("file", text)?,
            None => {
                let text = base64(path.as_os_str().as_encoded_bytes());
                document.serialize_entry("file_base64", &text)?;
            }
        }
        document.serialize_entry("state", state.name())?;
        document.serialize_entry("bytes", bytes)?;
        Accounting { terms: self.terms, tally }.serialize_into(&mut document)?;
        document.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::Inputs;
    use super::super::tally::JobKind;
    use super::*;
    use serde_json::{Value, json};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use uniqurl::RejectReason;

    fn document(job: JobKind, path: &OsStr) -> Value {
        let mut tally = Tally::default();
        (0..3).for_each(|_| tally.canonical());
        tally.reject(RejectReason::Port);
        tally.blank();
        let totals = Tally { unique: 2, duplicates: 1, ..tally };
        let file = FileStats {
            path: path.into(),
            state: InputState::Ok,
            bytes: 60,
            tally: totals.clone(),
        };
        let summary = Summary {
            terms: Terms::of(job),
            tally: totals,
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
            host_lists: &[],
        };
        let mut out = Vec::new();
        stats.write(&mut out).expect("a vector takes everything");
        assert_eq!(out.last(), Some(&b'\n'));
        serde_json::from_slice(&out).expect("one document")
    }

    #[test]
    fn stats_hold_totals_and_each_file() {
        assert_eq!(
            document(JobKind::Dedup, OsStr::new("a b.txt")),
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
        let document = document(JobKind::Normalize, OsStr::new("a"));
        assert_eq!(document["canonical"], 3);
        assert!(document.get("unique").is_none() && document.get("duplicates").is_none());
    }

    #[test]
    fn file_name_that_is_not_utf8_is_written_as_base64() {
        let document = document(JobKind::Dedup, OsStr::from_bytes(b"caf\xE9"));
        assert_eq!(document["files"][0]["file_base64"], base64(b"caf\xE9"));
        assert!(document["files"][0].get("file").is_none());
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
