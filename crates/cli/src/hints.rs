//! Hints: the options of the command that help with an error.
//!
//! In: an error of the library, which knows no options. Out: at most one hint, from the error alone, in
//! words that follow a semicolon.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::ErrorKind;

use memchr::memmem;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use uniqurl::profile::{Profile, System};
use uniqurl::{Normalizer, RejectReason};
use uniqurl_engine::output::JobKind;
use uniqurl_engine::{RunError, SeenError, SeenTrouble};
use uniqurl_formats::input::{Compression, InputError, Trouble};
use uniqurl_formats::record::Refusal;

/// An error, and its hint after a semicolon.
pub(crate) fn with_hint(error: impl Display, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

/// The hint of an error that ends a run.
pub(crate) fn of_run(error: &RunError, job: JobKind) -> Option<&'static str> {
    Some(match error {
        RunError::Input(error) => return of_input(error, job),
        RunError::Seen(SeenError { trouble: SeenTrouble::Refused(why), .. }) => of_refusal(*why),
        RunError::Memory if has_memory(job) => {
            "fewer threads (-j), or a smaller --memory, take less of it"
        }
        RunError::Memory => "fewer threads (-j) take less of it",
        RunError::Spill(error) => match Errno::from_io_error(&error.error) {
            // No other directory has more.
            Some(Errno::MFILE) => "ulimit -n allows more open files, and more --memory spills less",
            // Another file system may allow longer files; a limit of the process goes everywhere.
            Some(Errno::FBIG) if has_longest_file() => {
                "ulimit -f allows longer files, and more --memory spills less"
            }
            _ => "--temp-dir names another directory",
        },
        RunError::Output(error)
            if error.kind() == ErrorKind::FileTooLarge && has_longest_file() =>
        {
            "ulimit -f allows longer files"
        }
        RunError::Threads(_) => "-j says how many",
        _ => return None,
    })
}

/// The hint of an input that cannot be read.
pub(crate) fn of_input(error: &InputError, job: JobKind) -> Option<&'static str> {
    Some(match &error.trouble {
        Trouble::Directory => "name the files in it, or give -r",
        Trouble::Memory(_) if has_memory(job) => {
            "give more with --memory, or share it among fewer threads (-j)"
        }
        Trouble::Limit(packed, _) if packed.compression == Compression::Zstd => {
            "zstd -dc --long=31 unpacks it"
        }
        Trouble::Limit(packed, _) if packed.compression == Compression::Xz => "xz -dc unpacks it",
        Trouble::Refused(why) => of_refusal(*why),
        _ if is_url(error) => "inputs are files, and `uniqurl explain` takes URLs",
        _ => return None,
    })
}

/// The hint for a file of `--seen` that is missing.
pub(crate) fn of_seen(error: &InputError) -> &'static str {
    match error.trouble {
        Trouble::Directory => "name the files in it",
        _ if is_url(error) => "that is a URL, and --seen takes files",
        _ if error.code() == "missing" => "an empty file, as `touch` makes it, is an empty set",
        _ => "without it (--seen) URLs would come out again",
    }
}

/// The hint for a set that is missing.
pub(crate) fn of_set(error: &InputError) -> Option<&'static str> {
    match error.trouble {
        Trouble::Directory => Some("name the files in it"),
        _ => is_url(error).then_some("sets are files, or standard input (-)"),
    }
}

