//! Members of JSON that hold URLs, or the hosts and targets of requests.
//!
//! The walk stops where the text ends or is no JSON, so the beginning of a long document is enough.

use super::super::detect::is_record;
use super::{COLUMNS, Sample, Suggestion, is_url};

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Item,
}

/// A string in a JSON value, and the way to it.
struct Member {
    path: Vec<Step>,
    value: String,
}

/// Most strings that are looked at, and the deepest ones.
const MEMBERS: usize = 2_000;
const DEPTH: usize = 32;

/// The longest name of a member, in bytes: each string keeps all names on the way to it.
const NAME: usize = 256;

/// The formats, or the filter of jq, that read the URLs of values like the first one.
pub(super) fn suggest(text: &[u8], sample: &Sample<'_>) -> Option<Suggestion> {
    let members = Walk::over(text);
    let mut urls: Vec<(&Member, u8)> = members
        .iter()
        .filter(|member| is_url(member.value.as_bytes()))
        .map(|member| (member, rank(member)))
        .filter(|(_, rank)| *rank > 0)
        .collect();
    // The best names first, and of equals the first.
    urls.sort_by_key(|(_, rank)| std::cmp::Reverse(*rank));
    let best = urls.first().copied();
    let mut formats: Vec<String> = Vec::new();
    for (member, _) in urls.iter().take(COLUMNS) {
        if let Some(pointer) = pointer(&member.path) {
            let format = format!("json:{pointer}");
            if formats.len() < 3 && !formats.contains(&format) && sample.reads(&format) {
                formats.push(format);
            }
        }
    }
    match best {
        Some((member, rank)) if member.path.contains(&Step::Item) => {
            let best_format = urls.iter().find(|(member, _)| !member.path.contains(&Step::Item));
            if formats.is_empty() || best_format.is_none_or(|(_, other)| *other < rank) {
                return Some(jq(&member.path));
            }
        }
        _ => {}
    }
    if !formats.is_empty() {
        return Some(Suggestion::Formats(formats));
    }
    let request = request(&members).filter(|format| sample.reads(format));
    match (request, best) {
        (Some(format), _) => Some(Suggestion::Formats(vec![format])),
        // An object on many lines.
        (None, Some((member, _))) if is_on_many_lines(sample) => Some(jq(&member.path)),
        (None, _) => log_lines(&members, sample),
    }
}

/// True if the first object goes on in the second line.
fn is_on_many_lines(sample: &Sample<'_>) -> bool {
    sample.lines.len() > 1 && members_of(sample.lines[0]).is_empty()
}

/// The filter that writes the lines of a log that a member holds.
fn log_lines(members: &[Member], sample: &Sample<'_>) -> Option<Suggestion> {
    let begins = |member: &&Member| !member.value.starts_with(['/', '{']);
    let is_log = |member: &&Member| is_record(member.value.as_bytes());
    let member = members.iter().filter(begins).find(is_log)?;
    let text = sample.lines.iter().filter_map(|line| {
        let members = members_of(line);
        members.into_iter().find(|other| other.path == member.path).map(|other| other.value)
    });
    let text: Vec<String> = text.collect();
    let inner = Sample::of(text.join("\n").as_bytes()).found("combined");
    (inner * 2 >= sample.lines.len()).then(|| jq(&member.path))
}

/// The strings of an object on one line; none if it does not end there.
fn members_of(line: &[u8]) -> Vec<Member> {
    match serde_json::from_slice::<serde::de::IgnoredAny>(line) {
        Ok(_) => Walk::over(line),
        Err(_) => Vec::new(),
    }
}

/// How likely a member is to hold the URL: 0 for that of a page before.
fn rank(member: &Member) -> u8 {
    let name = name(&member.path).to_ascii_lowercase();
    let has = |part: &str| name.contains(part);
    if has("refer") || has("schema") || has("namespace") {
        return 0;
    }
    match &*name {
        "url" | "uri" => 3,
        _ if ["url", "uri", "href", "link", "loc"].into_iter().any(has) => 2,
        _ => 1,
    }
}

