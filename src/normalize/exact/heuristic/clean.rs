//! Fast path for `aggressive`: URLs that are clean under the ladder and hold no session id in their path.

use memchr::memchr;

use super::query::name_and_value;
use super::{Heuristics, WWW};
use crate::normalize::masks::cuts::{Cuts, Fate, Front, Place};
use crate::normalize::masks::parameters::Parameter;
use crate::profile::heuristic::{is_index_page, may_be_index_page};
use crate::profile::starts::Starts;
use crate::profile::{Switch, Switches};
use crate::simd::{MaskedUrl, Slashes, Vector};

/// The steps, with the fields that each URL needs.
#[derive(Clone, Copy)]
pub(in crate::normalize) struct Steps<'h> {
    heuristics: &'h Heuristics,
    switches: Switches,
    starts: &'h Starts,
}

impl Heuristics {
    #[inline]
    pub(in crate::normalize) fn steps(&self) -> Steps<'_> {
        Steps { heuristics: self, switches: self.switches, starts: self.starts() }
    }

    /// Whether a step removes the parameter.
    #[inline(never)]
    fn drops_parameter(&self, parameter: &[u8], name: usize) -> bool {
        let (name, value) = (&parameter[..name], parameter.get(name + 1..).unwrap_or_default());
        self.drops(parameter, name, value)
    }

    /// Length that the steps shorten a path to. The path has no empty segments.
    #[cold]
    #[inline(never)]
    fn shortened(&self, path: &[u8]) -> usize {
        let mut left = path.to_vec();
        self.shorten(0, &mut left);
        left.len()
    }
}

impl Steps<'_> {
    /// The end of the path, and its slashes. `None` if a step that rarely acts may act on scheme or path.
    #[inline(always)]
    fn path<V: Vector, const N: usize>(
        &self,
        masked: &MaskedUrl<'_, V, N>,
    ) -> Option<(usize, Slashes<N>)> {
        let path_end = masked.path_end();
        let slashes = masked.slashes(path_end);
        const ON_SLASHES: Switches =
            Switches::of(&[Switch::SqueezeSlashes, Switch::StripTrailingSlash]);
        const SELDOM: Switches = Switches::of(&[Switch::FoldScheme, Switch::LowerPath]);
        let declines = (self.act(ON_SLASHES) & slashes.are_doubled())
            || (self.act(SELDOM)
                && (self.is_on(Switch::FoldScheme) && masked.host == b"https://".len()
                    || self.is_on(Switch::LowerPath)
                        && has_capital(&masked.url()[masked.path..path_end])));
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

    /// Whether the host may lose its `www.`.
    #[inline(always)]
    fn may_strip_www<V: Vector, const N: usize>(&self, masked: &MaskedUrl<'_, V, N>) -> bool {
        // A target has no host.
        self.is_on(Switch::StripWww) & (masked.bytes(masked.host) == *WWW) & (masked.host > 0)
    }

    /// Whether the slash at the end of the path is removed. `last` is the start of the last segment.
    #[inline(always)]
    fn strips_slash<V: Vector, const N: usize>(
        &self,
        masked: &MaskedUrl<'_, V, N>,
        (last, path_end): (usize, usize),
    ) -> bool {
        self.is_on(Switch::StripTrailingSlash) & (last == path_end) & (path_end > masked.path + 1)
    }

    /// Whether this last segment of the path is an index page that is removed.
    #[inline(always)]
    fn strips_index<V: Vector, const N: usize>(
        &self,
        masked: &MaskedUrl<'_, V, N>,
        (last, path_end): (usize, usize),
    ) -> bool {
        let [first, second] = masked.bytes(last);
        self.is_on(Switch::StripIndex) & may_be_index_page(first, second)
            && is_index_page(&masked.url()[last..path_end])
    }
}

impl Cuts for Steps<'_> {
    const LOWER: bool = false;
    const BY_VALUE: bool = false;

    #[inline(always)]
    fn front<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> Option<Front> {
        let (path_end, slashes) = self.path(masked)?;
        let MaskedUrl { host, path, .. } = *masked;
        // No branch on `www.` or a final slash alone: half of the URLs have one, so it would mispredict.
        let www = self.may_strip_www(masked);
        let behind = host + WWW.len();
        // More labels `www` and empty ones need more than one cut.
        if www & ((masked.bytes(behind) == *WWW) | (masked.bytes(behind) == *b".")) {
            return None;
        }
        // `www.` stays unless two labels remain.
        let prefix = WWW.len() * usize::from(www & masked.has_dot(behind, path));
        let strips_slash = self.strips_slash(masked, (slashes.behind_last(), path_end));
        let mut left = path_end - usize::from(strips_slash);
        let last = masked.slashes(left).behind_last();
        if self.strips_index(masked, (last, left)) {
            left = path + self.heuristics.shortened(&masked.url()[path..left]);
        }
        let has_query = path_end < masked.length && !self.is_on(Switch::DropQuery);
        Some(Front { prefix, left, query: has_query.then_some(path_end + 1) })
    }

    /// Looks at the last segment once, and not at the labels after a `www.`: the writer finds out whether they
    /// are enough.
    #[inline(always)]
    fn is_front_whole<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        let Some((path_end, slashes)) = self.path(masked) else { return false };
        let segment = (slashes.behind_last(), path_end);
        let drops_query = self.is_on(Switch::DropQuery) & (path_end < masked.length);
        !self.strips_index(masked, segment)
            && !(self.may_strip_www(masked) | self.strips_slash(masked, segment) | drops_query)
    }

    fn starts(&self) -> &Starts {
        self.starts
    }

    #[inline(always)]
    fn fate(self, url: &[u8], parameter: Parameter) -> Fate {
        let text = &url[parameter.start..parameter.end];
        // Whether it goes depends on its value, on two switches, and on whether others are left.
        if parameter.is_nameless() {
            Fate::Open
        } else if parameter.may_be_one_of(self.starts)
            && self.heuristics.drops_parameter(text, parameter.name_in(text))
        {
            Fate::Dropped
        } else if self.is_on(Switch::BlankValues) {
            Fate::Kept(parameter.without_value(url))
        } else {
            Fate::Kept(parameter)
        }
    }

    fn may_cut_value(self, query: &[u8]) -> bool {
        self.is_on(Switch::BlankValues) && memchr(b'=', query).is_some()
    }

    fn sorts(self) -> bool {
        self.is_on(Switch::SortQuery)
    }

    fn precedes(url: &[u8], one: Place, other: Place) -> bool {
        let name = |(start, end): Place| name_and_value(&url[start..end]).0;
        name(one) < name(other)
    }
}

fn has_capital(path: &[u8]) -> bool {
    path.iter().any(u8::is_ascii_uppercase)
}
