//! How a file of what was seen is read: what its lines are, where in them the URLs, and whether that is
//! certain.
//!
//! A wrong guess loses URLs or gives them again, so where there are two readings there is none: the file
//! is refused, and what would do is said. Only a saved set says of itself what it is.

use std::ops::AddAssign;

use super::error::{Instead, Unclear};
use super::shape::{is_escaped, is_key, is_masked, is_open, is_place};
use uniqurl::key::Key;
use uniqurl::normalize::{Normalizer, Outcome};
use uniqurl::profile::{Grammar, System};
use uniqurl_formats::input::Chunk;
#[cfg(feature = "tables")]
use uniqurl_formats::record::Container;
use uniqurl_formats::record::{self, Format, HEAD, Refusal, Separator};

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Saved,
    List,
    /// A list with counts before its URLs.
    Counted,
    /// Lines of columns between tabs: which of them holds the URLs, and how many tabs there are.
    Columns {
        url: usize,
        tabs: usize,
    },
    /// Rows, of which one cell is read.
    #[cfg(feature = "tables")]
    Table,
}

/// What all that is no saved set is read by: the rules of the run.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) normalizer: &'a Normalizer,
    pub(super) key: Key,
    pub(super) separator: Separator,
}

/// What became of the lines of a file, or the rows, without blank ones.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) all: u64,
    /// Those that are no URLs.
    pub(super) rejected: u64,
    /// Those that hold a tab.
    pub(super) tabbed: u64,
    pub(super) odd: Odd,
}

/// What speaks against a reading, or for it.
#[derive(Debug, Default)]
pub(super) struct Odd {
    /// Lines with other columns than the first ones.
    uneven: u64,
    /// Texts that look like the key of the run, which is no URL.
    keys: u64,
    /// Those that look as if their bytes were escaped.
    pub(super) escaped: u64,
    /// Those whose secrets are masked, and whether others are not.
    masked: u64,
    open: bool,
    /// Texts that look like any key, or like a place in a file, and whether one looks like neither.
    keyed: u64,
    plain: bool,
}

impl AddAssign for Odd {
    fn add_assign(&mut self, more: Self) {
        self.uneven += more.uneven;
        self.keys += more.keys;
        self.escaped += more.escaped;
        self.masked += more.masked;
        self.open |= more.open;
        self.keyed += more.keyed;
        self.plain |= more.plain;
    }
}

