//! The URL Standard's parser to the letter: one state at a time, one code point at a time, into a
//! record that is serialized at the end. Slow, and shares only UTS 46 with the library.

mod host;

use host::Host;

/// Stands for a byte that is not UTF-8; no code point is that large.
const NO_TEXT: u32 = 0x11_0000;
/// "EOF code point".
const EOF: u32 = u32::MAX;

/// A URL record (section 4.1).
#[derive(Debug, Clone, Default)]
pub struct Url {
    scheme: String,
    username: String,
    password: String,
    host: Option<String>,
    port: Option<u32>,
    opaque: Option<String>,
    path: Vec<String>,
    query: Option<String>,
    fragment: Option<String>,
}

/// The code of a failure of the parser.
pub type Failure = &'static str;

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    SchemeStart,
    Scheme,
    NoScheme,
    PathOrAuthority,
    Relative,
    RelativeSlash,
    SpecialAuthoritySlashes,
    SpecialAuthorityIgnoreSlashes,
    Authority,
    Host,
    Port,
    File,
    FileSlash,
    FileHost,
    PathStart,
    Path,
    OpaquePath,
    Query,
    Fragment,
}

/// The code points of a URL: those of its UTF-8, and one for each other byte.
fn code_points(bytes: &[u8]) -> Vec<u32> {
    let mut points = Vec::new();
    for chunk in bytes.utf8_chunks() {
        points.extend(chunk.valid().chars().map(u32::from));
        points.extend(chunk.invalid().iter().map(|byte| NO_TEXT + u32::from(*byte)));
    }
    points
}

fn is(c: u32, chars: &str) -> bool {
    chars.chars().any(|other| u32::from(other) == c)
}

fn letter(c: u32) -> Option<char> {
    char::from_u32(c).filter(char::is_ascii_alphabetic)
}

