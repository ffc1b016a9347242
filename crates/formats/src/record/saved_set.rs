//! The first line of a saved set: the rules that its keys were made by.
//!
//! A saved set is this line and then its keys, one a line, sorted by their bytes. In: rules. Out: the
//! line; and from the line of another set, the rules again, and how they differ.

use serde::{Deserialize, Serialize};

use crate::Object;
use uniqurl::bytes::Printable;
use uniqurl::key::Key;
use uniqurl::normalize::Normalizer;

/// Version of the form of saved sets.
const VERSION: u64 = 1;

/// Longest line that is read as a header.
const LONGEST: usize = 1 << 20;

/// Longest key that is read from a set: more than becomes of the longest URL in any form.
pub const LONGEST_KEY: usize = 640 << 20;

/// What is wrong with a saved set whose last line has no line feed, as all lines of one have.
pub const BREAKS_OFF: &str = "the saved set breaks off in this line";

/// The rules of a saved set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetHeader {
    /// Version of the form.
    version: u64,
    /// Profile with version, and what was chosen beside it.
    rules: String,
    key: String,
    /// Of all that decides what a URL becomes.
    fingerprint: String,
}

/// What the first line of a file is.
#[derive(Debug, PartialEq, Eq)]
pub enum Parsed {
    /// The header of a saved set.
    Header(SetHeader),
    /// It begins as one does, and is none that can be read, for this reason.
    Unreadable(String),
    /// A line as any other.
    NoHeader,
}

impl SetHeader {
    /// What a saved set begins with. No key and no canonical URL does, as `#` starts a fragment; but under
    /// `string`, where any line is one.
    pub const MAGIC: &str = "#uniqurl-set ";

    /// The header of a set that this normalizer and key make.
    pub fn of(normalizer: &Normalizer, key: Key) -> Self {
        Self {
            version: VERSION,
            rules: normalizer.description(),
            key: key.name().to_owned(),
            fingerprint: normalizer.fingerprint(),
        }
    }

    /// The line, with its line feed.
    pub fn line(&self) -> String {
        let object = Object::default()
            .raw("version", self.version)
            .text("rules", &self.rules)
            .text("key", &self.key)
            .text("fingerprint", &self.fingerprint);
        format!("{}{}\n", Self::MAGIC, object.end())
    }

    /// Reads the first line of a file, which may stand there with its line feed.
    pub fn parse(line: &[u8]) -> Parsed {
        let Some(object) = line.strip_prefix(Self::MAGIC.as_bytes()) else {
            return Parsed::NoHeader;
        };
        if line.len() > LONGEST {
            return Parsed::Unreadable("its header is longer than any".into());
        }
        #[derive(Deserialize)]
        struct Version {
            version: u64,
        }
        match serde_json::from_slice::<Version>(object) {
            Ok(Version { version }) if version != VERSION => {
                return Parsed::Unreadable(format!(
                    "it is of version {version} of saved sets, and this uniqurl reads version \
                     {VERSION}"
                ));
            }
            Ok(_) | Err(_) => {}
        }
        match serde_json::from_slice(object) {
            Ok(header) => Parsed::Header(header),
            Err(error) => Parsed::Unreadable(format!("its header is damaged: {error}")),
        }
    }

    /// How the set whose header this is differs from `other`, as a clause about "it". None: it does
    /// not.
    pub fn difference(&self, other: &Self, of_other: &str) -> Option<String> {
        let printable = |text: &str| Printable(text.as_bytes()).to_string();
        if self.key != other.key {
            let (own, other) = (printable(&self.key), printable(&other.key));
            return Some(format!("its key is {own}, and that of {of_other} is {other}"));
        }
        if self.rules != other.rules {
            let (own, other) = (printable(&self.rules), printable(&other.rules));
            return Some(format!("its rules are `{own}`, and those of {of_other} are `{other}`"));
        }
        (self.fingerprint != other.fingerprint).then(|| {
            format!(
                "its rules are called `{}`, as those of {of_other}, but their lists (redirects, \
                 hosts of a profile file, tracking parameters) differ",
                printable(&self.rules)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl::{Profile, Redirects, Switch};

    #[test]
    fn header_round_trips_and_matches_its_own_rules() {
        let crawl = Normalizer::new(&Profile::CRAWL);
        let header = SetHeader::of(&crawl, Key::Surt);
        let line = header.line();
        assert_eq!(line.matches('\n').count(), 1);
        assert_eq!(SetHeader::parse(line.as_bytes()), Parsed::Header(header.clone()));
        assert_eq!(header.difference(&SetHeader::of(&crawl, Key::Surt), "x"), None);
    }

    #[test]
    fn error_names_the_difference_between_rules() {
        let crawl = Normalizer::new(&Profile::CRAWL);
        let own = SetHeader::of(&crawl, Key::Url);
        let told = |normalizer: &Normalizer, key| {
            own.difference(&SetHeader::of(normalizer, key), "this run").expect("a difference")
        };
        assert_eq!(told(&crawl, Key::Hash), "its key is url, and that of this run is hash");
        let switched = crawl.clone().with_switches([Switch::StripWww]).unwrap();
        assert_eq!(
            told(&switched, Key::Url),
            "its rules are `crawl@1`, and those of this run are `crawl@1 with=strip-www`"
        );
        let redirects = Redirects::parse(b"http://a/\thttp://b/\n").unwrap();
        let one = SetHeader::of(&crawl.clone().with_redirects(&redirects).unwrap(), Key::Url);
        let redirects = Redirects::parse(b"http://a/\thttp://c/\n").unwrap();
        let other = SetHeader::of(&crawl.with_redirects(&redirects).unwrap(), Key::Url);
        assert!(one.difference(&other, "this run").expect("a difference").contains("redirects"));
    }

    #[test]
    fn other_versions_and_damaged_headers_are_distinguished() {
        for line in [&b""[..], b"http://h/", b"#uniqurl", b"# uniqurl-set {}"] {
            assert_eq!(SetHeader::parse(line), Parsed::NoHeader, "{}", line.escape_ascii());
        }
        for (line, words) in [
            (&b"#uniqurl-set {\"version\":2,\"more\":1}\n"[..], "version 2"),
            (b"#uniqurl-set {\"version\":1}", "damaged"),
            (b"#uniqurl-set \xFF", "damaged"),
        ] {
            match SetHeader::parse(line) {
                Parsed::Unreadable(why) => assert!(why.contains(words), "{why}"),
                other => panic!("{other:?}"),
            }
        }
    }
}
