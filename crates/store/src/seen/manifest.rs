//! The manifest: the list of the runs that a store consists of, replaced as a whole.
//!
//! It is text of three lines: `uniqurl-seen`, a space and the version; an object in JSON; and the CRC-32 of
//! both lines, as eight hexadecimal digits. Every version keeps the first and the last line, so that a later
//! version is told apart from damage.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::{SeenStoreError, SeenStoreProblem};
use super::rules::StoreRules;
use super::run::RunInfo;

/// The name of its file.
pub(super) const MANIFEST: &str = "manifest";

const MAGIC: &str = "uniqurl-seen ";
const VERSION: u64 = 1;

/// Bytes of the last line: the digits of the checksum, and a line feed.
const LAST_LINE: usize = 9;

/// The state of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) rules: StoreRules,
    /// Number of the keys in the store.
    pub(super) keys: u64,
    /// The number of the next add.
    pub(super) next_add: u64,
    /// The number of the next run; no run had it before.
    pub(super) next_run: u64,
    /// Oldest first.
    pub(super) runs: Vec<RunInfo>,
}

impl Manifest {
    /// The manifest of an empty store.
    pub(super) fn new(rules: StoreRules) -> Self {
        Self { rules, keys: 0, next_add: 1, next_run: 1, runs: Vec::new() }
    }

    /// Reads the manifest of the store in `directory`, and returns it with the bytes of its file.
    pub(super) fn read(directory: &Path) -> Result<(Self, u64), SeenStoreError> {
        let path = directory.join(MANIFEST);
        let text = fs::read(&path).map_err(|error| unreadable(directory, &path, error))?;
        Ok((Self::parse(&text, &path)?, text.len() as u64))
    }

    /// Parses the bytes of the file `path`.
    fn parse(text: &[u8], path: &Path) -> Result<Self, SeenStoreError> {
        let damaged =
            |offset: usize, reason: &str| Err(SeenStoreError::damaged(path, offset as u64, reason));
        let Some(after_magic) = text.strip_prefix(MAGIC.as_bytes()) else {
            // A file that is the beginning of a manifest was cut. Anything else never was one.
            return match MAGIC.as_bytes().starts_with(text) {
                true => damaged(text.len(), "the manifest is cut off"),
                false => {
                    let problem = SeenStoreProblem::NotAStore;
                    Err(SeenStoreError { offset: Some(0), ..SeenStoreError::new(path, problem) })
                }
            };
        };
        // Each version ends with this line, so nothing before it is believed without it.
        let Some((lines, last)) = text.split_last_chunk::<LAST_LINE>() else {
            return damaged(text.len(), "the manifest is cut off");
        };
        if last != last_line(lines).as_bytes() {
            return damaged(lines.len(), "wrong checksum");
        }
        let Some(first_end) = memchr::memchr(b'\n', after_magic) else {
            return damaged(MAGIC.len(), "no line ends");
        };
        let version = std::str::from_utf8(&after_magic[..first_end]).ok();
        let Some(version) = version.and_then(|digits| digits.parse().ok()) else {
            return damaged(MAGIC.len(), "the version is no number");
        };
        if version != VERSION {
            return Err(SeenStoreError::new(path, SeenStoreProblem::Version(version)));
        }
        let start = MAGIC.len() + first_end + 1;
        // The first line feed may be that of the last line, which `lines` does not hold.
        let manifest = serde_json::from_slice::<Self>(&lines[start.min(lines.len())..]);
        let manifest = match manifest {
            Ok(manifest) => manifest,
            Err(error) => return damaged(start, &error.to_string()),
        };
        // A checksum shows bits that changed. A file that somebody made by hand has a right one.
        match manifest.contradiction() {
            Some(reason) => damaged(start, &reason),
            None => Ok(manifest),
        }
    }

    /// A reason why no writer can have written this.
    fn contradiction(&self) -> Option<String> {
        let mut names: Vec<&str> = Vec::new();
        let mut entries = 0u64;
        for run in &self.runs {
            // Names become paths, so no other file must be reached by them.
            if run_number(&run.name).is_none_or(|number| number >= self.next_run) {
                return Some("a run has a name that no run can have".to_owned());
            }
            if run.removed > run.entries {
                return Some(format!("{} removes more keys than it has entries", run.name));
            }
            entries = entries.saturating_add(run.entries - run.removed);
            names.push(&run.name);
        }
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("{} is there twice", pair[0]));
        }
        // More entries than keys are usual: newer runs hold keys of older runs again.
        (self.keys > entries).then(|| "there are more keys than entries".to_owned())
    }

    /// The bytes of its file.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, io::Error> {
        let mut lines = format!("{MAGIC}{VERSION}\n").into_bytes();
        serde_json::to_writer(&mut lines, self)?;
        lines.push(b'\n');
        let last = last_line(&lines);
        lines.extend_from_slice(last.as_bytes());
        Ok(lines)
    }
}

