//! A second reader of records: slow, obvious, and without a line from `src/`.
//!
//! It copies wherever it can, looks at one byte at a time, and reads the formats as the
//! documentation describes them. It takes one line without its ending and returns its content.

pub mod tables;

/// The content of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    Blank,
    Skipped,
    Reject(&'static str, usize),
    Url(Vec<u8>),
    Target(Vec<u8>),
    /// The URL, and the number of its bytes before the target's slash, which are not in the record.
    Joined(Vec<u8>, usize),
}

impl Holds {
    /// The name under which it is counted: a code, or a word for content that is not rejected.
    pub fn kind(&self) -> &'static str {
        match self {
            Holds::Blank => "blank",
            Holds::Skipped => "skipped",
            Holds::Reject(code, _) => code,
            Holds::Url(_) => "url",
            Holds::Target(_) => "target",
            Holds::Joined(..) => "joined",
        }
    }
}

/// The settings a reader needs besides the line.
pub struct Known {
    pub base: Option<(&'static str, &'static str)>,
    pub max_url: usize,
    pub max_record: usize,
    /// Whether the profile trims targets.
    pub trims: bool,
    /// Whether it takes a target for a URL only where `//` follows the scheme.
    pub asks_for_slashes: bool,
    /// The treatment of a target in none of the forms.
    pub slashless: Slashless,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slashless {
    Rejected,
    /// A target, like `*`, with any host.
    Judged,
    /// A target, or a URL with a slash put before it.
    Completed,
}

/// Reads one line in the format of this name.
pub fn read(format: &str, known: &Known, line: &[u8]) -> Holds {
    let is_list = format == "lines" || format == "target";
    if line.len() > known.max_record {
        return Holds::Reject("too-long", if is_list { known.max_url } else { 0 });
    }
    if line.iter().all(|b| *b == b' ' || *b == b'\t') {
        return Holds::Blank;
    }
    match format {
        "lines" if line.len() > known.max_url => Holds::Reject("too-long", known.max_url),
        "lines" => Holds::Url(line.to_vec()),
        "target" => target(known, line, None, None),
        "clf" | "combined" => clf(known, line, None),
        "vhost" => {
            let mut first: Vec<u8> = line.iter().copied().take_while(|b| *b != b' ').collect();
            let quote = usize::from(line[0] == b'"');
            if quote == 1 {
                first = line[1..].iter().copied().take_while(|b| *b != b' ').collect();
            }
            let text = String::from_utf8_lossy(&first);
            let is_client = line[quote + first.len()..].starts_with(b" - ")
                && (text.parse::<std::net::IpAddr>().is_ok());
            clf(known, line, if is_client { None } else { host_and_port(&first) })
        }
        "haproxy" => haproxy(known, line),
        _ => whitespace(known, line, format.strip_prefix("ws:").unwrap().parse().unwrap()),
    }
}

fn clf(known: &Known, line: &[u8], host: Option<Host>) -> Holds {
    let Some(mut at) = after_time(line) else { return Holds::Reject("log-syntax", 0) };
    // Outside of quotes: a quote is bare unless an odd number of backslashes precedes it.
    let mut backslashes = 0;
    loop {
        if at == line.len() {
            return Holds::Reject("log-syntax", 0);
        }
        if line[at] == b'"' && backslashes % 2 == 0 {
            break;
        }
        backslashes = if line[at] == b'\\' { backslashes + 1 } else { 0 };
        at += 1;
    }
    let start = at + 1;
    // Every mark that no backslash hides, in order.
    let mut marks = Vec::new();
    at = start;
    while at < line.len() {
        match line[at] {
            b'"' => marks.push(at),
            b'\\' => at += 1,
            _ => {}
        }
        at += 1;
    }
    let Some(first) = marks.first() else { return Holds::Reject("truncated", 0) };
    let text = |mark: &usize| &line[start..*mark];
    let after = |mark: &usize| line[mark + 1..].to_vec();
    let has_status = |mark: &usize| {
        let rest = after(mark);
        let word: Vec<u8> = rest.iter().skip(1).copied().take_while(|b| *b != b' ').collect();
        let is_number = word.len() == 3 && word.iter().all(u8::is_ascii_digit);
        rest.starts_with(b" ") && (is_number || word == b"-")
    };
    let has_version = |mark: &usize| {
        let trimmed: Vec<u8> =
            text(mark).iter().rev().skip_while(|b| **b == b' ').copied().collect();
        let trimmed: Vec<u8> = trimmed.into_iter().rev().collect();
        match trimmed.iter().rposition(|b| *b == b' ') {
            Some(blank) => is_version(&trimmed[blank + 1..]),
            None => false,
        }
    };
    let rest = after(first);
    let is_plain = rest.is_empty()
        || (rest[0] == b' ' && rest.get(1).is_some_and(|b| b.is_ascii_digit() || *b == b'-'));
    let mark = if is_plain || (rest[0] == b' ' && has_version(first)) {
        Some(first)
    } else if let Some(mark) = marks.iter().find(|mark| has_status(mark) && has_version(mark)) {
        Some(mark)
    } else if rest[0] == b' ' || (has_version(first) && b",;|\t\")]}".contains(&rest[0])) {
        Some(first)
    } else {
        marks.iter().find(|mark| has_status(mark))
    };
    match mark {
        Some(mark) => request(known, text(mark), unescape_backslash, host),
        None => Holds::Reject("log-syntax", 0),
    }
}

fn haproxy(known: &Known, line: &[u8]) -> Holds {
    let Some(at) = after_time(line) else { return Holds::Reject("log-syntax", 0) };
    let parts: Vec<&[u8]> = line[at..].split(|b| *b == b'"').collect();
    match parts.len() {
        1 => Holds::Reject("log-syntax", 0),
        2 => Holds::Reject("truncated", 0),
        _ => {
            let method = parts[1].split(|b| *b == b' ').next().unwrap();
            if !unescape_hash(method).iter().all(is_token) {
                return Holds::Reject("log-syntax", 0);
            }
            request(known, parts[1], unescape_hash, None)
        }
    }
}

fn whitespace(known: &Known, line: &[u8], n: usize) -> Holds {
    let fields: Vec<&[u8]> =
        line.split(|b| *b == b' ' || *b == b'\t').filter(|field| !field.is_empty()).collect();
    match fields.get(n - 1) {
        None => Holds::Reject("log-syntax", 0),
        Some(field) if *field == b"-" => Holds::Reject("log-syntax", 0),
        Some(field) => {
            let is_path = field.iter().find(|b| !known.trims || **b > 0x20) == Some(&b'/');
            match target(known, field, None, None) {
                holds if is_path => holds,
                Holds::Reject("relative", _) | Holds::Target(_) | Holds::Joined(..) => {
                    Holds::Url(field.to_vec())
                }
                holds => holds,
            }
        }
    }
}

/// The offset after the bracketed time.
fn after_time(line: &[u8]) -> Option<usize> {
    let opens: Vec<usize> = (0..line.len()).filter(|at| line[*at] == b'[').collect();
    let close = |open: usize| (open..line.len()).find(|at| line[*at] == b']');
    let time = opens.iter().copied().find(|open| {
        let rest = &line[open + 1..];
        ["dd/aaa/dddd:", "dd/aaa/dddd ", "dddd-dd-ddT", "dddd-dd-dd "]
            .iter()
            .any(|shape| has_shape(rest, shape))
    });
    let end = time.and_then(close).or_else(|| close(*opens.first()?))?;
    Some(end + 1)
}

fn has_shape(text: &[u8], shape: &str) -> bool {
    text.len() >= shape.len()
        && text.iter().zip(shape.bytes()).all(|(byte, like)| match like {
            b'd' => byte.is_ascii_digit(),
            b'a' => byte.is_ascii_alphabetic(),
            other => *byte == other,
        })
}

fn request(
    known: &Known,
    field: &[u8],
    unescape: fn(&[u8]) -> Vec<u8>,
    host: Option<Host>,
) -> Holds {
    match method_and_target(field) {
        Some((method, text)) => target(known, &unescape(&text), Some(&method), host),
        None => Holds::Reject("log-syntax", 0),
    }
}

/// The method and the target of a request line.
fn method_and_target(field: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut words: Vec<Vec<u8>> = field.split(|b| *b == b' ').map(|word| word.to_vec()).collect();
    let method = words.remove(0);
    if method.is_empty() || !method.iter().all(is_token) {
        return None;
    }
    while words.last().is_some_and(|word| word.is_empty()) {
        words.pop();
    }
    if words.is_empty() {
        return None;
    }
    // A lone version is a target: only a word before a version can be the target.
    if words.len() > 1 && is_version(words.last().unwrap()) {
        words.pop();
    } else if words[1..].iter().any(|word| is_version(word)) {
        return None;
    }
    while words.last().is_some_and(|word| word.is_empty()) {
        words.pop();
    }
    while words.first().is_some_and(|word| word.is_empty()) {
        words.remove(0);
    }
    Some((method, words.join(&b' ')))
}

fn is_token(b: &u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b)
}