/// The hint for a file that is read in a format other than its own.
fn of_refusal(why: Refusal) -> &'static str {
    match why {
        Refusal::SavedSet => "`uniqurl dedup --seen` and `uniqurl set` take it as it is",
        Refusal::EndsWithNul => "-0 reads such lists",
        Refusal::EndsWithCarriageReturn => "tr '\\r' '\\n' makes line feeds of them",
        Refusal::Utf16 => "iconv -f UTF-16 -t UTF-8 makes UTF-8 of it",
        Refusal::Utf32 => "iconv -f UTF-32 -t UTF-8 makes UTF-8 of it",
        Refusal::Zip => "unzip -p writes its contents",
        Refusal::SevenZip => "7z x -so writes its contents",
        Refusal::Tar => "tar -xO writes its contents",
        Refusal::Lz4 => "lz4 -dc unpacks it",
        Refusal::Compress => "gzip -dc unpacks it",
        Refusal::Lzip => "lzip -dc unpacks it",
        Refusal::Lzma => "xz -dc unpacks it",
        Refusal::PackedTwice => "unpack it once before",
        Refusal::Feather1 => "write it anew as version 2, which is Arrow IPC",
        Refusal::OldArrow => "pyarrow.ipc reads it and writes it anew",
        Refusal::EncryptedParquet => "write it anew without encryption",
        Refusal::Avro => "DuckDB and others make Parquet of it",
        Refusal::Sqlite => "sqlite3 -csv writes what a query finds",
        Refusal::MarkBeforeArchive => "tail -c +4 leaves it out",
        Refusal::JsonArray => "jq -c '.[]' writes each of its elements on a line",
        Refusal::SeparatorLine => "tail -n +2 leaves it out",
        Refusal::Semicolons => "mlr --icsv --ifs ';' --ocsv cat puts commas there",
        Refusal::Bars => "mlr --icsv --ifs '|' --ocsv cat puts commas there",
        Refusal::ClusterIndex => "the URLs are in the files that it names, cdx-00000.gz and so on",
        Refusal::Table => "write it to a file as it is, and name that",
        Refusal::NoTables => "a library of Arrow makes columns of it",
    }
}

/// The hint for records that were mostly rejected with the code `most`, in lists or in other formats.
pub(crate) fn of_rejects(most: Option<RejectReason>, are_lists: bool) -> &'static str {
    match most {
        Some(RejectReason::TooLong) => "--max-url can be raised",
        Some(RejectReason::Relative) if are_lists => {
            "--base resolves relative ones, and --assume-scheme reads hosts"
        }
        _ => "`uniqurl normalize --json` tells why, and --format how records are read",
    }
}

/// The hint of a filter `option` that judges a field which the format `name` does not have.
pub(crate) fn of_idle(name: &str, option: &str) -> Option<String> {
    let (kind, _) = name.split_once(':')?;
    let part = option.strip_prefix("--")?;
    let place = match kind {
        "csv" | "tsv" | "parquet" | "arrow" => "COL",
        "json" => "POINTER",
        _ => return None,
    };
    matches!(part, "status" | "method" | "mime")
        .then(|| format!("--format {name},{part}={place} says where it is"))
}

/// The hint of a URL that was rejected with this code, in a sentence or two.
pub(crate) fn of_code(code: RejectReason, normalizer: &Normalizer) -> Option<Cow<'static, str>> {
    let takes_targets = matches!(normalizer.profile().system, System::Servlet | System::Ring(_));
    // A profile file excludes `--allow`.
    let allowing = || match normalizer.is_from_file() {
        true => format!("allow = [\"{code}\"] in the profile file"),
        false => format!("--allow {code}"),
    };
    let hint = match code {
        // There a base lends its scheme and host alone, and only to a path.
        RejectReason::Relative if takes_targets => {
            "A request target begins with a slash, whether there is a base or not."
        }
        RejectReason::Relative => {
            "--base says what it is relative to; --assume-scheme https reads example.com/x as \
             https://example.com/x."
        }
        RejectReason::Scheme => {
            "A scheme is a letter, then letters, digits, + - or . up to the colon. With \
             --assume-scheme https a host and a port may stand there."
        }
        RejectReason::NoAuthority => {
            "Write // and a host after the colon, as in http://example.com/."
        }
        RejectReason::Byte => {
            "Write the byte as a triplet, or use the profile crawl, which does so; a host takes \
             neither."
        }
        RejectReason::Escape => {
            "Write %25 for a percent sign that is meant, or use the profile crawl, which does so; a \
             host takes neither."
        }
        RejectReason::Host => {
            "A host in brackets is an IPv6 address like [2001:db8::1], without a zone; to a browser \
             one that ends in a number is an IPv4 address."
        }
        RejectReason::Port => {
            "A port is digits only. A colon in a host that is an address needs brackets."
        }
        RejectReason::PortRange => "Correct the number; the profile scheme keeps it as it is.",
        RejectReason::EmptyHost => "Write the host between the // and the path.",
        RejectReason::Idna => {
            "A host is letters, digits, hyphens and dots, in any script IDNA allows."
        }
        RejectReason::Newline => "Write the line break as %0A or %0D, or leave it out.",
        RejectReason::AsteriskForm => "There is no URL in such a request.",
        RejectReason::Fragment
        | RejectReason::NoLeadingSlash
        | RejectReason::LeadingDotDot
        | RejectReason::EncodedSlash
        | RejectReason::DotSegmentParameter
        | RejectReason::EncodedDotSegment
        | RejectReason::EmptySegmentBeforeDotDot
        | RejectReason::EmptySegmentParameter
        | RejectReason::Backslash
        | RejectReason::Control
        | RejectReason::EncodedUnreserved
        | RejectReason::EncodedBackslash
        | RejectReason::Nul
        | RejectReason::DoubleEncoding
        | RejectReason::OverlongUtf8
        | RejectReason::RareIpv4
        | RejectReason::Userinfo
        | RejectReason::WellKnownPort => {
            return Some(format!("{} switches this check off.", allowing()).into());
        }
        RejectReason::Decode => {
            let allowing = allowing();
            return Some(
                format!("Segments are triplets of UTF-8. {allowing} lets raw ones through.").into(),
            );
        }
        _ => return None,
    };
    Some(hint.into())
}

