//! Reads `corpora/vectors/*.tsv`; the format is described in the README there.

use std::path::Path;

/// The canonical URL, or the code of the reason and an offset.
pub type Answer = Result<Vec<u8>, (&'static str, usize)>;

/// One fact: this input, read this way, has this answer.
pub struct Row {
    /// `file:line`, for messages.
    pub place: String,
    pub input: Vec<u8>,
    pub expected: Result<Vec<u8>, (String, usize)>,
    pub base: Option<Vec<u8>>,
    pub assume: Option<Vec<u8>>,
    /// The profiles for which it holds: one per file, except for targets and forms; none for
    /// resolving.
    pub profiles: Vec<&'static str>,
    /// The options given besides the profile.
    pub choices: Choices,
}

/// The options a row of a system's file may hold, in the words of the command's options.
#[derive(Default)]
pub struct Choices {
    /// RejectReasons of checks that are off.
    pub allow: Vec<String>,
    /// RejectReasons of checks that are off by default, and on here.
    pub deny: Vec<String>,
    /// Switches that are turned on, and off.
    pub with: Vec<String>,
    pub without: Vec<String>,
    /// Patterns of parameters to drop, and of the only ones to keep.
    pub drop: Vec<String>,
    pub keep: Vec<String>,
    /// The lists of a ring.
    pub ring: Vec<String>,
    /// The decoded path, under `servlet`.
    pub decoded: Option<Vec<u8>>,
    /// Whether the input is read as the format `target` reads a line.
    pub is_target: bool,
}

/// Two URLs, and the profiles under which they are one or stay two.
pub struct Pair {
    pub place: String,
    pub merges: bool,
    pub left: Vec<u8>,
    pub right: Vec<u8>,
    pub profiles: Vec<&'static str>,
}

/// The ladder, bottom to top.
pub const LADDER: [&str; 4] = ["string", "syntax", "scheme", "crawl"];

/// The profiles of single systems that have a file of rows.
pub const SYSTEMS: [&str; 6] = ["sanitize", "servlet", "mediawiki", "restbase", "upload", "ring"];

/// The rows of one file, which is named after a profile, or `targets`, `forms` or `resolve`.
pub fn rows(name: &str) -> Vec<Row> {
    let own_profile: Vec<&'static str> = LADDER
        .into_iter()
        .chain(["aggressive", "ia", "whatwg"])
        .chain(SYSTEMS)
        .filter(|profile| *profile == name)
        .collect();
    let rows: Vec<Row> =
        lines(name).into_iter().map(|(place, line)| row(place, &line, &own_profile)).collect();
    assert!(!rows.is_empty(), "{name}.tsv holds no row");
    rows
}

/// The pairs of `merge.tsv`.
pub fn pairs() -> Vec<Pair> {
    let pairs: Vec<Pair> =
        lines("merge").into_iter().map(|(place, line)| pair(place, &line)).collect();
    assert!(!pairs.is_empty(), "merge.tsv holds no row");
    pairs
}

/// Every line that is neither a comment nor empty, with its place.
pub fn lines(name: &str) -> Vec<(String, String)> {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let folder =
        folders.map(|folder| folder.join("corpora/vectors")).find(|folder| folder.is_dir());
    let path = folder.expect("corpora/vectors").join(format!("{name}.tsv"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(index, line)| (format!("{name}.tsv:{}", index + 1), line.to_owned()))
        .collect()
}

fn row(place: String, line: &str, own_profile: &[&'static str]) -> Row {
    let fields: Vec<&str> = line.split('\t').collect();
    assert!((3..=4).contains(&fields.len()), "{place}: {} fields", fields.len());
    assert!(!fields[2].is_empty(), "{place}: a fact needs a source");
    let expected = match fields[1].strip_prefix('!') {
        Some(trouble) => {
            let (code, at) = trouble.split_once('@').unwrap_or_else(|| panic!("{place}: !code@at"));
            Err((
                code.to_owned(),
                at.parse().unwrap_or_else(|_| panic!("{place}: {at:?} is no offset")),
            ))
        }
        None => Ok(unescape(fields[1], &place)),
    };
    let mut row = Row {
        input: unescape(fields[0], &place),
        expected,
        base: None,
        assume: None,
        profiles: own_profile.to_vec(),
        choices: Choices::default(),
        place,
    };
    for setting in fields.get(3).unwrap_or(&"").split(' ').filter(|setting| !setting.is_empty()) {
        let (name, value) =
            setting.split_once('=').unwrap_or_else(|| panic!("{}: {setting:?}", row.place));
        match name {
            "base" => row.base = Some(unescape(value, &row.place)),
            "assume" => row.assume = Some(unescape(value, &row.place)),
            "allow" => row.choices.allow = value.split(',').map(str::to_owned).collect(),
            "deny" => row.choices.deny = value.split(',').map(str::to_owned).collect(),
            "with" => row.choices.with.extend(value.split(',').map(str::to_owned)),
            "without" => row.choices.without.extend(value.split(',').map(str::to_owned)),
            "drop" => row.choices.drop.push(value.to_owned()),
            "keep" => row.choices.keep.push(value.to_owned()),
            "decode" | "encode" => row.choices.ring.push(setting.to_owned()),
            "decoded" => row.choices.decoded = Some(unescape(value, &row.place)),
            "form" => {
                assert_eq!(value, "target", "{}", row.place);
                row.choices.is_target = true;
            }
            "profile" => row.profiles = profiles(value, &row.place),
            _ => panic!("{}: no setting {name:?}", row.place),
        }
    }
    let needs_none = row.place.starts_with("resolve.tsv");
    assert!(needs_none == row.profiles.is_empty(), "{}: which profile?", row.place);
    row
}

fn pair(place: String, line: &str) -> Pair {
    let fields: Vec<&str> = line.split('\t').collect();
    let [relation, left, right, held_by, source] = fields[..] else {
        panic!("{place}: {} fields", fields.len());
    };
    assert!(!source.is_empty(), "{place}: a fact needs a source");
    let merges = match relation {
        "=" => true,
        "!" => false,
        _ => panic!("{place}: {relation:?} is neither = nor !"),
    };
    Pair {
        merges,
        left: unescape(left, &place),
        right: unescape(right, &place),
        profiles: profiles(held_by, &place),
        place,
    }
}

fn profiles(list: &str, place: &str) -> Vec<&'static str> {
    list.split(',')
        .map(|name| {
            *LADDER
                .iter()
                .find(|known| **known == name)
                .unwrap_or_else(|| panic!("{place}: {name:?}"))
        })
        .collect()
}

/// `\xHH` is a byte; every other byte stands for itself.
pub fn unescape(field: &str, place: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = field;
    while let Some(next) = rest.chars().next() {
        assert!((' '..='~').contains(&next), "{place}: {next:?} must be written \\xHH");
        if next == '\\' {
            let digits = rest.get(2..4).filter(|_| rest.starts_with("\\x"));
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            out.push(byte.unwrap_or_else(|| panic!("{place}: \\ must be written \\x5C")));
            rest = &rest[4..];
        } else {
            out.push(next as u8);
            rest = &rest[1..];
        }
    }
    out
}

/// Compares answers with every row of a file, and reports all differences at once, since one cause often
/// affects many rows. `ask` tells the name of whom it asked, and the answer.
pub fn compare(name: &str, mut ask: impl FnMut(&Row, &mut dyn FnMut(&str, Answer))) {
    let mut wrong = Vec::new();
    for row in rows(name) {
        ask(&row, &mut |who, got| {
            let got = got.map_err(|(code, at)| (code.to_owned(), at));
            if got != row.expected {
                wrong.push(format!("{}: {who}: {}", row.place, difference(&row, &got)));
            }
        });
    }
    assert!(wrong.is_empty(), "{} answers differ\n{}", wrong.len(), wrong.join("\n"));
}

/// The expected and the actual result of a row, in the notation of the file.
fn difference(row: &Row, got: &Result<Vec<u8>, (String, usize)>) -> String {
    format!("{} -> {}, but the row says {}", escape(&row.input), show(got), show(&row.expected))
}

/// An answer in the notation of the files.
pub fn show(answer: &Result<Vec<u8>, (impl AsRef<str>, usize)>) -> String {
    match answer {
        Ok(url) => escape(url),
        Err((code, at)) => format!("!{}@{at}", code.as_ref()),
    }
}

/// Bytes in the notation of the files.
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\x5C"),
            b' '..=b'~' => out.push(byte as char),
            _ => out.push_str(&format!("\\x{byte:02X}")),
        }
    }
    out
}
