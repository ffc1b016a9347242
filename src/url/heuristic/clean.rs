//! The final form of a URL that is clean under the ladder, where little is left to do.

use super::query::name_and_value;
use super::{Heuristics, WWW, without_www};
use crate::profile::heuristic::{is_index_page, may_be_index_page, may_start_session};
use crate::profile::set::AsciiSet;
use crate::profile::{Switch, Switches};
use crate::scan::{Asked, Glance, Look, Settle, Vector, Window};
use crate::url::clean::{Clean, Pair, Pairs, are_in_order};

/// Session ids in a path start with these.
const ASKED: Asked = Asked::new(AsciiSet::of(b";("));

/// What a URL is left by.
pub(in crate::url) const LEFT: Look<'_> = Look::Experience;
/// What it is written by.
pub(in crate::url) const WRITTEN: Look<'_> = Look::All(&ASKED);

/// What stays of a clean URL before its query.
struct Left {
    /// Bytes that go from the front of the host.
    prefix: usize,
    path_end: usize,
}

impl Settle for &Heuristics {
    /// What the steps act on is looked for whether they are switched on or not, but for `lower-path` and
    /// `drop-query`.
    #[inline(always)]
    fn settles<V: Vector, const N: usize>(&self, glance: &Glance<'_, V, N>) -> bool {
        const ELSE: Switches = Switches::of(&[Switch::LowerPath, Switch::DropQuery]);
        let Some(starts) = &self.starts else { return false };
        let host = glance.host();
        let (path, path_end) = (glance.path(host), glance.path_end());
        let last = glance.last_segment(path_end);
        if !self.switches.and(ELSE).is_empty()
            || (self.is_on(Switch::FoldScheme) && host == 8)
            || glance.front()[host..].starts_with(WWW)
            || glance.has_more_double_slashes()
            || (last == path_end && last > path + 1)
            || may_be_index_page(glance.byte(last), glance.byte(last + 1))
        {
            return false;
        }
        path_end == glance.length
            || are_in_order(glance, path_end + 1, starts, |parameter| self.keep(parameter))
    }
}

impl Heuristics {
    /// Whether no step takes the parameter away.
    #[inline(never)]
    fn keep(&self, parameter: &[u8]) -> bool {
        let (name, value) = name_and_value(parameter);
        !self.goes(parameter, name, value)
    }

    /// Whether no step changes a clean URL or target. `false` may only mean that it was not looked into.
    #[inline(always)]
    pub(in crate::url) fn leave_marked(&self, clean: &Clean<'_>) -> bool {
        self.left(clean).is_some_and(|left| left.prefix == 0 && left.path_end == clean.path_end)
            && clean.query().is_none_or(|query| self.leave_marked_query(clean, query))
    }

    #[inline(always)]
    fn leave_marked_query(&self, clean: &Clean<'_>, query: usize) -> bool {
        if query == clean.url.len() {
            return !self.is_on(Switch::SqueezeQuery);
        }
        let sort = self.is_on(Switch::SortQuery);
        let mut before: &[u8] = b"";
        for pair in clean.pairs(query) {
            let name = &clean.url[pair.start..pair.name_end];
            // Most names differ in their first byte, and need no call to be compared.
            let in_order = match (before.first(), name.first()) {
                _ if !sort => true,
                (Some(a), Some(b)) if a != b => a < b,
                _ => before <= name,
            };
            if !in_order || self.takes(clean, pair) {
                return false;
            }
            before = name;
        }
        true
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
    #[inline(always)]
    fn left(&self, clean: &Clean<'_>) -> Option<Left> {
        let strips_slash = self.is_on(Switch::StripTrailingSlash);
        let differs = self.is_on(Switch::FoldScheme) && clean.host == 8
            || self.is_on(Switch::DropQuery) && clean.query().is_some()
            || self.is_on(Switch::LowerPath)
                && clean.path_bytes().iter().any(u8::is_ascii_uppercase)
            || self.is_on(Switch::StripSession) && !sessions_stay(clean)
            || (self.is_on(Switch::SqueezeSlashes) || strips_slash) && clean.has_empty_segment();
        if differs {
            return None;
        }
        let mut path_end = clean.path_end;
        if strips_slash && clean.ends_with_slash() {
            path_end -= 1;
        }
        if self.is_on(Switch::StripIndex) && is_index_page(clean.last_segment(path_end)) {
            return None;
        }
        let host = clean.host_name();
        let prefix = if self.is_on(Switch::StripWww) && host.first_chunk() == Some(WWW) {
            host.len() - without_www(host).len()
        } else {
            0
        };
        Some(Left { prefix, path_end })
    }

    /// Whether a step takes the parameter away.
    #[inline(always)]
    fn takes(&self, clean: &Clean<'_>, pair: Pair) -> bool {
        let value = (pair.name_end + 1).min(pair.end);
        self.goes(
            &clean.url[pair.start..pair.end],
            &clean.url[pair.start..pair.name_end],
            &clean.url[value..pair.end],
        )
    }
}

/// Whether nothing in the path may be a session id. Where it was proven before, nothing was asked for.
#[inline]
fn sessions_stay(clean: &Clean<'_>) -> bool {
    if clean.marks.asked == 0 {
        return true;
    }
    let mut asked = clean.in_path(clean.marks.asked);
    while asked != 0 {
        if may_start_session(&clean.url[asked.trailing_zeros() as usize - 1..]) {
            return false;
        }
        asked &= asked - 1;
    }
    true
}