/// Whether a URL was given as an input, which has to be a file.
pub(crate) fn is_url(error: &InputError) -> bool {
    error.code() == "missing"
        && memmem::find(error.path.as_os_str().as_encoded_bytes(), b"://").is_some()
}

/// Whether a profile looks for a scheme in each line: to `string` it is bytes, to `servlet` and the
/// rings a target.
pub(crate) fn reads_schemes(profile: &Profile) -> bool {
    *profile != Profile::STRING && !matches!(profile.system, System::Servlet | System::Ring(_))
}

/// Whether a URL begins with a name that `--assume-scheme` takes for a host, and a port after it.
pub(crate) fn is_host_and_port(url: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', url) else { return false };
    let (name, rest) = (&url[..colon], &url[colon + 1..]);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (name.contains(&b'.') || name.eq_ignore_ascii_case(b"localhost"))
        && (1..=5).contains(&digits)
        && matches!(rest.get(digits), None | Some(b'/' | b'?' | b'#'))
}

/// Whether the process has a limit for the length of files.
fn has_longest_file() -> bool {
    getrlimit(Resource::Fsize).current.is_some()
}

/// Whether the subcommand has `--memory`.
fn has_memory(job: JobKind) -> bool {
    job == JobKind::Dedup
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl_store::spill::SpillError;

    #[test]
    fn hint_for_too_many_open_files_does_not_name_temp_dir() {
        let told = |errno: Errno| {
            let error = SpillError { directory: "d".into(), error: errno.into() };
            of_run(&RunError::Spill(error), JobKind::Dedup).expect("a hint")
        };
        assert_eq!(told(Errno::NOSPC), "--temp-dir names another directory");
        let full = told(Errno::MFILE);
        assert!(full.contains("ulimit -n") && !full.contains("--temp-dir"), "{full}");
    }

    #[test]
    fn no_hint_names_an_option_that_the_subcommand_lacks() {
        let input = || InputError::new("in".as_ref(), None, Trouble::Memory("much".into()));
        for error in [RunError::Memory, RunError::Input(input())] {
            let names = |job| of_run(&error, job).is_some_and(|hint| hint.contains("--memory"));
            assert!(names(JobKind::Dedup), "{error}");
            assert!(!names(JobKind::Normalize), "{error}");
        }
    }

    #[test]
    fn hint_for_a_missing_file_appears_only_for_urls() {
        let missing = |name: &str| {
            let error = std::io::Error::from(ErrorKind::NotFound);
            InputError::new(name.as_ref(), None, Trouble::Io(error))
        };
        let (url, file) = (missing("http://h/"), missing("h"));
        assert!(
            of_input(&url, JobKind::Dedup).is_some() && of_input(&file, JobKind::Dedup).is_none()
        );
        assert!(of_set(&url).is_some() && of_set(&file).is_none());
        assert_ne!(of_seen(&url), of_seen(&file));
        let directory = InputError::new("d".as_ref(), None, Trouble::Directory);
        assert!(of_input(&directory, JobKind::Dedup).is_some_and(|hint| hint.ends_with("give -r")));
    }

    #[test]
    fn hint_for_rejects_follows_the_most_frequent_code() {
        let hints = [
            of_rejects(Some(RejectReason::TooLong), true),
            of_rejects(Some(RejectReason::Relative), true),
            of_rejects(Some(RejectReason::Relative), false),
        ];
        assert!(hints[0].contains("--max-url") && hints[1].contains("--base"));
        assert_eq!(hints[2], of_rejects(None, true));
    }
}
