//! What a pattern of another program stands for: regular expressions as the short texts that they match, and the hosts
//! and paths of URLs.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassBytes, Hir, HirKind, Look};

/// A part of the texts that a regular expression matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Byte(u8),
    /// `.`, one character.
    One,
    /// `.*`, any characters.
    Many,
    /// `[^?]*`, any path.
    Path,
    /// Labels of a host, each with its dot, as in `(?:[a-z0-9-]+\.)*`.
    Labels,
    Start,
    End,
    /// Anything else, and why it is no text.
    Opaque(&'static str),
}

use Token::{Byte, End, Labels, Many, One, Opaque, Path as AnyPath, Start};

/// The most texts that an expression is written as.
const MOST_TEXTS: usize = 128;

const TOO_MANY: &str = "stands for too many texts";

/// The texts that an expression matches, of which each part is a [`Token`].
pub(super) fn texts(expression: &str) -> Vec<Vec<Token>> {
    // Names and URLs are bytes, of which the lists know ASCII alone.
    let parsed = ParserBuilder::new().unicode(false).utf8(false).build().parse(expression);
    parsed
        .map_or_else(|_| opaque("is no regular expression without look-around"), |hir| expand(&hir))
}

fn opaque(reason: &'static str) -> Vec<Vec<Token>> {
    vec![vec![Opaque(reason)]]
}

fn expand(hir: &Hir) -> Vec<Vec<Token>> {
    match hir.kind() {
        HirKind::Empty => vec![Vec::new()],
        HirKind::Literal(literal) => vec![literal.0.iter().map(|byte| Byte(*byte)).collect()],
        HirKind::Look(Look::Start) => vec![vec![Start]],
        HirKind::Look(Look::End) => vec![vec![End]],
        HirKind::Look(_) => opaque("looks around"),
        HirKind::Capture(capture) => expand(&capture.sub),
        HirKind::Alternation(all) => within(all.iter().flat_map(expand).collect()),
        HirKind::Concat(all) => all.iter().map(expand).fold(vec![Vec::new()], joined),
        HirKind::Class(class) if is_any(class) => vec![vec![One]],
        HirKind::Class(class) => match bytes_of(class) {
            Some(bytes) => bytes.into_iter().map(|byte| vec![Byte(byte)]).collect(),
            None => opaque(TOO_MANY),
        },
        HirKind::Repetition(repetition) => match (repetition.min, repetition.max) {
            (0, Some(1)) => within([vec![Vec::new()], expand(&repetition.sub)].concat()),
            (min @ (0 | 1), None) => match repetition.sub.kind() {
                HirKind::Class(class) if is_any(class) && min == 0 => vec![vec![Many]],
                HirKind::Class(class) if is_any(class) => vec![vec![One, Many]],
                HirKind::Class(class) if is_all_but_question_mark(class) => vec![vec![AnyPath]],
                HirKind::Class(_) => opaque("repeats a class of characters"),
                _ if min == 0 && is_label(&repetition.sub) => vec![vec![Labels]],
                _ if is_domain(&repetition.sub) => opaque("names hosts of any top-level domain"),
                _ => opaque("repeats a part"),
            },
            (min, Some(max)) if min == max && max <= 4 => {
                let sub = expand(&repetition.sub);
                (0..max).fold(vec![Vec::new()], |texts, _| joined(texts, sub.clone()))
            }
            _ => opaque("repeats a part"),
        },
    }
}

/// Each text before each text after it.
fn joined(before: Vec<Vec<Token>>, after: Vec<Vec<Token>>) -> Vec<Vec<Token>> {
    if before.len() * after.len() > MOST_TEXTS {
        return opaque(TOO_MANY);
    }
    let pairs = before.iter().flat_map(|b| after.iter().map(move |a| [&**b, &**a].concat()));
    pairs.collect()
}

fn within(texts: Vec<Vec<Token>>) -> Vec<Vec<Token>> {
    if texts.len() > MOST_TEXTS { opaque(TOO_MANY) } else { texts }
}

/// The bytes of a class, if they are few.
fn bytes_of(class: &Class) -> Option<Vec<u8>> {
    let Class::Bytes(class) = class else { return None };
    let bytes: Vec<u8> =
        class.ranges().iter().flat_map(|range| range.start()..=range.end()).collect();
    (bytes.len() <= MOST_TEXTS).then_some(bytes)
}

/// All bytes but those.
fn is_all_but(class: &Class, without: &[u8]) -> bool {
    let Class::Bytes(class) = class else { return false };
    let ranges = without.iter().map(|byte| regex_syntax::hir::ClassBytesRange::new(*byte, *byte));
    let mut all = ClassBytes::new(ranges);
    all.negate();
    *class == all
}

fn is_any(class: &Class) -> bool {
    is_all_but(class, b"\n")
}

fn is_all_but_question_mark(class: &Class) -> bool {
    is_all_but(class, b"?")
}

/// `[a-z0-9-]+\.`, or another class.
fn is_label(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Concat(parts) if matches!(&parts[..], [label, dot]
        if matches!(label.kind(), HirKind::Repetition(_)) && is_dot(dot)))
}

