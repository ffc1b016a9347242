//! Reads the facts in `tests/library/rows`.
//!
//! A line that begins with `= ` is about the rows below it, and several such lines belong together. Fields of a
//! row are separated by a tab, and their bytes are written as in `corpora/vectors`. `#` begins a comment.
//!
//! The lines about rows are the name of a profile with settings, or a profile file without its first two lines.

use std::path::Path;

use crate::subject::{Library, outcome};
use crate::tsv::{show, unescape};
use uniqurl::uri::Charset;
use uniqurl::{Normalizer, Profile, Redirects, Switch};

/// Rows that share their rules.
pub struct Block {
    /// The lines about the rows, without `= `.
    pub head: String,
    pub rows: Vec<Row>,
}

/// One fact.
pub struct Row {
    /// `file:line`, for messages.
    pub place: String,
    pub fields: Vec<String>,
}

/// The blocks of one file.
pub fn blocks(name: &str) -> Vec<Block> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library/rows").join(name);
    let text = std::fs::read_to_string(path).expect(name);
    let (mut blocks, mut is_head) = (Vec::new(), false);
    let is_fact = |(_, line): &(usize, &str)| !line.is_empty() && !line.starts_with('#');
    for (i, line) in text.lines().enumerate().filter(is_fact) {
        let head = line.strip_prefix("= ");
        if blocks.is_empty() || head.is_some() && !is_head {
            blocks.push(Block { head: String::new(), rows: Vec::new() });
        }
        let block = blocks.last_mut().unwrap();
        match head {
            Some(head) => block.head += &format!("{head}\n"),
            None => block.rows.push(Row {
                place: format!("{name}:{}", i + 1),
                fields: line.split('\t').map(str::to_owned).collect(),
            }),
        }
        is_head = head.is_some();
    }
    blocks
}

impl Row {
    /// A field as bytes. One that is missing is empty.
    pub fn bytes(&self, field: usize) -> Vec<u8> {
        unescape(self.fields.get(field).map_or("", String::as_str), &self.place)
    }
}

impl Block {
    /// The normalizer that the head describes.
    pub fn normalizer(&self) -> Normalizer {
        let (name, settings) = self.head.trim_end().split_once(' ').unwrap_or((&self.head, ""));
        if let Ok(profile) = name.trim_end().parse::<Profile>() {
            return with(Normalizer::new(profile), settings);
        }
        let text = format!("name = 'mine'\nversion = 7\n{}", self.head);
        let made = Normalizer::from_profile_file(&text);
        let made = made.unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(made.description().starts_with("mine@7 base="), "{}", made.description());
        made
    }
}

/// The charset of a label, or ISO-8859-1 by its own name, which as a label is that of windows-1252.
fn charset(label: &str) -> Charset {
    if label == Charset::LATIN_1.name() {
        Charset::LATIN_1
    } else {
        Charset::for_label(label.as_bytes()).expect(label)
    }
}

/// The normalizer with the settings between spaces, in their order.
fn with(normalizer: Normalizer, settings: &str) -> Normalizer {
    let settings = settings.split(' ').filter(|setting| !setting.is_empty());
    settings.fold(normalizer, |made, setting| {
        let (name, value) = setting.split_once('=').expect(setting);
        let bytes = unescape(value, setting);
        let switches = || value.split(',').map(|name| name.parse::<Switch>().expect(name));
        let made = match name {
            "with" => made.with_switches(switches()),
            "without" => made.without_switches(switches()),
            "allow" => made.with_allowed(value.split(',').map(|name| name.parse().expect(name))),
            "drop" => made.with_dropped_parameters([value]),
            "keep" => made.with_kept_parameters([value]),
            "charset" => made.with_charset(charset(value)),
            "base" => made.with_base(&bytes),
            "assume" => made.with_assumed_scheme(&bytes),
            "redirects" => {
                let redirects = Redirects::parse(&bytes).expect(setting);
                Ok(made.with_redirects(&redirects).expect(setting))
            }
            _ => panic!("no setting {setting}"),
        };
        made.unwrap_or_else(|error| panic!("{setting}: {error}"))
    })
}

/// Checks a file of URLs, what becomes of each, and its settings: those of a head, `decoded`, the decoded path,
/// `form=target`, and `clean=yes`, for a URL that must be known as canonical without a second look.
pub fn check(name: &str) {
    let mut wrong = Vec::new();
    for block in blocks(name) {
        let plain = block.normalizer();
        for row in &block.rows {
            let (input, expected) = (row.bytes(0), &row.fields[1]);
            let settings = row.fields.get(2).map_or("", String::as_str);
            let is_own = |setting: &&str| {
                ["decoded=", "form=", "clean="].iter().any(|name| setting.starts_with(name))
            };
            let (own, others): (Vec<_>, Vec<_>) = settings.split(' ').partition(is_own);
            let library = Library(with(plain.clone(), &others.join(" ")));
            let got = match own.contains(&"form=target") {
                true => library.normalize_target(&input),
                false => library.normalize(&input),
            };
            let (got, is_clean) = (show(&got), library.0.is_clean(&input));
            let place = format!("{} by\n{}", row.place, block.head);
            if got != *expected {
                wrong.push(format!("{got}, not {expected}: {place}"));
            }
            assert!(!is_clean || row.fields[0] == *expected, "it is called clean: {place}");
            assert!(is_clean || !own.contains(&"clean=yes"), "it is not called clean: {place}");
            for path in own.iter().filter_map(|setting| setting.strip_prefix("decoded=")) {
                let decoded = outcome(|out| library.0.decoded(&input, out));
                assert_eq!(decoded, Ok(unescape(path, &place)), "{place}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
