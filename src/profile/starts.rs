//! The first two bytes of names: nearly every parameter of a query is settled by them.

/// Pairs of bytes that what stands in a query may start with; 8 KiB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Starts([[u64; 4]; 256]);

impl Starts {
    /// None but those of a parameter without a name: these are always looked into.
    pub(crate) const NAMELESS: Self = {
        let mut starts = Self([[0; 4]; 256]);
        starts.0[b'=' as usize] = [u64::MAX; 4];
        starts.0[b'&' as usize] = [u64::MAX; 4];
        starts
    };

    /// Every pair.
    pub(crate) const ALL: &Self = &Self([[u64::MAX; 4]; 256]);

    /// Adds what starts with these two bytes, in either case.
    pub(crate) const fn add(&mut self, first: u8, second: u8) {
        let firsts = [first.to_ascii_lowercase(), first.to_ascii_uppercase()];
        let seconds = [second.to_ascii_lowercase(), second.to_ascii_uppercase()];
        let mut i = 0;
        while i < 4 {
            let second = seconds[i & 1];
            self.0[firsts[i >> 1] as usize][(second >> 6) as usize] |= 1 << (second & 63);
            i += 1;
        }
    }

    /// Adds what starts with `first`, and then with one of `seconds`, a bit for each byte.
    pub(crate) fn add_all(&mut self, first: u8, seconds: [u64; 4]) {
        for (word, more) in self.0[usize::from(first)].iter_mut().zip(seconds) {
            *word |= more;
        }
    }

    /// Whether what starts with these two bytes is among them.
    #[inline(always)]
    pub(crate) fn hold(&self, first: u8, second: u8) -> bool {
        self.0[usize::from(first)][usize::from(second >> 6)] >> (second & 63) & 1 == 1
    }
}
