//! Records are the same however their bytes come in, and cost the same wherever they stand.

use std::io::{self, Read};

use super::*;
use crate::input::source::Starts;

const WARC: Framing = Framing::Warc { bodies: false };

/// Members, of which a read gives so many bytes, and where they start.
struct Given {
    bytes: Vec<u8>,
    starts: Vec<usize>,
    at: usize,
    step: usize,
    told: Starts,
}

impl Given {
    fn new(members: &[&[u8]], step: usize) -> Self {
        let starts = members.iter().scan(0, |end, member| {
            *end += member.len();
            Some(*end - member.len())
        });
        let (bytes, starts) = (members.concat(), starts.collect());
        Self { bytes, starts, at: 0, step, told: Starts::default() }
    }
}

impl Read for Given {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.step.min(out.len()).min(self.bytes.len() - self.at);
        let end = self.at + length;
        out[..length].copy_from_slice(&self.bytes[self.at..end]);
        let begun = self.starts.partition_point(|start| *start < end);
        self.starts.drain(..begun).for_each(|start| self.told.begin(start - self.at));
        self.told.give(length);
        self.at = end;
        Ok(length)
    }
}

impl Source for Given {
    fn taken(&self) -> u64 {
        self.at as u64
    }

    fn starts(&mut self) -> Option<&mut Starts> {
        Some(&mut self.told)
    }
}

/// Offset and state of each record.
fn records(framing: Framing, members: &[&[u8]], step: usize, max_head: usize) -> Vec<(u64, State)> {
    let mut given = Given::new(members, step);
    let mut framer = Framer::new(&mut given, Vec::new(), None, framing, max_head);
    let mut out = Buffer::default();
    std::iter::from_fn(|| framer.next(&mut out).unwrap())
        .map(|frame| (frame.offset, frame.state))
        .collect()
}

#[test]
fn what_a_record_is_does_not_depend_on_the_reads() {
    let warc: &[u8] = b"WARC/1.0\r\nContent-Length: 2\r\n\r\nab\r\n\r\n";
    let arc: &[u8] = b"http://a/ 1.2.3.4 20200101000000 text/html 2\nab\n";
    let whole = |offset: usize| (offset as u64, State::Whole);
    for step in [1, 2, 7, 50, 101, 1000] {
        // A head without an end before the next member: by its length.
        for (length, state) in
            [(99, State::Malformed), (100, State::Malformed), (101, State::TooLong)]
        {
            for (framing, good, begins) in
                [(WARC, warc, "WARC/1.0\r\nX: "), (Framing::Arc, arc, "")]
            {
                let mut head = begins.as_bytes().to_vec();
                head.resize(length, b'x');
                let first = (good.len() as u64, state);
                let expected = [whole(0), first, whole(good.len() + length)];
                let found = records(framing, &[good, &head, good], step, 100);
                assert_eq!(found, expected, "{framing:?} {length} by {step}");
            }
        }
        // One that the file ends in, be it the start of a member or not.
        for (framing, good, cut) in
            [(WARC, warc, &b"WARC/1.0\r\nX"[..]), (Framing::Arc, arc, b"http://b/ 1.2")]
        {
            let expected = [whole(0), (good.len() as u64, State::Cut)];
            for members in [&[good, cut][..], &[&[good, cut].concat()]] {
                assert_eq!(records(framing, members, step, 100), expected, "{framing:?} by {step}");
            }
        }
    }
}
