//! Fast path of `aggressive` and `ia`: judges and writes URLs that are clean under the ladder, by their masks.
//!
//! ```text
//! cut the front of the host and the end of the path
//! for each parameter: keep it, perhaps without its value, or drop it
//! sort the parameters if they are not in order
//! ```
//!
//! A URL is its own form if nothing is cut, dropped or sorted. One that the [`Cuts`] of the profile do not
//! decide is declined, and takes the exact path.

use crate::normalize::masks::parameters::{
    Parameter, Parameters, ROOM, are_in_order, each_parameter,
};
use crate::profile::starts::Starts;
use crate::simd::{FastPath, MaskedUrl, OutputBuffer, Vector};

/// What a profile cuts away from a clean URL.
pub(in crate::normalize) trait Cuts: Copy {
    /// Whether letters are written in lower case.
    const LOWER: bool;
    /// Whether values decide between parameters of one name.
    const BY_VALUE: bool;

    /// What is left before the query. `None` if that is not decided. Must be `#[inline(always)]`, like all code
    /// that uses the vector.
    fn front<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> Option<Front>;

    /// Whether nothing is cut before the parameters.
    #[inline(always)]
    fn is_front_whole<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        let Some(Front { prefix, left, query }) = self.front(masked) else { return false };
        let path_end = masked.path_end();
        (prefix == 0) & (left == path_end) & (query.is_some() == (path_end < masked.length))
    }

    /// Starts of the parameters that may not be kept.
    fn starts(&self) -> &Starts;

    /// What becomes of a parameter of `url`.
    fn fate(self, url: &[u8], parameter: Parameter) -> Fate;

    /// Whether parameters may change for a value that one has, which their names do not show.
    fn may_cut_value(self, query: &[u8]) -> bool;

    /// Whether parameters are sorted.
    fn sorts(self) -> bool;

    /// Whether a parameter of `url` belongs before another one with the same key.
    fn precedes(url: &[u8], one: Place, other: Place) -> bool;
}

/// The start and end of a parameter.
pub(in crate::normalize) type Place = (usize, usize);

/// The part of a URL before its query.
pub(in crate::normalize) struct Front {
    /// Bytes cut from the start of the host.
    pub(in crate::normalize) prefix: usize,
    /// The end of what is left of the path.
    pub(in crate::normalize) left: usize,
    /// The start of the query, unless it is dropped.
    pub(in crate::normalize) query: Option<usize>,
}

/// What becomes of a parameter.
pub(in crate::normalize) enum Fate {
    Kept(Parameter),
    Dropped,
    /// The exact path decides.
    Open,
}

/// Writes a URL by its cuts.
pub(in crate::normalize) struct Write<'o, C> {
    pub(in crate::normalize) cuts: C,
    pub(in crate::normalize) out: &'o mut Vec<u8>,
}

impl<C: Cuts> FastPath for Write<'_, C> {
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        let Write { cuts, out } = self;
        let Some(Front { prefix, left, query }) = cuts.front(masked) else { return false };
        let (source, host) = (masked.source(), masked.host);
        let mut buffer = OutputBuffer::new(out, ROOM * masked.length);
        if host > 0 {
            // One store of eight bytes serves both schemes; `http://` is a byte shorter.
            buffer.extend::<8>(masked.bytes(0));
            buffer.truncate(host);
        }
        match C::LOWER {
            true => buffer.copy_long_lower(source, host + prefix, left),
            false => buffer.copy_long(source, host + prefix, left),
        }
        if query.is_some_and(|query| !write_query(cuts, masked, query, &mut buffer)) {
            return false;
        }
        buffer.finish();
        true
    }
}

/// Appends `?` and the parameters that are kept of the query that starts at `query`. False if the exact path
/// has to decide.
#[inline(always)]
fn write_query<C: Cuts, V: Vector, const N: usize>(
    cuts: C,
    masked: &MaskedUrl<'_, V, N>,
    query: usize,
    buffer: &mut OutputBuffer<'_>,
) -> bool {
    let source = masked.source();
    let at = buffer.length();
    let mut parameters = Parameters::new();
    let (mut before, mut sorted) = (Keyed::default(), true);
    let decided = each_parameter(
        masked,
        query,
        #[inline(always)]
        |parameter| match cuts.fate(masked.url(), parameter) {
            Fate::Open => false,
            Fate::Dropped => true,
            Fate::Kept(parameter) => {
                let key = if C::LOWER { parameter.lower_key() } else { parameter.key() };
                sorted &= Keyed { key, parameter }.follows::<C>(source, &mut before);
                // The delimiter before the parameter is copied with it.
                copy::<C>(buffer, source, parameter.start - 1, parameter.end);
                parameters.push(key, parameter)
            }
        },
    );
    if !decided {
        return false;
    }
    // Parameters are written as they come, and once more only if they turn out to be out of order.
    if !sorted & cuts.sorts() {
        buffer.truncate(at);
        for (start, end) in parameters.sorted(|one, other| C::precedes(source, one, other)) {
            buffer.push(b'&');
            copy::<C>(buffer, source, start, end);
        }
    }
    // The first parameter that is left may have stood behind an `&`.
    if buffer.length() > at {
        buffer.replace(at, b'?');
    }
    true
}

#[inline(always)]
fn copy<C: Cuts>(buffer: &mut OutputBuffer<'_>, source: &[u8], start: usize, end: usize) {
    match C::LOWER {
        true => buffer.copy_lower(source, start, end),
        false => buffer.copy(source, start, end),
    }
}

impl<C: Cuts> FastPath for C {
    /// Whether nothing is cut or sorted, in a URL without letters to change.
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        let (path_end, is_whole) = (masked.path_end(), self.is_front_whole(masked));
        // If no query follows, there is no branch on `www.` or a final slash: half of the URLs have one.
        if path_end == masked.length {
            return is_whole;
        }
        is_whole && are_parameters_kept(self, masked, path_end + 1)
    }
}

/// Whether all parameters are kept, in their order.
#[inline(always)]
fn are_parameters_kept<C: Cuts, V: Vector, const N: usize>(
    cuts: C,
    masked: &MaskedUrl<'_, V, N>,
    query: usize,
) -> bool {
    let (url, mut before) = (masked.url(), Keyed::default());
    if are_in_order(masked, query, cuts.starts()) {
        return !cuts.may_cut_value(&url[query..]);
    }
    each_parameter(
        masked,
        query,
        #[inline(always)]
        |parameter| {
            let keyed = Keyed { key: parameter.key(), parameter };
            (keyed.follows::<C>(url, &mut before) || !cuts.sorts())
                // A parameter that loses its value is not kept as it is.
                && matches!(cuts.fate(url, parameter), Fate::Kept(kept) if kept.end == parameter.end)
        },
    )
}

/// A parameter with its sort key.
#[derive(Clone, Copy, Default)]
struct Keyed {
    key: u64,
    parameter: Parameter,
}

impl Keyed {
    /// Whether the parameter may stand after `before`, which it replaces.
    #[inline(always)]
    fn follows<C: Cuts>(self, url: &[u8], before: &mut Self) -> bool {
        let before = std::mem::replace(before, self);
        let place = |Keyed { parameter: Parameter { start, end, .. }, .. }| (start, end);
        // Equal keys prove equal names only if the name is shorter than its key.
        let is_same_name = self.key as u8 == 0;
        self.key > before.key
            || (self.key == before.key
                && (is_same_name && !C::BY_VALUE || !C::precedes(url, place(self), place(before))))
    }
}
