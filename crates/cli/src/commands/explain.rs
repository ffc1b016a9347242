//! `uniqurl explain`: shows the change that each rule makes to a URL, or why the URL is rejected.
//!
//! In: URLs and profiles. Out: text of 80 columns at most for a person, or JSON objects for a program.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::args::explain::{ExplainArgs, ProfileResult, Unusable};
use crate::args::usage::wrong;
use crate::commands::explained_key::{ShownKey, key_as_json, key_as_text};
use crate::diff_view::{Role, TextStyle, marked, wrapped};
use crate::hints::{self, is_host_and_port, reads_schemes};
use crate::request::OWN_PORTS;
use crate::status::{Status, eprint_hinted, printable, status_of};
use uniqurl::internal::Parts;
use uniqurl::uri::Uri;
use uniqurl::{Key, Normalizer, Reject, Step};
use uniqurl_engine::output::Object;
use uniqurl_text::{Printable, UrlExcerpt, differences};

/// Explains the URLs on standard output.
pub(crate) fn main(explain: &ExplainArgs) -> Result<Status, clap::Error> {
    let normalizers = explain.normalizers().map_err(wrong)?;
    let mut made = normalizers.iter().flatten();
    if explain.key == Some(Key::Ssurt) && made.any(|normalizer| normalizer.has_own_ports()) {
        return Err(wrong(OWN_PORTS));
    }
    let routes = explain.routes.read().map_err(wrong)?;
    if routes.is_some() && explain.key != Some(Key::Template) {
        return Err(wrong("--routes acts on templates, and none is shown without --key template"));
    }
    let routes = routes.as_deref();
    let key = explain.key.map(|key| ShownKey { key, routes });
    let written = write(explain, &normalizers, key);
    // After a closed pipe nobody is left to read a warning.
    if written.is_ok() {
        warn(explain, &normalizers);
    }
    Ok(status_of(written))
}

fn write(
    explain: &ExplainArgs,
    normalizers: &[ProfileResult],
    key: Option<ShownKey<'_>>,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let style = TextStyle::of(&out);
    for (i, url) in explain.urls.iter().enumerate() {
        let url = url.as_encoded_bytes();
        let mut text = String::new();
        if explain.json {
            as_json(url, normalizers, key, &mut text);
        } else {
            text.push_str(if i > 0 { "\n" } else { "" });
            components_as_text(url, normalizers, style, &mut text);
            as_text(url, normalizers, key, style, &mut text);
        }
        out.write_all(text.as_bytes())?;
    }
    out.flush()
}

/// Warns of arguments that are hardly meant as the URLs they are taken for.
fn warn(explain: &ExplainArgs, normalizers: &[ProfileResult]) {
    let is_rejected = |url: &[u8]| {
        // A name that one of the profiles takes for a URL may be meant as one.
        normalizers.iter().flatten().all(|normalizer| normalizer.explain(url).is_err())
    };
    let mut urls = explain.urls.iter().map(|url| url.as_encoded_bytes());
    if let Some(file) = urls.find_map(|url| file_of(url).filter(|_| is_rejected(url))) {
        eprint_hinted(
            format_args!("warning: {}: explained the name of a file", Printable::path(file)),
            Some("see the URLs in a file with `uniqurl normalize --json`"),
        );
    }
    let is_taken = |url: &[u8]| {
        let mut reading = normalizers.iter().flatten().filter(|made| reads_schemes(made.profile()));
        explain.rules.assume_scheme.is_none() && reading.any(|made| made.explain(url).is_ok())
    };
    let mut urls = explain.urls.iter().map(|url| url.as_encoded_bytes());
    if let Some(url) = urls.find(|url| is_host_and_port(url) && is_taken(url)) {
        eprint_hinted(
            format_args!(
                "warning: {}: read the part before the colon as a scheme",
                UrlExcerpt(url)
            ),
            Some("read a host and a port there with --assume-scheme"),
        );
    }
}

/// The file of that name, if an argument taken for a URL is one.
pub(crate) fn file_of(url: &[u8]) -> Option<&Path> {
    Some(Path::new(OsStr::from_bytes(url))).filter(|path| path.is_file())
}

