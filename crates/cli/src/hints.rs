//! Hints: the options of the command that help with an error.
//!
//! In: an error of the library, which knows no options. Out: at most one hint, from the error alone: an action
//! in the imperative, printed on a line after the error.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use memchr::memmem;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::command_line::{of_shell, quoted};
use uniqurl::internal::System;
use uniqurl::{Normalizer, Profile, RejectReason};
use uniqurl_engine::output::JobKind;
use uniqurl_engine::{RunError, SeenError, SeenTrouble};
use uniqurl_formats::input::{Compression, InputError, Trouble, ending};
use uniqurl_formats::record::{Finds, Refusal, Suggestion, refusal};
use uniqurl_store::seen::{SeenStoreError, SeenStoreProblem};
use uniqurl_text::{Printable, UrlExcerpt};

/// The hint of an error that ends a run.
pub(crate) fn of_run(error: &RunError, job: JobKind) -> Option<Cow<'static, str>> {
    let hint = match error {
        RunError::Input(error) => return of_input(error, job),
        RunError::Seen(SeenError { trouble: SeenTrouble::Refused(why), .. }) => why.remedy(),
        // It is text, so only that none of its lines is a URL shows that it is no list.
        RunError::Seen(SeenError { path, .. }) if is_named_table(path) => {
            "write its URLs to a list with `uniqurl dedup --format csv:COLUMN -o LIST`, and give --seen that"
        }
        // `normalize` has no --memory, and a hint names only options that the subcommand has.
        RunError::Memory if has_memory(job) => "use fewer threads with -j, or a smaller --memory",
        RunError::Memory => "use fewer threads with -j",
        RunError::Groups => "allow more --memory, or keep fewer URLs with --limit-by",
        RunError::Slugs => "allow more --memory, or leave --slugs out",
        RunError::Spill(error) => match Errno::from_io_error(&error.error) {
            // No other directory has more.
            Some(Errno::MFILE) => {
                "allow more open files with ulimit -n, or spill less with more --memory"
            }
            // Another file system may allow longer files; a limit of the process goes everywhere.
            Some(Errno::FBIG) if has_longest_file() => {
                "allow longer files with ulimit -f, or spill less with more --memory"
            }
            _ => "name another directory with --temp-dir",
        },
        RunError::Output(error) => of_output(error)?,
        RunError::Store(error) => of_store(error)?,
        RunError::Threads(_) => "use fewer threads with -j",
        _ => return None,
    };
    Some(hint.into())
}

/// The hint of an output that cannot be written.
pub(crate) fn of_output(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::FileTooLarge if has_longest_file() => Some("allow longer files with ulimit -f"),
        // Such a file is mounted by itself, as into a container, and only its directory can take a new one.
        ErrorKind::ResourceBusy => Some("mount the directory that holds the file"),
        ErrorKind::DirectoryNotEmpty => Some("name a new directory"),
        _ => None,
    }
}

/// The hint of an input that cannot be read.
pub(crate) fn of_input(error: &InputError, job: JobKind) -> Option<Cow<'static, str>> {
    let hint = match &error.trouble {
        Trouble::Directory => "name the files in it, or use -r",
        Trouble::Memory(_) if has_memory(job) => {
            "give more with --memory, or fewer threads with -j"
        }
        // Without the option, the tool refuses windows of more than 2^27 bytes, too.
        Trouble::Limit(packed, _) if packed.compression == Compression::Zstd => {
            "unpack it with zstd -dc --long=31"
        }
        Trouble::Limit(packed, _) if packed.compression == Compression::Xz => {
            "unpack it with xz -dc"
        }
        Trouble::Refused(why) => remedy(*why, &error.path),
        // A file of another kind lacks the column because it is not what the format reads.
        Trouble::Columns(why) => match refusal_of(&error.path) {
            Some(remedy) => remedy,
            // So begins the error of an extracted column. The library knows no options.
            None if why.starts_with("column ") => "name a column that every input has with --carry",
            // tsv has no quotation marks, so that they are a part of the name.
            None if why.starts_with("it has no column") && why.contains('"') => {
                r"undo the quotation marks with --format csv:COLUMN --delimiter '\t'"
            }
            None if why.starts_with("it has no column") => {
                "name one of its columns, or give a number, as in --format csv:1"
            }
            None => "name the format and the column with --format",
        },
        _ if is_url(error) => {
            return Some(match download(&error.path) {
                Some(command) => format!("{command} | uniqurl {}", job.name()).into(),
                None => "name a file, or pipe its content in".into(),
            });
        }
        _ => return None,
    };
    Some(hint.into())
}

