//! Records do not depend on how their bytes arrive, and cost the same at any offset.

use std::io::{self, Read};

use super::*;
use crate::input::byte_source::MemberStarts;

/// Longest head.
const MAX_HEAD: usize = 400;

const WARC: Framing = Framing::Warc { bodies: false };

/// Members with their starts, from which each read returns a fixed number of bytes.
struct Given {
    bytes: Vec<u8>,
    starts: Vec<usize>,
    at: usize,
    step: usize,
    told: MemberStarts,
}

impl Given {
    fn new(members: &[&[u8]], step: usize) -> Self {
        let starts = members.iter().scan(0, |end, member| {
            *end += member.len();
            Some(*end - member.len())
        });
        let (bytes, starts) = (members.concat(), starts.collect());
        Self { bytes, starts, at: 0, step, told: MemberStarts::default() }
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

impl ByteSource for Given {
    fn taken(&self) -> u64 {
        self.at as u64
    }

    fn starts(&mut self) -> Option<&mut MemberStarts> {
        Some(&mut self.told)
    }
}

/// Offset and state of each record, and the number of bytes searched for the ends of heads.
fn read(framing: Framing, members: &[&[u8]], step: usize) -> (Vec<(u64, FrameState)>, u64) {
    let mut given = Given::new(members, step);
    let mut framer = Framer::new(&mut given, Vec::new(), None, framing, MAX_HEAD);
    let mut out = Buffer::default();
    let frames = std::iter::from_fn(|| framer.next(&mut out).unwrap());
    let records = frames.map(|frame| (frame.offset, frame.state)).collect();
    (records, framer.looked)
}

#[test]
fn framing_does_not_depend_on_read_sizes() {
    let warc: &[u8] = b"WARC/1.0\r\nContent-Length: 2\r\n\r\nab\r\n\r\n";
    let arc: &[u8] = b"http://a/ 1.2.3.4 20200101000000 text/html 2\nab\n";
    let whole = |offset: usize| (offset as u64, FrameState::Whole);
    for step in [7, 50, 101, 300, 1000] {
        // A head without an end before the next member is judged by its length.
        for (length, state) in [
            (MAX_HEAD - 1, FrameState::Malformed),
            (MAX_HEAD, FrameState::Malformed),
            (MAX_HEAD + 1, FrameState::TooLong),
        ] {
            for (framing, good, begins) in
                [(WARC, warc, "WARC/1.0\r\nX: "), (Framing::Arc, arc, "")]
            {
                let mut head = begins.as_bytes().to_vec();
                head.resize(length, b'x');
                let first = (good.len() as u64, state);
                let expected = [whole(0), first, whole(good.len() + length)];
                let (found, _) = read(framing, &[good, &head, good], step);
                assert_eq!(found, expected, "{framing:?} {length} by {step}");
            }
        }
        // The file ends within a head, which may or may not start a member.
        for (framing, good, cut) in
            [(WARC, warc, &b"WARC/1.0\r\nX"[..]), (Framing::Arc, arc, b"http://b/ 1.2")]
        {
            let expected = [whole(0), (good.len() as u64, FrameState::Cut)];
            for members in [&[good, cut][..], &[&[good, cut].concat()]] {
                assert_eq!(read(framing, members, step).0, expected, "{framing:?} by {step}");
            }
        }
    }
}

#[test]
fn overlong_arc_line_is_too_long_at_any_read_size() {
    let line = [&vec![b'x'; MAX_HEAD][..], b"\n"].concat();
    for step in [7, 50, 101, 300, 1000] {
        assert_eq!(read(Framing::Arc, &[&line], step).0, [(0, FrameState::TooLong)], "by {step}");
    }
}

/// It would be a head if it were shorter.
#[test]
fn overlong_arc_line_after_junk_is_not_a_header() {
    let good = b"http://a/ 1.2.3.4 20200101000000 text/html 5\nhello\n";
    let rest = b" 1.2.3.4 20200101000000 text/html 2\n";
    for length in [MAX_HEAD - 1, MAX_HEAD, MAX_HEAD + 1, 2 * MAX_HEAD] {
        let mut head = b"http://l/".to_vec();
        head.resize(length - rest.len(), b'x');
        let all = [good, &b"junk\n"[..], &head, rest, b"ab\n", good].concat();
        let behind = good.len() + b"junk\n".len();
        let mut expected = vec![(0, FrameState::Whole), (good.len() as u64, FrameState::Malformed)];
        if length <= MAX_HEAD {
            expected.push((behind as u64, FrameState::Whole));
        }
        expected.push(((all.len() - good.len()) as u64, FrameState::Whole));
        for step in (1..50).chain([101, 300, 1000, 5000]) {
            assert_eq!(read(Framing::Arc, &[&all], step).0, expected, "{length} by {step}");
        }
    }
}

#[test]
fn excerpt_of_junk_does_not_depend_on_read_sizes() {
    let warc: &[u8] = b"WARC/1.0\r\nContent-Length: 2\r\n\r\nab\r\n\r\n";
    let arc: &[u8] = b"http://a/ 1.2.3.4 20200101000000 text/html 2\nab\n";
    let junk = [&b"junk of "[..], &b"a few lines\n".repeat(200)].concat();
    for (framing, good) in [(WARC, warc), (Framing::Arc, arc)] {
        for length in [2, 9, 20, EXCERPT, junk.len()] {
            let junk = [&junk[..length - 1], b"\n"].concat();
            for step in [1, 3, 7, 50, 1000, 10_000] {
                let mut given = Given::new(&[&junk, good, &junk], step);
                let mut framer = Framer::new(&mut given, Vec::new(), None, framing, MAX_HEAD);
                let mut out = Buffer::default();
                let frames: Vec<_> =
                    std::iter::from_fn(|| framer.next(&mut out).unwrap()).collect();
                assert_eq!(frames.len(), 3, "{framing:?} {length} by {step}");
                for junk_frame in [&frames[0], &frames[2]] {
                    let kept = &out.bytes()[junk_frame.start as usize..junk_frame.end as usize];
                    let most = &junk[..length.min(EXCERPT)];
                    assert!(kept == most, "{framing:?} {length} by {step}");
                    assert_eq!(junk_frame.state, FrameState::Malformed);
                }
            }
        }
    }
}

#[test]
fn search_for_the_end_of_a_header_takes_linear_time() {
    const COUNT: usize = 3_000;
    let begun = b"\nWARC/1.".repeat(COUNT);
    let ended = [&begun[..], b"\n\n"].concat();
    let by_itself = |member: &'static [u8]| vec![member; COUNT];
    let (x, feeds) = (vec![b'x'; COUNT], b"x\n".repeat(COUNT));
    // An end that every read cuts off is not recognized as one.
    let carriage = b"\r\nWARC/1.0\r".repeat(COUNT);
    let cases: [(Framing, Vec<&[u8]>); 10] = [
        (WARC, vec![&begun]),
        (WARC, vec![&ended]),
        (WARC, vec![&carriage]),
        (WARC, by_itself(b"\nWARC/1.")),
        (WARC, by_itself(b"WARC/1.")),
        (WARC, by_itself(b"x")),
        (Framing::Arc, vec![&x]),
        (Framing::Arc, vec![&feeds]),
        (Framing::Arc, by_itself(b"x")),
        (Framing::Arc, by_itself(b"x\nxx")),
    ];
    for (case, (framing, members)) in cases.iter().enumerate() {
        let length = members.concat().len() as u64;
        for step in [20, 200, 1000, 100_000] {
            let (_, looked) = read(*framing, members, step);
            let most = 5 * length;
            assert!(looked <= most, "case {case} by {step}: {looked} of {length}");
        }
    }
}

#[test]
fn a_body_may_be_as_long_as_a_record() {
    for length in [0, MAX_HEAD, MAX_HEAD + 1] {
        let head = format!("WARC/1.0\r\nContent-Length: {length}\r\n\r\n");
        let record = [head.as_bytes(), &vec![b'x'; length], b"\r\n\r\n"].concat();
        let state = match length > MAX_HEAD {
            true => FrameState::TooLong,
            false => FrameState::Whole,
        };
        let framing = Framing::Warc { bodies: true };
        assert_eq!(read(framing, &[&record], 100).0, [(0, state)], "{length}");
        // Nobody asked for its bytes.
        assert_eq!(read(WARC, &[&record], 100).0, [(0, FrameState::Whole)], "{length}");
    }
}
