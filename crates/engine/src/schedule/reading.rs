//! Chunks of an input that are brought here, one behind the other.

use std::mem::take;
use std::sync::Arc;

use uniqurl_formats::input::{Chunk, Data};
use uniqurl_formats::record::{self, Context};

/// The start of a record that is longer than this is looked at again only when a [`SHARE`]th more is there, or
/// the time would grow with the square of its length. Only where URLs may be longer than by default are
/// records that long; tests have shorter ones.
const LONG: usize = if cfg!(test) { 64 << 10 } else { 2 << 20 };
const SHARE: usize = 8;

/// The format as it stands at a place of an input, and the start of a record that ends behind it.
pub(super) struct Reading {
    pub(super) format: Arc<record::Format>,
    carried: Chunk,
    /// What came behind that since it was looked at.
    behind: Vec<u8>,
}

impl Reading {
    pub(super) fn new(format: Arc<record::Format>) -> Self {
        Self { format, carried: Chunk::default(), behind: Vec::new() }
    }

    /// The whole records up to the end of `chunk`, and the format at their start. None: there is no
    /// end of a record in it. An error is a header without the columns that are named or taken out.
    pub(super) fn advance(
        &mut self,
        context: &Context,
        taken_out: &[String],
        chunk: Chunk,
    ) -> Result<Option<(Arc<record::Format>, Chunk)>, String> {
        if !self.format.looks_back() {
            return Ok(Some((Arc::clone(&self.format), chunk)));
        }
        let carried = self.carried.bytes().len();
        let mut chunk = if carried <= LONG {
            self.carried.take_with(chunk)
        } else {
            self.behind.extend_from_slice(chunk.bytes());
            if self.behind.len() < carried / SHARE {
                return Ok(None);
            }
            self.take_carried()
        };
        // What a header says does not begin with a mark, whatever the profile thinks of that.
        chunk.skip_mark();
        let whole = self.format.whole(context, chunk.bytes());
        self.carried = chunk.split_off(whole);
        if whole == 0 {
            return Ok(None);
        }
        Ok(Some((self.pass(context, taken_out, &chunk)?, chunk)))
    }

    /// What there is to read where no record ends: the bytes count all the same.
    pub(super) fn nothing(&self) -> (Arc<record::Format>, Chunk) {
        (Arc::clone(&self.format), Chunk::default())
    }

    /// What is carried when the input is at its end.
    pub(super) fn rest(
        &mut self,
        context: &Context,
        taken_out: &[String],
    ) -> Result<Option<(Arc<record::Format>, Chunk)>, String> {
        let rest = self.take_carried();
        if rest.bytes().is_empty() {
            return Ok(None);
        }
        Ok(Some((self.pass(context, taken_out, &rest)?, rest)))
    }

    /// What is carried, with what came behind it.
    fn take_carried(&mut self) -> Chunk {
        let behind =
            Chunk { data: Data::Shared(take(&mut self.behind).into()), ..Chunk::default() };
        self.carried.take_with(behind)
    }

    /// The format at the start of a chunk, which is put behind it.
    fn pass(
        &mut self,
        context: &Context,
        taken_out: &[String],
        chunk: &Chunk,
    ) -> Result<Arc<record::Format>, String> {
        let at_start = Arc::clone(&self.format);
        if let Some(why) = record::missing(&at_start, context, chunk.bytes(), taken_out) {
            return Err(why);
        }
        if let Some(behind) = at_start.after(context, chunk.bytes()) {
            self.format = Arc::new(behind);
        }
        Ok(at_start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_record_is_whole_and_is_not_looked_at_for_each_piece_of_it() {
        let quoted = |length: usize| format!("\"http://h/?{}\"\n", "\"\"\n".repeat(length / 3));
        let long = 3 * LONG;
        for ends in [true, false] {
            let mut last = quoted(long);
            if !ends {
                last.truncate(last.len() - 2);
            }
            let text = format!("http://h/\n{}http://h/\n{last}", quoted(long));
            let context = Context { max_record: 64 << 20, ..Context::default() };
            let format = record::Format::parse("csv:1").unwrap();
            let mut reading = Reading::new(Arc::new(format));
            let (mut chunks, mut joined, mut offset) = (Vec::new(), 0, 0);
            let lines: Vec<&[u8]> =
                text.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
            for piece in lines.chunks(600) {
                let piece = piece.concat();
                let before = reading.carried.bytes().len();
                let length = piece.len() as u64;
                let data = Data::Shared(piece.into());
                let chunk = Chunk { data, offset, frames: Vec::new() };
                offset += length;
                chunks.extend(reading.advance(&context, &[], chunk).unwrap());
                let after = reading.carried.bytes().len();
                joined += if after == before { 0 } else { after };
            }
            chunks.extend(reading.rest(&context, &[]).unwrap());
            // For each of the two: at each piece before it is long, and then 9 times its length.
            let pieces = LONG / 1_800 + 1;
            assert!(joined < 2 * (pieces * LONG / 2 + 10 * long), "{joined} bytes were looked at");
            let mut at = 0;
            for (_, chunk) in &chunks {
                assert_eq!(chunk.offset, at as u64);
                let next = &text.as_bytes()[at..];
                assert!(next.starts_with(b"http") || next.starts_with(b"\"http"), "at {at}");
                assert!(next.starts_with(chunk.bytes()));
                at += chunk.bytes().len();
            }
            assert_eq!(at, text.len());
        }
    }
}
