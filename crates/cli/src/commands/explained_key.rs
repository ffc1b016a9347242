//! The key of a URL that `uniqurl explain` shows, and the parts that a template names.
//!
//! In: a canonical URL and the kind of key. Out: text for a person, or columns of a JSON object.

use std::fmt::Write as _;

use crate::diff_view::{Role, TextStyle, marked};
use uniqurl::internal::TypedPart;
use uniqurl::{Key, RejectReason, Template};
use uniqurl_engine::output::Object;
use uniqurl_text::Printable;

/// Appends the key of a canonical URL, after a line for each part that a template names.
pub(super) fn key_as_text(url: &[u8], key: Key, style: TextStyle, out: &mut String) {
    out.push('\n');
    if !key.takes(url) {
        let reason = RejectReason::NoHost.sentence();
        return style.headed("  ", key.name(), &format!(": none, {reason}"), out);
    }
    style.headed("  ", key.name(), "", out);
    for TypedPart { range, part_type, rule, .. } in parts(url, key) {
        let lead = format!("    {part_type:8}  {:20}  ", rule.summary());
        marked(&lead, &url[range], &[], (style, Role::Heading), out);
    }
    let _ = writeln!(out, "  = {}", Printable(&made(url, key)));
}

/// Adds the key of a canonical URL under the name of its kind, and the parts that a template names.
pub(super) fn key_as_json(url: &[u8], key: Key, object: Object) -> Object {
    let object = match key {
        // It is `out`.
        Key::Url => return object,
        key if key.takes(url) => object.bytes(key.name(), &made(url, key)),
        key => return object.raw(key.name(), "null"),
    };
    let part_as_json = |TypedPart { range, part_type, rule, .. }| {
        let object = Object::default().bytes("part", &url[range.clone()]);
        let object = object.number("at", range.start as u64).text("type", part_type.name());
        object.text("rule", rule.summary()).end()
    };
    match key {
        Key::Template => object.list("parts", parts(url, key).into_iter().map(part_as_json)),
        _ => object,
    }
}

fn made(url: &[u8], key: Key) -> Vec<u8> {
    let mut made = Vec::new();
    key.append_bytes(url, &mut made);
    made
}

fn parts(url: &[u8], key: Key) -> Vec<TypedPart> {
    match key {
        Key::Template => Template::trace(url),
        _ => Vec::new(),
    }
}
