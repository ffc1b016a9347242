//! Stage *insert*.

use super::sheet::{Buffers, Sheet};
use uniqurl::set::{Bytes, Mark, Part, Shard};

/// How a shard got on with a batch.
pub(super) struct End {
    /// What it held before.
    pub(super) before: Mark,
    /// Where it was full: after so many sheets, and so many entries of the next.
    pub(super) full: Option<(usize, usize)>,
}

impl End {
    pub(super) fn before(shard: &Shard) -> Self {
        Self { before: shard.mark(), full: None }
    }
}

/// What of a batch goes to one shard, by sheet.
struct Share<'s> {
    parts: Vec<Part<'s, Buffers<'s>>>,
    /// Where each URL is told its place, if it is.
    places: Vec<&'s mut [u32]>,
}

impl Share<'_> {
    fn with_room(sheets: usize) -> Self {
        Self { parts: Vec::with_capacity(sheets), places: Vec::with_capacity(sheets) }
    }
}

/// Stage *insert*: a task for each shard, through all sheets in order. A set that takes no more is
/// only looked into, and so is `seen`, whose URLs do not come into it.
pub(super) fn insert<'s>(
    scope: &rayon::Scope<'s>,
    seen: Option<&'s mut [Shard]>,
    shards: &'s mut [Shard],
    sheets: &'s mut [Sheet],
    ends: &'s mut [End],
) {
    if shards.is_empty() || sheets.is_empty() {
        return;
    }
    let spills = sheets.iter().any(|sheet| sheet.spills);
    let mut shares: Vec<Share<'s>> =
        shards.iter().map(|_| Share::with_room(sheets.len())).collect();
    for sheet in sheets {
        let text = sheet.text.buffers();
        let mut rest = sheet.entries.as_mut_slice();
        let mut rest_of_places = sheet.places.as_mut_slice();
        let mut start = 0;
        for (share, end) in shares.iter_mut().zip(&sheet.ends) {
            let (entries, behind) = rest.split_at_mut(end - start);
            let places = entries.len().min(rest_of_places.len());
            let (places, behind_places) = rest_of_places.split_at_mut(places);
            share.parts.push(Part { entries, bytes: text });
            share.places.push(places);
            (rest, rest_of_places, start) = (behind, behind_places, *end);
        }
    }
    let mut seen = seen.into_iter().flatten();
    for ((shard, end), mut share) in shards.iter_mut().zip(ends).zip(shares) {
        let seen = seen.next();
        scope.spawn(move |_| {
            if let Some(seen) = seen {
                seen.mark_all(&mut share.parts);
            }
            if spills {
                shard.find_all(&mut share.parts);
            } else if let Err(stopped) = shard.insert_all(&mut share.parts) {
                end.full = Some((stopped.part, stopped.after));
                return;
            }
            for (part, places) in share.parts.iter().zip(share.places) {
                for (place, entry) in places.iter_mut().zip(&*part.entries) {
                    let found = shard.place_of(entry.hash, part.bytes.of(entry));
                    *place = found.map_or(0, |place| place.get());
                }
            }
        });
    }
}
