//! Small bzip2 streams, in a file of many.

use bzip2::{Decompress, Status};

/// Longest stream that is small, and length of one of no bytes.
pub(super) const LONGEST: usize = 4 << 10;
const EMPTY: usize = 14;

/// A stream of no bytes, after `BZh` and its block size: the end in place of a block, and the checksum of
/// nothing.
const NOTHING: &[u8] = &[0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0];

/// Decodes the stream at the start of `bytes` into `out`, if all of it is there, it is small and sound, and
/// fits. Returns how many bytes it took and gave. One that holds bytes is tried only if it `is_likely` to be
/// small.
///
/// It is decoded as if its header asked for the smallest blocks, whose size is only a limit: a stream that is
/// decoded so means the same with any other.
pub(super) fn small_stream(
    bytes: &[u8],
    is_likely: bool,
    out: &mut [u8],
) -> Option<(usize, usize)> {
    let (header, rest) = bytes.split_first_chunk::<4>()?;
    if !header.starts_with(b"BZh") || !matches!(header[3], b'1'..=b'9') {
        return None;
    }
    if rest.starts_with(NOTHING) {
        return Some((EMPTY, 0));
    }
    if !is_likely {
        return None;
    }
    let mut stream = Decompress::new(false);
    // The library takes all of the header.
    stream.decompress(b"BZh1", out).ok()?;
    let ended = stream.decompress(&rest[..rest.len().min(LONGEST)], out).ok()?;
    let is_whole = ended == Status::StreamEnd;
    is_whole.then(|| (stream.total_in() as usize, stream.total_out() as usize))
}
