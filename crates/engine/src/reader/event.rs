//! What a reader tells about its inputs, in order.

use std::sync::Arc;

use super::queue::InputEnd;
use uniqurl_formats::input::InputError;
use uniqurl_formats::record::{Doubts, Format};

/// A fact about an input, which is given by its number.
pub(crate) enum ReadEvent {
    /// So many more bytes are read. How many it has shows at its end, which the run may not reach.
    Read(usize, u64),
    /// Its format was guessed, with what may be wrong about it.
    Guessed(usize, Arc<Format>, Doubts),
    /// It is read to its end.
    End(usize, InputEnd),
    /// A last line, from this offset on, was left out, because it was still being written.
    Cut(usize, u64),
    /// It cannot be read any further.
    Failed(usize, InputError),
}
