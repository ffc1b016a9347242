//! Takes session ids out of a query, and sorts it.
//!
//! An indexer takes the last id of each kind with the `&` after it, which joins the bytes before the id and
//! the next parameter; then it sorts. The last parameter has no `&` after it, so the one before it
//! stays. Its next run may find another id. Here the runs are repeated until nothing changes.

use crate::profile::archive::{SESSIONS, Session, TWINS};

/// Runs that take one id of each kind, as the indexers' do. Later runs take all at once, or the time would
/// grow with the square of the number of ids.
const RUNS_LIKE_THE_INDEXERS: usize = 8;

/// The query, sorted, without what identifies a session. It is in lower case.
pub(super) fn without_ids(mut query: Vec<u8>) -> Vec<u8> {
    let mut run = 0;
    loop {
        let kept = match run < RUNS_LIKE_THE_INDEXERS {
            true => without_first_ids(&query),
            false => without(&query, &Kind::all().collect::<Vec<_>>(), usize::MAX),
        };
        let is_done = kept.len() == query.len();
        query = sorted(&kept);
        // The sort may make neighbours of two parameters that identify a session together.
        if is_done && (run > 0 || query == kept) {
            return query;
        }
        run += 1;
    }
}

/// The query without the last id of each kind.
pub(super) fn without_first_ids(query: &[u8]) -> Vec<u8> {
    let mut kept = query.to_vec();
    for kind in Kind::all() {
        // Hardly any query holds one of the names, and a search costs less than a pass.
        if memchr::memmem::find(&kept, kind.name()).is_some() {
            kept = without(&kept, &[kind], 1);
        }
    }
    kept
}

fn sorted(query: &[u8]) -> Vec<u8> {
    let mut pairs: Vec<&[u8]> = query.split(|byte| *byte == b'&').collect();
    pairs.sort_by_key(|pair| name_and_value(pair));
    pairs.join(&b'&')
}

/// The name of a parameter, and its value with the equals sign before it, so that no value precedes an empty one.
pub(super) fn name_and_value(pair: &[u8]) -> (&[u8], &[u8]) {
    pair.split_at(memchr::memchr(b'=', pair).unwrap_or(pair.len()))
}

/// What identifies a session.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The end of one parameter.
    Id(&'static Session),
    /// The end of one parameter, and the whole next one.
    Twins([&'static [u8]; 2]),
}

impl Kind {
    /// All kinds, in the order in which the indexers look for them.
    fn all() -> impl Iterator<Item = Self> {
        SESSIONS.iter().map(Kind::Id).chain([Kind::Twins(TWINS)])
    }

    fn name(self) -> &'static [u8] {
        match self {
            Kind::Id(session) => session.name,
            Kind::Twins([first, _]) => first,
        }
    }
}

/// A query that is read from its end. `bytes` holds the bytes that stay, the last one first.
#[derive(Debug, Default)]
struct Reversed {
    bytes: Vec<u8>,
    /// For each parameter in `bytes`, where it starts there, which is at its last byte.
    starts: Vec<usize>,
}

impl Reversed {
    /// The bytes of the parameter that is `back` parameters after the one that is being read, the last
    /// byte first.
    fn parameter(&self, back: usize) -> Option<&[u8]> {
        let at = self.starts.len().checked_sub(back + 1)?;
        // An `&` stands between two parameters.
        let end = self.starts.get(at + 1).map_or(self.bytes.len(), |next| next - 1);
        Some(&self.bytes[self.starts[at]..end])
    }

    /// The bytes after so many parameters, counted from the one being read, the last byte first.
    fn after(&self, count: usize) -> &[u8] {
        let start = self.starts.len().checked_sub(count).map_or(0, |at| self.starts[at]);
        &self.bytes[..start.saturating_sub(1)]
    }

    /// Takes the parameters that end with the one being read; the next one is being read again.
    fn take(&mut self, count: usize) {
        for _ in 0..count {
            let start = self.starts.pop().unwrap_or(0);
            self.bytes.truncate(start.saturating_sub(1));
        }
        if self.starts.is_empty() {
            self.starts.push(0);
        }
    }
}

/// The query without at most `most` ids of these kinds, the last ones first. One pass from its end: what
/// a removal makes one parameter is read as one.
fn without(query: &[u8], kinds: &[Kind], most: usize) -> Vec<u8> {
    let mut read = Reversed { bytes: Vec::with_capacity(query.len()), starts: vec![0] };
    let mut taken = 0;
    for (at, &byte) in query.iter().enumerate().rev() {
        if byte == b'&' {
            read.bytes.push(byte);
            read.starts.push(read.bytes.len());
            continue;
        }
        read.bytes.push(byte);
        if taken == most {
            continue;
        }
        let found = kinds.iter().filter(|kind| kind.name()[0] == byte).find_map(|kind| {
            let count = parameters_of(*kind, &read)?;
            // `phpsessid` ends in `sid`.
            let is_part = kinds.iter().any(|other| {
                other
                    .name()
                    .strip_suffix(kind.name())
                    .is_some_and(|front| !front.is_empty() && query[..at].ends_with(front))
            });
            (!is_part && !breaks_triplets(&query[..at], read.after(count))).then_some(count)
        });
        if let Some(count) = found {
            read.take(count);
            taken += 1;
        }
    }
    read.bytes.reverse();
    read.bytes
}

/// True if removing an id between `before` and `after` would make or break a triplet; `after` is reversed. A
/// literal `%` before the id and digits after it would become a triplet, which the next reading decodes. An
/// id that begins inside a triplet, as in `%cfid=1`, would leave half of that triplet.
fn breaks_triplets(before: &[u8], after: &[u8]) -> bool {
    let digits = after.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).take(2).count();
    match before {
        [.., b'%'] | [.., b'%', _] => true,
        [.., b'%', b'2', b'5'] => digits == 2,
        [.., b'%', b'2', b'5', digit] => digit.is_ascii_hexdigit() && digits > 0,
        _ => false,
    }
}

/// The number of parameters that make an id of this kind, counted from the one being read.
fn parameters_of(kind: Kind, read: &Reversed) -> Option<usize> {
    let pair = read.parameter(0)?;
    match kind {
        Kind::Id(session) => {
            let value = pair.get(..session.length).filter(|_| pair.len() == session.total())?;
            let rest = strip_reversed(pair, session.name)?;
            let (letters, equals) = (&rest[session.length + 1..], rest[session.length]);
            (equals == b'='
                && letters.iter().all(u8::is_ascii_alphabetic)
                && value.iter().all(|byte| session.alphabet.contains(*byte)))
            .then_some(1)
        }
        Kind::Twins([first, second]) => {
            let is_twin = |pair: &[u8], name: &[u8]| {
                let value = strip_reversed(pair, name).and_then(|rest| rest.strip_suffix(b"="));
                value.is_some_and(|value| !value.is_empty())
            };
            (is_twin(pair, first) && is_twin(read.parameter(1)?, second)).then_some(2)
        }
    }
}

/// `bytes`, the last byte first, without the name that they start with when read forwards.
fn strip_reversed<'b>(bytes: &'b [u8], name: &[u8]) -> Option<&'b [u8]> {
    let (rest, start) = bytes.split_at_checked(bytes.len().checked_sub(name.len())?)?;
    start.iter().rev().eq(name).then_some(rest)
}