/// The action for a file that is not read. Only the program that wrote a spreadsheet can write it otherwise.
fn remedy(why: Refusal, path: &Path) -> &'static str {
    match ending(path).as_deref() {
        Some("xlsx" | "xls" | "ods") => "save the sheet as CSV in the program that wrote it",
        _ => why.remedy(),
    }
}

/// The same for a file whose first bytes say that it cannot be read, whatever format was named for it.
pub(crate) fn refusal_of(path: &Path) -> Option<&'static str> {
    // Reading a pipe would take its bytes from whoever reads it next.
    let mut file = File::open(path).ok().filter(|_| path.is_file())?;
    let mut head = vec![0; 4096];
    let length = file.read(&mut head).ok()?;
    // The layer of compression around a file is taken off before its records are read.
    let why = refusal(&head[..length]).filter(|why| *why != Refusal::PACKED_TWICE)?;
    Some(remedy(why, path))
}

/// Whether the name of a file promises rows of text.
fn is_named_table(path: &Path) -> bool {
    matches!(ending(path).as_deref(), Some("csv" | "tsv"))
}

/// The command that writes what a URL names to standard output.
fn download(path: &Path) -> Option<String> {
    let url = path.as_os_str().as_encoded_bytes();
    // A hint is printed and kept in logs, so secrets in the URL are masked, as in any message.
    let shown = UrlExcerpt(url).to_string();
    let quoted = of_shell(&shown);
    let scheme = &url[..memmem::find(url, b"://")?];
    match scheme.to_ascii_lowercase().as_slice() {
        b"s3" => Some(format!("aws s3 cp {quoted} -")),
        b"gs" => Some(format!("gcloud storage cat {quoted}")),
        // Without -s, the progress of curl and that of this command would draw over each other.
        b"http" | b"https" | b"ftp" => Some(format!("curl -s {quoted}")),
        _ => None,
    }
}

/// The hint for a file of `--seen` that is missing.
pub(crate) fn of_seen(error: &InputError) -> Option<&'static str> {
    match error.trouble {
        Trouble::Directory => Some("name the files in it"),
        _ if is_url(error) => Some("save it to a file, and give --seen the name of that"),
        _ if error.code() == "missing" => Some("make a store with --save-seen"),
        _ => None,
    }
}

/// The hint for a store that cannot be read or written.
pub(crate) fn of_store(error: &SeenStoreError) -> Option<&'static str> {
    match error.problem {
        SeenStoreProblem::Busy => Some("wait for it with --wait"),
        SeenStoreProblem::Missing => {
            Some("make a store with `uniqurl dedup --save-seen` or `uniqurl seen add`")
        }
        SeenStoreProblem::OtherRules(_) => Some(
            "give the options that `uniqurl seen stats` shows, or carry its URLs over to a new store: \
             `uniqurl seen export OLD -o keys.txt`, then `uniqurl seen add NEW keys.txt` with the options \
             of this run",
        ),
        // The options that `seen stats` shows are the same.
        SeenStoreProblem::OtherLists(_) => Some(
            "give the lists as they were, or carry its URLs over to a new store: \
             `uniqurl seen export OLD -o keys.txt`, then `uniqurl seen add NEW keys.txt` with the options \
             of this run",
        ),
        SeenStoreProblem::NotAStore if error.path.is_file() => {
            Some("read a list with `uniqurl dedup --seen` or `uniqurl set`; a store is a directory")
        }
        SeenStoreProblem::NotAStore => Some("name the directory of a store, or a new one"),
        _ => None,
    }
}

/// The hint for a set that is missing.
pub(crate) fn of_set(error: &InputError) -> Option<&'static str> {
    match error.trouble {
        Trouble::Directory => Some("name the files in it"),
        _ => is_url(error).then_some("save it to a file, or pipe it to -"),
    }
}

/// The hint where nothing better is known.
const OTHER_FORMAT: &str =
    "see each reason with `uniqurl normalize --json`, or name another --format";

/// The hint for records that were mostly rejected with the code `most`.
pub(crate) fn of_rejects(
    most: Option<RejectReason>,
    are_lists: bool,
    suggestion: Option<&Suggestion>,
) -> Cow<'static, str> {
    let hint = match (most, suggestion) {
        // A suggestion was tried on the first lines of the input, so it is worth more
        // than a guess from the code.
        (_, Some(suggestion)) => return of_suggestion(suggestion),
        (Some(RejectReason::TooLong), None) => {
            "allow longer URLs with --max-url, or longer records with --max-record"
        }
        (Some(RejectReason::Relative), None) if are_lists => {
            "resolve relative URLs with --base, or read hosts with --assume-scheme"
        }
        _ => OTHER_FORMAT,
    };
    hint.into()
}

