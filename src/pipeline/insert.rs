//! Stage *insert*.

use super::sheet::Sheet;
use crate::dedup::{Mark, Shard};

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
    let mut parts: Vec<Vec<_>> = shards.iter().map(|_| Vec::with_capacity(sheets.len())).collect();
    for sheet in sheets {
        let text = &sheet.text;
        let mut rest = sheet.entries.as_mut_slice();
        let mut rest_of_places = sheet.places.as_mut_slice();
        let mut start = 0;
        for (parts, end) in parts.iter_mut().zip(&sheet.ends) {
            let (part, behind) = rest.split_at_mut(end - start);
            let places = part.len().min(rest_of_places.len());
            let (places, behind_places) = rest_of_places.split_at_mut(places);
            parts.push((text, part, places, sheet.spills));
            (rest, rest_of_places, start) = (behind, behind_places, *end);
        }
    }
    let mut seen = seen.into_iter().flatten();
    for ((shard, end), parts) in shards.iter_mut().zip(ends).zip(parts) {
        let mut seen = seen.next();
        scope.spawn(move |_| {
            for (i, (text, part, places, spills)) in parts.into_iter().enumerate() {
                if let Some(seen) = &mut seen {
                    seen.mark_all(part, |entry| text.entry(entry));
                }
                if spills {
                    shard.find_all(part, |entry| text.entry(entry));
                } else if let Err(stopped) = shard.insert_all(part, |entry| text.entry(entry)) {
                    end.full = Some((i, stopped.after));
                    return;
                }
                for (place, entry) in places.iter_mut().zip(part) {
                    let found = shard.place_of(entry.hash, text.entry(entry));
                    *place = found.map_or(0, |place| place.get());
                }
            }
        });
    }
}