/// "UTF-8 percent-encode": `set` are the members above the C0 controls.
fn push_encoded(out: &mut String, c: u32, set: &str) {
    match char::from_u32(c) {
        None => out.push_str(&format!("%{:02X}", c - NO_TEXT)),
        Some(c) if (' '..='~').contains(&c) && !set.contains(c) => out.push(c),
        Some(c) => {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
}

const QUERY: &str = " \"#<>";
const SPECIAL_QUERY: &str = " \"#<>'";
const FRAGMENT: &str = " \"<>`";
const PATH: &str = " \"#<>?^`{}";
const USERINFO: &str = " \"#<>?^`{}/:;=@[\\]|";

fn default_port(scheme: &str) -> Option<u32> {
    match scheme {
        "ftp" => Some(21),
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        _ => None,
    }
}

fn is_drive_letter(points: &[u32]) -> bool {
    matches!(points, [a, b] if letter(*a).is_some() && is(*b, ":|"))
}

fn starts_with_drive_letter(points: &[u32]) -> bool {
    points.len() >= 2
        && is_drive_letter(&points[..2])
        && points.get(2).is_none_or(|c| is(*c, "/\\?#"))
}

fn is_normalized_drive_letter(segment: &str) -> bool {
    segment.len() == 2 && segment.ends_with(':') && segment.as_bytes()[0].is_ascii_alphabetic()
}

impl Url {
    fn is_special(&self) -> bool {
        default_port(&self.scheme).is_some() || self.scheme == "file"
    }

    fn shorten(&mut self) {
        if self.scheme == "file"
            && self.path.len() == 1
            && is_normalized_drive_letter(&self.path[0])
        {
            return;
        }
        self.path.pop();
    }

    pub fn has_opaque_path(&self) -> bool {
        self.opaque.is_some()
    }

    /// "URL serializing" (section 4.5).
    pub fn serialize(&self) -> String {
        let mut out = format!("{}:", self.scheme);
        if let Some(host) = &self.host {
            out += "//";
            if !self.username.is_empty() || !self.password.is_empty() {
                out += &self.username;
                if !self.password.is_empty() {
                    out = out + ":" + &self.password;
                }
                out += "@";
            }
            out += host;
            if let Some(port) = self.port {
                out += &format!(":{port}");
            }
        } else if self.opaque.is_none() && self.path.len() > 1 && self.path[0].is_empty() {
            out += "/.";
        }
        match &self.opaque {
            Some(path) => out += path,
            None => self.path.iter().for_each(|segment| out = format!("{out}/{segment}")),
        }
        if let Some(query) = &self.query {
            out = out + "?" + query;
        }
        if let Some(fragment) = &self.fragment {
            out = out + "#" + fragment;
        }
        out
    }

    /// The "basic URL parser" (section 4.4).
    pub fn parse(bytes: &[u8], base: Option<&Url>) -> Result<Url, Failure> {
        let mut input = code_points(bytes);
        let is_trimmed = |c: &u32| *c <= 0x20;
        while input.last().is_some_and(is_trimmed) {
            input.pop();
        }
        let front = input.iter().take_while(|c| is_trimmed(c)).count();
        input.drain(..front);
        input.retain(|c| !is(*c, "\t\n\r"));
        if input.is_empty() && base.is_none() {
            return Err("empty");
        }

        let mut url = Url::default();
        let mut state = State::SchemeStart;
        let mut buffer: Vec<u32> = Vec::new();
        let (mut at_sign_seen, mut inside_brackets, mut password_token_seen) =
            (false, false, false);
        // The pointer may briefly stand one before the first code point.
        let mut pointer: isize = 0;
        loop {
            let c = usize::try_from(pointer).ok().and_then(|i| input.get(i)).copied();
            let c = c.unwrap_or(EOF);
            let here = input.get(pointer as usize..).unwrap_or_default();
            let remaining = here.get(1..).unwrap_or_default();
            let special = url.is_special();
            let slash = is(c, "/") || special && is(c, "\\");
            match state {
                State::SchemeStart => {
                    if letter(c).is_some() {
                        buffer.push(c | 0x20);
                        state = State::Scheme;
                    } else {
                        state = State::NoScheme;
                        pointer -= 1;
                    }
                }
                State::Scheme => {
                    if char::from_u32(c).is_some_and(|c| c.is_ascii_alphanumeric()) || is(c, "+-.")
                    {
                        buffer.push(letter(c).map_or(c, |c| u32::from(c.to_ascii_lowercase())));
                    } else if is(c, ":") {
                        url.scheme = buffer.drain(..).filter_map(char::from_u32).collect();
                        let same = base.is_some_and(|base| base.scheme == url.scheme);
                        if url.scheme == "file" {
                            state = State::File;
                        } else if url.is_special() && same {
                            // "Special relative or authority state"
                            state = if remaining.starts_with(&[0x2F, 0x2F]) {
                                pointer += 2;
                                State::SpecialAuthorityIgnoreSlashes
                            } else {
                                State::Relative
                            };
                        } else if url.is_special() {
                            state = State::SpecialAuthoritySlashes;
                        } else if remaining.first() == Some(&0x2F) {
                            state = State::PathOrAuthority;
                            pointer += 1;
                        } else {
                            url.opaque = Some(String::new());
                            state = State::OpaquePath;
                        }
                    } else {
                        buffer.clear();
                        state = State::NoScheme;
                        pointer = -1;
                    }
                }
                State::NoScheme => match base {
                    None => return Err("relative"),
                    Some(base) if base.opaque.is_some() => {
                        if !is(c, "#") {
                            return Err("relative");
                        }
                        url = Url { fragment: Some(String::new()), ..base.clone() };
                        state = State::Fragment;
                    }
                    Some(base) => {
                        state = if base.scheme == "file" { State::File } else { State::Relative };
                        pointer -= 1;
                    }
                },
                State::SpecialAuthoritySlashes => {
                    if is(c, "/") && remaining.first() == Some(&0x2F) {
                        pointer += 1;
                    } else {
                        pointer -= 1;
                    }
                    state = State::SpecialAuthorityIgnoreSlashes;
                }
                State::SpecialAuthorityIgnoreSlashes => {
                    if !is(c, "/\\") {
                        state = State::Authority;
                        pointer -= 1;
                    }
                }
                State::PathOrAuthority => {
                    state = if is(c, "/") { State::Authority } else { State::Path };
                    pointer -= isize::from(state == State::Path);
                }
                State::Relative => {
                    let base = base.expect("a relative URL has a base");
                    url.scheme.clone_from(&base.scheme);
                    if is(c, "/") || url.is_special() && is(c, "\\") {
                        state = State::RelativeSlash;
                    } else {
                        url = Url { fragment: None, ..base.clone() };
                        if is(c, "?") {
                            url.query = Some(String::new());
                            state = State::Query;
                        } else if is(c, "#") {
                            url.fragment = Some(String::new());
                            state = State::Fragment;
                        } else if c != EOF {
                            url.query = None;
                            url.shorten();
                            state = State::Path;
                            pointer -= 1;
                        }
                    }
                }
                State::RelativeSlash => {
                    if special && is(c, "/\\") {
                        state = State::SpecialAuthorityIgnoreSlashes;
                    } else if is(c, "/") {
                        state = State::Authority;
                    } else {
                        let base = base.expect("a relative URL has a base").clone();
                        url = Url { path: Vec::new(), query: None, fragment: None, ..base };
                        state = State::Path;
                        pointer -= 1;
                    }
                }
                State::Authority => {
                    if is(c, "@") {
                        if at_sign_seen {
                            buffer.splice(..0, code_points(b"%40"));
                        }
                        at_sign_seen = true;
                        for &point in &buffer {
                            if is(point, ":") && !password_token_seen {
                                password_token_seen = true;
                            } else if password_token_seen {
                                push_encoded(&mut url.password, point, USERINFO);
                            } else {
                                push_encoded(&mut url.username, point, USERINFO);
                            }
                        }
                        buffer.clear();
                    } else if c == EOF || slash || is(c, "?#") {
                        if at_sign_seen && buffer.is_empty() {
                            return Err("empty-host");
                        }
                        pointer -= buffer.len() as isize + 1;
                        buffer.clear();
                        state = State::Host;
                    } else {
                        buffer.push(c);
                    }
                }
                State::Host => {
                    if is(c, ":") && !inside_brackets {
                        if buffer.is_empty() {
                            return Err("empty-host");
                        }
                        url.host = Some(Host::parse(&buffer, !special)?);
                        buffer.clear();
                        state = State::Port;
                    } else if c == EOF || slash || is(c, "?#") {
                        pointer -= 1;
                        if special && buffer.is_empty() {
                            return Err("empty-host");
                        }
                        url.host = Some(Host::parse(&buffer, !special)?);
                        buffer.clear();
                        state = State::PathStart;
                    } else {
                        if is(c, "[") {
                            inside_brackets = true;
                        }
                        if is(c, "]") {
                            inside_brackets = false;
                        }
                        buffer.push(c);
                    }
                }
                State::Port => {
                    if let Some(digit) = char::from_u32(c).and_then(|c| c.to_digit(10)) {
                        buffer.push(digit);
                    } else if c == EOF || slash || is(c, "?#") {
                        if !buffer.is_empty() {
                            let mut port = 0;
                            for digit in buffer.drain(..) {
                                port = (port * 10 + digit).min(1 << 20);
                            }
                            if port > 65535 {
                                return Err("port-range");
                            }
                            url.port =
                                Some(port).filter(|_| default_port(&url.scheme) != Some(port));
                        }
                        state = State::PathStart;
                        pointer -= 1;
                    } else {
                        return Err("port");
                    }
                }
                State::File => {
                    url.scheme = "file".to_owned();
                    url.host = Some(String::new());
                    if is(c, "/\\") {
                        state = State::FileSlash;
                    } else if let Some(base) = base.filter(|base| base.scheme == "file") {
                        url = Url { fragment: None, ..base.clone() };
                        if is(c, "?") {
                            url.query = Some(String::new());
                            state = State::Query;
                        } else if is(c, "#") {
                            url.fragment = Some(String::new());
                            state = State::Fragment;
                        } else if c != EOF {
                            url.query = None;
                            if starts_with_drive_letter(here) {
                                url.path.clear();
                            } else {
                                url.shorten();
                            }
                            state = State::Path;
                            pointer -= 1;
                        }
                    } else {
                        state = State::Path;
                        pointer -= 1;
                    }
                }
                State::FileSlash => {
                    if is(c, "/\\") {
                        state = State::FileHost;
                    } else {
                        if let Some(base) = base.filter(|base| base.scheme == "file") {
                            url.host.clone_from(&base.host);
                            let drive = base.path.first();
                            if let Some(drive) = drive.filter(|d| is_normalized_drive_letter(d))
                                && !starts_with_drive_letter(here)
                            {
                                url.path.push(drive.clone());
                            }
                        }
                        state = State::Path;
                        pointer -= 1;
                    }
                }
                State::FileHost => {
                    if c == EOF || is(c, "/\\?#") {
                        pointer -= 1;
                        if is_drive_letter(&buffer) {
                            state = State::Path;
                        } else {
                            let host = Host::parse(&buffer, !special)?;
                            url.host = Some(if host == "localhost" { String::new() } else { host });
                            buffer.clear();
                            state = State::PathStart;
                        }
                    } else {
                        buffer.push(c);
                    }
                }
                State::PathStart => {
                    if special {
                        state = State::Path;
                        pointer -= isize::from(!is(c, "/\\"));
                    } else if is(c, "?") {
                        url.query = Some(String::new());
                        state = State::Query;
                    } else if is(c, "#") {
                        url.fragment = Some(String::new());
                        state = State::Fragment;
                    } else if c != EOF {
                        state = State::Path;
                        pointer -= isize::from(!is(c, "/"));
                    }
                }
                State::Path => {
                    if c == EOF || slash || is(c, "?#") {
                        let mut segment = String::new();
                        buffer.iter().for_each(|c| push_encoded(&mut segment, *c, PATH));
                        let dots = segment.to_ascii_lowercase().replace("%2e", ".");
                        if dots == ".." {
                            url.shorten();
                            if !slash {
                                url.path.push(String::new());
                            }
                        } else if dots == "." {
                            if !slash {
                                url.path.push(String::new());
                            }
                        } else {
                            if url.scheme == "file"
                                && url.path.is_empty()
                                && is_drive_letter(&buffer)
                            {
                                segment.replace_range(1.., ":");
                            }
                            url.path.push(segment);
                        }
                        buffer.clear();
                        if is(c, "?") {
                            url.query = Some(String::new());
                            state = State::Query;
                        }
                        if is(c, "#") {
                            url.fragment = Some(String::new());
                            state = State::Fragment;
                        }
                    } else {
                        buffer.push(c);
                    }
                }
                State::OpaquePath => {
                    let path = url.opaque.as_mut().expect("an opaque path");
                    if is(c, "?") {
                        url.query = Some(String::new());
                        state = State::Query;
                    } else if is(c, "#") {
                        url.fragment = Some(String::new());
                        state = State::Fragment;
                    } else if is(c, " ") {
                        let ends = remaining.first().is_some_and(|next| is(*next, "?#"));
                        path.push_str(if ends { "%20" } else { " " });
                    } else if c != EOF {
                        push_encoded(path, c, "");
                    }
                }
                State::Query => {
                    let query = url.query.as_mut().expect("a query");
                    if is(c, "#") {
                        url.fragment = Some(String::new());
                        state = State::Fragment;
                    } else if c != EOF {
                        push_encoded(query, c, if special { SPECIAL_QUERY } else { QUERY });
                    }
                }
                State::Fragment => {
                    if c != EOF {
                        push_encoded(url.fragment.as_mut().expect("a fragment"), c, FRAGMENT);
                    }
                }
            }
            if c == EOF && pointer >= input.len() as isize {
                return Ok(url);
            }
            pointer += 1;
        }
    }
}
