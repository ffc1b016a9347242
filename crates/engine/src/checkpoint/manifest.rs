//! What a checkpoint says of its run: which one it is, and how far it came.

use std::io;

use serde::{Deserialize, Serialize};

use super::Options;
use super::part::{Seal, changed};
use super::stamp::Stamp;
use crate::output::Tally;
use uniqurl::bytes::Code;
use uniqurl::bytes::Printable;
use uniqurl::normalize::Rule;
use uniqurl_formats::input::Input;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) version: String,
    pub(crate) options: Options,
    /// The inputs that are absorbed.
    pub(crate) inputs: Vec<Stamp>,
    /// What was seen before the run.
    pub(crate) seen: Vec<Stamp>,
    /// Whether the run saves a set, which may have replaced one of those.
    pub(crate) saves: bool,
    /// Number of the last part.
    pub(crate) part: u64,
    /// The names of the parts, those of a kind in order. An input may leave no part of a kind: without
    /// this list, one that went away would look like one that never was.
    pub(crate) parts: Vec<(String, Seal)>,
    /// The accounting of the inputs that are absorbed.
    pub(crate) files: Vec<Absorbed>,
    /// What that took, in all runs so far.
    pub(crate) milliseconds: u64,
    /// Keys in the set.
    pub(crate) urls: u64,
    /// Whether the set took no more.
    pub(crate) spills: bool,
    /// Keys that were in it before it was moved out of memory.
    pub(crate) moved: u64,
    pub(crate) rejected: u64,
    pub(crate) hostless: u64,
    pub(crate) listed: u64,
    pub(crate) tabbed: u64,
    /// By number of the input.
    pub(crate) guessed: Vec<(usize, String)>,
    pub(crate) padded: Vec<(usize, u64)>,
    pub(crate) cut: Vec<(usize, u64)>,
    /// CRC-32 of the file as it is with 0 in this place.
    pub(crate) checksum: u32,
}

/// What a manifest of any version has.
#[derive(Deserialize)]
struct Written {
    version: String,
}

/// The accounting of an input.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Absorbed {
    pub(crate) bytes: u64,
    records: u64,
    canonical: u64,
    unique: u64,
    duplicates: u64,
    seen: u64,
    undecided: u64,
    rejected: u64,
    filtered: u64,
    blank: u64,
    skipped: u64,
    by_code: Vec<u64>,
    by_rule: Vec<u64>,
}

impl Absorbed {
    pub(crate) fn new(bytes: u64, tally: &Tally) -> Self {
        let Tally {
            records,
            canonical,
            unique,
            duplicates,
            seen,
            undecided,
            rejected,
            filtered,
            blank,
            skipped,
            by_code,
            by_rule,
        } = *tally;
        Self {
            bytes,
            records,
            canonical,
            unique,
            duplicates,
            seen,
            undecided,
            rejected,
            filtered,
            blank,
            skipped,
            by_code: by_code.to_vec(),
            by_rule: by_rule.to_vec(),
        }
    }

    pub(crate) fn tally(&self) -> Tally {
        let mut by_code = [0; Code::ALL.len()];
        let mut by_rule = [0; Rule::ALL.len()];
        by_code.iter_mut().zip(&self.by_code).for_each(|(to, from)| *to = *from);
        by_rule.iter_mut().zip(&self.by_rule).for_each(|(to, from)| *to = *from);
        Tally {
            records: self.records,
            canonical: self.canonical,
            unique: self.unique,
            duplicates: self.duplicates,
            seen: self.seen,
            undecided: self.undecided,
            rejected: self.rejected,
            filtered: self.filtered,
            blank: self.blank,
            skipped: self.skipped,
            by_code,
            by_rule,
        }
    }
}

impl Manifest {
    /// One of this version.
    pub(crate) fn new() -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), ..Self::default() }
    }

    pub(super) fn read(text: &[u8]) -> io::Result<Self> {
        Self::take(text).map_err(|error| {
            let text = format!("{}: {error}; remove the directory to start anew", super::MANIFEST);
            io::Error::new(io::ErrorKind::InvalidData, text)
        })
    }

    fn take(text: &[u8]) -> io::Result<Self> {
        let version = env!("CARGO_PKG_VERSION");
        let Written { version: found } = serde_json::from_slice(text)?;
        if found != version {
            let found = Printable(found.as_bytes());
            let text = format!("it was written by version {found}, and this is {version}");
            return Err(io::Error::other(text));
        }
        let this: Self = serde_json::from_slice(text)?;
        // Sums that do not add up would else be told as the result.
        if this.text() == text { Ok(this) } else { Err(changed()) }
    }

    /// The file, with its checksum.
    pub(super) fn text(&self) -> Vec<u8> {
        let with = |checksum| {
            let this = Self { checksum, ..self.clone() };
            serde_json::to_vec(&this).expect("strings and numbers are always JSON")
        };
        with(crc32fast::hash(&with(0)))
    }

    /// What is another here than in a run with these options and inputs, behind what was `seen`, whose
    /// names are options.
    pub(super) fn difference(
        &self,
        options: &Options,
        inputs: &[Input],
        seen: &[Stamp],
    ) -> io::Result<Option<String>> {
        let names = self.options.keys().chain(options.keys());
        for name in names {
            let (was, is) = (self.options.get(name), options.get(name));
            if was != is {
                let (was, is) = (said(was), said(is));
                return Ok(Some(format!("{name} was {was} and is {is}")));
            }
        }
        for (was, is) in self.seen.iter().zip(seen) {
            if let Some(what) = was.change(is) {
                let name = was.name();
                let hint = match self.saves {
                    true => " (if the saved set has replaced it, all outputs are in place)",
                    false => "",
                };
                let why = format!(
                    "{name} was read as what was seen before, and its {what} has changed since"
                );
                return Ok(Some(why + hint));
            }
        }
        for (i, stamp) in self.inputs.iter().enumerate() {
            if let Some(why) = stamp.difference(inputs.get(i))? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }
}

fn said(values: Option<&Vec<String>>) -> String {
    values.map_or("not given".to_owned(), |values| {
        values
            .iter()
            .map(|value| Printable(value.as_bytes()).to_string())
            .collect::<Vec<_>>()
            .join(",")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_has_the_name_that_its_caller_gave_it() {
        let chosen = |profile: &str| Options::from([("profile".into(), vec![profile.into()])]);
        let kept = Manifest { options: chosen("crawl"), ..Manifest::new() };
        let told = |options| kept.difference(&options, &[], &[]).expect("no file is looked at");
        assert_eq!(told(chosen("scheme")).as_deref(), Some("profile was crawl and is scheme"));
        assert_eq!(told(chosen("crawl")), None);
    }
}