impl Reading<'_> {
    /// What the lines of a list are that begins with `bytes`.
    ///
    /// # Errors
    ///
    /// What is wrong with it: read as a list of URLs, it would say of everything that it is new.
    pub(super) fn kind_of(&self, bytes: &[u8]) -> Result<Kind, Unclear> {
        let head = &bytes[..bytes.len().min(HEAD)];
        let why = match self.separator {
            Separator::LineFeed => record::refusal_of_auto(head),
            Separator::Nul => record::refusal(head),
        };
        if let Some(why) = why {
            let instead = match why {
                Refusal::EndsWithNul => Instead::EndingWithNul,
                _ => Instead::Nothing,
            };
            return Err(Unclear::new(why.to_string(), instead));
        }
        if head.starts_with(b"{\"") {
            return Err(Unclear::new("its lines are JSON objects", Instead::Lines));
        }
        // By its header: a row would be a URL with what stands behind the comma.
        let format = record::detect("", head);
        let is_table = matches!(format, Format::Csv(_) | Format::Tsv(_));
        if is_table && self.separator == Separator::LineFeed {
            let instead = Instead::List(format.name().into_owned());
            return Err(Unclear::new("it is a table with a header", instead));
        }
        let separator = self.separator.byte();
        let ends = |byte| memchr::memchr(byte, head).is_some();
        if !ends(separator) && (ends(b'\n') || ends(b'\0')) {
            return Err(match self.separator {
                Separator::LineFeed => {
                    Unclear::new(Refusal::EndsWithNul.to_string(), Instead::EndingWithNul)
                }
                Separator::Nul => {
                    let why = "its records do not end with NUL, as those of the inputs do";
                    Unclear::new(why, Instead::Nothing)
                }
            });
        }
        // But for a last line that is cut.
        let end = match bytes.len() > HEAD {
            true => memchr::memrchr(separator, head).map_or(head.len(), |last| last + 1),
            false => head.len(),
        };
        let lines = || {
            let lines = head[..end].split_inclusive(|byte| *byte == separator);
            lines.map(|line| without_end(line, separator)).filter(|line| !line.is_empty())
        };
        let tabs = lines().next().map_or(0, count_tabs);
        let is_counted = after_count(head).is_some() && tabs == 1;
        if self.takes_any_bytes() {
            // A tab is a byte of a URL there.
            if is_counted && lines().all(|line| after_count(line).is_some()) {
                let why = "its lines begin with a count and a tab, or URLs begin so under this \
                           profile; cut -f2- leaves counts out";
                return Err(Unclear::new(why, Instead::SavedSet));
            }
            return Ok(Kind::List);
        }
        if !is_counted && (tabs == 0 || lines().any(|line| count_tabs(line) != tabs)) {
            return Ok(Kind::List);
        }
        if self.key != Key::Url {
            let why = format!(
                "its lines are columns between tabs, which may hold keys; under the key {} only lists \
                 of URLs alone are read, as cut -f makes one",
                self.key
            );
            return Err(Unclear::new(why, Instead::SavedSet));
        }
        if is_counted {
            return Ok(Kind::Counted);
        }
        let holds_urls = |column: &usize| {
            let mut urls = lines().map(|line| column_of(line, *column));
            // Some other columns look like URLs, but not like those of hosts.
            urls.clone().any(|url| url.windows(3).any(|part| part == b"://"))
                && urls.all(|url| self.is_canonical(url))
        };
        let found: Vec<usize> = (0..=tabs).filter(holds_urls).collect();
        let numbers = || found.iter().map(|column| (column + 1).to_string()).collect::<Vec<_>>();
        let why = match found[..] {
            [url] => return Ok(Kind::Columns { url, tabs }),
            [] => format!(
                "its lines are columns between tabs, and none of these holds canonical URLs of {}; \
                 cut -f takes one column of a table",
                self.normalizer.description()
            ),
            _ => format!(
                "its lines are columns between tabs, and several of these hold canonical URLs: {}; \
                 cut -f takes the one that was seen",
                numbers().join(", ")
            ),
        };
        Err(Unclear::new(why, Instead::Nothing))
    }

    /// As [`kind_of`](Self::kind_of), for what is no text.
    #[cfg(feature = "tables")]
    pub(super) fn kind_of_table(&self, container: Container) -> Result<Kind, Unclear> {
        match self.key {
            Key::Url => Ok(Kind::Table),
            key => Err(Unclear::new(
                format!(
                    "it is a table, whose columns may hold keys, and is not read under the key {key}"
                ),
                Instead::Column(format!("{}:COL", container.name())),
            )),
        }
    }

    /// Why a table is not read in which no column is called `canonical`, and the URLs would be in this one.
    #[cfg(feature = "tables")]
    pub(super) fn refusal_of_column(name: &str) -> Option<Unclear> {
        let column = name.split_once(':')?.1;
        matches!(column, "surt" | "ssurt" | "hash" | "first").then(|| {
            let why = format!(
                "its URLs would be in the column {column}, which is the name of what is no URL"
            );
            Unclear::new(why, Instead::Column(name.to_owned()))
        })
    }

    /// The URLs of a chunk of lines that hold more, each ended as its line is, and what is odd about
    /// those of any chunk.
    pub(super) fn look(&self, kind: Kind, chunk: &Chunk) -> (Option<Vec<u8>>, Odd) {
        let mut odd = Odd::default();
        let bytes = chunk.bytes();
        let separator = self.separator.byte();
        let lines = || bytes.split_inclusive(|byte| *byte == separator);
        let text = |line| without_end(line, separator);
        match kind {
            Kind::Saved => {}
            #[cfg(feature = "tables")]
            Kind::Table => {
                let cells = chunk.rows().map_or(&[][..], |rows| &rows.cells);
                let cells = cells.iter().filter(|cell| **cell != record::NULL);
                cells.for_each(|cell| self.look_at(cell.of(bytes), kind, &mut odd));
            }
            Kind::List => {
                // Most lists are told by their first lines; but to a ring a key is a target like others.
                let has = |part| memchr::memmem::find(bytes, part).is_some();
                let is_clean = self.key == Key::Url && !has(b"\\") && !has(b"***");
                let has_query = has(b"?");
                let mut lines = lines().map(text);
                for url in &mut lines {
                    self.look_at(url, kind, &mut odd);
                    if is_clean && odd.plain && (odd.open || !has_query) {
                        break;
                    }
                }
                if self.takes_keys() {
                    odd.keyed += lines.filter(|url| is_keyed(url)).count() as u64;
                }
            }
            Kind::Counted | Kind::Columns { .. } => {
                let mut urls = Vec::with_capacity(bytes.len());
                for line in lines() {
                    let text = text(line);
                    let url = match kind {
                        Kind::Columns { url, tabs } => {
                            odd.uneven += u64::from(!text.is_empty() && count_tabs(text) != tabs);
                            column_of(text, url)
                        }
                        _ => after_count(text).unwrap_or(text),
                    };
                    self.look_at(url, kind, &mut odd);
                    urls.extend_from_slice(url);
                    urls.extend_from_slice(&line[text.len()..]);
                }
                return (Some(urls), odd);
            }
        }
        (None, odd)
    }

    fn look_at(&self, url: &[u8], kind: Kind, odd: &mut Odd) {
        if url.is_empty() {
            return;
        }
        odd.keys += u64::from(self.key != Key::Url && is_key(url, self.key));
        let is_keyed = is_keyed(url);
        odd.keyed += u64::from(is_keyed);
        odd.plain |= !is_keyed;
        odd.open = odd.open || is_open(url);
        let any = self.takes_any_bytes();
        odd.masked += u64::from(!(any && kind == Kind::List) && is_masked(url));
        // What is canonical may have come out so. Columns are escaped only where any byte may come out.
        let may_be_plain = kind == Kind::List || !self.normalizer.may_write_any_byte();
        odd.escaped += u64::from(is_escaped(url) && !(may_be_plain && self.is_canonical(url)));
    }

    /// Whether a file may be read as it was, now that all its lines are known.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(super) fn judge(&self, kind: Kind, lines: &Lines) -> Result<(), Unclear> {
        let Lines { all, rejected, odd, .. } = lines;
        let profile = self.normalizer.description();
        let why = match kind {
            Kind::Saved if *rejected > 0 => {
                let why = format!("{rejected} of its {all} keys are longer than any");
                return Err(Unclear::new(why, Instead::Nothing));
            }
            Kind::Saved => return Ok(()),
            _ if odd.uneven > 0 => {
                let why = format!(
                    "{} of its {all} lines have another number of columns than the first ones",
                    odd.uneven
                );
                return Err(Unclear::new(why, Instead::Nothing));
            }
            _ if odd.keys > 0 => format!(
                "{} of its {all} lines look like keys ({}), and not like URLs",
                odd.keys, self.key
            ),
            _ if rejected == all && *all > 0 => {
                format!("none of its {all} lines is a URL under {profile}")
            }
            _ if rejected * 2 > *all => format!(
                "{rejected} of its {all} lines are no URLs under {profile}, which is most of them"
            ),
            // Lists of URLs that logs wrote have such too.
            _ if odd.escaped > 0 && kind != Kind::List => format!(
                "{} of its {all} URLs hold \\xHH, as columns are escaped, and are not canonical",
                odd.escaped
            ),
            _ if odd.masked > 0 && !odd.open => {
                "the secrets of its URLs are masked (***)".to_owned()
            }
            _ if self.looks_keyed(lines) => format!(
                "{} of its {all} lines look like keys, or like places in a file, and not like URLs",
                odd.keyed
            ),
            _ => return Ok(()),
        };
        Err(Unclear::new(why, Instead::SavedSet))
    }

    /// Whether all lines look like keys or places; or most of them, where a key is not rejected.
    fn looks_keyed(&self, Lines { all, odd, .. }: &Lines) -> bool {
        let many = if self.takes_keys() { odd.keyed * 2 > *all } else { !odd.plain && *all > 0 };
        many && !self.takes_any_bytes()
    }

    /// Whether a key is a target like others.
    fn takes_keys(&self) -> bool {
        matches!(self.normalizer.profile().system, System::Ring(_))
    }

    fn is_canonical(&self, url: &[u8]) -> bool {
        let mut out = Vec::new();
        self.normalizer.normalize(url, &mut out) == Outcome::Canonical && out == url
    }

    /// Whether a URL is its bytes, whatever they are.
    fn takes_any_bytes(&self) -> bool {
        self.normalizer.profile().grammar == Grammar::Ignored
    }
}

