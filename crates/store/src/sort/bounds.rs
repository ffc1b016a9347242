//! Computes the bounds between buckets.
//!
//! A sorted sample is cut into runs of a few URLs. A tree of digits maps a URL to its bucket: a node
//! holds the digits at its depth that bound its buckets. A digit with too many URLs for one bucket gets
//! a child node for the bytes after it.

use super::digit::{self, BYTES, Text, digit};

/// Sample URLs per bucket, enough to even out the sizes of buckets.
const RUN: usize = 16;

/// Deepest tree. URLs that are equal beyond its digits are scattered again from there.
const LEVELS: usize = 32;

/// URLs that descend the tree together, level by level, and how many of them are searched in parallel:
/// the steps of one search depend on each other, but those of different searches do not.
pub const BATCH: usize = 256;
const LANES: usize = 8;

/// The bounds of buckets numbered in ascending order.
pub struct Bounds {
    nodes: Vec<Node>,
    /// The digits of all nodes. Each node has a power of two of them, filled up with `digit::MORE`.
    digits: Vec<u128>,
    /// For each digit, the target for URLs before it, and the target for URLs that have it.
    next: Vec<[Next; 2]>,
    /// For each bucket, a length up to which all its URLs are equal.
    depths: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Node {
    depth: usize,
    /// Index of its first digit.
    start: usize,
    /// Number of its digits minus one: no URL has the last digit.
    mask: usize,
}

#[derive(Clone, Copy)]
enum Next {
    Bucket(u32),
    Node(u32),
}

impl Bounds {
    /// Computes bounds from a sorted sample of distinct URLs that are equal up to `depth`.
    pub fn new(sample: &[&[u8]], depth: usize) -> Self {
        let mut bounds =
            Self { nodes: Vec::new(), digits: Vec::new(), next: Vec::new(), depths: Vec::new() };
        bounds.cut(sample, depth, LEVELS);
        bounds
    }

    /// Number of buckets.
    pub fn len(&self) -> usize {
        self.depths.len()
    }

    pub fn depth(&self, bucket: usize) -> usize {
        self.depths[bucket]
    }

    /// Finds the bucket of each URL.
    pub fn find<'u, T: Text<'u>>(&self, mut urls: impl Iterator<Item = T>, buckets: &mut [u32]) {
        if self.nodes.is_empty() {
            return buckets.fill(0);
        }
        let mut texts = [T::default(); BATCH];
        for buckets in buckets.chunks_mut(BATCH) {
            for (text, url) in texts.iter_mut().zip(urls.by_ref().take(buckets.len())) {
                *text = url;
            }
            self.find_batch(&texts[..buckets.len()], buckets);
        }
    }

    fn find_batch<'u, T: Text<'u>>(&self, urls: &[T], buckets: &mut [u32]) {
        // URLs still descending, each with its current node.
        let mut on_way: [(u32, u32); BATCH] = std::array::from_fn(|n| (n as u32, 0));
        let mut count = urls.len();
        while count > 0 {
            let mut kept = 0;
            for start in (0..count).step_by(LANES) {
                let end = count.min(start + LANES);
                let mut lanes = [Lane::default(); LANES];
                for (lane, (url, node)) in lanes.iter_mut().zip(&on_way[start..end]) {
                    let Node { depth, start, mask } = self.nodes[*node as usize];
                    let digit = urls[*url as usize].digit(depth);
                    *lane = Lane { digit, at: start, mask };
                }
                self.search(&mut lanes);
                for (lane, n) in lanes.iter().zip(start..end) {
                    let url = on_way[n].0;
                    let is_bound = self.digits[lane.at] == lane.digit;
                    match self.next[lane.at][usize::from(is_bound)] {
                        Next::Bucket(bucket) => buckets[url as usize] = bucket,
                        Next::Node(node) => {
                            on_way[kept] = (url, node);
                            kept += 1;
                        }
                    }
                }
            }
            count = kept;
        }
    }

