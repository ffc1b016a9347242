//! Members of JSON that hold URLs, or the hosts and targets of requests.
//!
//! The walk stops where the text ends or is no JSON, so the beginning of a long document is enough.

use super::super::json::is_name_of_query;
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

/// The formats that read the URLs of values like the first one.
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
    let rank_of = |is_named: bool| {
        let mut urls =
            urls.iter().filter(|(member, _)| member.path.contains(&Step::Item) != is_named);
        urls.next().map(|(_, rank)| *rank)
    };
    // The better name is in an array, where no pointer leads to.
    if rank_of(false) > rank_of(true) {
        return None;
    }
    let mut formats: Vec<String> = Vec::new();
    for (member, _) in urls.iter().take(COLUMNS) {
        if let Some(pointer) = pointer(&member.path) {
            let format = format!("json:{pointer}");
            if formats.len() < 3 && !formats.contains(&format) && sample.reads(&format) {
                formats.push(format);
            }
        }
    }
    if formats.is_empty() {
        formats.extend(request(&members).filter(|format| sample.reads(format)));
    }
    (!formats.is_empty()).then_some(Suggestion::Formats(formats))
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
    // The query of a target that has none itself.
    let of_query = |member: &&Member| is_name_of_query(name(&member.path));
    let query = members.iter().find(of_query).and_then(|member| pointer(&member.path));
    let has_query = |member: &Member| {
        pointer(&member.path).as_ref() == Some(&target) && member.value.contains('?')
    };
    let query = query.filter(|_| !members.iter().any(has_query));
    let of_target = if query.is_some() { "path" } else { "target" };
    let parts = [
        part("scheme", scheme),
        part("host", host),
        part(of_target, Some(target)),
        part("query", query),
    ];
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
            (
                r#"{"reqHost":"a.example","reqPath":"/p","queryStr":"k=1"}"#,
                &["json:host=/reqHost,path=/reqPath,query=/queryStr"],
            ),
            (
                r#"{"p":{"requestUri":"/s?v","requestQuery":"v","host":"a.example"}}"#,
                &["json:host=/p/host,target=/p/requestUri"],
            ),
        ] {
            assert_eq!(suggested(&format!("{line}\n{line}\n")), formats(names), "{line}");
        }
        assert_eq!(suggested(r#"{"a":"b","referrer":"http://h/"}"#), None);
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
    fn no_pointer_leads_into_an_array() {
        for (text, expected) in [
            (r#"{"links":["http://h/1","http://h/2"]}"#, None),
            (r#"{"links":["http://h/1"],"x":"http://h/2"}"#, None),
            (r#"{"a-b":[{"c":{"uri":"http://h/1"}}]}"#, None),
            ("{\"log\": {\n \"v\":1, \"e\":[{\"r\":{\"url\":\"http://h/", None),
            (r#"{"images":["http://h/1"],"url":"http://h/2"}"#, formats(&["json:/url"])),
            ("{\n\"uri\": \"http://h/1\"\n}\n{\n\"uri\": \"http://h/2\"\n}\n", None),
        ] {
            assert_eq!(suggested(text), expected, "{text}");
        }
    }
}