fn is_version(word: &[u8]) -> bool {
    let Ok(word) = std::str::from_utf8(word) else { return false };
    let word = word.to_ascii_uppercase();
    let Some(numbers) = word.strip_prefix("HTTP/") else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match numbers.split_once('.') {
        None => is_number(numbers),
        Some((x, y)) => is_number(x) && is_number(y),
    }
}

fn target(known: &Known, target: &[u8], method: Option<&[u8]>, host: Option<Host>) -> Holds {
    if target.len() > known.max_url {
        return Holds::Reject("too-long", known.max_url);
    }
    if method == Some(b"CONNECT") {
        return Holds::Reject("authority-form", 0);
    }
    let is_blank = |b: &u8| known.trims && *b <= 0x20;
    let mut bare = target.to_vec();
    while bare.last().is_some_and(is_blank) {
        bare.pop();
    }
    let leading: Vec<u8> = bare.iter().copied().take_while(is_blank).collect();
    let bare = &bare[leading.len()..];
    if bare.first() == Some(&b'/') {
        let rest = &target[leading.len()..];
        let Some(prefix) = prefix(known, host) else { return Holds::Target(target.to_vec()) };
        let Some(prefix) = prefix else { return Holds::Reject("log-syntax", 0) };
        let length = prefix.len();
        return Holds::Joined([leading, prefix, rest.to_vec()].concat(), length);
    }
    if bare == b"*" && known.slashless == Slashless::Judged {
        return Holds::Target(target.to_vec());
    }
    if bare == b"*" {
        return Holds::Reject("asterisk-form", leading.len());
    }
    let colons: Vec<usize> = (0..bare.len()).filter(|at| bare[*at] == b':').collect();
    let delimiter = bare.iter().position(|b| b"/?#".contains(b));
    if method.is_none() && delimiter.is_none() && !bare.contains(&b'@') && !colons.is_empty() {
        let last = *colons.last().unwrap();
        let (name, port) = (&bare[..last], &bare[last + 1..]);
        let literal = name.len() > 2 && name[0] == b'[' && name[name.len() - 1] == b']';
        let is_host = !name.is_empty() && (colons.len() == 1 || literal);
        if is_host && !port.is_empty() && port.iter().all(u8::is_ascii_digit) {
            return Holds::Reject("authority-form", leading.len());
        }
    }
    match colons.first() {
        Some(&colon)
            if colon > 0
                && delimiter.is_none_or(|at| at > colon)
                && (!known.asks_for_slashes || bare[colon..].starts_with(b"://")) =>
        {
            Holds::Url(target.to_vec())
        }
        _ => match (known.slashless, prefix(known, host)) {
            // Nothing but the format says that it is a target.
            (Slashless::Rejected, None) if known.asks_for_slashes && method.is_none() => {
                Holds::Target(target.to_vec())
            }
            (Slashless::Rejected, _) => Holds::Reject("relative", leading.len()),
            (Slashless::Judged, _) | (Slashless::Completed, None) => Holds::Target(target.to_vec()),
            (Slashless::Completed, Some(None)) => Holds::Reject("log-syntax", 0),
            (Slashless::Completed, Some(Some(prefix))) => {
                Holds::Joined([&prefix, &b"/"[..], target].concat(), prefix.len() + 1)
            }
        },
    }
}

