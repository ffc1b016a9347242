//! Cuts an input whose chunks are read in order into whole records.

use std::mem::take;
use std::sync::Arc;

use uniqurl_formats::input::{Chunk, Data};
use uniqurl_formats::record::{self, Context};

/// The start of a record that is longer than this is parsed again only when a [`SHARE`]th more is there, or
/// the time would grow with the square of its length. Records are that long only if URLs may be longer than
/// by default; tests use a smaller number.
const LONG: usize = if cfg!(test) { 64 << 10 } else { 2 << 20 };
const SHARE: usize = 8;

/// The format at a position of an input, and the start of a record that ends after it.
pub(crate) struct FormatState {
    pub(crate) format: Arc<record::Format>,
    carried: Chunk,
    /// The bytes after it that are not parsed yet.
    later: Vec<u8>,
}

impl FormatState {
    pub(crate) fn new(format: Arc<record::Format>) -> Self {
        Self { format, carried: Chunk::default(), later: Vec::new() }
    }

    /// The whole records up to the end of `chunk`, and the format at their start. None if no record ends in
    /// it. An error if a header lacks a column that is named or extracted.
    pub(crate) fn advance(
        &mut self,
        context: &Context,
        columns: &[String],
        chunk: Chunk,
    ) -> Result<Option<(Arc<record::Format>, Chunk)>, String> {
        // In most formats no record depends on an earlier one.
        if !self.format.looks_back() {
            return Ok(Some((Arc::clone(&self.format), chunk)));
        }
        let carried = self.carried.bytes().len();
        let mut chunk = if carried <= LONG {
            self.carried.take_with(chunk)
        } else {
            self.later.extend_from_slice(chunk.bytes());
            if self.later.len() < carried / SHARE {
                return Ok(None);
            }
            self.take_carried()
        };
        // Under any profile, a byte order mark is no part of a header.
        chunk.skip_mark();
        let whole = self.format.whole(context, chunk.bytes());
        self.carried = chunk.split_off(whole);
        if whole == 0 {
            return Ok(None);
        }
        Ok(Some((self.pass(context, columns, &chunk)?, chunk)))
    }

    /// An empty chunk for bytes in which no record ends; the bytes still count.
    pub(crate) fn nothing(&self) -> (Arc<record::Format>, Chunk) {
        (Arc::clone(&self.format), Chunk::default())
    }

    /// The last record, at the end of the input.
    pub(crate) fn rest(
        &mut self,
        context: &Context,
        columns: &[String],
    ) -> Result<Option<(Arc<record::Format>, Chunk)>, String> {
        let rest = self.take_carried();
        if rest.bytes().is_empty() {
            return Ok(None);
        }
        Ok(Some((self.pass(context, columns, &rest)?, rest)))
    }

    /// The start of a record, with the bytes after it.
    fn take_carried(&mut self) -> Chunk {
        let later = Chunk { data: Data::Shared(take(&mut self.later).into()), ..Chunk::default() };
        self.carried.take_with(later)
    }

    /// Moves past a chunk, and returns the format at its start.
    fn pass(
        &mut self,
        context: &Context,
        columns: &[String],
        chunk: &Chunk,
    ) -> Result<Arc<record::Format>, String> {
        let at_start = Arc::clone(&self.format);
        if let Some(why) = record::missing(&at_start, context, chunk.bytes(), columns) {
            return Err(why);
        }
        if let Some(later) = at_start.after(context, chunk.bytes()) {
            self.format = Arc::new(later);
        }
        Ok(at_start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_record_is_complete_and_parsed_in_linear_time() {
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
            let mut state = FormatState::new(Arc::new(format));
            let (mut chunks, mut joined, mut offset) = (Vec::new(), 0, 0);
            let lines: Vec<&[u8]> =
                text.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
            for piece in lines.chunks(600) {
                let piece = piece.concat();
                let before = state.carried.bytes().len();
                let length = piece.len() as u64;
                let data = Data::Shared(piece.into());
                let chunk = Chunk { data, offset, frames: Vec::new() };
                offset += length;
                chunks.extend(state.advance(&context, &[], chunk).unwrap());
                let after = state.carried.bytes().len();
                joined += if after == before { 0 } else { after };
            }
            chunks.extend(state.rest(&context, &[]).unwrap());
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
