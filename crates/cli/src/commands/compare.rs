//! `uniqurl compare`: the rung of the ladder at which two URLs are the same, and why no lower one.
//!
//! In: two URLs. Out: the name of a rung for scripts, and the reason for a person; or one JSON object.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::args::compare::CompareArgs;
use crate::args::usage::wrong;
use crate::commands::explain::{file_of, place_as_text, rejected, troubles_as_text};
use crate::diff_view::{Role, TextStyle, marked};
use crate::status::{Status, eprint_hinted, status_of};
use uniqurl::{Normalizer, Reject};
use uniqurl_engine::output::Object;
use uniqurl_text::{Printable, differences};

/// Compares two URLs.
pub(crate) fn main(compare: &CompareArgs) -> Result<Status, clap::Error> {
    let rungs = compare.rungs().map_err(wrong)?;
    let comparison = UrlComparison::new(compare.urls(), &rungs);
    comparison.warn_of_files();
    let result = if compare.json { comparison.as_json() } else { comparison.name().into() };
    // If both go to one terminal, the name has to come first.
    let printed = if compare.quiet { Ok(()) } else { writeln!(io::stdout().lock(), "{result}") };
    // The name is for scripts and has standard output to itself. The reasons are for a person.
    if !compare.quiet && !compare.json {
        let mut reasons = String::new();
        comparison.reasons(TextStyle::of(&io::stderr()), &mut reasons);
        let _ = io::stderr().write_all(reasons.as_bytes());
    }
    Ok(match status_of(printed) {
        Status::Complete if !comparison.is_same() => Status::Incomplete,
        status => status,
    })
}

/// The forms of both URLs under the profile of a rung.
struct Rung<'a> {
    normalizer: &'a Normalizer,
    forms: [Result<Vec<u8>, Reject>; 2],
}

/// Two URLs on every rung.
struct UrlComparison<'a> {
    urls: [&'a [u8]; 2],
    rungs: Vec<Rung<'a>>,
    /// The first rung that accepts both and gives them one form.
    lowest: Option<usize>,
}

const LEADS: [&str; 2] = ["  A ", "  B "];

impl<'a> UrlComparison<'a> {
    fn new(urls: [&'a [u8]; 2], ladder: &'a [Normalizer]) -> Self {
        let rungs: Vec<_> = ladder
            .iter()
            .map(|normalizer| Rung {
                normalizer,
                forms: urls.map(|url| {
                    let mut form = Vec::new();
                    match normalizer.append(url, &mut form) {
                        Ok(()) => Ok(form),
                        Err(reject) => Err(reject),
                    }
                }),
            })
            .collect();
        let lowest = rungs.iter().position(Rung::joins);
        Self { urls, rungs, lowest }
    }

    pub(crate) fn is_same(&self) -> bool {
        self.lowest.is_some()
    }

    /// The name of the rung, or `different`.
    pub(crate) fn name(&self) -> &'static str {
        self.lowest.map_or("different", |i| self.rungs[i].normalizer.profile().name())
    }

    /// Appends the reason for the rung: the differences that remain at the next lower one that
    /// accepts both URLs, and why those between were passed over.
    pub(crate) fn reasons(&self, style: TextStyle, out: &mut String) {
        if let Some(rung) = self.lowest.map(|i| &self.rungs[i])
            && let Ok(form) = &rung.forms[0]
        {
            let _ = writeln!(out, "{}: both are\n    {}", rung.heading(style), Printable(form));
        }
        let below = &self.rungs[..self.lowest.unwrap_or(self.rungs.len())];
        let descending: Vec<&Rung<'_>> = below.iter().rev().collect();
        // Rungs that reject the URLs for the same reasons are reported together.
        for alike in descending.chunk_by(|a, b| a.is_passed_over() && a.rejects() == b.rejects()) {
            out.push_str(if out.is_empty() { "" } else { "\n" });
            let rung = alike[0];
            let [Ok(a), Ok(b)] = &rung.forms else {
                rung.passed_over(self.urls, style, out);
                if alike.len() > 1 {
                    let names: Vec<_> = alike[1..].iter().map(|rung| rung.heading(style)).collect();
                    let _ = writeln!(out, "\n{}: passed over likewise", names.join(", "));
                }
                continue;
            };
            let _ = writeln!(out, "{}: they differ", rung.heading(style));
            let [only_a, only_b] = differences(a, b);
            marked(LEADS[0], a, &only_a, (style, Role::Removed), out);
            marked(LEADS[1], b, &only_b, (style, Role::Added), out);
            break;
        }
    }

    /// Points to the command for files if the arguments seem to be files.
    fn warn_of_files(&self) {
        for (at, url) in self.urls.into_iter().enumerate() {
            let is_rejected = self.rungs.iter().any(|rung| rung.forms[at].is_err());
            if let Some(file) = file_of(url).filter(|_| is_rejected) {
                eprint_hinted(
                    format_args!("warning: {}: compared the name of a file", Printable::path(file)),
                    Some("compare two sorted sets with `uniqurl set diff`"),
                );
                break;
            }
        }
    }

    /// The whole comparison as an object.
    pub(crate) fn as_json(&self) -> String {
        let rungs = self.rungs.iter().map(|rung| {
            let mut object = Object::default().text("profile", &rung.normalizer.description());
            for (name, form) in ["a", "b"].into_iter().zip(&rung.forms) {
                object = match form {
                    Ok(form) => object.bytes(name, form),
                    Err(reject) => rejected(object, &format!("{name}_"), reject),
                };
            }
            object.end()
        });
        let [a, b] = self.urls;
        Object::default()
            .text("rung", self.name())
            .bytes("a", a)
            .bytes("b", b)
            .list("rungs", rungs)
            .end()
    }
}

impl Rung<'_> {
    fn joins(&self) -> bool {
        matches!(&self.forms, [Ok(a), Ok(b)] if a == b)
    }

    fn is_passed_over(&self) -> bool {
        self.forms.iter().any(Result::is_err)
    }

    fn rejects(&self) -> [Option<&Reject>; 2] {
        self.forms.each_ref().map(|form| form.as_ref().err())
    }

    fn heading(&self, style: TextStyle) -> String {
        style.text(Role::Heading, self.normalizer.profile().name())
    }

    fn passed_over(&self, urls: [&[u8]; 2], style: TextStyle, out: &mut String) {
        let rejects = self.rejects();
        let names: Vec<_> =
            ["A", "B"].into_iter().zip(rejects).filter_map(|(n, r)| r.map(|_| n)).collect();
        let why = format!(": passed over, since it rejects {}", names.join(" and "));
        style.headed("", self.normalizer.profile().name(), &why, out);
        let mut rejected = urls.into_iter().zip(rejects).filter_map(|(url, reject)| {
            let mut troubles = String::new();
            troubles_as_text(reject?, self.normalizer, style, &mut troubles);
            Some((url, reject?, troubles))
        });
        let mut next = rejected.next();
        while let Some((url, reject, troubles)) = next {
            place_as_text(url, reject, style, out);
            next = rejected.next();
            // A problem that both URLs have is printed once, below the second of them.
            if next.as_ref().is_none_or(|next| next.2 != troubles) {
                out.push_str(&troubles);
            }
        }
    }
}