/// `scheme://authority`. The outer None means no host, the inner an invalid one.
#[allow(clippy::option_option)]
fn prefix(known: &Known, host: Option<Host>) -> Option<Option<Vec<u8>>> {
    let Some((host, port)) = host else {
        return known.base.map(|(s, a)| Some([s.as_bytes(), b"://", a.as_bytes()].concat()));
    };
    let scheme = match (port.as_deref(), known.base) {
        (Some(b"443"), _) => "https",
        (Some(b"80"), _) | (_, None) => "http",
        (_, Some((scheme, _))) => scheme,
    };
    let mut authority = unescape_backslash(&host);
    if let Some(port) = port {
        authority.push(b':');
        authority.extend(unescape_backslash(&port));
    }
    if authority.iter().any(|b| b"/?#@\\".contains(b)) {
        return Some(None);
    }
    Some(Some([scheme.as_bytes(), b"://", &authority].concat()))
}

/// A host, and its port if it has a colon.
type Host = (Vec<u8>, Option<Vec<u8>>);

fn host_and_port(field: &[u8]) -> Option<Host> {
    let colon = (0..field.len()).rev().find(|at| field[*at] == b':');
    let bracket = (0..field.len()).rev().find(|at| field[*at] == b']');
    let (host, port) = match colon {
        Some(colon) if bracket.is_none_or(|at| at < colon) => {
            (field[..colon].to_vec(), Some(field[colon + 1..].to_vec()))
        }
        _ => (field.to_vec(), None),
    };
    if host.is_empty() || host == b"-" {
        return None;
    }
    Some((host, port.filter(|port| port != b"-")))
}

