//! Floor 0, the lowest layer: ranges, sets of bytes, percent triplets, reject reasons, fallible allocation,
//! and safe printing of bytes.

mod span;
pub(crate) mod set;
mod triplet;
mod unknown_name;
pub(crate) mod names;
mod flag_set;
mod reject;
mod debug_bytes;
mod secret;
mod printable;
mod shown_path;
mod redact;
pub mod alloc;

pub use alloc::AllocError;
pub use debug_bytes::DebugBytes;
pub use flag_set::{Flag, FlagSet};
pub use printable::{Excerpt, Printable, UrlExcerpt, is_control, stands_for_itself};
pub use redact::{Secrets, redact, redact_query, redact_record};
pub use reject::Troubles;
pub use reject::{Reject, RejectReason, RejectReasons};
pub use secret::HIDDEN;
pub use shown_path::ShownPath;
pub use span::Span;
pub(crate) use triplet::{Triplet, is_unreserved, push_triplet, triplet_of};
pub use unknown_name::UnknownName;
