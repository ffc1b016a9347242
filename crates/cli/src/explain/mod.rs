//! `uniqurl explain`: what becomes of a URL, rule by rule, or why nothing does.
//!
//! In: URLs and profiles. Out: text of 80 columns at most for a person, or JSON objects for a program.

mod flags;

pub use flags::Explain;
use flags::{Made, Unusable};

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::error::ErrorKind;

use super::flags::{exit, usage};
use super::hints::{self, is_host_and_port, reads_schemes};
use super::paint::{Paint, Role, differences, marked, wrapped};
use super::status::say;
use uniqurl::bytes::{Printable, UrlExcerpt};
use uniqurl::{Normalizer, Reject, Step};
use uniqurl_formats::Object;

/// Explains the URLs on standard output.
pub(super) fn main(explain: &Explain) -> io::Result<()> {
    let normalizers = explain
        .normalizers()
        .unwrap_or_else(|message| exit(&usage("explain", ErrorKind::ValueValidation, message)));
    let mut out = io::stdout().lock();
    let paint = Paint::new(explain.color, &out);
    for (i, url) in explain.urls.iter().enumerate() {
        let url = url.as_encoded_bytes();
        let mut text = String::new();
        if explain.json {
            as_json(url, &normalizers, &mut text);
        } else {
            text.push_str(if i > 0 { "\n" } else { "" });
            as_text(url, &normalizers, paint, &mut text);
        }
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    let is_rejected = |url: &[u8]| {
        normalizers.iter().flatten().all(|normalizer| normalizer.explain(url).is_err())
    };
    let mut urls = explain.urls.iter().map(|url| url.as_encoded_bytes());
    if let Some(file) = urls.find_map(|url| file_of(url).filter(|_| is_rejected(url))) {
        say(format_args!(
            "warning: {} is a file, and its name was explained; `uniqurl normalize --json` says what \
             becomes of the URLs in files",
            Printable::path(file)
        ));
    }
    let is_taken = |url: &[u8]| {
        let mut reading = normalizers.iter().flatten().filter(|made| reads_schemes(made.profile()));
        explain.assume_scheme.is_none() && reading.any(|made| made.explain(url).is_ok())
    };
    let mut urls = explain.urls.iter().map(|url| url.as_encoded_bytes());
    if let Some(url) = urls.find(|url| is_host_and_port(url) && is_taken(url)) {
        say(format_args!(
            "warning: in {} what stands before the colon is a scheme; --assume-scheme reads a host and \
             a port there",
            UrlExcerpt(url)
        ));
    }
    Ok(())
}

/// The file that somebody may mean by what is taken for a URL.
pub(super) fn file_of(url: &[u8]) -> Option<&Path> {
    Some(Path::new(OsStr::from_bytes(url))).filter(|path| path.is_file())
}

/// What there is to say of a URL under a profile.
enum Explanation<'a> {
    Steps(Vec<Step>),
    Rejected(Reject, &'a Normalizer),
    /// Why the profile cannot be asked.
    Unusable(&'a str),
}

impl<'a> Explanation<'a> {
    /// The name of a profile, and what it does to the URL.
    fn of(url: &[u8], made: &'a Made) -> (String, Self) {
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

/// Appends what there is to say of one URL, a block for each profile; profiles of which the same is to
/// be said share one.
fn as_text(url: &[u8], profiles: &[Made], paint: Paint, out: &mut String) {
    let mut blocks: Vec<(Vec<String>, String)> = Vec::new();
    for (name, explanation) in profiles.iter().map(|made| Explanation::of(url, made)) {
        let mut text = String::new();
        match explanation {
            Explanation::Steps(steps) => steps_as_text(url, &steps, paint, &mut text),
            Explanation::Rejected(reject, normalizer) => {
                place_as_text(url, &reject, paint, &mut text);
                troubles_as_text(&reject, normalizer, paint, &mut text);
            }
            Explanation::Unusable(reason) => {
                wrapped("  ", &format!("cannot be asked: {reason}"), paint, &mut text);
            }
        }
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
        wrapped("", &names.join(", "), paint, &mut heading);
        let _ = writeln!(out, "{}", paint.text(Role::Heading, heading.trim_end()));
        out.push_str(text);
    }
}

fn steps_as_text(url: &[u8], steps: &[Step], paint: Paint, out: &mut String) {
    let Some(last) = steps.last() else {
        let _ = writeln!(out, "  {}\n  is in canonical form.", Printable(url));
        return;
    };
    for Step { rule, before, after, .. } in steps {
        let source = rule.source().map_or_else(String::new, |source| format!(" ({source})"));
        out.push('\n');
        paint.headed("  ", rule.name(), &source, out);
        wrapped("  ", rule.sentence(), paint, out);
        let [removed, added] = differences(before, after);
        marked("  - ", before, &removed, (paint, Role::Removed), out);
        marked("  + ", after, &added, (paint, Role::Added), out);
    }
    let _ = writeln!(out, "\n  = {}", Printable(&last.after));
}

/// Appends a caret under the byte where the trouble starts.
pub(super) fn place_as_text(url: &[u8], reject: &Reject, paint: Paint, out: &mut String) {
    let at = reject.at.min(url.len());
    let end = (at + 1).min(url.len());
    let _ = writeln!(out, "\n  rejected at byte {}", reject.at);
    marked("    ", url, std::slice::from_ref(&(at..end)), (paint, Role::Wrong), out);
}

/// Appends what the trouble is, and what can be done about it.
pub(super) fn troubles_as_text(
    reject: &Reject,
    normalizer: &Normalizer,
    paint: Paint,
    out: &mut String,
) {
    for code in reject.in_order() {
        paint.headed("  ", code.name(), &format!(": {}.", code.sentence()), out);
        if let Some(hint) = hints::of_code(code, normalizer) {
            wrapped("  ", &hint, paint, out);
        }
    }
}

/// Appends an object for each profile.
fn as_json(url: &[u8], profiles: &[Made], out: &mut String) {
    for (name, explanation) in profiles.iter().map(|made| Explanation::of(url, made)) {
        let object = Object::default().text("profile", &name).bytes("url", url);
        let object = match explanation {
            Explanation::Steps(steps) => {
                let canonical = steps.last().map_or(url, |step| &step.after);
                object.bytes("out", canonical).list("steps", steps.iter().map(step_as_json))
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
pub(super) fn rejected(object: Object, prefix: &str, reject: &Reject) -> Object {
    let codes = reject.in_order().map(|code| format!("\"{}\"", code.name()));
    object.list(&format!("{prefix}reject"), codes).raw(&format!("{prefix}at"), reject.at)
}