fn hex_value(text: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(text.get(..2)?).ok()?;
    if text.starts_with('+') { None } else { u8::from_str_radix(text, 16).ok() }
}

/// A text whose escapes are replaced: of one at the start of a text, its bytes and its length.
fn unescaped(text: &[u8], escape: impl Fn(&[u8]) -> Option<(Vec<u8>, usize)>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (bytes, length) = escape(&text[at..]).unwrap_or((vec![text[at]], 1));
        out.extend(bytes);
        at += length;
    }
    out
}

/// Two hexadecimal digits after this start are a byte.
fn unescape_hex(text: &[u8], start: &[u8]) -> Vec<u8> {
    unescaped(text, |text| {
        let byte = hex_value(text.strip_prefix(start)?)?;
        Some((vec![byte], start.len() + 2))
    })
}

fn unescape_backslash(text: &[u8]) -> Vec<u8> {
    unescaped(text, |text| {
        let rest = text.strip_prefix(b"\\")?;
        if let Some(byte) = rest.strip_prefix(b"x").and_then(hex_value) {
            return Some((vec![byte], 4));
        }
        let letter = rest.first()?;
        let at = b"\"\\ntrbfva".iter().position(|other| other == letter)?;
        Some((vec![b"\"\\\n\t\r\x08\x0c\x0b\x07"[at]], 2))
    })
}

fn unescape_hash(text: &[u8]) -> Vec<u8> {
    unescape_hex(text, b"#")
}
