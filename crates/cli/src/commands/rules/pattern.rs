//! What a pattern of another program stands for: regular expressions as the short texts that they match, and the hosts
//! and paths of URLs.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

// In a text control characters, which no URL has, stand for what no character can say.
pub(super) const START: &str = "\x01";
pub(super) const END: &str = "\x02";
/// `.`, one character.
const ONE: &str = "\x03";
/// `.*`, any characters.
pub(super) const MANY: &str = "\x04";
/// Labels of a host, each with its dot, as in `(?:[a-z0-9-]+\.)*`.
pub(super) const LABELS: &str = "\x05";
const NO_EXPRESSION: &str = "\x11";
const TOO_MANY: &str = "\x12";
const CLASS: &str = "\x13";
const PART: &str = "\x14";
const TOP_LEVEL: &str = "\x15";

const ANY_TOP_LEVEL: &str = "names hosts of any top-level domain";

/// Why the last of them stand for nothing here.
const REASONS: [(&str, &str); 5] = [
    (NO_EXPRESSION, "is no regular expression without look-around"),
    (TOO_MANY, "stands for too many texts"),
    (CLASS, "repeats a class of characters"),
    (PART, "repeats a part"),
    (TOP_LEVEL, ANY_TOP_LEVEL),
];

/// Why a text cannot be said, if it cannot.
fn reason(text: &str) -> Option<&'static str> {
    REASONS.iter().find(|(sign, _)| text.contains(sign)).map(|(_, reason)| *reason)
}

/// The most texts that an expression is written as.
const MOST_TEXTS: usize = 128;

/// The texts that an expression matches.
pub(super) fn texts(expression: &str) -> Vec<String> {
    // Names and URLs are bytes, and the lists have only ASCII.
    let parsed = ParserBuilder::new().unicode(false).utf8(false).build().parse(expression);
    parsed.map_or_else(|_| vec![NO_EXPRESSION.to_owned()], |hir| expand(&hir))
}

fn expand(hir: &Hir) -> Vec<String> {
    let text = |text: &str| vec![text.to_owned()];
    let is_dot = |hir: Option<&Hir>| hir.is_some_and(|hir| expand(hir) == ["."]);
    let texts = match hir.kind() {
        HirKind::Empty => text(""),
        HirKind::Literal(literal) => text(str::from_utf8(&literal.0).unwrap_or(NO_EXPRESSION)),
        HirKind::Look(Look::Start) => text(START),
        HirKind::Look(Look::End) => text(END),
        HirKind::Look(_) | HirKind::Class(Class::Unicode(_)) => text(NO_EXPRESSION),
        HirKind::Capture(capture) => expand(&capture.sub),
        HirKind::Alternation(all) => all.iter().flat_map(expand).collect(),
        HirKind::Concat(all) => {
            all.iter().fold(text(""), |before, part| joined(&before, &expand(part)))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut bytes = class.ranges().iter().flat_map(|range| range.start()..=range.end());
            // All bytes but the line feed.
            if bytes.clone().count() == 255 && !bytes.clone().any(|byte| byte == b'\n') {
                text(ONE)
            } else {
                bytes.by_ref().map(|byte| char::from(byte).to_string()).collect()
            }
        }
        HirKind::Repetition(part) => match (part.min, part.max, part.sub.kind()) {
            (0, Some(1), _) => [text(""), expand(&part.sub)].concat(),
            (0, None, HirKind::Class(_)) if expand(&part.sub) == [ONE] => text(MANY),
            (1, None, HirKind::Class(_)) if expand(&part.sub) == [ONE] => {
                text(&[ONE, MANY].concat())
            }
            (_, None, HirKind::Class(_)) => text(CLASS),
            (0, None, HirKind::Concat(all)) if is_dot(all.last()) => text(LABELS),
            (_, None, HirKind::Concat(all)) if is_dot(all.first()) => text(TOP_LEVEL),
            _ => text(PART),
        },
    };
    if texts.len() > MOST_TEXTS { text(TOO_MANY) } else { texts }
}

