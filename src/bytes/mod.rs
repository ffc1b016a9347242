//! Floor 0, the lowest layer: ranges, sets of bytes, percent triplets, reject reasons and fallible allocation.

mod span;
pub(crate) mod set;
mod triplet;
mod unknown_name;
pub(crate) mod names;
mod flag_set;
mod reject;
mod debug_bytes;
pub mod alloc;

pub use alloc::AllocError;
pub(crate) use debug_bytes::DebugBytes;
pub use flag_set::{Flag, FlagSet};
pub use reject::Troubles;
pub use reject::{Reject, RejectReason, RejectReasons};
pub use span::Span;
pub(crate) use triplet::{
    Octet, Triplet, decoded, is_unreserved, octets, push_encoded, push_encoded_as, push_triplet,
    triplet_of,
};
pub use unknown_name::UnknownName;