/// The last name of a path.
fn name(path: &[Step]) -> &str {
    let names = path.iter().rev().find_map(|step| match step {
        Step::Key(name) => Some(name.as_str()),
        Step::Item => None,
    });
    names.unwrap_or_default()
}

/// A format with the parts of a request: target, host and scheme.
fn request(members: &[Member]) -> Option<String> {
    let find = |names: &[&str], is_one: fn(&str) -> bool| {
        let has = |member: &&Member| {
            let name = name(&member.path).to_ascii_lowercase();
            names.iter().any(|part| name.contains(part)) && is_one(&member.value)
        };
        members.iter().filter(has).find_map(|member| pointer(&member.path))
    };
    let is_target = |value: &str| value.starts_with('/') && !value.contains(' ');
    let target = find(&["uri", "url"], is_target)
        .or_else(|| find(&["path", "target", "request"], is_target))?;
    let is_host = |value: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        value.contains('.')
            && value.chars().all(is_part)
            && value.chars().any(|c| c.is_ascii_alphabetic())
    };
    let host = find(&["authority", "vhost"], is_host)
        .or_else(|| find(&["host", "server_name", "servername", "domain"], is_host));
    let is_scheme = |value: &str| matches!(value, "http" | "https");
    let scheme = find(&["scheme", "proto"], is_scheme);
    let part =
        |name: &str, pointer: Option<String>| pointer.map(|pointer| format!("{name}={pointer}"));
    let parts = [part("scheme", scheme), part("host", host), part("target", Some(target))];
    Some(format!("json:{}", parts.into_iter().flatten().collect::<Vec<_>>().join(",")))
}

/// The pointer of a path. None if it leads through an array, or if a name would not survive the list of
/// parts.
fn pointer(path: &[Step]) -> Option<String> {
    let mut pointer = String::new();
    for step in path {
        let Step::Key(name) = step else { return None };
        if name.contains([',', '=']) {
            return None;
        }
        pointer.push('/');
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
    }
    (!pointer.is_empty()).then_some(pointer)
}

/// The filter that writes the objects which hold this member under a name that `auto` knows, else the
/// member itself.
fn jq(path: &[Step]) -> Suggestion {
    let (is_raw, path) = match path {
        [outer @ .., Step::Key(name)] if name == "url" || name == "uri" => (false, outer),
        path => (true, path),
    };
    let mut filter = String::from(if path.is_empty() { "." } else { "" });
    for step in path {
        match step {
            Step::Item if filter.is_empty() => filter.push_str(".[]"),
            Step::Item => filter.push_str("[]"),
            Step::Key(name) => {
                let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let is_identifier =
                    name.chars().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit());
                match is_identifier && !name.is_empty() {
                    true => filter.push_str(&format!(".{name}")),
                    false => {
                        filter.push_str(&format!(".{}", serde_json::Value::from(name.as_str())))
                    }
                }
            }
        }
    }
    Suggestion::Jq { filter, is_raw }
}

/// A walk over the strings of one JSON value.
struct Walk<'a> {
    text: &'a [u8],
    at: usize,
    path: Vec<Step>,
    found: Vec<Member>,
}

impl<'a> Walk<'a> {
    /// The strings of the first value of a text, as far as it goes.
    fn over(text: &'a [u8]) -> Vec<Member> {
        let mut walk = Self { text, at: 0, path: Vec::new(), found: Vec::new() };
        let _ = walk.value();
        walk.found
    }