/// Each text before each text after it.
fn joined(before: &[String], after: &[String]) -> Vec<String> {
    if before.len() * after.len() > MOST_TEXTS {
        return vec![TOO_MANY.to_owned()];
    }
    before.iter().flat_map(|b| after.iter().map(move |a| format!("{b}{a}"))).collect()
}

/// The pattern of a profile file for names that are exactly this text.
pub(super) fn name_glob(text: &str) -> Result<String, &'static str> {
    if let Some(reason) = reason(text) {
        return Err(reason);
    }
    let whole = text.strip_prefix(START).and_then(|text| text.strip_suffix(END));
    let whole = whole.ok_or("matches parts of names")?;
    // `?` stands for a byte, and `.` for a character: they agree only where any may follow.
    let [one_or_more, any] = [&*[ONE, MANY].concat(), MANY];
    let plain = whole.replace(one_or_more, "").replace(any, "");
    if whole.is_empty() || !plain.chars().all(|c| c.is_ascii_graphic() && !"*?".contains(c)) {
        return Err("has a character that no pattern of names can hold");
    }
    Ok(whole.replace(one_or_more, "?*").replace(any, "*"))
}

/// URLs by host and path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope {
    /// A host, a dot and a domain for it and all hosts below it, or nothing for all hosts.
    pub(super) host: String,
    /// A path in lower case, with `*` at its end for all that begin like it.
    pub(super) path: String,
}

impl Scope {
    pub(super) fn all() -> Self {
        Self { host: String::new(), path: "*".to_owned() }
    }

    /// The scope of the URLs that begin with a text after the scheme, and why it is wider than that, if it is.
    pub(super) fn of_text(text: &str) -> Result<(Self, Option<&'static str>), &'static str> {
        let (dot, text) = text.strip_prefix(LABELS).map_or(("", text), |text| (".", text));
        // A dot that is not escaped is meant as one before the path.
        let is_of_host = |c: char| c.is_ascii_alphanumeric() || "-_.\x03".contains(c);
        let (host, rest) = text.split_at(text.find(|c| !is_of_host(c)).unwrap_or(text.len()));
        let host = host.replace(ONE, ".").to_ascii_lowercase();
        if host.ends_with('.') {
            return Err(ANY_TOP_LEVEL);
        }
        if let Some(reason) = rest.get(..1).and_then(reason) {
            return Err(reason);
        }
        if host.is_empty() || host.starts_with('.') {
            return Err("names no host");
        }
        let (path, wider) = match rest {
            "" | MANY => ("*".to_owned(), None),
            path if path.starts_with('/') => path_of(path)?,
            _ => ("*".to_owned(), Some("depends on more than host and path")),
        };
        Ok((Self { host: dot.to_owned() + &host, path }, wider))
    }

    /// Whether all URLs of a host and a path, as they stand in a scope, are in this one.
    pub(super) fn covers(&self, host: &str, path: &str) -> bool {
        let start = self.path.strip_suffix('*');
        self.covers_host(host) && start.map_or(self.path == path, |start| path.starts_with(start))
    }

    pub(super) fn covers_host(&self, host: &str) -> bool {
        let domain = self.host.strip_prefix('.');
        let is_within = domain.is_some_and(|domain| host == domain || host.ends_with(&*self.host));
        self.host.is_empty() || self.host == host || is_within
    }
}

/// The path of a scope, and why it is wider than the text, if it is.
fn path_of(text: &str) -> Result<(String, Option<&'static str>), &'static str> {
    let end = text.find(|c: char| c == '?' || c.is_control()).unwrap_or(text.len());
    let (path, tail) = text.split_at(end);
    let (star, wider) = match tail {
        "" | MANY => ("*", None),
        // Rules act on parameters alone, so that a path before a query is a whole path.
        END | "?" | "?\x04" => ("", None),
        _ if tail.starts_with('?') => ("", Some("depends on the query")),
        _ => ("*", Some("depends on more than the beginning of the path")),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/!$&'()+,;=:@".contains(c);
    if !path.chars().all(is_plain) || path.contains("/./") || path.contains("/../") {
        return Err("names no path in canonical form");
    }
    Ok((path.to_ascii_lowercase() + star, wider))
}
