//! A second, slow template: regular expressions over text, in several passes, and no code of the library.
//!
//! It first writes each part as RFC 6570 wants it, then splits it and looks for types.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

const NAMES: &str = "uuid|date|int|hex|ip|email|token|slug";

/// The library's table, written down again.
pub const EXTENSIONS: &str = "3gp 7z aac action ai amp apk appimage arw ashx asmx asp aspx atom avi avif axd
bat bib bin bmp br bz2 cab cfm cgi class cms conf cpp crt csh css csv cur dat deb dll dmg do doc docm docx
dtd eot eps epub exe feed flac flv gif gpx gz heic heif htm html ical ico ics img ini ipa ipynb iso jar jfif
jhtml jp2 jpe jpeg jpg js json jsonl jsonld jsp jspa jspx jsx key kml kmz less log lz4 lzma m3u m3u8 m4a m4s
m4v map markdown md mdx mht mhtml min mjs mkv mobi mov mp2 mp3 mp4 mpd mpeg mpg msi mspx nsf nupkg odp ods
odt ogg ogv opus otf parquet patch pcap pdf pem phar php php3 php4 php5 phtml pkg pl png pps ppt pptx proto
ps psd py rar rb rdf rpm rss rst rtf sass scss sh sha1 sha256 sha512 shtm shtml sig sql srt stm svg svgz swf
tar tbz2 tex tgz tif tiff toml torrent ts tsv tsx ttf txt txz vcf vtt vue war wasm wav webm webp whl wma wmv
woff woff2 xht xhtml xls xlsm xlsx xml xsd xsl xslt xz yaml yml zip zst";

/// The expression matches bytes, and `.` any of them.
fn regex(text: &str) -> Regex {
    Regex::new(&format!("(?s-u){text}")).unwrap()
}

macro_rules! regexes {
    ($($name:ident = $text:expr;)*) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| regex(&$text));)*
    };
}

regexes! {
    URL = r"^([A-Za-z][A-Za-z0-9+.-]*:)?(//[^/?#]*)?([^?#]*)(?:\?([^#]*))?(?:#.*)?$";
    ESCAPED = format!(r"(?:\{{|%7[Bb])({NAMES})(?:\}}|%7[Dd])|(%[0-9A-Fa-f]{{2}})|([!#$&(-;=?-\[\]_a-z~]+)|(.)");
    EXTENSION = format!(r"^(.+)(\.(?i:{}))$", EXTENSIONS.split_whitespace().collect::<Vec<_>>().join("|"));
    UUID = "^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
    SPACED = "^[0-9]{4}(?:-[0-9]{2}-|_[0-9]{2}_|[.][0-9]{2}[.])[0-9]{2}";
    INT = "^[0-9]+$";
    ONE_CASE = "^(?:[0-9a-f]{8,}|[0-9A-F]{8,})$";
    DIGITS_OR_LETTERS = "[0-9]+|[a-fA-F]+";
    IPV4 = r"^(0|[1-9][0-9]{0,2})\.(0|[1-9][0-9]{0,2})\.(0|[1-9][0-9]{0,2})\.(0|[1-9][0-9]{0,2})$";
    IPV6 = "^[0-9A-Fa-f:.]*[0-9][0-9A-Fa-f:.]*$";
    EMAIL = "^(?:[A-Za-z0-9._~+-]|%2[Bb])+(?:@|%40)(?:[A-Za-z0-9-]+[.])+([A-Za-z]{2,})$";
    JSON_TOKEN = "^eyJ[A-Za-z0-9_.-]*$";
    TOKEN = "^([A-Za-z0-9_-]{16,})=?=?$";
    PLACEHOLDER = format!(r"^(?:\{{(?:{NAMES})\}}|%..)");
    SEPARATORS = "^[^A-Za-z0-9{%]+";
    RUN = "^[A-Za-z0-9]+";
    LETTERS_THEN_DIGITS = "^([A-Za-z]*)[0-9]{5,}$";
    DAY = "^[0-9]{1,2}$";
}

