//! The final form of a URL that is clean under the ladder and holds no session id in its path.

use super::query::name_and_value;
use super::{Heuristics, WWW};
use crate::normalize::parameters::{Parameter, Parameters, ROOM, are_in_order, each_parameter};
use crate::profile::heuristic::{is_index_page, may_be_index_page};
use crate::profile::starts::Starts;
use crate::profile::{Switch, Switches};
use crate::simd::{Glance, Page, Settle, Slashes, Vector};

/// The steps, as each URL asks for them.
#[derive(Clone, Copy)]
pub(in crate::normalize) struct Steps<'h> {
    heuristics: &'h Heuristics,
    switches: Switches,
    starts: &'h Starts,
}

/// Writes what the steps make of a URL.
pub(in crate::normalize) struct Write<'h, 'o> {
    pub(in crate::normalize) steps: Steps<'h>,
    pub(in crate::normalize) out: &'o mut Vec<u8>,
}

impl Heuristics {
    #[inline]
    pub(in crate::normalize) fn steps(&self) -> Steps<'_> {
        Steps { heuristics: self, switches: self.switches, starts: self.starts() }
    }

    /// Whether a step takes the parameter away.
    #[inline(never)]
    fn takes(&self, parameter: &[u8], name: usize) -> bool {
        let (name, value) = (&parameter[..name], parameter.get(name + 1..).unwrap_or_default());
        self.goes(parameter, name, value)
    }

    /// Length of what is left of a path without empty segments.
    #[cold]
    #[inline(never)]
    fn shortened(&self, path: &[u8]) -> usize {
        let mut left = path.to_vec();
        self.shorten(0, &mut left);
        left.len()
    }
}

impl Steps<'_> {
    /// Where the path ends, and its slashes; `None` where a step acts on scheme and path that seldom does.
    #[inline(always)]
    fn path<V: Vector, const N: usize>(
        &self,
        glance: &Glance<'_, V, N>,
    ) -> Option<(usize, Slashes<N>)> {
        let path_end = glance.path_end();
        let slashes = glance.slashes(path_end);
        const ON_SLASHES: Switches =
            Switches::of(&[Switch::SqueezeSlashes, Switch::StripTrailingSlash]);
        const SELDOM: Switches = Switches::of(&[Switch::FoldScheme, Switch::LowerPath]);
        let declines = (self.act(ON_SLASHES) & slashes.are_doubled())
            || (self.act(SELDOM)
                && (self.is_on(Switch::FoldScheme) && glance.host == b"https://".len()
                    || self.is_on(Switch::LowerPath)
                        && has_capital(&glance.url()[glance.path..path_end])));
        (!declines).then_some((path_end, slashes))
    }

    #[inline(always)]
    fn is_on(&self, switch: Switch) -> bool {
        self.switches.contains(switch)
    }

    /// Whether one of them is on.
    #[inline(always)]
    fn act(&self, switches: Switches) -> bool {
        !self.switches.and(switches).is_empty()
    }

    /// Whether the host may have to lose its front.
    #[inline(always)]
    fn may_strip_www<V: Vector, const N: usize>(&self, glance: &Glance<'_, V, N>) -> bool {
        self.is_on(Switch::StripWww) & (glance.bytes(glance.host) == *WWW) & (glance.host > 0)
    }

    /// Whether a slash goes from the end of a path, of which this is the last segment.
    #[inline(always)]
    fn strips_slash<V: Vector, const N: usize>(
        &self,
        glance: &Glance<'_, V, N>,
        (last, path_end): (usize, usize),
    ) -> bool {
        self.is_on(Switch::StripTrailingSlash) & (last == path_end) & (path_end > glance.path + 1)
    }

    /// Whether this segment goes from the end of a path.
    #[inline(always)]
    fn strips_index<V: Vector, const N: usize>(
        &self,
        glance: &Glance<'_, V, N>,
        (last, path_end): (usize, usize),
    ) -> bool {
        let [first, second] = glance.bytes(last);
        self.is_on(Switch::StripIndex) & may_be_index_page(first, second)
            && is_index_page(&glance.url()[last..path_end])
    }

    /// Whether a step takes a parameter away.
    #[inline(always)]
    fn takes<V: Vector, const N: usize>(
        &self,
        glance: &Glance<'_, V, N>,
        parameter: Parameter,
    ) -> bool {
        parameter.may_be_one_of(self.starts) && {
            let text = &glance.url()[parameter.start..parameter.end];
            self.heuristics.takes(text, parameter.name_in(text))
        }
    }

    /// Whether nothing changes in the query that starts there.
    #[inline(always)]
    fn leave_query<V: Vector, const N: usize>(
        &self,
        glance: &Glance<'_, V, N>,
        query: usize,
    ) -> bool {
        if are_in_order(glance, query, self.starts) {
            return true;
        }
        let mut before = 0;
        each_parameter(
            glance,
            query,
            #[inline(always)]
            |parameter| {
                let key = parameter.key();
                let follows = follows(key, before);
                before = key;
                !(parameter.is_nameless()
                    || (!follows && self.is_on(Switch::SortQuery))
                    || self.takes(glance, parameter))
            },
        )
    }
}