/// The hint for an input of this format without any record that it reads.
pub(crate) fn of_other_kinds(format: &str) -> &'static str {
    match format {
        "warc" => "name the kinds of its records with --record-types",
        "wat" | "wat:links" => {
            "only responses count there; read the targets of all with --format warc --record-types metadata"
        }
        _ => "name another format with --format",
    }
}

/// The hint for lines that begin with a word that is no registered scheme.
pub(crate) const FOR_LABELS: &str =
    "take the words for schemes with --format lines, or for hosts with --assume-scheme";

/// The hint for an input that may be read better in another way.
pub(crate) fn of_suggestion(suggestion: &Suggestion) -> Cow<'static, str> {
    match suggestion {
        Suggestion::Format { name, delimiter, finds } => {
            let delimiter = delimiter.map(|byte| format!(" --delimiter '{}'", char::from(byte)));
            let options =
                format!("--format {}{}", format_of_shell(name), delimiter.unwrap_or_default());
            match finds {
                Finds::Urls => format!("read the URLs in it with {options}"),
                Finds::Columns => format!("read the column with {options}"),
                Finds::HostPaths => {
                    format!("read its URLs, which lack a scheme, with {options} --assume-scheme https")
                }
                Finds::LeftOut(place) => {
                    let place = Printable(place.as_bytes());
                    format!("read {place} too, without which different URLs would be one, with {options}")
                }
            }
            .into()
        }
        Suggestion::Envelope(envelope) => {
            format!("take off what stands around its lines with --envelope {}", envelope.name())
                .into()
        }
        Suggestion::NoList => OTHER_FORMAT.into(),
        Suggestion::Words => {
            "name the layout of its lines with --format log:'FORMAT', or see each reason with \
             `uniqurl normalize --json`"
                .into()
        }
    }
}

/// The name of a format as a shell takes it.
fn format_of_shell(format: &str) -> String {
    match format.split_once(':') {
        Some((kind, layout)) if kind == "log" => format!("{kind}:{}", quoted(layout)),
        _ => of_shell(format),
    }
}

/// The hint of a filter `option` that judges a field which the format `name` does not have.
pub(crate) fn of_idle(name: &str, option: &str) -> Option<String> {
    // Only formats whose layout the user gives take more parts.
    let (kind, _) = name.split_once(':')?;
    let part = match option {
        "--status" => "status",
        "--method" => "method",
        "--mime" => "mime",
        "--agent" | "--not-agent" => "agent",
        "--since" | "--until" => "time",
        _ => return None,
    };
    let place = match kind {
        "csv" | "tsv" | "parquet" | "arrow" => "COL",
        "json" => "POINTER",
        _ => return None,
    };
    Some(format!("say where it is with --format {name},{part}={place}"))
}

/// The hint of a URL that was rejected with this code, in a sentence or two.
pub(crate) fn of_code(code: RejectReason, normalizer: &Normalizer) -> Option<Cow<'static, str>> {
    let takes_targets =
        matches!(normalizer.profile().rules().system, System::Servlet | System::Ring(_));
    // These checks are on because they were asked for.
    if normalizer.profile().checks_off().contains(code) {
        let asked = if normalizer.is_from_file() { "deny in the profile file" } else { "--deny" };
        return Some(format!("Without {code} under {asked} this check is off.").into());
    }
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
        // With a base nothing else is relative.
        RejectReason::Relative if normalizer.origin().is_some() => {
            "Write ./ before a first segment that holds a colon, as in ./12:30.html."
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
             one that ends in a number is an IPv4 address. Programs differ on the host before a \\."
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
pub(crate) fn reads_schemes(profile: Profile) -> bool {
    profile != Profile::String
        && !matches!(profile.rules().system, System::Servlet | System::Ring(_))
}

/// Whether a URL begins with a name that `--assume-scheme` takes for a host, and a port after it.
pub(crate) fn is_host_and_port(url: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', url) else { return false };
    let (name, rest) = (&url[..colon], &url[colon + 1..]);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // A word without a dot is more likely a scheme, as in `tel:112`.
    (name.contains(&b'.') || name.eq_ignore_ascii_case(b"localhost"))
        // A port has five digits at most; more of them are another number.
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
        assert_eq!(told(Errno::NOSPC), "name another directory with --temp-dir");
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
        assert!(of_input(&directory, JobKind::Dedup).is_some_and(|hint| hint.ends_with("use -r")));
    }

    #[test]
    fn hint_for_rejects_follows_the_most_frequent_code() {
        let hints = [
            of_rejects(Some(RejectReason::TooLong), true, None),
            of_rejects(Some(RejectReason::Relative), true, None),
            of_rejects(Some(RejectReason::Relative), true, Some(&Suggestion::NoList)),
        ];
        assert!(hints[0].contains("--max-url") && hints[1].contains("--base"));
        assert_eq!(hints[2], of_rejects(None, true, None));
    }
}