/// Each day from 1990 to 2099 as `YYYYMMDD`, counted on from the first.
static DAYS: LazyLock<HashSet<Vec<u8>>> = LazyLock::new(|| {
    let mut days = HashSet::new();
    for year in 1990..2100 {
        let february = if year % 4 == 0 { 29 } else { 28 }; // 2000 has one; 2100 is out
        for (month, length) in (1..).zip([31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
            days.extend((1..=length).map(|day| format!("{year}{month:02}{day:02}").into_bytes()));
        }
    }
    days
});

pub fn template(url: &[u8]) -> Vec<u8> {
    let parts = URL.captures(url).unwrap();
    let part = |n: usize| parts.get(n).map(|part| escape(part.as_bytes()));
    let (scheme, authority) = (part(1), part(2));
    let path = part(3).unwrap();
    let is_opaque = scheme.is_some() && authority.is_none() && !path.starts_with(b"/");
    let path = if is_opaque { segment(&path) } else { segments(&path) };
    [scheme.unwrap_or_default(), authority.unwrap_or_default(), path, query(part(4))].concat()
}

/// Rule 6.
fn escape(text: &[u8]) -> Vec<u8> {
    let replaced =
        ESCAPED.replace_all(text, |found: &Captures| match (found.get(1), found.get(4)) {
            (Some(name), _) => [b"{", name.as_bytes(), b"}"].concat(),
            (_, Some(odd)) => format!("%{:02X}", odd.as_bytes()[0]).into_bytes(),
            _ => found[0].to_vec(),
        });
    replaced.into_owned()
}

/// Rule 1, then each segment.
fn segments(path: &[u8]) -> Vec<u8> {
    let all: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let mut out: Vec<Vec<u8>> = Vec::new();
    let mut i = 0;
    'segments: while i < all.len() {
        for length in [3, 2] {
            let Some(date) = all.get(i..i + length) else { continue };
            let (last, others) = date.split_last().unwrap();
            let last_name = last.split(|byte| *byte == b';').next().unwrap();
            let mut numbers = [others, &[last_name]].concat();
            if length == 2 {
                numbers.push(b"1");
            }
            if !INT.is_match(numbers[0]) || !numbers[1..].iter().all(|n| DAY.is_match(n)) {
                continue;
            }
            let padded = |n: &[u8]| if n.len() == 1 { [b"0", n].concat() } else { n.to_vec() };
            if DAYS
                .contains(&[numbers[0].to_vec(), padded(numbers[1]), padded(numbers[2])].concat())
            {
                out.push([b"{date}".to_vec(), names(&last[last_name.len()..])].concat());
                i += length;
                continue 'segments;
            }
        }
        out.push(segment(all[i]));
        i += 1;
    }
    out.join(&b'/')
}

/// Rules 2 and 3.
fn segment(segment: &[u8]) -> Vec<u8> {
    let end = segment.iter().position(|byte| *byte == b';').unwrap_or(segment.len());
    let (name, parameters) = segment.split_at(end);
    let mut splits = vec![(name.to_vec(), Vec::new())];
    for _ in 0..2 {
        let (name, extensions) = splits.last().unwrap();
        let Some(found) = EXTENSION.captures(name) else { break };
        splits.push((found[1].to_vec(), [&found[2], extensions].concat()));
    }
    let of_type = splits.iter().rev().find_map(|(name, extensions)| {
        Some([format!("{{{}}}", whole(name)?).into_bytes(), extensions.clone()].concat())
    });
    [of_type.unwrap_or_else(|| inside(name)), names(parameters)].concat()
}

fn names(parameters: &[u8]) -> Vec<u8> {
    let names = parameters
        .split(|byte| *byte == b';')
        .map(|parameter| parameter.split(|byte| *byte == b'=').next().unwrap());
    names.collect::<Vec<_>>().join(&b';')
}