    /// Moves each lane from the first digit of its node to the first digit that is not less than its
    /// own.
    #[inline]
    fn search(&self, lanes: &mut [Lane; LANES]) {
        // All lanes take as many steps as the largest node needs, so one loop serves them without a
        // branch that depends on a digit.
        let mut step = lanes.iter().fold(0, |all, lane| all | lane.mask).div_ceil(2);
        while step > 0 {
            for lane in &mut *lanes {
                let by = step & lane.mask;
                // A step of 0 keeps the lane in place, whatever the preceding digit is.
                let before = self.digits[(lane.at + by).saturating_sub(1)];
                lane.at += by & digit::is_less(before, lane.digit);
            }
            step /= 2;
        }
    }

    fn cut(&mut self, sample: &[&[u8]], depth: usize, levels: usize) -> Next {
        if sample.len() <= RUN || levels == 0 {
            return self.add_bucket(depth);
        }
        let index = self.nodes.len();
        self.nodes.push(Node { depth, start: 0, mask: 0 });
        let (mut digits, mut next) = (Vec::new(), Vec::new());
        // The bucket that takes the next URLs, and its number of sample URLs so far.
        let mut open: Option<(Next, usize)> = None;
        for group in sample.chunk_by(|a, b| digit(a, depth) == digit(b, depth)) {
            let bound = digit(group[0], depth);
            open = match open {
                _ if group.len() > RUN => {
                    // URLs below this bound need a bucket even if the sample has none of them.
                    let before = open.map_or_else(|| self.add_bucket(depth), |(before, _)| before);
                    next.push([before, self.cut(group, depth + BYTES, levels - 1)]);
                    digits.push(bound);
                    None
                }
                Some((before, size)) if size + group.len() > RUN => {
                    let bucket = self.add_bucket(depth);
                    next.push([before, bucket]);
                    digits.push(bound);
                    Some((bucket, group.len()))
                }
                Some((bucket, size)) => Some((bucket, size + group.len())),
                None => Some((self.add_bucket(depth), group.len())),
            };
        }
        // URLs between two bounds share the common prefix of the bounds.
        for (bounds, [before, _]) in digits.windows(2).zip(&next[1..]) {
            if let Next::Bucket(bucket) = before {
                self.depths[*bucket as usize] = depth + digit::common(bounds[0], bounds[1]);
            }
        }
        // URLs beyond the last bound need a bucket even if the sample has none of them.
        let last = open.map_or_else(|| self.add_bucket(depth), |(last, _)| last);
        // Filled up to a power of two, so that a step can be masked in place of compared with the
        // end.
        let count = (digits.len() + 1).next_power_of_two();
        digits.resize(count, digit::MORE);
        next.resize(count, [last; 2]);
        self.nodes[index] = Node { depth, start: self.digits.len(), mask: count - 1 };
        self.digits.extend(digits);
        self.next.extend(next);
        Next::Node(index as u32)
    }

    fn add_bucket(&mut self, depth: usize) -> Next {
        self.depths.push(depth);
        Next::Bucket(self.depths.len() as u32 - 1)
    }
}

/// The search for a digit in a node.
#[derive(Clone, Copy, Default)]
struct Lane {
    digit: u128,
    /// Index into the digits of all nodes.
    at: usize,
    mask: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_util::cases;

    /// Short texts from few parts, so that many are equal and many end early.
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
    fn buckets_ascend_and_share_a_prefix_of_their_depth() {
        let mut texts: Vec<Vec<u8>> = (0..cases(20_000) as u64)
            .map(|n| text(n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (n % 48 + 8)))
            .collect();
        texts.extend((0..3_000).map(|n| vec![b'a'; n]));
        texts.sort_unstable();
        texts.dedup();
        for every in [1, 7, 100] {
            let sample: Vec<&[u8]> = texts.iter().step_by(every).map(Vec::as_slice).collect();
            let bounds = Bounds::new(&sample, 0);
            let mut buckets = vec![0; texts.len()];
            bounds.find(texts.iter().map(Vec::as_slice), &mut buckets);
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
