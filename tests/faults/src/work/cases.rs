//! The cases of [`super`], read from the tables beside this file: arguments, and texts that grow.
//!
//! In a text, `«` and `»` stand around the part that is repeated. In the part, `{n}` stands for its number, `{next}`
//! for the next number, and `{hex}` for its number in four hexadecimal digits; before it, `{length}` for the length of
//! the rest; after it, `{all}` for all parts once more. Escapes are those of Rust, and `\xHH` is a byte.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// A text: a repeated part, with a text before and a text after it. A character stands for a byte.
#[derive(Clone)]
pub struct Text {
    /// Also the name of its file.
    pub name: String,
    before: String,
    part: String,
    after: String,
}

/// A command with texts that grow.
pub struct Case {
    pub name: String,
    arguments: String,
    /// The bytes of a unit of each text.
    pub unit: usize,
    /// The exit status.
    pub status: i32,
    pub texts: Vec<Text>,
}

impl Text {
    /// The text of a row of a table.
    fn read(name: &str, row: &str) -> Self {
        let (before, rest) = row.split_once('«').expect("a part");
        let (part, after) = rest.split_once('»').expect("its end");
        let name = name.to_owned();
        Self { name, before: unescaped(before), part: unescaped(part), after: unescaped(after) }
    }

    /// The text with about so many bytes of its part.
    pub fn of(&self, bytes: usize) -> Vec<u8> {
        let numbered = |n: usize| {
            let part = self.part.replace("{n}", &format!("{n:06}"));
            let part = part.replace("{next}", &format!("{:06}", n + 1));
            bytes_of(&part.replace("{hex}", &format!("{n:04x}")))
        };
        let first = numbered(0);
        let count = bytes.div_ceil(first.len());
        let is_numbered = first != numbered(1);
        let parts =
            if is_numbered { (0..count).flat_map(numbered).collect() } else { first.repeat(count) };
        let after: Vec<_> = self.after.split("{all}").map(bytes_of).collect();
        let rest = [&parts[..], &after.join(&parts[..])].concat();
        let before = bytes_of(&self.before.replace("{length}", &rest.len().to_string()));
        [before, rest].concat()
    }
}

fn unescaped(text: &str) -> String {
    let mut pieces = text.split('\\');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    while let Some(piece) = pieces.next() {
        let mut rest = piece.chars();
        match rest.next() {
            // Two of them stand for one, and what follows is no escape.
            None => out += &format!("\\{}", pieces.next().unwrap_or_default()),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('0') => out.push('\0'),
            Some('x') => {
                let digits: String = rest.by_ref().take(2).collect();
                out.push(u8::from_str_radix(&digits, 16).expect("two digits").into());
            }
            other => panic!("no escape: {other:?}"),
        }
        out += rest.as_str();
    }
    out
}

/// A byte for each character.
fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|char| char as u8).collect()
}

impl Case {
    /// The arguments, separated by blanks. `[NAME]` stands for the text of that name, and `OPTION*NAME` for the
    /// option with each line of it. A text that they do not name is an input.
    pub fn arguments(&self, texts: &[(&str, Vec<u8>)]) -> Vec<OsString> {
        let mut unnamed: Vec<_> = texts.iter().map(|(name, _)| *name).collect();
        let mut text_of = |name: &str| {
            unnamed.retain(|other| *other != name);
            texts.iter().find(|(other, _)| *other == name).map(|(_, text)| text.clone())
        };
        let mut arguments = Vec::new();
        for argument in self.arguments.split(' ') {
            let whole = argument.strip_suffix(']').and_then(|rest| rest.split_once('['));
            if let Some((option, text)) = whole.and_then(|(o, name)| Some((o, text_of(name)?))) {
                arguments.push(joined(option, &text));
            } else if let Some((option, text)) =
                argument.split_once('*').and_then(|(o, name)| Some((o, text_of(name)?)))
            {
                let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                arguments.extend(lines.map(|line| joined(option, line)));
            } else {
                text_of(argument);
                arguments.push(argument.into());
            }
        }
        arguments.extend(unnamed.into_iter().map(OsString::from));
        arguments
    }

