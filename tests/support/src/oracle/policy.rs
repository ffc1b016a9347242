//! A second implementation of the switches, to the letter: step by step, repeated until nothing
//! changes. The rung below is left to the ladder's oracle.

use std::collections::BTreeSet;

use super::{Answer, Oracle};

/// A rung and its switches.
#[derive(Debug, Clone)]
pub struct Policy {
    pub rung: Oracle,
    pub switches: BTreeSet<&'static str>,
    pub drop: Vec<String>,
    pub keep: Vec<String>,
    tracking: Vec<String>,
}

/// The switches that are on in `aggressive`.
pub const AGGRESSIVE: [&str; 8] = [
    "sort-query",
    "strip-tracking",
    "strip-session",
    "strip-www",
    "strip-trailing-slash",
    "strip-index",
    "squeeze-slashes",
    "squeeze-query",
];

/// The switches that can be turned on and off in `scheme`, `crawl` and `aggressive`.
pub const SWITCHES: [&str; 14] = [
    "sort-query",
    "strip-tracking",
    "strip-session",
    "strip-www",
    "fold-scheme",
    "strip-trailing-slash",
    "strip-index",
    "squeeze-slashes",
    "blank-values",
    "squeeze-query",
    "drop-query",
    "lower-path",
    "keep-fragment",
    "keep-userinfo",
];

/// A canonical URL or target in pieces.
#[derive(Debug, Clone, PartialEq)]
struct Url {
    scheme: Option<String>,
    /// With its userinfo and port around it.
    host: Option<[String; 3]>,
    path: String,
    query: Option<String>,
    fragment: Option<String>,
}

impl Policy {
    pub fn new(profile: &'static str) -> Policy {
        let switches: &[&str] = match profile {
            "aggressive" => &AGGRESSIVE,
            "scheme" => &["keep-fragment", "keep-userinfo"],
            _ => &[],
        };
        let text = include_str!("../../../../data/tracking.txt");
        let names = text.lines().filter(|line| !line.starts_with('#'));
        let names = names.filter_map(|line| line.split_once('\t'));
        Policy {
            rung: Oracle::new(if profile == "aggressive" { "crawl" } else { profile }),
            switches: switches.iter().copied().collect(),
            drop: Vec::new(),
            keep: Vec::new(),
            tracking: names.map(|(name, _)| name.to_owned()).collect(),
        }
    }

    pub fn normalize(&self, url: &[u8]) -> Answer {
        let canonical = String::from_utf8(self.rung().normalize(url)?).unwrap();
        let (scheme, rest) = canonical.split_once(':').unwrap();
        let mut url = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
                let mut url = from_path(&rest[end..]);
                url.host = Some(split_authority(&rest[..end]));
                url
            }
            None => from_path(rest),
        };
        url.scheme = Some(scheme.to_owned());
        Ok(self.settled(url))
    }

    pub fn normalize_target(&self, target: &[u8]) -> Answer {
        let canonical = String::from_utf8(self.rung().normalize_target(target)?).unwrap();
        Ok(self.settled(from_path(&canonical)))
    }

    fn rung(&self) -> Oracle {
        Oracle {
            keep_fragment: self.is_on("keep-fragment"),
            keep_userinfo: self.is_on("keep-userinfo"),
            ..self.rung.clone()
        }
    }

    fn is_on(&self, switch: &str) -> bool {
        self.switches.contains(switch)
    }

    fn settled(&self, mut url: Url) -> Vec<u8> {
        // The guard is not part of the path. It is added again if needed.
        if url.scheme.is_some()
            && url.host.is_none()
            && let Some(path) = url.path.strip_prefix("/.")
            && path.starts_with("//")
        {
            url.path = path.to_owned();
        }
        loop {
            let next = self.round(url.clone());
            if next == url {
                return url.written().into_bytes();
            }
            url = next;
        }
    }

    fn round(&self, mut url: Url) -> Url {
        let folds = url.host.as_ref().is_none_or(|host| host[2].is_empty());
        if self.is_on("fold-scheme") && folds && url.scheme.as_deref() == Some("https") {
            url.scheme = Some("http".to_owned());
        }
        let labels = |host: &str| host.split('.').filter(|label| !label.is_empty()).count();
        if let Some([_, host, _]) = &mut url.host
            && self.is_on("strip-www")
            && let Some(rest) = host.strip_prefix("www.")
            && labels(rest) >= 2
        {
            *host = rest.to_owned();
        }
        if url.path.starts_with('/') {
            let mut segments: Vec<String> = url.path[1..].split('/').map(str::to_owned).collect();
            for (name, step) in PATH_STEPS {
                if self.is_on(name) {
                    step(&mut segments);
                    if segments.is_empty() {
                        segments.push(String::new());
                    }
                }
            }
            url.path = format!("/{}", segments.join("/"));
        }
        url.query = url.query.and_then(|query| self.query(query));
        url
    }

    fn query(&self, query: String) -> Option<String> {
        if self.is_on("drop-query") {
            return None;
        }
        let mut query = Some(query);
        if self.is_on("strip-session") {
            query = strip(query, is_session);
        }
        query = strip(query, |pair| {
            let name = decoded(name(pair));
            self.drop.iter().any(|glob| fits(glob.as_bytes(), &name))
                || !self.keep.is_empty()
                    && !self.keep.iter().any(|glob| fits(glob.as_bytes(), &name))
        });
        if self.is_on("strip-tracking") {
            query = strip(query, |pair| {
                let name = name(pair).to_lowercase();
                self.tracking.iter().any(|glob| fits(glob.as_bytes(), name.as_bytes()))
            });
        }
        if self.is_on("blank-values") {
            query = query.map(|query| query.split('&').map(name).collect::<Vec<_>>().join("&"));
        }
        if self.is_on("squeeze-query") {
            query = query.filter(|query| !query.is_empty());
            query = strip(query, |pair| pair.is_empty() || pair == "=");
        }
        if self.is_on("sort-query") {
            query = query.map(|query| {
                let mut pairs: Vec<&str> = query.split('&').collect();
                pairs.sort_by_key(|pair| name(pair));
                pairs.join("&")
            });
        }
        query
    }
}

