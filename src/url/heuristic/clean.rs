//! The final form of a URL that is clean under the ladder, where little is left to do.

use super::{Heuristics, WWW, without_www};
use crate::profile::Switch;
use crate::profile::heuristic::is_index_page;
use crate::profile::set::AsciiSet;
use crate::scan::{Asked, Window};
use crate::url::clean::{Clean, Pair, Pairs};

/// Session ids in a path start with these.
pub(in crate::url) const ASKED: Asked = Asked::with_rest(AsciiSet::of(b";("));

/// What stays of a clean URL before its query.
struct Left {
    /// Bytes that go from the front of the host.
    prefix: usize,
    path_end: usize,
}

impl Heuristics {
    /// Whether no step changes a clean URL or target. `false` may only mean that it was not looked into.
    #[inline]
    pub(in crate::url) fn leave_marked(&self, clean: &Clean<'_>) -> bool {
        self.left(clean).is_some_and(|left| left.prefix == 0 && left.path_end == clean.path_end)
            && clean.query().is_none_or(|query| self.leave_marked_query(clean, query))
    }

    #[inline]
    fn leave_marked_query(&self, clean: &Clean<'_>, query: usize) -> bool {
        if query == clean.url.len() {
            return !self.is_on(Switch::SqueezeQuery);
        }
        let sort = self.is_on(Switch::SortQuery);
        let mut before: &[u8] = b"";
        clean.pairs(query).all(|pair| {
            let name = &clean.url[pair.start..pair.name_end];
            let in_order = !sort || before <= name;
            before = name;
            in_order && !self.takes(clean, pair)
        })
    }

    /// Appends the final form of a clean URL or target, which starts `window`; `None`, and nothing
    /// appended, where it is to be made the exact way.
    #[inline]
    pub(in crate::url) fn write_marked(
        &self,
        clean: &Clean<'_>,
        window: Window<'_>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let Left { prefix, path_end } = self.left(clean)?;
        let mut pairs = Pairs::default();
        let mut stripped = false;
        let query = clean.query();
        if let Some(query) = query {
            if query == clean.url.len() {
                stripped = self.is_on(Switch::SqueezeQuery);
            } else {
                for pair in clean.pairs(query) {
                    if self.takes(clean, pair) {
                        stripped = true;
                    } else {
                        pairs.push(pair)?;
                    }
                }
            }
        }
        if self.is_on(Switch::SortQuery) {
            let name = |pair: Pair| &clean.url[pair.start..pair.name_end];
            pairs.sort(|a, b| name(a) < name(b));
        }
        window.append(0, clean.host + if prefix > 0 { 0 } else { path_end - clean.host }, out);
        if prefix > 0 {
            let host = clean.host + prefix;
            window.append(host, path_end - host, out);
        }
        let at = out.len();
        for (i, pair) in pairs.as_slice().iter().enumerate() {
            out.push(if i == 0 { b'?' } else { b'&' });
            window.append(pair.start, pair.end - pair.start, out);
        }
        match query {
            Some(query) if query == clean.url.len() && !stripped => out.push(b'?'),
            // `?=` may have lost all, and `?&a` may have kept an empty parameter.
            _ if stripped && out.len() == at + 1 => out.truncate(at),
            _ => {}
        }
        Some(())
    }

    /// What is left of scheme, host and path, where that is soon said.
    #[inline]
    fn left(&self, clean: &Clean<'_>) -> Option<Left> {
        let marks = clean.marks;
        let strips_slash = self.is_on(Switch::StripTrailingSlash);
        let differs = self.is_on(Switch::FoldScheme) && clean.host == 8
            || self.is_on(Switch::DropQuery) && clean.query().is_some()
            || self.is_on(Switch::LowerPath) && clean.in_path(marks.upper) != 0
            || self.is_on(Switch::StripSession) && clean.in_path(marks.asked) != 0
            || (self.is_on(Switch::SqueezeSlashes) || strips_slash) && clean.has_empty_segment();
        if differs {
            return None;
        }
        let mut path_end = clean.path_end;
        if strips_slash && path_end > clean.path + 1 && clean.url[path_end - 1] == b'/' {
            path_end -= 1;
        }
        if self.is_on(Switch::StripIndex) && is_index_page(clean.last_segment(path_end)) {
            return None;
        }
        let host = clean.host_name();
        let prefix = if self.is_on(Switch::StripWww) && host.starts_with(WWW) {
            host.len() - without_www(host).len()
        } else {
            0
        };
        Some(Left { prefix, path_end })
    }

    /// Whether a step takes the parameter away.
    #[inline]
    fn takes(&self, clean: &Clean<'_>, pair: Pair) -> bool {
        let value = (pair.name_end + 1).min(pair.end);
        self.goes(
            &clean.url[pair.start..pair.end],
            &clean.url[pair.start..pair.name_end],
            &clean.url[value..pair.end],
        )
    }
}
