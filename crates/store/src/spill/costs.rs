//! Chooses whether the next block is packed, by measuring real blocks.
//!
//! Input is the time that packing and writing took so far. A file that stays in the page cache is
//! written at some 1.5 GB/s, where LZ4 packs URLs at 0.6 GB/s and halves them; a disk that has to keep
//! up takes 0.3 GB/s. So packing is worth its time exactly where the system has begun to hold writers
//! back.

/// One block of so many is packed whatever was measured, so that the measure stays fresh.
const SAMPLED: u64 = 32;

/// Unpacking takes about this part of the time of packing.
const UNPACKING: f64 = 0.25;

/// Nanoseconds a byte, and the bytes so far.
#[derive(Debug, Default)]
pub(super) struct Costs {
    /// Of packing, by bytes before it.
    pub(super) pack: Average,
    /// Of writing, by bytes written.
    pub(super) write: Average,
    /// Packed bytes for each byte before packing.
    pub(super) ratio: Average,
    pub(super) packs_all: bool,
    blocks: u64,
    spilled: Spilled,
}

/// Bytes that were spilled, and how they were packed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spilled {
    /// Bytes before packing.
    pub bytes: u64,
    /// Bytes of the temporary file.
    pub written: u64,
    /// Those of the bytes before packing that were packed.
    pub packed: u64,
}

impl Spilled {
    /// How blocks were packed: `lz4`, `none`, or `mixed` where some were.
    pub fn packing(&self) -> &'static str {
        match self.packed {
            0 => "none",
            packed if packed == self.bytes => "lz4",
            _ => "mixed",
        }
    }
}

impl Costs {
    /// Whether the next block is packed.
    pub(super) fn packs_next(&mut self) -> bool {
        self.blocks += 1;
        // The first block is packed too, since nothing was measured before it.
        self.packs_all || self.blocks % SAMPLED == 1 || self.packing_pays()
    }

    fn packing_pays(&self) -> bool {
        let (pack, ratio) = (self.pack.0, self.ratio.0);
        // Every byte is read again, at about the cost of writing it: a file that the page cache cannot
        // hold is read from the disk.
        let moved = 2.0 * self.write.0;
        pack * (1.0 + UNPACKING) + ratio * moved < moved
    }

    /// Counts a block of so many bytes before packing.
    pub(super) fn count(&mut self, raw: usize, is_packed: bool) {
        self.spilled.bytes += raw as u64;
        self.spilled.packed += if is_packed { raw as u64 } else { 0 };
    }

    pub(super) fn spilled(&self) -> Spilled {
        self.spilled
    }
}

/// A moving average.
#[derive(Debug, Default)]
pub(super) struct Average(f64);

impl Average {
    /// How much a new value counts.
    const WEIGHT: f64 = 0.1;

    pub(super) fn add(&mut self, value: f64) {
        self.0 += if self.0 == 0.0 { value } else { Self::WEIGHT * (value - self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_where_the_disk_is_slow() {
        let costs = |write| {
            let mut costs = Costs::default();
            costs.pack.add(1.7);
            costs.ratio.add(0.5);
            costs.write.add(write);
            costs
        };
        let packed = |write| {
            let mut costs = costs(write);
            (0..3200).filter(|_| costs.packs_next()).count()
        };
        assert_eq!((packed(0.6), packed(3.4)), (100, 3200));
        let mut costs = Costs { packs_all: true, ..costs(0.6) };
        assert!((0..64).all(|_| costs.packs_next()));
    }
}
