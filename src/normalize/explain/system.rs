//! The rules of single systems, servlet containers and decoder rings, one by one.

use super::Context;
use super::draft::{Draft, replace, take};
use crate::bytes::Troubles;
use crate::normalize::servlet::{EmptySegments, Path};

pub(super) fn leading_slash(draft: &mut Draft, _: &Context<'_>) -> bool {
    let lacks = draft.host.is_none() && !draft.path.starts_with(b"/");
    if lacks {
        draft.path.insert(0, b'/');
    }
    lacks
}

pub(super) fn join(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let Some(origin) = &ctx.origin else { return false };
    draft.scheme = Some(origin.scheme.clone());
    draft.set_authority(&origin.authority);
    true
}

pub(super) fn drop_fragment(draft: &mut Draft, _: &Context<'_>) -> bool {
    take(&mut draft.fragment)
}

pub(super) fn empty_path(draft: &mut Draft, _: &Context<'_>) -> bool {
    let empty = draft.host.is_some() && draft.path.is_empty();
    empty && replace(&mut draft.path, b"/".to_vec())
}

pub(super) fn path_parameters(draft: &mut Draft, _: &Context<'_>) -> bool {
    let names: Vec<&[u8]> = draft
        .path
        .split(|byte| *byte == b'/')
        .map(|segment| segment.split(|byte| *byte == b';').next().unwrap_or_default())
        .collect();
    let path = names.join(&b'/');
    replace(&mut draft.path, path)
}

pub(super) fn decode_segments(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    reread(draft, ctx, EmptySegments::Kept, |_| {})
}

pub(super) fn empty_segments(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    reread(draft, ctx, ctx.empty_segments, |_| {})
}

pub(super) fn dot_segments(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let mut troubles = Troubles::new(ctx.allowed);
    reread(draft, ctx, ctx.empty_segments, |path| path.remove_dots(&mut troubles))
}

/// The path as the container reads and writes it, after `act`. What troubles it is known to be
/// allowed.
fn reread(
    draft: &mut Draft,
    ctx: &Context<'_>,
    empty: EmptySegments,
    act: impl FnOnce(&mut Path<'_>),
) -> bool {
    let mut path = Path::segments(&draft.path, 0, empty, &mut Troubles::new(ctx.allowed));
    act(&mut path);
    let mut written = Vec::new();
    path.write_canonical(&mut written);
    replace(&mut draft.path, written)
}