/// The explanation of a URL under a profile.
enum Explanation<'a> {
    Steps(Vec<Step>),
    Rejected(Reject, &'a Normalizer),
    /// The reason why the profile cannot be used.
    Unusable(&'a str),
}

impl<'a> Explanation<'a> {
    /// The name of a profile, and its effect on the URL.
    fn of(url: &[u8], made: &'a ProfileResult) -> (String, Self) {
        match made {
            Ok(normalizer) => {
                let rejected = |reject| Self::Rejected(reject, normalizer);
                let told = normalizer.explain(url).map_or_else(rejected, Self::Steps);
                (normalizer.description(), told)
            }
            Err(Unusable { name, reason }) => (name.clone(), Self::Unusable(reason)),
        }
    }
}

/// Appends the components of the URL, as they are split before any rule acts.
fn components_as_text(url: &[u8], profiles: &[ProfileResult], style: TextStyle, out: &mut String) {
    let mut normalizers = profiles.iter().flatten();
    // The parts are those of the URL that the rules will read.
    let assumed = normalizers.clone().find_map(|normalizer| normalizer.assume(url));
    let url = assumed.as_deref().unwrap_or(url);
    // A target that starts with `//` has no host.
    let is_target = normalizers.all(|normalizer| normalizer.is_hostless(url));
    let Uri { scheme, authority, path, query, fragment } = match is_target {
        true => {
            let Parts { path, query, fragment, .. } = Parts::split_target(url);
            Uri { path, query, fragment, ..Uri::default() }
        }
        false => Uri::split(url),
    };
    style.headed("", "components", " (RFC 3986 appendix B)", out);
    for (name, part) in [
        ("scheme", scheme),
        ("userinfo", authority.and_then(|authority| authority.userinfo)),
        ("host", authority.map(|authority| authority.host)),
        ("port", authority.and_then(|authority| authority.port)),
        ("path", Some(path)),
        ("query", query),
        ("fragment", fragment),
    ] {
        match part {
            None => continue,
            Some(b"") => out.push_str(&format!("  {name:8}  (empty)\n")),
            Some(part) => {
                marked(&format!("  {name:8}  "), part, &[], (style, Role::Heading), out);
            }
        }
        if name == "userinfo" {
            wrapped("            ", "(no host: the host follows the @)", style, out);
        }
    }
    out.push('\n');
}

/// Appends the explanation of one URL, a block for each profile; profiles with the same explanation
/// share one.
fn as_text(
    url: &[u8],
    profiles: &[ProfileResult],
    key: Option<ShownKey<'_>>,
    style: TextStyle,
    out: &mut String,
) {
    let mut blocks: Vec<(Vec<String>, String)> = Vec::new();
    for (name, explanation) in profiles.iter().map(|made| Explanation::of(url, made)) {
        let mut text = String::new();
        match explanation {
            Explanation::Steps(steps) => {
                steps_as_text(url, &steps, style, &mut text);
                if let Some(key) = key {
                    key_as_text(canonical(url, &steps), key, style, &mut text);
                }
            }
            Explanation::Rejected(reject, normalizer) => {
                place_as_text(url, &reject, style, &mut text);
                troubles_as_text(&reject, normalizer, style, &mut text);
            }
            Explanation::Unusable(reason) => {
                let reason = printable(reason);
                wrapped("  ", &format!("cannot be asked: {reason}"), style, &mut text);
            }
        }
        // Compared as text, so that what would look the same is shown once.
        match blocks.iter_mut().find(|(_, known)| *known == text) {
            Some((names, _)) => names.push(name),
            None => blocks.push((vec![name], text)),
        }
    }
    for (i, (names, text)) in blocks.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let mut heading = String::new();
        wrapped("", &printable(&names.join(", ")), style, &mut heading);
        let _ = writeln!(out, "{}", style.text(Role::Heading, heading.trim_end()));
        out.push_str(text);
    }
}

/// The last of the steps, or the URL that needs none.
fn canonical<'a>(url: &'a [u8], steps: &'a [Step]) -> &'a [u8] {
    steps.last().map_or(url, |step| &step.after)
}

fn steps_as_text(url: &[u8], steps: &[Step], style: TextStyle, out: &mut String) {
    let Some(last) = steps.last() else {
        let _ = writeln!(out, "  {}\n  is in canonical form.", Printable(url));
        return;
    };
    for Step { rule, before, after, .. } in steps {
        let source = rule.source().map_or_else(String::new, |source| format!(" ({source})"));
        out.push('\n');
        style.headed("  ", rule.name(), &source, out);
        wrapped("  ", rule.sentence(), style, out);
        let [removed, added] = differences(before, after);
        marked("  - ", before, &removed, (style, Role::Removed), out);
        marked("  + ", after, &added, (style, Role::Added), out);
    }
    let _ = writeln!(out, "\n  = {}", Printable(&last.after));
}

/// Appends a caret under the byte where the trouble starts.
pub(crate) fn place_as_text(url: &[u8], reject: &Reject, style: TextStyle, out: &mut String) {
    // What is missing may be missing after the last byte.
    let at = reject.at.min(url.len());
    let end = (at + 1).min(url.len());
    let _ = writeln!(out, "\n  rejected at byte {}", reject.at);
    marked("    ", url, std::slice::from_ref(&(at..end)), (style, Role::Wrong), out);
}

/// Appends the problem with the URL, and a hint.
pub(crate) fn troubles_as_text(
    reject: &Reject,
    normalizer: &Normalizer,
    style: TextStyle,
    out: &mut String,
) {
    for code in reject.in_order() {
        style.headed("  ", code.name(), &format!(": {}.", code.sentence()), out);
        if let Some(hint) = hints::of_code(code, normalizer) {
            wrapped("  ", &hint, style, out);
        }
    }
}

/// Appends an object for each profile.
fn as_json(url: &[u8], profiles: &[ProfileResult], key: Option<ShownKey<'_>>, out: &mut String) {
    for (name, explanation) in profiles.iter().map(|made| Explanation::of(url, made)) {
        let object = Object::default().text("profile", &name).bytes("url", url);
        let object = match explanation {
            Explanation::Steps(steps) => {
                let canonical = canonical(url, &steps);
                let object = object.bytes("out", canonical);
                let object = object.list("steps", steps.iter().map(step_as_json));
                match key {
                    Some(key) => key_as_json(canonical, key, object),
                    None => object,
                }
            }
            Explanation::Rejected(reject, _) => rejected(object, "", &reject),
            Explanation::Unusable(reason) => object.text("unusable", reason),
        };
        let _ = writeln!(out, "{}", object.end());
    }
}

fn step_as_json(step: &Step) -> String {
    let mut object = Object::default().text("rule", step.rule.name());
    if let Some(source) = step.rule.source() {
        object = object.text("source", source);
    }
    object.bytes("before", &step.before).bytes("after", &step.after).end()
}

/// Adds `"reject":["code",...],"at":N`, with a prefix to the names.
pub(crate) fn rejected(object: Object, prefix: &str, reject: &Reject) -> Object {
    let codes = reject.in_order().map(|code| code.name());
    object.names(&format!("{prefix}reject"), codes).number(&format!("{prefix}at"), reject.at as u64)
}