impl Settle for Steps<'_> {
    /// Whether the steps change nothing.
    #[inline(always)]
    fn settles<V: Vector, const N: usize>(self, glance: &Glance<'_, V, N>) -> bool {
        let Some((path_end, slashes)) = self.path(glance) else { return false };
        let segment = (slashes.behind_last(), path_end);
        // Where nothing follows, no branch on what every second URL has.
        let stays = !(self.may_strip_www(glance) | self.strips_slash(glance, segment));
        if self.strips_index(glance, segment) {
            return false;
        }
        if path_end == glance.length {
            return stays;
        }
        stays && !self.is_on(Switch::DropQuery) && self.leave_query(glance, path_end + 1)
    }
}

impl Settle for Write<'_, '_> {
    #[inline(always)]
    fn settles<V: Vector, const N: usize>(self, glance: &Glance<'_, V, N>) -> bool {
        let Write { steps, out } = self;
        let Some((path_end, slashes)) = steps.path(glance) else { return false };
        let Glance { host, path, .. } = *glance;
        // No branch on `www.` and a final slash alone, which every second URL has.
        let www = steps.may_strip_www(glance);
        let behind = host + WWW.len();
        if www & ((glance.bytes(behind) == *WWW) | (glance.bytes(behind) == *b".")) {
            return false;
        }
        // Two labels remain, or it stays.
        let prefix = WWW.len() * usize::from(www & glance.has_dot(behind, path));
        let strips_slash = steps.strips_slash(glance, (slashes.behind_last(), path_end));
        let mut left = path_end - usize::from(strips_slash);
        let last = glance.slashes(left).behind_last();
        if steps.strips_index(glance, (last, left)) {
            left = path + steps.heuristics.shortened(&glance.url()[path..left]);
        }
        let source = glance.source();
        let mut page = Page::new(out, ROOM * glance.length);
        if host > 0 {
            page.extend::<8>(glance.bytes(0));
            page.truncate(host);
        }
        page.copy_long(source, host + prefix, left);
        if path_end < glance.length
            && !steps.is_on(Switch::DropQuery)
            && !steps.write_query(glance, path_end + 1, &mut page)
        {
            return false;
        }
        page.finish();
        true
    }
}

impl Steps<'_> {
    /// Appends `?` and what stays of the query that starts there.
    #[inline(always)]
    fn write_query<V: Vector, const N: usize>(
        &self,
        glance: &Glance<'_, V, N>,
        query: usize,
        page: &mut Page<'_>,
    ) -> bool {
        let source = glance.source();
        let at = page.length();
        let mut parameters = Parameters::new();
        let (mut before, mut sorted) = (0, true);
        let written = each_parameter(
            glance,
            query,
            #[inline(always)]
            |parameter| {
                if parameter.is_nameless() {
                    return false;
                }
                let Parameter { start, end, .. } = parameter;
                if self.takes(glance, parameter) {
                    return true;
                }
                let key = parameter.key();
                sorted &= follows(key, before);
                before = key;
                // What divides it from the one before goes along.
                page.copy(source, start - 1, end);
                parameters.push(key, parameter)
            },
        );
        if !written {
            return false;
        }
        if !sorted & self.is_on(Switch::SortQuery) {
            page.truncate(at);
            let name = |(start, end): (usize, usize)| name_and_value(&source[start..end]).0;
            for (start, end) in parameters.sorted(|a, b| name(a) < name(b)) {
                page.push(b'&');
                page.copy(source, start, end);
            }
        }
        if page.length() > at {
            page.replace(at, b'?');
        }
        true
    }
}

/// Whether a name with this key may stand behind one with the other. Long names may differ in what is not
/// in their keys.
#[inline(always)]
fn follows(key: u64, before: u64) -> bool {
    (key > before) | ((key == before) & (key as u8 == 0))
}

fn has_capital(path: &[u8]) -> bool {
    path.iter().any(u8::is_ascii_uppercase)
}
