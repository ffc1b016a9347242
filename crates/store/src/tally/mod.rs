//! What the records of a key say about their responses: statuses, bytes and durations, added up.
//!
//! A tally is written as few bytes, which is how sets and spilled partitions keep it. The bytes depend only
//! on the observations, so tallies may be merged in any order.

mod durations;

pub use durations::EXACT;
use durations::{Durations, NUMBER};

use crate::size_class::allocated;
use crate::spill::{append_number, decode_number};
use uniqurl::internal::{AllocError, alloc};

/// Classes of statuses, from 1xx to 5xx.
pub const CLASSES: usize = 5;

/// In the first byte, after a bit for each class that has records.
const HAS_BYTES: u8 = 1 << 5;
const HAS_DURATIONS: u8 = 1 << 6;
/// The sum of bytes has more than 64 bits, and its upper half follows the lower one.
const HAS_MORE_BYTES: u8 = 1 << 7;

/// The tally of one key.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ResponseTally {
    statuses: [u64; CLASSES],
    // A damaged or forged record may name as many bytes as fit a `u64`, and no number of them overflows this.
    bytes: u128,
    durations: Durations,
}

impl ResponseTally {
    /// Counts a status, unless it is out of range.
    pub fn add_status(&mut self, status: u16) {
        if let Some(count) =
            usize::from(status / 100).checked_sub(1).and_then(|class| self.statuses.get_mut(class))
        {
            *count += 1;
        }
    }

    /// Adds bytes.
    pub fn add_bytes(&mut self, bytes: u64) {
        self.bytes += u128::from(bytes);
    }

    /// Adds a duration in microseconds.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn add_duration(&mut self, duration: u64) -> Result<(), AllocError> {
        self.durations.add(duration)
    }

    /// Adds another tally.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn merge(&mut self, other: &Self) -> Result<(), AllocError> {
        self.statuses.iter_mut().zip(other.statuses).for_each(|(count, more)| *count += more);
        self.bytes += other.bytes;
        self.durations.merge(&other.durations)
    }

    /// Records by class of status, from 1xx to 5xx.
    pub fn statuses(&self) -> [u64; CLASSES] {
        self.statuses
    }

    /// The sum of all bytes.
    pub fn bytes(&self) -> u128 {
        self.bytes
    }

    /// The greatest duration in microseconds, if there is any.
    pub fn greatest_duration(&self) -> Option<u64> {
        (self.durations.count() > 0).then(|| self.durations.greatest())
    }

    /// The duration in microseconds that `percent` of the records do not exceed: of n durations in ascending
    /// order the one of number n · percent / 100, rounded up. It is exact for up to [`EXACT`] durations, and
    /// otherwise less than 1 % away.
    pub fn duration(&self, percent: u64) -> Option<u64> {
        self.durations.quantile(percent)
    }

    /// Appends the tally as bytes; none if it counts nothing.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn append(&self, out: &mut Vec<u8>) -> Result<(), AllocError> {
        let Self { statuses, bytes, durations } = self;
        let mut flags = 0;
        for (class, count) in statuses.iter().enumerate() {
            flags |= u8::from(*count > 0) << class;
        }
        // Hardly any sum has more than 64 bits, so most tallies do without the upper half.
        let upper = (*bytes >> 64) as u64;
        flags |= if *bytes > 0 { HAS_BYTES } else { 0 };
        flags |= if upper > 0 { HAS_MORE_BYTES } else { 0 };
        flags |= if durations.count() > 0 { HAS_DURATIONS } else { 0 };
        if flags == 0 {
            return Ok(());
        }
        alloc::try_reserve(out, 1 + NUMBER * (CLASSES + 2) + durations.room())?;
        out.push(flags);
        statuses.iter().filter(|count| **count > 0).for_each(|count| append_number(*count, out));
        if *bytes > 0 {
            append_number(*bytes as u64, out);
        }
        if upper > 0 {
            append_number(upper, out);
        }
        if durations.count() > 0 {
            durations.append(out);
        }
        Ok(())
    }

    /// Reads a tally from its bytes.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn decode(bytes: &[u8]) -> Result<Self, AllocError> {
        let mut tally = Self::default();
        let Some(flags) = bytes.first() else { return Ok(tally) };
        let mut at = 1;
        let mut number = || decode_number(bytes, &mut at).unwrap_or_default();
        for (class, count) in tally.statuses.iter_mut().enumerate() {
            if flags >> class & 1 == 1 {
                *count = number();
            }
        }
        if flags & HAS_BYTES != 0 {
            tally.bytes = number().into();
        }
        if flags & HAS_MORE_BYTES != 0 {
            tally.bytes |= u128::from(number()) << 64;
        }
        if flags & HAS_DURATIONS != 0 {
            tally.durations = Durations::decode(bytes, &mut at)?;
        }
        Ok(tally)
    }
}

/// Replaces the bytes of a tally by those of its sum with another.
pub(crate) fn merge_bytes(kept: &mut Vec<u8>, other: &[u8]) -> Result<(), AllocError> {
    let mut sum = ResponseTally::decode(kept)?;
    sum.merge(&ResponseTally::decode(other)?)?;
    let mut bytes = Vec::new();
    sum.append(&mut bytes)?;
    kept.clear();
    // There may be millions of tallies, so each takes no more memory than it needs.
    alloc::try_reserve_exact(kept, allocated(bytes.len()))?;
    kept.extend_from_slice(&bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(observations: &[(Option<u16>, Option<u64>, Option<u64>)]) -> ResponseTally {
        let mut tally = ResponseTally::default();
        for (status, bytes, duration) in observations {
            status.iter().for_each(|status| tally.add_status(*status));
            bytes.iter().for_each(|bytes| tally.add_bytes(*bytes));
            duration.iter().for_each(|duration| tally.add_duration(*duration).unwrap());
        }
        tally
    }

    #[test]
    fn tally_is_the_same_after_its_bytes() {
        type Responses = [(Option<u16>, Option<u64>, Option<u64>)];
        let cases: [&Responses; 6] = [
            &[],
            &[(Some(200), None, None)],
            &[(Some(99), Some(0), None), (Some(600), None, None), (Some(0), None, None)],
            &[(None, Some(u64::MAX), Some(u64::MAX)), (None, Some(7), Some(0))],
            &[(Some(100), None, Some(0)); 40],
            &[(Some(599), Some(300), Some(1_000_000)), (Some(404), Some(0), Some(129))],
        ];
        for case in cases {
            let tally = observed(case);
            let mut bytes = Vec::new();
            tally.append(&mut bytes).unwrap();
            assert_eq!(ResponseTally::decode(&bytes).unwrap(), tally, "{case:?}");
            let mut both = bytes.clone();
            merge_bytes(&mut both, &bytes).unwrap();
            let twice: Vec<_> = [case, case].concat();
            assert_eq!(ResponseTally::decode(&both).unwrap(), observed(&twice), "{case:?}");
        }
        assert_eq!(observed(cases[2]).statuses(), [0; CLASSES]);
        assert_eq!(observed(cases[3]).bytes(), u128::from(u64::MAX) + 7);
    }

    #[test]
    fn one_observation_takes_few_bytes() {
        let mut bytes = Vec::new();
        observed(&[(Some(200), Some(15_000), Some(120_000))]).append(&mut bytes).unwrap();
        assert!(bytes.len() <= 12, "{}", bytes.len());
    }
}