type Step = fn(&mut Vec<String>);

/// The steps that change the segments of a path, in order.
const PATH_STEPS: [(&str, Step); 5] = [
    ("lower-path", |segments| {
        for segment in segments {
            let mut lower = String::new();
            let mut rest = segment.as_str();
            while let Some(next) = rest.chars().next() {
                let length = if next == '%' { 3 } else { 1 };
                let piece = &rest[..length];
                lower += &if length == 3 { piece.to_owned() } else { piece.to_lowercase() };
                rest = &rest[length..];
            }
            *segment = lower;
        }
    }),
    ("squeeze-slashes", |segments| {
        let last = segments.pop().unwrap();
        segments.retain(|segment| !segment.is_empty());
        segments.push(last);
    }),
    ("strip-session", |segments| {
        for segment in segments.iter_mut() {
            let mut pieces = segment.split(';');
            let mut kept = pieces.next().unwrap().to_owned();
            for parameter in pieces.filter(|parameter| !is_session(parameter)) {
                kept = format!("{kept};{parameter}");
            }
            if kept != "." && kept != ".." {
                *segment = kept;
            }
        }
        segments.retain(|segment| !is_aspnet(segment));
    }),
    ("strip-index", |segments| {
        let pages = "index.asp index.aspx index.cfm index.cgi index.htm index.html index.jsp index.php \
                     index.pl index.shtml index.xhtml default.asp default.aspx default.htm default.html";
        let last = segments.last_mut().unwrap();
        if pages.split(' ').any(|page| page == last.to_lowercase()) {
            last.clear();
        }
    }),
    ("strip-trailing-slash", |segments| {
        if segments.len() > 1 && segments.last().unwrap().is_empty() {
            segments.pop();
        }
    }),
];

/// Removes pairs; a query emptied by that loses its question mark.
fn strip(query: Option<String>, goes: impl Fn(&str) -> bool) -> Option<String> {
    let query = query?;
    if query.is_empty() || !query.split('&').any(&goes) {
        return Some(query);
    }
    let left: Vec<&str> = query.split('&').filter(|pair| !goes(pair)).collect();
    Some(left.join("&")).filter(|query| !query.is_empty())
}

fn name(pair: &str) -> &str {
    pair.split('=').next().unwrap()
}

fn is_session(pair: &str) -> bool {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let name = name.to_lowercase();
    let hex = value.len() == 32 && value.chars().all(|c| c.is_ascii_hexdigit());
    name == "jsessionid"
        || name == "phpsessid"
        || name.starts_with("aspsessionid")
        || (name == "sid" && hex)
}

/// `(S(id))`
fn is_aspnet(segment: &str) -> bool {
    let lower = segment.to_lowercase();
    let id = lower.strip_prefix("(s(").and_then(|rest| rest.strip_suffix("))"));
    id.is_some_and(|id| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric()))
}

fn decoded(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        if next == '%' {
            out.push(u8::from_str_radix(&rest[1..3], 16).unwrap());
            rest = &rest[3..];
        } else {
            out.push(next as u8);
            rest = &rest[1..];
        }
    }
    out
}

/// `*` matches any bytes, `?` any one byte. Row by row: whether a prefix of the glob matches a
/// prefix of the name.
pub fn fits(glob: &[u8], name: &[u8]) -> bool {
    let mut row: Vec<bool> = (0..=name.len()).map(|length| length == 0).collect();
    for &want in glob {
        let mut next = vec![want == b'*' && row[0]];
        for length in 1..=name.len() {
            next.push(match want {
                b'*' => row[length] || next[length - 1],
                b'?' => row[length - 1],
                byte => row[length - 1] && name[length - 1] == byte,
            });
        }
        row = next;
    }
    row[name.len()]
}

fn from_path(text: &str) -> Url {
    let (rest, fragment) = match text.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment.to_owned())),
        None => (text, None),
    };
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query.to_owned())),
        None => (rest, None),
    };
    Url { scheme: None, host: None, path: path.to_owned(), query, fragment }
}

fn split_authority(authority: &str) -> [String; 3] {
    let (userinfo, rest) = match authority.rfind('@') {
        Some(at) => authority.split_at(at + 1),
        None => ("", authority),
    };
    let colon = match rest.find(']') {
        Some(bracket) => bracket + 1,
        None => rest.find(':').unwrap_or(rest.len()),
    };
    let (host, port) = rest.split_at(colon);
    [userinfo, host, port].map(str::to_owned)
}

impl Url {
    fn written(&self) -> String {
        let mut out = String::new();
        if let Some(scheme) = &self.scheme {
            out += &format!("{scheme}:");
        }
        if let Some(host) = &self.host {
            out += &format!("//{}", host.concat());
        } else if self.scheme.is_some() && self.path.starts_with("//") {
            out += "/.";
        }
        out += &self.path;
        if let Some(query) = &self.query {
            out += &format!("?{query}");
        }
        if let Some(fragment) = &self.fragment {
            out += &format!("#{fragment}");
        }
        out
    }
}