/// `\.[a-z]{2,}`
fn is_domain(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Concat(parts) if parts.first().is_some_and(is_dot))
}

fn is_dot(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Literal(literal) if *literal.0 == *b".")
}

/// The pattern of a profile file for names that are exactly these texts.
pub(super) fn name_glob(text: &[Token]) -> Result<String, &'static str> {
    let reason =
        text.iter().find_map(|token| if let Opaque(reason) = token { Some(reason) } else { None });
    if let Some(reason) = reason {
        return Err(reason);
    }
    let mut glob = String::new();
    let [Start, inner @ .., End] = text else { return Err("matches parts of names") };
    for (i, token) in inner.iter().enumerate() {
        match token {
            Byte(b'*' | b'?') => return Err("has a character that is a wildcard here"),
            Byte(byte @ b'!'..=b'~') => glob.push(char::from(*byte)),
            Byte(_) => return Err("has a character outside ASCII"),
            Many => glob.push('*'),
            // `?` stands for a byte, and `.` for a character: they agree only where more may follow.
            One if inner.get(i + 1) == Some(&Many) => glob.push('?'),
            One | AnyPath | Labels | Opaque(_) => return Err(TOO_MANY),
            Start | End => return Err("looks around"),
        }
    }
    if glob.is_empty() { Err("stands for the empty name") } else { Ok(glob) }
}

/// URLs by host and path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope {
    /// A host; `None` for all.
    pub(super) host: Option<String>,
    /// Whether hosts below it belong to it.
    pub(super) below: bool,
    pub(super) path: Option<Path>,
}

/// Paths, without their case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Path {
    pub(super) text: String,
    /// Whether the paths only begin with the text.
    pub(super) open: bool,
}

impl Scope {
    pub(super) const ALL: Self = Self { host: None, below: false, path: None };

    /// A host and those below it. A host is of letters, digits, dots and hyphens.
    pub(super) fn host(host: &str) -> Result<Self, &'static str> {
        Self::of(host, true, None)
    }

    fn of(host: &str, below: bool, path: Option<Path>) -> Result<Self, &'static str> {
        let host = host.to_ascii_lowercase();
        if host.ends_with('.') || host.ends_with(".*") {
            return Err("names hosts of any top-level domain");
        }
        let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        if host.starts_with('.') || host.is_empty() || !host.bytes().all(is_of_host) {
            return Err("names no host");
        }
        Ok(Self { host: Some(host), below, path })
    }

    /// The scope of the URLs that begin like this, after the scheme, and why it is wider than the text, if it is.
    /// Before the path, dots may stand for themselves, as in `x.com`.
    pub(super) fn of_text(text: &[Token]) -> Result<(Self, Option<&'static str>), &'static str> {
        let (below, text) = match text {
            [Labels, rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let end = text.iter().position(
            |token| !matches!(token, Byte(b'!'..=b'.' | b'0'..=b'>' | b'A'..=b'~') | One),
        );
        let (host, rest) = text.split_at(end.unwrap_or(text.len()));
        let host =
            host.iter().map(|token| if let Byte(byte) = token { char::from(*byte) } else { '.' });
        let host: String = host.collect();
        let (path, wider) = match rest {
            [] | [Many] => (None, None),
            [Opaque(reason), ..] => return Err(reason),
            [Byte(b'/'), ..] => Path::of_text(rest)?,
            // `\?`, `$` or `.*` after a host: it names one, and not all of its URLs.
            _ => (None, Some("depends on more than host and path")),
        };
        Ok((Self::of(&host, below, path)?, wider))
    }
}

impl Path {
    fn of_text(text: &[Token]) -> Result<(Option<Self>, Option<&'static str>), &'static str> {
        let end = text.iter().position(|token| !matches!(token, Byte(byte) if *byte != b'?'));
        let (path, rest) = text.split_at(end.unwrap_or(text.len()));
        let path =
            path.iter().filter_map(|token| if let Byte(byte) = token { Some(*byte) } else { None });
        let text =
            String::from_utf8(path.collect()).map_err(|_| "has a character outside ASCII")?;
        // A rule acts on parameters alone, so that a path before a query is a whole path.
        let (open, wider) = match rest {
            [] | [Many] => (true, None),
            [End] | [Byte(b'?')] | [Byte(b'?'), Many] => (false, None),
            [AnyPath, Byte(b'?')] | [AnyPath, Byte(b'?'), Many] => (true, None),
            [Byte(b'?'), ..] => (false, Some("depends on the query")),
            [AnyPath, Byte(b'?'), ..] => (true, Some("depends on the query")),
            _ => (true, Some("depends on more than the beginning of the path")),
        };
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()+,;=:@".contains(&byte);
        if !text.bytes().all(is_plain) || text.contains("/./") || text.contains("/../") {
            return Err("names no path in canonical form");
        }
        let text = text.to_ascii_lowercase();
        Ok((Some(Self { text, open }), wider))
    }

    /// Whether all paths of the other are paths of this one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        if self.open { other.text.starts_with(&self.text) } else { self == other }
    }
}
