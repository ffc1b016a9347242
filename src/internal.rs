//! What the library shares with the other crates of this repository, and with nobody else.
//!
//! Nothing here is promised: any version may change or drop a name. The tests, benchmarks and fuzz targets use it
//! too.

pub use crate::bytes::{AllocError, Span, alloc};
pub use crate::key::host::{Located, split_port};
pub use crate::key::template::{Slugs, TemplateRule, TypedPart};
pub use crate::normalize::{
    Change, Form, GROWTH, Origin, Parts, Scratch, Targets, decode_dots, is_authority_form, resolve,
};
pub use crate::profile::{Act, Grammar, System, tracking_version};
pub use crate::set::{
    Bytes, Counting, Entry, Hash, HashKey, Outcome, Part, Shard, ShardSize, shards_for,
};
pub use crate::simd::{
    BLOCK, Backend, Block, Kernel, SpanBatch, UrlKind, Vector, VectorOp, lines, prefetch,
};
