//! Fast path for `aggressive`: URLs that are clean under the ladder and hold no session id in their path.

use memchr::memchr;

use super::query::name_and_value;
use super::{Heuristics, WWW};
use crate::normalize::parameters::{Parameter, Parameters, ROOM, are_in_order, each_parameter};
use crate::profile::heuristic::{is_index_page, may_be_index_page};
use crate::profile::starts::Starts;
use crate::profile::{Switch, Switches};
use crate::simd::{FastPath, MaskedUrl, OutputBuffer, Slashes, Vector};

/// The steps, with the fields that each URL needs.
#[derive(Clone, Copy)]
pub(in crate::normalize) struct Steps<'h> {
    heuristics: &'h Heuristics,
    switches: Switches,
    starts: &'h Starts,
}

/// Writes the result of the steps.
pub(in crate::normalize) struct Write<'h, 'o> {
    pub(in crate::normalize) steps: Steps<'h>,
    pub(in crate::normalize) out: &'o mut Vec<u8>,
}

impl Heuristics {
    #[inline]
    pub(in crate::normalize) fn steps(&self) -> Steps<'_> {
        Steps { heuristics: self, switches: self.switches, starts: self.starts() }
    }

    /// Whether a step removes the parameter.
    #[inline(never)]
    fn takes(&self, parameter: &[u8], name: usize) -> bool {
        let (name, value) = (&parameter[..name], parameter.get(name + 1..).unwrap_or_default());
        self.goes(parameter, name, value)
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

    /// Whether a step removes this parameter.
    #[inline(always)]
    fn takes<V: Vector, const N: usize>(
        &self,
        masked: &MaskedUrl<'_, V, N>,
        parameter: Parameter,
    ) -> bool {
        parameter.may_be_one_of(self.starts) && {
            let text = &masked.url()[parameter.start..parameter.end];
            self.heuristics.takes(text, parameter.name_in(text))
        }
    }

    /// Whether the steps leave the query that starts at `query`.
    #[inline(always)]
    fn leave_query<V: Vector, const N: usize>(
        &self,
        masked: &MaskedUrl<'_, V, N>,
        query: usize,
    ) -> bool {
        if are_in_order(masked, query, self.starts) {
            return true;
        }
        let mut before = 0;
        each_parameter(
            masked,
            query,
            #[inline(always)]
            |parameter| {
                let key = parameter.key();
                let follows = follows(key, before);
                before = key;
                !(parameter.is_nameless()
                    || (!follows && self.is_on(Switch::SortQuery))
                    || self.takes(masked, parameter))
            },
        )
    }
}

impl FastPath for Steps<'_> {
    /// Whether the steps change nothing.
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        let Some((path_end, slashes)) = self.path(masked) else { return false };
        let segment = (slashes.behind_last(), path_end);
        // If no query follows, there is no branch on a `www.` or final slash: half of the URLs have one.
        let stays = !(self.may_strip_www(masked) | self.strips_slash(masked, segment));
        if self.strips_index(masked, segment) {
            return false;
        }
        if path_end == masked.length {
            return stays;
        }
        stays
            && !self.is_on(Switch::DropQuery)
            && !(self.is_on(Switch::BlankValues)
                && memchr(b'=', &masked.url()[path_end + 1..]).is_some())
            && self.leave_query(masked, path_end + 1)
    }
}

impl FastPath for Write<'_, '_> {
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        let Write { steps, out } = self;
        let Some((path_end, slashes)) = steps.path(masked) else { return false };
        let MaskedUrl { host, path, .. } = *masked;
        // No branch on `www.` or a final slash alone: half of the URLs have one, so it would mispredict.
        let www = steps.may_strip_www(masked);
        let behind = host + WWW.len();
        if www & ((masked.bytes(behind) == *WWW) | (masked.bytes(behind) == *b".")) {
            return false;
        }
        // `www.` stays unless two labels remain.
        let prefix = WWW.len() * usize::from(www & masked.has_dot(behind, path));
        let strips_slash = steps.strips_slash(masked, (slashes.behind_last(), path_end));
        let mut left = path_end - usize::from(strips_slash);
        let last = masked.slashes(left).behind_last();
        if steps.strips_index(masked, (last, left)) {
            left = path + steps.heuristics.shortened(&masked.url()[path..left]);
        }
        let source = masked.source();
        let mut buffer = OutputBuffer::new(out, ROOM * masked.length);
        if host > 0 {
            buffer.extend::<8>(masked.bytes(0));
            buffer.truncate(host);
        }
        buffer.copy_long(source, host + prefix, left);
        if path_end < masked.length
            && !steps.is_on(Switch::DropQuery)
            && !steps.write_query(masked, path_end + 1, &mut buffer)
        {
            return false;
        }
        buffer.finish();
        true
    }
}

impl Steps<'_> {
    /// Appends `?` and the parameters that stay of the query that starts at `query`.
    #[inline(always)]
    fn write_query<V: Vector, const N: usize>(
        &self,
        masked: &MaskedUrl<'_, V, N>,
        query: usize,
        buffer: &mut OutputBuffer<'_>,
    ) -> bool {
        let source = masked.source();
        let at = buffer.length();
        let mut parameters = Parameters::new();
        let (mut before, mut sorted) = (0, true);
        let written = each_parameter(
            masked,
            query,
            #[inline(always)]
            |parameter| {
                if parameter.is_nameless() {
                    return false;
                }
                if self.takes(masked, parameter) {
                    return true;
                }
                let parameter = match self.is_on(Switch::BlankValues) {
                    true => parameter.without_value(masked.url()),
                    false => parameter,
                };
                let Parameter { start, end, .. } = parameter;
                let key = parameter.key();
                sorted &= follows(key, before);
                before = key;
                // The delimiter before the parameter is copied with it.
                buffer.copy(source, start - 1, end);
                parameters.push(key, parameter)
            },
        );
        if !written {
            return false;
        }
        if !sorted & self.is_on(Switch::SortQuery) {
            buffer.truncate(at);
            let name = |(start, end): (usize, usize)| name_and_value(&source[start..end]).0;
            for (start, end) in parameters.sorted(|a, b| name(a) < name(b)) {
                buffer.push(b'&');
                buffer.copy(source, start, end);
            }
        }
        if buffer.length() > at {
            buffer.replace(at, b'?');
        }
        true
    }
}

/// Whether a name with this key may follow a name with key `before`. Equal keys prove equal names only if
/// the name is shorter than its key: long names may differ in later bytes.
#[inline(always)]
fn follows(key: u64, before: u64) -> bool {
    (key > before) | ((key == before) & (key as u8 == 0))
}

fn has_capital(path: &[u8]) -> bool {
    path.iter().any(u8::is_ascii_uppercase)
}
