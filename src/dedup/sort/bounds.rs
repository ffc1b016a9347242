//! Where one bucket ends and the next begins.
//!
//! A sorted sample is cut into runs of a few URLs. What stands between two runs is looked up by
//! digits: a node of a tree has the digits at its depth that bound its buckets, and where one digit
//! has too many URLs for a bucket, a node of its own for what comes behind.

use super::{DIGIT, digit};

/// URLs of the sample in a bucket, so that its size is not left to chance.
const RUN: usize = 16;

/// Nodes below each other. What is equal for longer than their digits is dealt once more from there.
const LEVELS: usize = 32;

/// Buckets in ascending order, by number.
pub(super) struct Bounds {
    nodes: Vec<Node>,
    /// The bytes that all URLs of each bucket have in common, at least.
    depths: Vec<usize>,
}

struct Node {
    depth: usize,
    digits: Vec<u128>,
    /// What comes before each digit, what has it, and at the end what comes after all.
    next: Vec<Next>,
}

#[derive(Clone, Copy)]
enum Next {
    Bucket(u32),
    Node(u32),
}

impl Bounds {
    /// Cuts a sample of different URLs, sorted, that are equal up to `depth`.
    pub(super) fn new(sample: &[&[u8]], depth: usize) -> Self {
        let mut bounds = Self { nodes: Vec::new(), depths: Vec::new() };
        bounds.cut(sample, depth, LEVELS);
        bounds
    }

    /// How many buckets there are.
    pub(super) fn len(&self) -> usize {
        self.depths.len()
    }

    pub(super) fn depth(&self, bucket: usize) -> usize {
        self.depths[bucket]
    }

    /// The bucket of a URL.
    #[inline]
    pub(super) fn bucket(&self, url: &[u8]) -> u32 {
        let Some(mut node) = self.nodes.first() else { return 0 };
        loop {
            let digit = digit(url, node.depth);
            let at = node.digits.partition_point(|bound| *bound < digit);
            let is_bound = node.digits.get(at) == Some(&digit);
            match node.next[2 * at + usize::from(is_bound)] {
                Next::Bucket(bucket) => return bucket,
                Next::Node(index) => node = &self.nodes[index as usize],
            }
        }
    }

    fn cut(&mut self, sample: &[&[u8]], depth: usize, levels: usize) -> Next {
        if sample.len() <= RUN || levels == 0 {
            return self.add_bucket(depth);
        }
        let index = self.nodes.len();
        self.nodes.push(Node { depth, digits: Vec::new(), next: Vec::new() });
        let (mut digits, mut next) = (Vec::new(), Vec::new());
        // The bucket that takes what comes next, and how many it has.
        let mut open: Option<(Next, usize)> = None;
        for group in sample.chunk_by(|a, b| digit(a, depth) == digit(b, depth)) {
            let bound = digit(group[0], depth);
            open = match open {
                _ if group.len() > RUN => {
                    let before = open.map_or_else(|| self.add_bucket(depth), |(before, _)| before);
                    next.extend([before, self.cut(group, depth + DIGIT, levels - 1)]);
                    digits.push(bound);
                    None
                }
                Some((before, size)) if size + group.len() > RUN => {
                    let bucket = self.add_bucket(depth);
                    next.extend([before, bucket]);
                    digits.push(bound);
                    Some((bucket, group.len()))
                }
                Some((bucket, size)) => Some((bucket, size + group.len())),
                None => Some((self.add_bucket(depth), group.len())),
            };
        }
        next.push(open.map_or_else(|| self.add_bucket(depth), |(last, _)| last));
        self.nodes[index] = Node { depth, digits, next };
        Next::Node(index as u32)
    }

    fn add_bucket(&mut self, depth: usize) -> Next {
        self.depths.push(depth);
        Next::Bucket(self.depths.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;

    /// Short texts of few letters, so that much is equal and much ends early.
    fn text(mut n: u64) -> Vec<u8> {
        const PARTS: [&[u8]; 8] = [
            b"a",
            b"b",
            b"\0",
            b"\xFF",
            b"https://www.",
            b"example.com/",
            b"/",
            b"0123456789abcde",
        ];
        let mut text = Vec::new();
        while n > 0 {
            text.extend_from_slice(PARTS[(n % 8) as usize]);
            n /= 8;
        }
        text
    }

    #[test]
    fn buckets_ascend_and_what_is_in_one_is_equal_up_to_its_depth() {
        let mut texts: Vec<Vec<u8>> = (0..cases(20_000) as u64)
            .map(|n| text(n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (n % 48 + 8)))
            .collect();
        texts.extend((0..3_000).map(|n| vec![b'a'; n]));
        texts.sort_unstable();
        texts.dedup();
        for every in [1, 7, 100] {
            let sample: Vec<&[u8]> = texts.iter().step_by(every).map(Vec::as_slice).collect();
            let bounds = Bounds::new(&sample, 0);
            let buckets: Vec<u32> = texts.iter().map(|text| bounds.bucket(text)).collect();
            assert!(buckets.is_sorted());
            assert!((buckets[texts.len() - 1] as usize) < bounds.len());
            assert!(sample.len() <= RUN || buckets[0] < buckets[texts.len() - 1]);
            for (pair, bucket) in texts.windows(2).zip(buckets.windows(2)) {
                let depth = bounds.depth(bucket[0] as usize);
                if bucket[0] == bucket[1] {
                    assert_eq!(pair[0].get(..depth), pair[1].get(..depth));
                    assert!(pair[0].len() >= depth);
                }
            }
        }
    }
}
