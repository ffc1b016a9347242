//! Names segments with many values `{slug}` in the templates of a complete set, which makes some of them equal.

use super::lines::KeptLines;
use super::memory_set::{ListedKeys, MemorySet};
use crate::error::RunError;
use uniqurl::internal::{Counting, HashKey, Shard, Slugs, alloc};
use uniqurl::key::Routes;
use uniqurl_store::keep_policy::{KeepPolicy, KeptRecord};

/// Bytes of lines that are added at once.
const LINES: usize = 1 << 20;

/// Bytes of memory that naming takes beside a set of so many bytes and keys: the set is made anew, and each key is
/// listed and sorted.
pub(super) fn memory(is_wanted: bool, set: usize, keys: usize) -> usize {
    const EACH: usize = size_of::<&[u8]>() + 4 * size_of::<u32>() + size_of::<Move>();
    if is_wanted { set + keys * EACH } else { 0 }
}

/// Where the line of a key goes.
struct Move {
    /// The number of the record that it is about.
    ordinal: u64,
    from: u64,
    to: u64,
}

impl MemorySet {
    /// Names values where more than `most` stand under one parent. Of keys that become one, the first counts, with the
    /// records of all. Returns how many were not the first, by input.
    // In the order of the keys, so that the set is the one that a run over templates with slugs would have made.
    pub(super) fn name_slugs(
        &mut self,
        most: u64,
        routes: Option<&Routes>,
        hasher: &HashKey,
    ) -> Result<Vec<(usize, u64)>, RunError> {
        let Some(ListedKeys { list, lines }) = self.listed.take() else { return Ok(Vec::new()) };
        let shard = |place: u64| &self.shards[(place >> 32) as usize];
        let mut templates: Vec<&[u8]> = Vec::new();
        alloc::try_reserve_exact(&mut templates, list.places.len())?;
        templates.extend(list.places.iter().map(|place| shard(*place).get(*place as u32)));
        let slugs = Slugs::of(&templates, most, routes)?;

        let mut shards: Vec<Shard> =
            self.shards.iter().map(|_| Shard::new(self.counting)).collect();
        let mut named = ListedKeys::new(self.policy, shards.len(), list.sorts);
        let mut inputs = list.inputs.iter().peekable();
        let mut joined: Vec<(usize, u64)> = Vec::new();
        let (mut added, mut text, mut moves) = (0, Vec::new(), Vec::new());
        let mut key = Vec::new();
        for (number, (template, from)) in templates.iter().zip(&list.places).enumerate() {
            while let Some((input, _)) = inputs.next_if(|(_, start)| *start <= number) {
                joined.push((*input, 0));
            }
            key.clear();
            slugs.append(number, template, &mut key);
            let hash = hasher.hash(&key);
            let at = hash.shard(shards.len());
            let added_at = shards[at].add(hash, &key)?;
            let place = added_at.or_else(|| Some(shards[at].place_of(hash, &key)?.get()));
            let Some(place) = place else { continue };
            if self.counting == Counting::On {
                // Adding it counted 1.
                let count = shards[at].count(place) - 1 + shard(*from).count(*from as u32);
                shards[at].set_count(place, count);
            }
            let to = (at as u64) << 32 | u64::from(place);
            match (&lines, added_at) {
                (KeptLines::Replaceable(_), _) => {
                    alloc::try_reserve(&mut moves, 1)?;
                    let ordinal = match self.policy {
                        KeepPolicy::Tally => 0,
                        _ => numbered(lines.spilled(0, *from)).0,
                    };
                    moves.push(Move { ordinal, from: *from, to });
                }
                (KeptLines::Added(_), Some(_)) if self.has_lines => {
                    let line = lines.spilled(number as u64, *from);
                    alloc::try_reserve(&mut text, line.len())?;
                    text.extend_from_slice(line);
                    added += 1;
                }
                (KeptLines::Added(_), _) => {}
            }
            match added_at {
                Some(_) => {
                    alloc::try_reserve(&mut named.list.places, 1)?;
                    named.list.places.push(to);
                }
                None => joined.last_mut().into_iter().for_each(|(_, count)| *count += 1),
            }
            if let KeptLines::Added(lines) = &mut named.lines
                && (text.len() >= LINES || number + 1 == templates.len())
            {
                lines.add(std::mem::take(&mut added), std::mem::take(&mut text))?;
            }
        }
        // In the order of the records, in which lines compete.
        moves.sort_unstable_by_key(|line| line.ordinal);
        let mut candidate = Vec::new();
        for Move { from, to, .. } in moves {
            candidate.clear();
            let kept = lines.spilled(0, from);
            match self.policy {
                KeepPolicy::Tally => candidate.extend_from_slice(kept),
                _ => {
                    let (_, KeptRecord { value, line }) = numbered(kept);
                    KeptRecord::append_value(value, &mut candidate);
                    candidate.extend_from_slice(line);
                }
            }
            if let KeptLines::Replaceable(lines) = &mut named.lines {
                lines.offer(to, &candidate)?;
            }
        }
        self.shards = shards;
        self.listed = Some(named);
        Ok(joined)
    }
}

/// The number of the record that a candidate is about, which stands before its line, and the candidate without it.
fn numbered(candidate: &[u8]) -> (u64, KeptRecord<'_>) {
    let KeptRecord { value, line } = KeptRecord::of(candidate);
    let (ordinal, line) = line.split_first_chunk().unwrap_or((&[0; 8], line));
    (u64::from_le_bytes(*ordinal), KeptRecord { value, line })
}
