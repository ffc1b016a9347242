//! Reads a run as a whole, and checks that all of its parts agree.

use std::iter;

use rayon::prelude::*;

use super::super::error::SeenStoreError;
use super::super::keys::SortedKeys as _;
use super::block::Block;
use super::filter::hash;
use super::footer::ZonePlace;
use super::part::{PartKind, PartReader};
use super::reader::{Run, UNKNOWN_ADD, UNREADABLE};
use uniqurl::internal::AllocError;

impl Run {
    /// Reads everything, on all threads of the pool, and checks that all parts agree.
    pub(in super::super) fn verify(&self) -> Result<(), SeenStoreError> {
        // Keys by the number of their mark.
        let none = || vec![0; 1 + self.adds().len()];
        let counted = self.footer.zones.par_iter().enumerate().try_fold(
            none,
            |mut counts: Vec<u64>, (number, zone)| {
                self.verify_zone(number, zone, &mut counts)?;
                Ok::<_, SeenStoreError>(counts)
            },
        );
        let counts = counted.try_reduce(none, |mut one, other| {
            one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
            Ok(one)
        })?;
        let added = self.adds().iter().map(|add| add.keys);
        if !iter::once(self.info.removed).chain(added).eq(counts) {
            let reason = "its keys are not as many as it says";
            return Err(self.file.damaged(self.footer.offset(), reason));
        }
        Ok(())
    }

    /// Checks the blocks of a zone against its filter and its index, and counts its keys by mark.
    fn verify_zone(
        &self,
        number: usize,
        zone: &ZonePlace,
        counts: &mut [u64],
    ) -> Result<(), SeenStoreError> {
        let (mut parts, mut raw) = (PartReader::default(), Vec::new());
        let (mut filter, mut index) = (Vec::new(), Vec::new());
        let filter = self.filter(zone, &mut parts, &mut filter)?;
        let index = self.index(zone, &mut parts, &mut index)?;
        let no_room = |error: AllocError| SeenStoreError::io(&self.file.path, error.into());
        let (mut separator, mut key) = (Vec::new(), Vec::new());
        let (mut offset, mut keys) = (zone.offset, 0);
        for of_block in index.keys() {
            let length = of_block.mark;
            of_block.follow(&mut separator).map_err(no_room)?;
            parts.read(&self.file, (PartKind::Block, offset, length), &mut raw)?;
            let damaged = |reason| self.file.damaged(offset, reason);
            let block = Block::parse(&raw).ok_or_else(|| damaged(UNREADABLE))?;
            // The footer repeats the first separator of each zone, so both have to agree.
            let is_before = match keys {
                0 => separator == self.footer.separators.get(number),
                _ => key < separator,
            };
            for (at, next) in block.keys().enumerate() {
                // Up to there they are equal. Before the first key of a zone there is none.
                if keys > 0 && *next.suffix <= key[next.shared..] {
                    return Err(damaged("keys are not in order"));
                }
                next.follow(&mut key).map_err(no_room)?;
                if at == 0 && (!is_before || key < separator) {
                    return Err(damaged("a block and its index disagree"));
                }
                // A key that its filter lacks would be called new for ever.
                if !filter.may_contain(hash(&key)) {
                    return Err(damaged("its filter lacks a key"));
                }
                let count = counts.get_mut(next.mark as usize);
                *count.ok_or_else(|| damaged(UNKNOWN_ADD))? += 1;
                keys += 1;
            }
            offset += u64::from(length);
        }
        if offset != zone.filter_offset() || keys != zone.keys {
            return Err(self.file.damaged(zone.index_offset(), "a zone and its index disagree"));
        }
        // Zones are checked side by side, so the order across their border is asked here.
        let is_last = number + 1 == self.footer.zones.len();
        if !is_last && *key >= *self.footer.separators.get(number + 1) {
            return Err(self.file.damaged(zone.end(), "keys are not in order"));
        }
        Ok(())
    }
}
