//! Second implementations of the profiles that follow one system each: slow, obvious, and sharing no
//! line with `src/`. Scheme and authority are left to the ladder's oracle.

mod ring;
mod sanitize;
mod servlet;

use std::collections::BTreeSet;

use super::percent::{triplet, value_at};
use super::{Oracle, Trouble};

/// The canonical bytes, or all codes and the start of the first trouble.
pub type Answer = Result<Vec<u8>, (BTreeSet<&'static str>, usize)>;

/// One profile and its options.
#[derive(Debug, Clone, Default)]
pub struct System {
    pub profile: &'static str,
    pub allowed: BTreeSet<&'static str>,
    /// The checks that are on, of those that are off by default.
    pub denied: BTreeSet<&'static str>,
    pub keep_empty_segments: bool,
    /// The bytes that a custom ring decodes and encodes.
    pub ring: (Vec<u8>, Vec<u8>),
    pub base: Option<Vec<u8>>,
    pub assume_scheme: Option<Vec<u8>>,
}

impl System {
    pub fn new(profile: &'static str) -> System {
        System { profile, ..System::default() }
    }

    /// One URL of a list.
    pub fn normalize(&self, url: &[u8]) -> Answer {
        if self.profile == "sanitize" {
            return self.sanitized(url);
        }
        if let Some(scheme) = &self.assume_scheme
            && super::needs_a_scheme(url)
        {
            let delimiter: &[u8] = if url.starts_with(b"//") { b":" } else { b"://" };
            let front = [scheme, delimiter].concat();
            let answer = self.absolute(&[&front[..], url].concat());
            return answer.map_err(|(codes, at)| (codes, at.saturating_sub(front.len())));
        }
        if is_absolute(url) {
            return self.absolute(url);
        }
        // "Lines that begin with `/` (or are `*`) [...] are targets too; other lines [...] are
        // `relative`": `%2F` is how some rings write that slash.
        let encodes_slash = self.profile == "ring" && self.ring.1.contains(&b'/');
        let is_slash = url.starts_with(b"/") || encodes_slash && value_at(url, 0) == Some(b'/');
        if !is_slash && url != b"*" {
            return Err((["relative"].into(), 0));
        }
        if let Some(base) = &self.base {
            let base = Oracle::new("scheme").normalize(base).unwrap();
            if is_absolute(&base) {
                return self.joined(&base[..path_start(&base)], url);
            }
        }
        // No host comes out of a target: the result must not be text that gets the assumed scheme.
        match self.target_of_list(url) {
            Ok(target) if self.assume_scheme.is_some() && super::needs_a_scheme(&target) => {
                Err((["relative"].into(), 0))
            }
            answer => answer,
        }
    }

    /// A request target with an unknown host. Read again, the result must not be one of a tunnel.
    pub fn normalize_target(&self, target: &[u8]) -> Answer {
        let is_ring = !["servlet", "sanitize"].contains(&self.profile);
        match self.target_of_list(target) {
            Ok(answer) if is_ring && super::is_authority_form(&answer) => {
                Err((["relative"].into(), 0))
            }
            answer => answer,
        }
    }

    /// The request target of a log that names neither method nor host, in whichever of the four
    /// forms of RFC 9112 section 3.2 it is.
    #[allow(dead_code, reason = "only the tests of formats read targets")]
    pub fn read_target(&self, target: &[u8]) -> Answer {
        if super::is_authority_form(target) {
            return Err((BTreeSet::from(["authority-form"]), 0));
        }
        if is_absolute(target) {
            return self.absolute(target);
        }
        match &self.base {
            Some(base) if is_absolute(base) => {
                let base = Oracle::new("scheme").normalize(base).unwrap();
                self.joined(&base[..path_start(&base)], target)
            }
            // A base without an authority names no host, so none is known.
            _ => self.normalize_target(target),
        }
    }

    /// "Anything else is a request target: path and query only."
    fn target_of_list(&self, target: &[u8]) -> Answer {
        if self.profile == "sanitize" {
            let ladder = Oracle::new("scheme").normalize_target(target);
            let path = 0..end_of_path(target);
            let answer = self.decided(ladder, sanitize::troubles(target, None, None, path));
            return self.acceptable(answer, end_of_path, 0);
        }
        let (path, query, fragment) = split(target);
        if self.profile == "servlet" {
            let mut troubles = fragment_trouble(fragment);
            if target == b"*" {
                return Err((one_and("asterisk-form", self.servlet(path, 0).1, &self.allowed), 0));
            }
            let (segments, more) = self.servlet(path, 0);
            troubles.extend(more);
            return self.decided(Ok(with_query(servlet::canonical(&segments), query)), troubles);
        }
        let result = with_query(self.around(path), query);
        // "A target whose result would be empty is rejected `empty`." No host comes out of a target.
        let trouble = match &result[..] {
            b"" => Some("empty"),
            b"*" => Some("asterisk-form"),
            _ if target == b"*" => Some("asterisk-form"),
            result if is_absolute(result) => Some("relative"),
            _ => None,
        };
        match trouble {
            Some(code) => Err((BTreeSet::from([code]), 0)),
            None => Ok(result),
        }
    }

    /// The path a container maps, whatever is wrong with the URL.
    pub fn decoded(&self, url: &[u8]) -> Vec<u8> {
        let start = if is_absolute(url) { path_start(url) } else { 0 };
        let (path, ..) = split(&url[start..]);
        let path = if start > 0 && path.is_empty() { b"/" } else { path };
        servlet::decoded(path, &self.servlet(path, 0).0)
    }

    /// "A URL with a scheme and `//` is absolute: these act on its path, while scheme and authority
    /// follow `scheme`. [...] An absolute URL's empty path is `/` before the profile acts."
    fn absolute(&self, url: &[u8]) -> Answer {
        let start = path_start(url);
        let (path, query, fragment) = split(&url[start..]);
        let path = if path.is_empty() { b"/" } else { path };
        let front = Oracle::new("scheme").normalize(&[&url[..start], b"/"].concat());
        let mut troubles = Vec::new();
        let written = if self.profile == "servlet" {
            troubles = fragment_trouble(fragment);
            let (segments, more) = self.servlet(path, start);
            troubles.iter_mut().for_each(|(_, at)| *at += start);
            troubles.extend(more);
            servlet::canonical(&segments)
        } else {
            [b"/", &self.around(&path[1..])[..]].concat()
        };
        let whole = front.map(|mut front| {
            front.pop();
            front.extend(with_query(written, query));
            front
        });
        self.decided(whole, troubles)
    }

    /// A target joined to the base's `scheme://authority`.
    fn joined(&self, origin: &[u8], target: &[u8]) -> Answer {
        let (path, query, fragment) = split(target);
        if target == b"*" {
            let servlet = self.profile == "servlet";
            let troubles = if servlet { self.servlet(path, 0).1 } else { Vec::new() };
            return Err((one_and("asterisk-form", troubles, &self.allowed), 0));
        }
        if self.profile == "servlet" {
            let mut troubles = fragment_trouble(fragment);
            let (segments, more) = self.servlet(path, 0);
            troubles.extend(more);
            let written = with_query(servlet::canonical(&segments), query);
            return self.decided(Ok([origin, &written].concat()), troubles);
        }
        if !path.starts_with(b"/") {
            return Err((BTreeSet::from(["relative"]), 0));
        }
        Ok([origin, b"/", &with_query(self.around(&path[1..]), query)].concat())
    }

    fn around(&self, path: &[u8]) -> Vec<u8> {
        let (decode, encode): (&[u8], &[u8]) = match self.profile {
            "mediawiki" => (b":/@!$()*,;", b"[]&'+="),
            "restbase" => (b":@!$()*,;", b"[]&'+="),
            "upload" => (b"/", b":[]@!$&'()*+,;="),
            "ring" => (&self.ring.0, &self.ring.1),
            other => panic!("{other} is no ring"),
        };
        ring::around(decode, encode, path)
    }

    fn servlet(&self, path: &[u8], at: usize) -> (Vec<servlet::Segment>, Vec<Trouble>) {
        servlet::read(path, at, self.keep_empty_segments)
    }

    /// "`scheme` plus a refusal of what has no honest use", on the URL as given.
    fn sanitized(&self, url: &[u8]) -> Answer {
        let mut oracle = Oracle::new("scheme");
        oracle.base = self.base.clone();
        oracle.assume_scheme = self.assume_scheme.clone();
        let ladder = oracle.normalize(url);
        let (front, scheme): (Vec<u8>, Option<&[u8]>) = match (&self.assume_scheme, &self.base) {
            (Some(scheme), _) if super::needs_a_scheme(url) => {
                let delimiter: &[u8] = if url.starts_with(b"//") { b":" } else { b"://" };
                ([scheme, delimiter].concat(), None)
            }
            (_, Some(base)) => {
                (Vec::new(), base.iter().position(|&byte| byte == b':').map(|end| &base[..end]))
            }
            _ => (Vec::new(), None),
        };
        let whole = [&front[..], url].concat();
        let parts = super::parts::split(&super::Piece::whole(&whole));
        let scheme = match &parts.scheme {
            Some(scheme) => Some(&scheme.bytes[..]),
            None => scheme,
        };
        let authority = parts.authority.as_ref().map(|piece| (&piece.bytes[..], piece.at));
        let path = parts.path.at..parts.path.at + parts.path.bytes.len();
        let path_at = path.start.saturating_sub(front.len());
        let mut troubles = sanitize::troubles(&whole, scheme, authority, path);
        for (_, at) in &mut troubles {
            *at = at.saturating_sub(front.len());
        }
        let end_of_path = |url: &[u8]| {
            let path = super::parts::split(&super::Piece::whole(url)).path;
            path.at + path.bytes.len()
        };
        self.acceptable(self.decided(ladder, troubles), end_of_path, path_at)
    }

    /// "n(x) is accepted": the answer of `sanitize`, unless it would be rejected if it were read again.
    fn acceptable(
        &self,
        answer: Answer,
        end_of_path: impl Fn(&[u8]) -> usize,
        path_at: usize,
    ) -> Answer {
        match answer {
            Ok(url) if !self.allowed.contains("overlong-utf8") => {
                let end = end_of_path(&url);
                let start = if is_absolute(&url) { path_start(&url) } else { 0 };
                match sanitize::is_overlong_path(&url[start..end]) {
                    true => Err((["overlong-utf8"].into(), path_at)),
                    false => Ok(url),
                }
            }
            answer => answer,
        }
    }

    /// The answer, unless a trouble prevents it; allowed troubles do not.
    fn decided(&self, answer: Result<Vec<u8>, Trouble>, mut troubles: Vec<Trouble>) -> Answer {
        let is_off = |code: &str| sanitize::OFF.contains(&code) && !self.denied.contains(code);
        troubles.retain(|(code, _)| !self.allowed.contains(code) && !is_off(code));
        if let Err(trouble) = &answer {
            troubles.push(*trouble);
        }
        match troubles.iter().map(|(_, at)| *at).min() {
            Some(at) => Err((troubles.iter().map(|(code, _)| *code).collect(), at)),
            None => Ok(answer.unwrap()),
        }
    }
}

fn one_and(
    code: &'static str,
    troubles: Vec<Trouble>,
    allowed: &BTreeSet<&'static str>,
) -> BTreeSet<&'static str> {
    let others = troubles.iter().map(|(code, _)| *code).filter(|code| !allowed.contains(code));
    others.chain([code]).collect()
}

