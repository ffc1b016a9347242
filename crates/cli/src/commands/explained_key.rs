//! The key of a URL that `uniqurl explain` shows, and the parts that a template names.
//!
//! In: a canonical URL and the kind of key. Out: text for a person, or columns of a JSON object.

use std::fmt::Write as _;

use crate::diff_view::{Role, TextStyle, marked};
use uniqurl::internal::TypedPart;
use uniqurl::key::Routes;
use uniqurl::{Key, RejectReason, Template};
use uniqurl_engine::output::Object;
use uniqurl_text::Printable;

/// The kind of key to show.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShownKey<'a> {
    pub(super) key: Key,
    /// The routes by which templates are made.
    pub(super) routes: Option<&'a Routes>,
}

/// Appends the key of a canonical URL, after its route, or a line for each part that a template names.
pub(super) fn key_as_text(url: &[u8], shown: ShownKey<'_>, style: TextStyle, out: &mut String) {
    let key = shown.key;
    out.push('\n');
    if !key.takes(url) {
        let reason = RejectReason::NoHost.sentence();
        return style.headed("  ", key.name(), &format!(": none, {reason}"), out);
    }
    style.headed("  ", key.name(), "", out);
    if let Some(route) = shown.route(url) {
        let _ = writeln!(out, "    route     {}", Printable(route));
    }
    for TypedPart { range, part_type, rule, .. } in shown.parts(url) {
        let lead = format!("    {part_type:8}  {:20}  ", rule.summary());
        marked(&lead, &url[range], &[], (style, Role::Heading), out);
    }
    let _ = writeln!(out, "  = {}", Printable(&shown.made(url)));
}

/// Adds the key of a canonical URL under the name of its kind, and the parts that a template names.
pub(super) fn key_as_json(url: &[u8], shown: ShownKey<'_>, object: Object) -> Object {
    let object = match shown.key {
        // It is `out`.
        Key::Url => return object,
        key if key.takes(url) => object.bytes(key.name(), &shown.made(url)),
        key => return object.raw(key.name(), "null"),
    };
    let part_as_json = |TypedPart { range, part_type, rule, .. }| {
        let object = Object::default().bytes("part", &url[range.clone()]);
        let object = object.number("at", range.start as u64).text("type", part_type.name());
        object.text("rule", rule.summary()).end()
    };
    match (shown.key, shown.route(url)) {
        (Key::Template, Some(route)) => object.bytes("route", route),
        (Key::Template, None) => {
            object.list("parts", shown.parts(url).into_iter().map(part_as_json))
        }
        _ => object,
    }
}

impl ShownKey<'_> {
    fn made(self, url: &[u8]) -> Vec<u8> {
        let mut made = Vec::new();
        self.key.append_by(self.routes, url, &mut made);
        made
    }

    /// The route that the URL takes, if its template is shown.
    fn route(&self, url: &[u8]) -> Option<&[u8]> {
        self.routes.filter(|_| self.key == Key::Template)?.find(url)
    }

    /// The parts that types name: none where a route does.
    fn parts(self, url: &[u8]) -> Vec<TypedPart> {
        match self.key {
            Key::Template if self.route(url).is_none() => Template::trace(url),
            _ => Vec::new(),
        }
    }
}
