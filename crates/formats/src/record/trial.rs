//! Tries a format on the first lines of an input.

use std::borrow::Cow;
use std::collections::HashSet;

use memchr::{memchr, memchr_iter, memrchr};

use super::hosts::{is_dotted, names_port};
use super::line::{is_blank, without_mark};
use super::value_kind::{ValueKind, is_url};
use super::{BufferId, Context, Extracted, Format, Records};
use uniqurl::internal::Span;

/// How many lines are tried; how much of them, unless the first one is longer; and how much of such a line.
const LINES: usize = 50;
const BYTES: usize = 32 << 10;
const LONGEST: usize = 1 << 20;

/// The first lines of an input that are not blank.
#[derive(Debug, Clone)]
pub(super) struct Trial<'a> {
    text: Cow<'a, [u8]>,
    pub lines: Vec<&'a [u8]>,
}

impl<'a> Trial<'a> {
    /// The first lines of an input with this beginning.
    pub fn of(head: &'a [u8]) -> Self {
        let head = without_mark(head);
        let end = head.len().min(BYTES);
        // A line that is cut is none, unless there is no other.
        let end = match memrchr(b'\n', &head[..end]) {
            Some(feed) => feed,
            None => memchr(b'\n', head).unwrap_or(head.len()).min(LONGEST),
        };
        let end = memchr_iter(b'\n', &head[..end]).nth(LINES - 1).unwrap_or(end);
        let text = &head[..end];
        let lines = text.split(|byte| *byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        Self { text: text.into(), lines: lines.filter(|line| !is_blank(line)).collect() }
    }

    /// The first of these lines.
    pub fn of_lines(lines: &[&'a [u8]]) -> Self {
        let lines = lines[..lines.len().min(LINES)].to_vec();
        Self { text: lines.join(&b'\n').into(), lines }
    }

    /// True if a format finds a URL in at least half of the lines.
    pub fn reads(&self, name: &str) -> bool {
        let found = self.found(name);
        // Where there are no lines, nothing is half of them.
        found > 0 && found * 2 >= self.lines.len()
    }

    /// The same with this byte between columns.
    pub fn reads_delimited(&self, name: &str, delimiter: Option<u8>) -> bool {
        match (delimiter, format(name, delimiter)) {
            (Some(_), Some(format)) => self.count_of(&format, |_| true) * 2 >= self.lines.len(),
            _ => self.reads(name),
        }
    }

    /// The number of distinct URLs that a format finds.
    pub fn distinct(&self, name: &str, delimiter: Option<u8>) -> usize {
        let mut urls = HashSet::new();
        if let Some(format) = format(name, delimiter) {
            let mut add = |url| urls.insert(url);
            self.count_of(&format, |found| match found {
                Found::Url(url) | Found::Target(url) => add(url.to_vec()),
                Found::Joined(origin, target) => add([origin, target].concat()),
            });
        }
        urls.len()
    }

    /// True if a format finds the site of the request, too.
    pub fn reads_sites(&self, name: &str) -> bool {
        self.count(name, |found| matches!(found, Found::Joined(origin, _) if names_site(origin)))
            * 2
            >= self.lines.len()
    }

    /// The number of URLs that a format finds in the lines.
    pub fn found(&self, name: &str) -> usize {
        let is_of_words = name.starts_with("ws:");
        self.count(name, |found| match found {
            // In running text, the marks of the sentence follow a URL.
            Found::Url(url) => is_url(url) && !(is_of_words && has_mark(url)),
            // The client stands first in a log without hosts.
            Found::Joined(origin, target) => {
                is_target(target) && (name != "vhost" || names_site(origin))
            }
            Found::Target(target) if is_of_words => is_target_among_words(target),
            // Without a host, `vhost` reads what `combined` reads, and says nothing more.
            Found::Target(target) => is_target(target) && name != "vhost",
        })
    }

    fn count(&self, name: &str, is_one: impl FnMut(Found<'_>) -> bool) -> usize {
        let Ok(format) = Format::parse(name) else { return 0 };
        self.count_of(&format, is_one)
    }

    /// The number of such URLs that a format finds in the lines.
    pub fn count_of(&self, format: &Format, mut is_one: impl FnMut(Found<'_>) -> bool) -> usize {
        #[cfg(test)]
        looks_at(&self.text);
        let mut out = Records::default();
        format.read(&Context::default(), &self.text, &mut out);
        let text = |span: Span, buffer| {
            span.of(if buffer == BufferId::Chunk { &self.text } else { &out.scratch })
        };
        let mut has_url = |found: &Extracted| match *found {
            Extracted::Url(buffer, url) => is_one(Found::Url(text(url, buffer))),
            Extracted::Target(buffer, target) => is_one(Found::Target(text(target, buffer))),
            Extracted::Joined { url, prefix } => {
                let (origin, target) = url.of(&out.scratch).split_at(prefix as usize);
                is_one(if origin.is_empty() {
                    Found::Target(target)
                } else {
                    Found::Joined(origin, target)
                })
            }
            _ => false,
        };
        out.records.iter().filter(|record| has_url(&record.found)).count()
    }
}

/// The format of this name, with this byte between columns.
fn format(name: &str, delimiter: Option<u8>) -> Option<Format> {
    let format = Format::parse(name).ok()?;
    Some(delimiter.and_then(|byte| format.with_delimiter(byte)).unwrap_or(format))
}

/// What a format finds in a record.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found<'a> {
    Url(&'a [u8]),
    Target(&'a [u8]),
    /// The origin of a site, and the target.
    Joined(&'a [u8], &'a [u8]),
}

fn is_target(text: &[u8]) -> bool {
    ValueKind::of(text) == ValueKind::Target
}

/// True for a target among words.
pub(super) fn is_target_among_words(text: &[u8]) -> bool {
    is_target(text) && !has_mark(text)
}

/// True for a word with a mark at its end that belongs to the text around it.
fn has_mark(word: &[u8]) -> bool {
    matches!(word, [.., b':' | b'"' | b',' | b'>' | b']' | b')'])
}

/// True for the origin of a site by name or with a port.
fn names_site(origin: &[u8]) -> bool {
    let start = memchr::memmem::find(origin, b"://").map_or(0, |at| at + 3);
    is_dotted(&origin[start..]) || names_port(&origin[start..])
}

/// True if more than half of some lines are such.
pub(super) fn most(lines: &[&[u8]], is_one: impl Fn(&[u8]) -> bool) -> bool {
    lines.iter().filter(|line| is_one(line)).count() * 2 > lines.len()
}

#[cfg(test)]
thread_local! {
    /// The bytes that this thread looked at for trials.
    pub(super) static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
fn looks_at(text: &[u8]) {
    LOOKED.set(LOOKED.get() + text.len());
}