    /// The bytes of so many units of all texts.
    pub fn bytes(&self, units: usize) -> usize {
        self.unit * units * self.texts.len()
    }

    /// Keeps so many of the texts. Cases whose arguments name texts have no more than that.
    pub fn draw(&mut self, most: usize, mut below: impl FnMut(usize) -> usize) {
        while self.texts.len() > most {
            self.texts.swap_remove(below(self.texts.len()));
        }
    }
}

fn joined(option: &str, value: &[u8]) -> OsString {
    OsString::from_vec([option.as_bytes(), value].concat())
}

/// The rows of a table: a name, and what it has.
fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| row.split_once('\t').expect("a name and a text"))
}

/// The names of the profiles, as `uniqurl profiles` lists them.
const PROFILES: &[&str] = &[
    "string",
    "syntax",
    "scheme",
    "crawl",
    "aggressive",
    "ia",
    "whatwg",
    "sanitize",
    "servlet",
    "mediawiki",
    "restbase",
    "upload",
    "ring",
];

/// Options that take the texts of `urls.txt`: every key, and rules beside those of a profile.
const RULES: &[&str] = &[
    "dedup --fields template,domain,surt,ssurt,hash,scheme,userinfo,host,port,path,query,fragment,original,first",
    "normalize -p aggressive --transcode latin1 --drop-param ref --keep-param filter[*] --base http://b.example/c/",
    "dedup -p aggressive --limit-by template:1 --stats /dev/null --report /dev/null",
];

/// The arguments of runs over files. A long URL is not to be rejected for its length.
const RUN: &str = "-q -j 1 --max-url 16M --rejects /dev/null";

/// All cases.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |arguments: &str, kib: usize, status, texts| {
        let name = arguments.to_owned();
        let arguments = match arguments.split_once(' ').unwrap_or((arguments, "")) {
            ("dedup", rest) => format!("dedup {RUN} {rest}"),
            ("normalize", rest) => format!("normalize {RUN} {rest}"),
            _ => name.clone(),
        };
        let arguments = arguments.trim_end().to_owned();
        cases.push(Case { name, arguments, unit: kib << 10, status, texts });
    };
    let parts = |kind: &str, before: &str, after: &str| {
        let text = |(name, part): (&str, &str)| {
            let part = Text::read(format!("{kind} {name}").trim_start(), part);
            Text { before: before.to_owned(), after: after.to_owned(), ..part }
        };
        rows(include_str!("parts.txt")).map(text).collect::<Vec<_>>()
    };
    for (format, record) in rows(include_str!("readers.txt")) {
        let Text { before, after, .. } = Text::read(format, record);
        let format = unescaped(format);
        let mut texts = parts("", &before, &after);
        // A table without its header has no such column.
        if format != "csv:url" {
            texts.extend(parts("line of", "", "\n"));
        }
        add(&format!("normalize -f {format}"), 4, 0, texts);
    }
    add("normalize", 4, 0, [parts("", "word ", "\n"), parts("line of", "", "\n")].concat());
    let rejected = parts("", "http://u:s@h:bad/", "\nhttp://a.example/\n");
    add("dedup --redact --json -f lines", 4, 0, rejected);
    let urls: Vec<_> =
        rows(include_str!("urls.txt")).map(|(name, url)| Text::read(name, url)).collect();
    for profile in PROFILES {
        add(&format!("normalize -f lines -p {profile}"), 4, 0, urls.clone());
    }
    for rules in RULES {
        add(&format!("{rules} -f lines"), 4, 0, urls.clone());
    }
    // Below each command stand its texts, each after a tab.
    let mut commands = include_str!("commands.txt").lines().peekable();
    while let Some(line) = commands.next() {
        let Some((arguments, numbers)) = line.split_once('\t') else { continue };
        let (unit, status) = numbers.split_once(' ').expect("a unit and a status");
        let texts = std::iter::from_fn(|| commands.next_if(|line| line.starts_with('\t')));
        let texts = texts.map(|line| line[1..].split_once('\t').expect("a name and a text"));
        let texts = texts.map(|(name, text)| Text::read(name, text)).collect();
        add(arguments, unit.parse().expect("KiB"), status.parse().expect("a status"), texts);
    }
    cases
}
