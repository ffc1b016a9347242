//! Chunks of an input that are brought here, one behind the other.

use std::sync::Arc;

use crate::input::Chunk;
use crate::record::{self, Context};

/// The format as it stands at a place of an input, and the start of a record that ends behind it.
pub(super) struct Reading {
    pub(super) format: Arc<record::Format>,
    carried: Chunk,
    /// What of the input was read for it.
    pub(super) read: u64,
}

impl Reading {
    pub(super) fn new(format: Arc<record::Format>) -> Self {
        Self { format, carried: Chunk::default(), read: 0 }
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
        let mut chunk = self.carried.take_with(chunk);
        // What a header says does not begin with a mark, whatever the profile thinks of that.
        chunk.skip_mark();
        let whole = self.format.whole(context, chunk.bytes());
        self.carried = chunk.split_off(whole);
        if whole == 0 {
            return Ok(None);
        }
        Ok(Some((self.pass(context, taken_out, &chunk)?, chunk)))
    }

    /// What is carried when the input is at its end.
    pub(super) fn rest(
        &mut self,
        context: &Context,
        taken_out: &[String],
    ) -> Result<Option<(Arc<record::Format>, Chunk)>, String> {
        let rest = std::mem::take(&mut self.carried);
        if rest.bytes().is_empty() {
            return Ok(None);
        }
        Ok(Some((self.pass(context, taken_out, &rest)?, rest)))
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