/// Rule 4.
fn inside(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let alone = |end: usize| !rest.get(end).is_some_and(u8::is_ascii_alphanumeric);
        let (length, written) = if let Some(found) = SEPARATORS.find(rest) {
            (found.len(), found.as_bytes().to_vec())
        } else if let Some(found) = PLACEHOLDER.find(rest) {
            (found.len(), found.as_bytes().to_vec())
        } else if let Some(found) = UUID
            .find(rest)
            .filter(|found| alone(found.end()) && rest.get(found.end()) != Some(&b'{'))
        {
            (found.len(), b"{uuid}".to_vec())
        } else if let Some(found) = SPACED.find(rest).filter(|found| alone(found.end()))
            && is_day(found.as_bytes())
        {
            (found.len(), b"{date}".to_vec())
        } else {
            let found = RUN.find(rest).unwrap();
            (found.len(), run(found.as_bytes()))
        };
        out.extend(written);
        rest = &rest[length..];
    }
    out
}

fn run(run: &[u8]) -> Vec<u8> {
    match whole(run) {
        Some(name @ ("date" | "hex" | "token")) => format!("{{{name}}}").into_bytes(),
        _ => LETTERS_THEN_DIGITS.replace(run, &b"$1{int}"[..]).into_owned(),
    }
}

/// Rule 5.
fn query(query: Option<Vec<u8>>) -> Vec<u8> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for pair in query.unwrap_or_default().split(|byte| *byte == b'&') {
        let name = pair.split(|byte| *byte == b'=').next().unwrap();
        let name = match whole(name) {
            Some(of_type) => format!("{{{of_type}}}").into_bytes(),
            None => name.to_vec(),
        };
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { Vec::new() } else { [b"?".to_vec(), names.join(&b'&')].concat() }
}

fn whole(text: &[u8]) -> Option<&'static str> {
    let ends = |regex: &Regex| regex.find(text).is_some_and(|found| found.len() == text.len());
    Some(match () {
        () if ends(&UUID) => "uuid",
        () if DAYS.contains(text) || ends(&SPACED) && is_day(text) => "date",
        () if INT.is_match(text) => "int",
        () if ONE_CASE.is_match(text) && is_hex(text) => "hex",
        () if is_ip(text) => "ip",
        () if EMAIL.captures(text).is_some_and(|found| !is_extension(&found[1])) => "email",
        () if JSON_TOKEN.is_match(text) => "token",
        () if TOKEN.captures(text).is_some_and(|found| is_random(&found[1])) => "token",
        () => return None,
    })
}

fn is_day(date: &[u8]) -> bool {
    let digits: Vec<u8> = date.iter().copied().filter(u8::is_ascii_digit).collect();
    DAYS.contains(&digits)
}

fn is_hex(text: &[u8]) -> bool {
    let groups = DIGITS_OR_LETTERS.find_iter(text).count();
    let has_digit = text.iter().any(u8::is_ascii_digit);
    groups >= 3 || has_digit && [32, 40, 64].contains(&text.len())
}

fn is_ip(text: &[u8]) -> bool {
    if let Some(found) = IPV4.captures(text) {
        let number = |n: usize| str::from_utf8(&found[n]).unwrap().parse::<u32>().unwrap();
        let numbers = [1, 2, 3, 4].map(number);
        return numbers.iter().all(|n| *n < 256) && numbers.iter().any(|n| *n >= 100);
    }
    let literal = format!("[{}]", text.escape_ascii());
    IPV6.is_match(text) && matches!(url::Host::parse(&literal), Ok(url::Host::Ipv6(_)))
}

fn is_extension(text: &[u8]) -> bool {
    EXTENSIONS.split_whitespace().any(|extension| extension.as_bytes().eq_ignore_ascii_case(text))
}

fn is_random(text: &[u8]) -> bool {
    let class = |byte: &u8| match byte {
        b'0'..=b'9' => 'd',
        b'a'..=b'z' => 'l',
        b'A'..=b'Z' => 'u',
        _ => ' ',
    };
    let classes: Vec<char> = text.iter().map(class).collect();
    let counted = [['d', 'l'], ['d', 'u'], ['l', 'd'], ['l', 'u'], ['u', 'd']];
    let changes = classes.windows(2).filter(|pair| counted.iter().any(|c| c == pair)).count();
    classes.contains(&'d') && changes as f64 / text.len() as f64 >= 0.25
}
