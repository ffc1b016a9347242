//! Reads lists: `lines`, where the whole record is a URL, and `target`, where it is a request target.

use std::borrow::Cow;

use super::layout::Layout;
use super::line::{Line, each, each_between};
use super::target::{self, Method, TargetText};
use super::{BufferId, Context, Extracted, Records};
use uniqurl::RejectReason;

/// The layout `lines`. Tabs and spaces belong to the URL, and line feeds if records end in NUL.
#[derive(Debug)]
pub(super) struct Lines;

impl Layout for Lines {
    fn name(&self) -> Cow<'_, str> {
        "lines".into()
    }

    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        each_between(ctx.separator, ctx, ctx.max_url, chunk, out, |line, _| url(ctx, line));
    }

    fn found(&self, ctx: &Context, line: Line<'_>, _scratch: &mut Vec<u8>) -> Option<Extracted> {
        Some(url(ctx, line))
    }
}

#[inline(always)]
fn url(ctx: &Context, line: Line<'_>) -> Extracted {
    if line.bytes.len() > ctx.max_url {
        Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32)
    } else {
        Extracted::Url(BufferId::Chunk, line.span(0..line.bytes.len()))
    }
}

/// The layout `target`.
#[derive(Debug)]
pub(super) struct Target;

impl Layout for Target {
    fn name(&self) -> Cow<'_, str> {
        "target".into()
    }

    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        each(ctx, ctx.max_url, chunk, out, |line, scratch| target(ctx, line, scratch));
    }

    fn found(&self, ctx: &Context, line: Line<'_>, scratch: &mut Vec<u8>) -> Option<Extracted> {
        Some(target(ctx, line, scratch))
    }
}

#[inline(always)]
fn target(ctx: &Context, line: Line<'_>, scratch: &mut Vec<u8>) -> Extracted {
    let text = TargetText::Line(0..line.bytes.len());
    target::found(ctx, line, text, Method::Unknown, None, scratch)
}
