//! The target of a record, as its content.

use super::super::line::is_blank;
use super::super::{BufferId, Context, Extracted, Records};
use uniqurl::RejectReason;
use uniqurl::internal::Span;

/// A target at `start`, unless it is blank, or too long for a URL.
pub(super) fn url(ctx: &Context, place: BufferId, start: u32, target: &[u8]) -> Extracted {
    if is_blank(target) {
        Extracted::Blank
    } else if target.len() > ctx.max_url {
        Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32)
    } else {
        Extracted::Url(place, Span { start, end: start + target.len() as u32 })
    }
}

/// The URL at the end of [`Records::scratch`], from `start` on.
pub(super) fn scratch(ctx: &Context, start: usize, out: &Records) -> Extracted {
    match u32::try_from(start) {
        Ok(start) => url(ctx, BufferId::Scratch, start, &out.scratch[start as usize..]),
        Err(_) => Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32),
    }
}