    /// The next byte that is no white space.
    fn next(&mut self) -> Option<u8> {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    fn string(&mut self) -> Option<String> {
        self.skip(b'"')?;
        let start = self.at - 1;
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return serde_json::from_slice(&self.text[start..self.at]).ok();
            }
        }
    }

    fn value(&mut self) -> Option<()> {
        if self.path.len() > DEPTH || self.found.len() > MEMBERS {
            return None;
        }
        match self.next()? {
            b'{' => self.all(b'}'),
            b'[' => self.all(b']'),
            b'"' => {
                let value = self.string()?;
                self.found.push(Member { path: self.path.clone(), value });
                Some(())
            }
            _ => {
                let is_end = |byte: &u8| b",]}".contains(byte) || byte.is_ascii_whitespace();
                self.at += self.text[self.at..].iter().position(is_end)?;
                Some(())
            }
        }
    }

    /// The members of an object, or the items of an array.
    fn all(&mut self, end: u8) -> Option<()> {
        self.at += 1;
        if self.next()? == end {
            return self.skip(end);
        }
        loop {
            let step = match end {
                b'}' => {
                    let name = self.string().filter(|name| name.len() <= NAME)?;
                    self.skip(b':')?;
                    Step::Key(name)
                }
                _ => Step::Item,
            };
            self.path.push(step);
            self.value()?;
            self.path.pop();
            match self.next()? {
                b',' => self.at += 1,
                _ => return self.skip(end),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(text: &str) -> Option<Suggestion> {
        suggest(text.as_bytes(), &Sample::of(text.as_bytes()))
    }

    fn formats(names: &[&str]) -> Option<Suggestion> {
        Some(Suggestion::Formats(names.iter().map(|name| (*name).to_owned()).collect()))
    }

    fn filter(filter: &str, is_raw: bool) -> Option<Suggestion> {
        Some(Suggestion::Jq { filter: filter.to_owned(), is_raw })
    }

    #[test]
    fn members_with_urls_are_named_best_first() {
        for (line, names) in [
            (r#"{"a":1,"doc":{"page_url":"http://h/"}}"#, &["json:/doc/page_url"][..]),
            (r#"{"x":"http://h/1","m":{"url":"http://h/2"}}"#, &["json:/m/url", "json:/x"]),
            (r#"{"referer":"http://h/","a/b":{"~c":"http://h/"}}"#, &["json:/a~1b/~0c"]),
            (
                r#"{"ReqProto":"https","VHost":"h.example","ReqPath":"/a?b","ip":"1.2.3.4"}"#,
                &["json:scheme=/ReqProto,host=/VHost,target=/ReqPath"],
            ),
            (r#"{"r":{"path":"/a"},"host":"1.2.3.4"}"#, &["json:target=/r/path"]),
        ] {
            assert_eq!(suggested(&format!("{line}\n{line}\n")), formats(names), "{line}");
        }
        assert_eq!(suggested(r#"{"a":"b","referrer":"http://h/"}"#), None);
        let line = r#"{"e":{"raw":"10.1.1.1 - - [31/Jan/2026:12:00:00 +0000] \"GET /a HTTP/1.1\" 200 5"}}"#;
        assert_eq!(suggested(&format!("{line}\n{line}\n")), filter(".e.raw", true));
        assert_eq!(suggested(&format!("{line}\n{{}}\n{{}}\n")), None);
        assert_eq!(suggested("{\"a\":\"http://h/\"}\n{}\n{}\n"), None);
    }

    #[test]
    fn strings_below_a_long_name_are_left_out() {
        let named = |length: usize| {
            let text = format!(r#"{{"a":{{"{}":{{"b":"x","c":"y"}}}}}}"#, "n".repeat(length));
            Walk::over(text.as_bytes()).len()
        };
        assert_eq!((named(NAME), named(NAME + 1)), (2, 0));
    }

    #[test]
    fn arrays_need_a_filter() {
        for (text, expected) in [
            (r#"{"links":["http://h/1","http://h/2"]}"#, filter(".links[]", true)),
            (r#"{"a-b":[{"c":{"uri":"http://h/1"}}]}"#, filter(r#"."a-b"[].c"#, false)),
            ("{\"log\": {\n \"v\":1, \"e\":[{\"r\":{\"url\":\"http://h/", None),
            (
                "{\"log\":{\n \"c\":{\"n\":\"x\"},\n \"e\":[ {\"r\":{\"url\":\"http://h/\"",
                filter(".log.e[].r", false),
            ),
            (r#"{"images":["http://h/1"],"url":"http://h/2"}"#, formats(&["json:/url"])),
            ("{\n\"uri\": \"http://h/1\"\n}\n{\n\"uri\": \"http://h/2\"\n}\n", filter(".", false)),
            ("{ \"p\":\n{ \"q\": \"http://h/1\" }\n}\n", filter(".p.q", true)),
        ] {
            assert_eq!(suggested(text), expected, "{text}");
        }
    }
}
