//! The footer of a run: the adds of its keys, and the index of its zones.
//!
//! Its bytes: the number of adds (4 bytes), and for each its number, its time in seconds since 1970 and its
//! keys in the run (8 bytes each); the number of zones (4 bytes), and for each its keys and the bytes of its
//! blocks, of its filter and of its index (4 bytes each); then a block with a separator for each zone: bytes
//! that are greater than all keys of the zone before, and no greater than the first key of this one.

use super::super::keys::{KeyList, SortedKeys as _};
use super::super::stats::AddStats;
use super::super::time::UnixTime;
use super::MAGIC;
use super::block::{Block, BlockBuilder, take_front};
use uniqurl::internal::{AllocError, alloc};

/// Where the parts of a zone are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ZonePlace {
    pub(super) offset: u64,
    pub(super) keys: u32,
    pub(super) blocks: u32,
    pub(super) filter: u32,
    pub(super) index: u32,
}

impl ZonePlace {
    pub(super) fn filter_offset(&self) -> u64 {
        self.offset + u64::from(self.blocks)
    }

    pub(super) fn index_offset(&self) -> u64 {
        self.filter_offset() + u64::from(self.filter)
    }

    pub(super) fn end(&self) -> u64 {
        self.index_offset() + u64::from(self.index)
    }
}

/// The footer.
#[derive(Debug, Default)]
pub(super) struct Footer {
    pub(super) adds: Vec<AddStats>,
    pub(super) zones: Vec<ZonePlace>,
    /// The separators of the zones.
    pub(super) separators: KeyList,
}

impl Footer {
    /// Adds a zone.
    pub(super) fn push(&mut self, separator: &[u8], zone: ZonePlace) -> Result<(), AllocError> {
        alloc::try_reserve(&mut self.zones, 1)?;
        self.separators.push(0, separator)?;
        self.zones.push(zone);
        Ok(())
    }

    /// Its bytes.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, AllocError> {
        let mut bytes = Vec::new();
        alloc::try_reserve(&mut bytes, 8 + 24 * self.adds.len() + 16 * self.zones.len())?;
        bytes.extend_from_slice(&(self.adds.len() as u32).to_le_bytes());
        for AddStats { number, time, keys } in &self.adds {
            for field in [*number, time.0, *keys] {
                bytes.extend_from_slice(&field.to_le_bytes());
            }
        }
        bytes.extend_from_slice(&(self.zones.len() as u32).to_le_bytes());
        for ZonePlace { keys, blocks, filter, index, .. } in &self.zones {
            for field in [keys, blocks, filter, index] {
                bytes.extend_from_slice(&field.to_le_bytes());
            }
        }
        // Neighbouring separators share most of their bytes, as keys do.
        let mut separators = BlockBuilder::default();
        for zone in 0..self.zones.len() {
            separators.push_whole(self.separators.get(zone), 0)?;
        }
        separators.finish(&mut bytes)?;
        Ok(bytes)
    }

    /// The footer of these bytes. None: they are none.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut footer = Self::default();
        let mut bytes = bytes;
        for _ in 0..number(&mut bytes)? {
            let [number, time, keys] = [(); 3].map(|()| long(&mut bytes));
            // The number is the file's word, so memory is reserved for what is really there.
            footer.adds.try_reserve(1).ok()?;
            footer.adds.push(AddStats { number: number?, time: UnixTime(time?), keys: keys? });
        }
        // Offsets are sums and not fields, so zones can neither overlap nor leave gaps.
        let mut offset = MAGIC.len() as u64;
        let mut zones = Vec::new();
        for _ in 0..number(&mut bytes)? {
            let [keys, blocks, filter, index] = [(); 4].map(|()| number(&mut bytes));
            let zone =
                ZonePlace { offset, keys: keys?, blocks: blocks?, filter: filter?, index: index? };
            offset = zone.end();
            zones.try_reserve(1).ok()?;
            zones.push(zone);
        }
        let block = Block::parse(bytes)?;
        if block.len() != zones.len() {
            return None;
        }
        let mut separator = Vec::new();
        for (zone, key) in zones.into_iter().zip(block.keys()) {
            key.follow(&mut separator).ok()?;
            footer.push(&separator, zone).ok()?;
        }
        Some(footer)
    }

    /// Where the footer itself starts.
    pub(super) fn offset(&self) -> u64 {
        self.zones.last().map_or(MAGIC.len() as u64, ZonePlace::end)
    }

    /// Keys of all zones.
    pub(super) fn entries(&self) -> u64 {
        self.zones.iter().map(|zone| u64::from(zone.keys)).sum()
    }
}

/// Takes a number of 4 bytes from the front.
fn number(bytes: &mut &[u8]) -> Option<u32> {
    take_front(bytes).map(u32::from_le_bytes)
}

/// Takes a number of 8 bytes from the front.
fn long(bytes: &mut &[u8]) -> Option<u64> {
    take_front(bytes).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footers_round_trip_and_a_cut_one_is_none() {
        let mut footer = Footer::default();
        footer.adds.push(AddStats { number: 3, time: UnixTime(1 << 40), keys: 5 });
        let mut offset = 8;
        for (i, separator) in [&b""[..], b"http://a", b"http://b/c"].into_iter().enumerate() {
            let zone = ZonePlace { offset, keys: 7, blocks: 100, filter: i as u32, index: 20 };
            offset = zone.end();
            footer.push(separator, zone).unwrap();
        }
        let bytes = footer.to_bytes().unwrap();
        let read = Footer::parse(&bytes).expect("a footer");
        assert_eq!((&read.adds, &read.zones), (&footer.adds, &footer.zones));
        assert_eq!(read.separators, footer.separators);
        assert_eq!((read.entries(), read.offset()), (21, offset));
        for cut in 0..bytes.len() {
            assert!(Footer::parse(&bytes[..cut]).is_none(), "{cut}");
        }
    }
}