/// Whether a text looks like any key, or like a place in a file.
fn is_keyed(text: &[u8]) -> bool {
    // Of the usual start it is known, and most lists have no other.
    let is_usual = text.starts_with(b"http://") || text.starts_with(b"https://");
    !is_usual && (is_key(text, Key::Url) || is_place(text))
}

/// A line without what ends it, which takes a carriage return before a line feed along.
fn without_end(line: &[u8], separator: u8) -> &[u8] {
    match line.strip_suffix(&[separator]) {
        Some(text) if separator == b'\n' => text.strip_suffix(b"\r").unwrap_or(text),
        Some(text) => text,
        None => line,
    }
}

/// What stands behind a count and a tab at the start of a line.
fn after_count(line: &[u8]) -> Option<&[u8]> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    line[digits..].strip_prefix(b"\t").filter(|_| digits > 0)
}

fn count_tabs(line: &[u8]) -> usize {
    memchr::memchr_iter(b'\t', line).count()
}

/// The n-th column of a line, counted from 0.
fn column_of(line: &[u8], n: usize) -> &[u8] {
    line.split(|byte| *byte == b'\t').nth(n).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{after_count, is_key, is_keyed, is_place};
    use uniqurl::key::Key;

    #[test]
    fn a_count_is_digits_and_a_tab() {
        for (line, rest) in [
            (&b"12\thttp://h/"[..], Some(&b"http://h/"[..])),
            (b"0\t", Some(b"")),
            (b"\thttp://h/", None),
            (b"12 http://h/", None),
            (b"http://h/\t1", None),
            (b"", None),
        ] {
            assert_eq!(after_count(line), rest, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn no_key_and_no_place_has_the_usual_start() {
        let parts = [
            "", "h", ":", "/", "//", ")", "(", "?", "#", "@", ",", "80:", "1:2", "http@",
            "file:1:0",
        ];
        let mut texts = vec![String::new()];
        for _ in 0..4 {
            texts =
                texts.iter().flat_map(|text| parts.map(|part| format!("{text}{part}"))).collect();
            texts.sort();
            texts.dedup();
        }
        for start in ["http://", "https://"] {
            for text in texts.iter().map(|text| format!("{start}{text}")) {
                let text = text.as_bytes();
                assert!(!is_key(text, Key::Url) && !is_place(text), "{}", text.escape_ascii());
                assert!(!is_keyed(text));
            }
        }
        assert!(is_keyed(b"h:1:0") && is_keyed(b"com,h)/"));
    }
}