/// Appendix B finds a scheme and an authority.
fn is_absolute(url: &[u8]) -> bool {
    let parts = super::parts::split(&super::Piece::whole(url));
    parts.scheme.is_some() && parts.authority.is_some()
}

fn path_start(url: &[u8]) -> usize {
    super::parts::split(&super::Piece::whole(url)).path.at
}

fn end_of_path(target: &[u8]) -> usize {
    target.iter().position(|byte| b"?#".contains(byte)).unwrap_or(target.len())
}

/// Path, query and the offset of the `#`. "Cut `#...`; cut `?...`, kept aside".
fn split(target: &[u8]) -> (&[u8], Option<&[u8]>, Option<usize>) {
    let hash = target.iter().position(|&byte| byte == b'#');
    let target = &target[..hash.unwrap_or(target.len())];
    match target.iter().position(|&byte| byte == b'?') {
        Some(mark) => (&target[..mark], Some(&target[mark + 1..]), hash),
        None => (target, None, hash),
    }
}

fn fragment_trouble(hash: Option<usize>) -> Vec<Trouble> {
    hash.map(|at| ("fragment", at)).into_iter().collect()
}

/// "the query appended as it came, bytes outside 0x21-0x7E as triplets"
fn with_query(mut path: Vec<u8>, query: Option<&[u8]>) -> Vec<u8> {
    if let Some(query) = query {
        path.push(b'?');
        for &byte in query {
            if (0x21..=0x7E).contains(&byte) {
                path.push(byte);
            } else {
                path.extend(triplet(byte));
            }
        }
    }
    path
}
