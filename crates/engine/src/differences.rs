//! Where two profiles read a URL differently: there one program checks what another one does not fetch.

use std::fmt::Write;

use uniqurl::bytes::Reject;
use uniqurl::bytes::{Printable, Secrets, redact};
use uniqurl::key::Located;
use uniqurl::normalize::Normalizer;
use uniqurl_formats::Object;
use uniqurl_formats::record::Context;

/// How a second profile disagrees with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// Both accept the URL, and name different hosts.
    Host,
    /// Both accept it with the same host, and give it different forms.
    Form,
    /// One of them alone rejects it.
    Reject,
}

/// How many URLs two profiles read differently, each counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Differences {
    /// They name different hosts.
    pub hosts: u64,
    /// They give different forms, with the same host.
    pub forms: u64,
    /// One of them rejects the URL.
    pub rejects: u64,
}

impl Differences {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.hosts + self.forms + self.rejects
    }

    pub(super) fn count(&mut self, difference: Difference) {
        match difference {
            Difference::Host => self.hosts += 1,
            Difference::Form => self.forms += 1,
            Difference::Reject => self.rejects += 1,
        }
    }

    /// Adds what another chunk counted.
    pub fn merge(&mut self, other: &Differences) {
        self.hosts += other.hosts;
        self.forms += other.forms;
        self.rejects += other.rejects;
    }
}

/// Another profile, whose answers are compared.
pub(super) struct Versus<'a> {
    pub(super) other: &'a Normalizer,
    /// How it reads records, where that is not how the first one does.
    pub(super) context: Option<Context>,
    /// Both profiles.
    pub(super) names: [String; 2],
    /// Objects instead of lines.
    json: bool,
    secrets: Secrets,
}

impl<'a> Versus<'a> {
    pub(super) fn new(
        one: &Normalizer,
        context: &Context,
        other: &'a Normalizer,
        json: bool,
        secrets: Secrets,
    ) -> Self {
        let (base, targets) = (other.origin(), other.targets());
        let is_other = base != context.base || targets != context.targets;
        let context = is_other.then(|| Context { base, targets, ..context.clone() });
        Self { other, context, names: [one.description(), other.description()], json, secrets }
    }

    /// Appends what there is to say of a URL.
    ///
    /// Where secrets are masked, the URL and both forms may look alike that differ in one: what
    /// they differ in is then not to be told.
    pub(super) fn tell(&self, differing: Differing<'_>, out: &mut Vec<u8>) {
        let masked = |url: &[u8]| {
            let mut shown = Vec::new();
            match self.secrets {
                Secrets::Shown => shown.extend_from_slice(url),
                Secrets::Masked => redact(url, &mut shown),
            }
            shown
        };
        let url = masked(differing.url);
        let forms = differing.said.map(|said| said.map(masked));
        let said = forms.each_ref().map(|form| form.as_deref().map_err(|reject| *reject));
        let shown = Differing { url: &url, said, ..differing };
        if self.json { shown.as_json(out) } else { shown.as_text(out) }
    }
}

/// What a profile says of a URL.
pub(super) type Said<'a> = Result<&'a [u8], Reject>;

impl Difference {
    /// The difference between what two profiles say, if there is one. Why both reject is none.
    pub(super) fn of(said: &[Said<'_>; 2]) -> Option<Self> {
        match said {
            [Ok(a), Ok(b)] if a == b => None,
            [Ok(a), Ok(b)] => {
                let host = |url| Located::split(url).map(|located| located.host);
                Some(if host(a) == host(b) { Difference::Form } else { Difference::Host })
            }
            [Err(_), Err(_)] => None,
            _ => Some(Difference::Reject),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Difference::Host => "host",
            Difference::Form => "form",
            Difference::Reject => "reject",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Difference::Host => "different hosts",
            Difference::Form => "different forms",
            Difference::Reject => "rejected by one",
        }
    }
}

/// A URL that two profiles read differently.
pub(super) struct Differing<'a> {
    pub(super) difference: Difference,
    pub(super) file: &'a [u8],
    pub(super) record: u64,
    pub(super) offset: u64,
    pub(super) url: &'a [u8],
    /// The profiles.
    pub(super) names: [&'a str; 2],
    pub(super) said: [Said<'a>; 2],
}

impl Differing<'_> {
    /// Appends a few lines for a person.
    fn as_text(&self, out: &mut Vec<u8>) {
        let mut text = String::new();
        let (file, words) = (Printable(self.file), self.difference.words());
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{file}:{}: {words}", self.record);
        let width = self.names.iter().map(|name| name.len()).max().unwrap_or(0).max(3);
        let _ = writeln!(text, "  {:width$}  {}", "url", Printable(self.url));
        for (name, said) in self.names.iter().zip(&self.said) {
            let _ = match said {
                Ok(form) => writeln!(text, "  {name:width$}  {}", Printable(form)),
                Err(reject) => {
                    let codes: Vec<_> = reject.in_order().map(|code| code.name()).collect();
                    let codes = codes.join(", ");
                    writeln!(text, "  {name:width$}  rejected at byte {}: {codes}", reject.at)
                }
            };
        }
        out.extend_from_slice(text.as_bytes());
    }

    /// Appends an object.
    fn as_json(&self, out: &mut Vec<u8>) {
        let said = self.names.iter().zip(&self.said).map(|(name, said)| {
            let object = Object::default().text("profile", name);
            match said {
                Ok(form) => object.bytes("out", form).end(),
                Err(reject) => {
                    let codes = reject.in_order().map(|code| format!("\"{}\"", code.name()));
                    object.list("reject", codes).raw("at", reject.at).end()
                }
            }
        });
        let object = Object::default()
            .bytes("file", self.file)
            .raw("record", self.record)
            .raw("offset", self.offset)
            .text("difference", self.difference.name())
            .bytes("url", self.url)
            .list("says", said);
        out.extend_from_slice(object.end().as_bytes());
        out.push(b'\n');
    }
}