/// The last line, for all lines before it.
fn last_line(lines: &[u8]) -> String {
    format!("{:08x}\n", crc32fast::hash(lines))
}

/// The reason why there is no manifest to read.
fn unreadable(directory: &Path, path: &Path, error: io::Error) -> SeenStoreError {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    // The error of the manifest does not tell whether the directory is missing too.
    let problem = match (error.kind(), fs::metadata(directory)) {
        (NotFound | NotADirectory, Ok(_)) => SeenStoreProblem::NotAStore,
        (NotFound | NotADirectory, Err(_)) => SeenStoreProblem::Missing,
        (IsADirectory, _) => SeenStoreProblem::NotAStore,
        _ => return SeenStoreError::io(path, error),
    };
    SeenStoreError::new(directory, problem)
}

/// The name of the run with this number.
pub(super) fn run_name(number: u64) -> String {
    format!("run-{number:010}")
}

/// The number of the run with this name, if it is one's.
pub(super) fn run_number(name: &str) -> Option<u64> {
    let number = name.strip_prefix("run-")?.parse().ok()?;
    // `run-1` and `run-+000000001` can be parsed as well, and are no names of runs.
    (run_name(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl::key::Key;
    use uniqurl::{Normalizer, Profile};

    fn manifest() -> Manifest {
        let rules = StoreRules::of(&Normalizer::new(Profile::Crawl), Key::Url, None);
        let run = |number, entries, removed| RunInfo {
            name: run_name(number),
            bytes: 1 << 40,
            entries,
            removed,
            checksum: 0xDEAD_BEEF,
        };
        let runs = vec![run(12, 1_000_000_000, 0), run(9_999_999_999, 2, 1)];
        Manifest {
            keys: 999_999_999,
            next_add: 3,
            next_run: 10_000_000_000,
            runs,
            ..Manifest::new(rules)
        }
    }

    fn parse(text: &[u8]) -> Result<Manifest, SeenStoreError> {
        Manifest::parse(text, Path::new("store/manifest"))
    }

    fn with_checksum(lines: &str) -> Vec<u8> {
        format!("{lines}{}", last_line(lines.as_bytes())).into_bytes()
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        for manifest in [manifest(), Manifest::new(manifest().rules)] {
            assert_eq!(parse(&manifest.to_bytes().unwrap()).unwrap(), manifest);
        }
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_of_a_manifest_is_found() {
        let written = manifest().to_bytes().unwrap();
        for bit in 0..8 * written.len() {
            let mut flipped = written.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let error = parse(&flipped).expect_err("a flipped bit").to_string();
            assert!(error.starts_with("store/manifest@"), "{error}");
        }
        for length in 0..written.len() {
            let error = parse(&written[..length]).expect_err("a truncation").to_string();
            assert!(error.starts_with("store/manifest@"), "{error}");
            assert!(error.contains("damaged: "), "{error}");
        }
        let longer = [written, b"\n".to_vec()].concat();
        assert!(parse(&longer).is_err());
    }

    #[test]
    fn another_version_is_told_apart_from_damage() {
        let error = parse(&with_checksum("uniqurl-seen 2\nsomething else\n")).unwrap_err();
        assert!(matches!(error.problem, SeenStoreProblem::Version(2)), "{error}");
        let error = parse(&with_checksum("uniqurl-seen x\n{}\n")).unwrap_err();
        assert!(matches!(error.problem, SeenStoreProblem::Damaged(_)), "{error}");
        let error = parse(b"Manifest-Version: 1.0\n").unwrap_err();
        assert!(matches!(error.problem, SeenStoreProblem::NotAStore), "{error}");
    }

    #[test]
    fn a_manifest_that_contradicts_itself_is_damaged() {
        type Change = fn(&mut Manifest);
        let changes: [(&str, Change); 5] = [
            ("no run can have", |manifest| manifest.runs[0].name = "../run-0000000012".to_owned()),
            ("no run can have", |manifest| manifest.next_run = 12),
            ("twice", |manifest| manifest.runs[1].name = manifest.runs[0].name.clone()),
            ("removes more", |manifest| manifest.runs[1].removed = 3),
            ("more keys", |manifest| manifest.keys = 1_000_000_002),
        ];
        for (reason, change) in changes {
            let mut manifest = manifest();
            change(&mut manifest);
            let error = parse(&manifest.to_bytes().unwrap()).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_run_has_one_name() {
        for number in [0, 1, 9_999_999_999, 10_000_000_000, u64::MAX] {
            assert_eq!(run_number(&run_name(number)), Some(number));
        }
        for name in [
            "run-1",
            "run-00000000001",
            "run-000000000a",
            "run-",
            "run-+000000001",
            "RUN-0000000001",
        ] {
            assert_eq!(run_number(name), None, "{name}");
        }
    }
}
