//! A second implementation of `ia`, by the steps of `docs/keys.md`, "Web-archive indexes".
//!
//! It does to the whole text what each step says, as often as it says, and takes the host of a name in
//! ASCII, addresses, ports and references from the oracle of `crawl`.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::authority::{self, Authority};
use super::parts::{self, Parts, Piece};
use super::{Answer, Oracle, Rung, Trouble, checked_scheme, grammar, needs_host, percent};

/// One URL of a list.
pub fn normalize(oracle: &Oracle, url: &[u8]) -> Answer {
    let (mut parts, base) = oracle.read(&last_scheme(oracle.trimmed(url)?))?;
    let Some(base) = base.filter(|_| parts.scheme.is_none()) else { return absolute(&parts) };
    if let Some(authority) = &parts.authority {
        self::authority(authority, &base.scheme.as_ref().unwrap().bytes)?;
    }
    // "`%2e%2e` resolves as `..` does". Other triplets are decoded later, or stay where there is no host.
    let dot = Regex::new("(?i)%2e").unwrap();
    parts.path.bytes = dot.replace_all(&parts.path.bytes, b".").into_owned();
    let mut parts = parts::resolve(&parts, &base);
    if parts.authority.is_none() && parts.path.bytes.starts_with(b"//") {
        parts.path.bytes.splice(..0, *b"/.");
    }
    absolute(&parts)
}

/// Step 1: "Of several `http://` or `https://` in front, in lower case, the last stays, and so it does
/// where tabs and line breaks stand in it or before it".
fn last_scheme(mut input: Piece) -> Piece {
    let names: [&[u8]; 2] = [b"http://", b"https://"];
    while let Some(first) = names.iter().find(|name| input.bytes.starts_with(name)) {
        let rest = input.rest(first.len());
        let front = |end: usize| without_breaks(&rest.bytes[..end]);
        let mut ends = (0..=rest.bytes.len()).take_while(|&end| front(end).len() <= 8);
        let Some(end) = ends.find(|&end| names.contains(&&front(end)[..])) else { break };
        let (name, behind) = (front(end), rest.rest(end));
        // The offsets of what follows stay.
        input = Piece { at: behind.at - name.len(), bytes: [name, behind.bytes].concat() };
    }
    input
}

/// "tabs and line breaks"
fn without_breaks(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| !b"\t\r\n".contains(byte)).collect()
}

fn absolute(parts: &Parts) -> Answer {
    let given = parts.scheme.as_ref().expect("an absolute URL has a scheme");
    let scheme = checked_scheme(given)?;
    let mut out = [&scheme[..], b":"].concat();
    match &parts.authority {
        Some(authority) if scheme != b"filedesc" && scheme != b"warcinfo" => {
            let authority = self::authority(authority, &scheme)?.recompose();
            out.extend([b"//", &authority[..], &path_and_query(parts)].concat());
        }
        None if needs_host(&scheme) => {
            return Err(("no-authority", given.at + given.bytes.len() + 1));
        }
        // "URLs without `//` [...] and those of `filedesc:` and `warcinfo:` keep their bytes, but for the
        // case of the scheme and what does not print."
        _ => {
            let whole = parts::recompose_raw(&Parts { scheme: None, ..parts.clone() });
            out.extend(encode(&whole, |byte| (0x21..=0x7E).contains(&byte)));
        }
    }
    Ok(out)
}

/// Steps 2 to 4.
fn authority(authority: &Piece, scheme: &[u8]) -> Result<Authority, Trouble> {
    let at = authority.bytes.iter().rposition(|&byte| byte == b'@').map_or(0, |at| at + 1);
    let piece = authority.rest(at);
    if piece.bytes.starts_with(b"[") {
        let mut read = authority::normalize(&piece, Rung::Crawl, scheme, false)?;
        // "an address in brackets keeps its spelling, in lower case"
        let end = piece.bytes.iter().position(|&byte| byte == b']').unwrap();
        read.host = piece.bytes[..=end].to_ascii_lowercase();
        return Ok(read);
    }
    let (host, port) = authority::split_host(&piece)?;
    // "In a host that may lay bare no delimiter, or it is rejected as `idna`."
    let decoded = decode(&host.bytes);
    if decoded.iter().any(|&byte| byte < 0x80 && !grammar::is_reg_name_byte(byte)) {
        return Err(("idna", host.at));
    }
    // `file` alone of the schemes whose hosts are looked up keeps the dots at the end, for the next step.
    let name = authority::crawl_reg_name(&Piece { bytes: decoded, at: host.at }, b"file")?;
    // "dots at the ends and runs of dots go, labels `www`, `www2`, `www37` at its start go"
    let name = String::from_utf8(name).unwrap();
    let mut labels: Vec<&str> = name.split('.').filter(|label| !label.is_empty()).collect();
    while labels.len() > 1 && labels[0].trim_end_matches(|c: char| c.is_ascii_digit()) == "www" {
        labels.remove(0);
    }
    // "an IPv4 address that is written as one decimal number gets its dots". With a leading zero it would
    // be octal to some.
    let mut name = labels.join(".");
    if name.chars().all(|c| c.is_ascii_digit())
        && (name == "0" || !name.starts_with('0'))
        && let Ok(number) = name.parse::<u32>()
    {
        name = number.to_be_bytes().map(|byte| byte.to_string()).join(".");
    }
    if name.is_empty() && needs_host(scheme) {
        return Err(("empty-host", host.at));
    }
    let port = port.map(|port| authority::normalize_port(&port, Rung::Crawl, scheme));
    let port = port.transpose()?.flatten();
    if scheme == b"file" && name == "localhost" && port.is_none() {
        name.clear();
    }
    Ok(Authority { userinfo: None, host: name.into_bytes(), port })
}

/// Steps 3 and 5 to 8.
pub fn path_and_query(parts: &Parts) -> Vec<u8> {
    let mut text = decode(&parts.path.bytes);
    // "a query that decoding laid bare is one once the rules for dot and empty segments have acted on it
    // as on path"
    let laid_bare = text.contains(&b'?');
    if laid_bare {
        text = join(&clean(&text));
    }
    // "An empty query goes", the one that was given too.
    let query = parts.query.as_ref().map(|query| decode(&query.bytes));
    if let Some(query) = query.filter(|query| !laid_bare || !query.is_empty()) {
        text = [text, query].join(&b'?');
    }
    text.make_ascii_lowercase();
    let mut halves = text.splitn(2, |&byte| byte == b'?');
    let path = encode(&join(&without_session_segments(clean(halves.next().unwrap()))), is_plain);
    match without_ids(encode(halves.next().unwrap_or_default(), is_plain)) {
        query if query.is_empty() => path,
        query => [path, query].join(&b'?'),
    }
}

/// Step 6: "dot segments go, where `..` takes an empty segment back too, and stays where there is nothing
/// to take back; empty segments go, a final slash with them".
fn clean(path: &[u8]) -> Vec<Vec<u8>> {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for segment in path.split(|&byte| byte == b'/').skip(1) {
        if segment == b".." && !kept.is_empty() {
            kept.pop();
        } else if segment != b"." {
            kept.push(segment.to_vec());
        }
    }
    kept.retain(|segment| !segment.is_empty());
    kept
}

fn join(segments: &[Vec<u8>]) -> Vec<u8> {
    [b"/", &segments.join(&b'/')[..]].concat()
}

/// "ids of 24 letters and digits", in lower case by now.
static SEGMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\(([a-z0-9]{24}|([a-z]\([a-z0-9]{24}\))+)\)$").unwrap());

/// Step 6: "`(ID)` and `(a(ID)b(ID))` [...] go where an `.aspx` follows, but not at once".
fn without_session_segments(mut segments: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let goes = |segments: &[Vec<u8>], index: usize| {
        let behind = segments[index + 1..].join(&b'/');
        let page = behind.windows(5).rposition(|five| five == b".aspx");
        SEGMENT.is_match(&segments[index]) && page.is_some_and(|at| at > 0)
    };
    while let Some(index) = (0..segments.len()).find(|&index| goes(&segments, index)) {
        segments.remove(index);
    }
    segments
}

/// "An id is the end of a parameter, whatever stands before it, and goes with the `&` after it".
static IDS: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    let kinds = [
        "jsessionid=[a-z0-9]{32}",
        "phpsessid=[a-z0-9]{32}",
        "sid=[a-z0-9]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    ];
    kinds.map(|kind| Regex::new(&format!("^{kind}(&|$)")).unwrap())
});

/// Step 7: the last id of each kind goes, then the rest is sorted; "session ids go until none is left".
fn without_ids(mut query: Vec<u8>) -> Vec<u8> {
    loop {
        let mut next = query.clone();
        for id in IDS.iter() {
            let taken = (0..next.len()).rev().find_map(|start| {
                let end = start + id.find(&next[start..])?.end();
                let left = [&next[..start], &next[end..]].concat();
                // An id stays if it begins inside a triplet, or between a literal `%` and two digits, which
                // the next reading would decode.
                let lasts = |text: &[u8]| encode(&decode(text), is_plain) == text;
                (lasts(&next[..start]) && lasts(&left)).then_some(left)
            });
            next = taken.unwrap_or(next);
        }
        let mut pairs: Vec<&[u8]> = next.split(|&byte| byte == b'&').collect();
        // "sorted by name, then value"; no value comes before an empty one.
        pairs.sort_by_key(|pair| pair.splitn(2, |&byte| byte == b'=').collect::<Vec<_>>());
        let next = pairs.join(&b'&');
        if next == query {
            return query;
        }
        query = next;
    }
}

/// Steps 1 and 3: without tabs and line breaks, "Triplets are decoded until none is left".
fn decode(bytes: &[u8]) -> Vec<u8> {
    let mut text = without_breaks(bytes);
    loop {
        let next = percent::decode_all(&text);
        if next == text {
            return text;
        }
        text = next;
    }
}

/// Step 8: "`%`, `#` and what is outside 0x21-0x7E become triplets with digits in **lower** case."
fn is_plain(byte: u8) -> bool {
    (0x21..=0x7E).contains(&byte) && byte != b'%' && byte != b'#'
}

fn encode(text: &[u8], is_plain: fn(u8) -> bool) -> Vec<u8> {
    let spelled =
        |&byte: &u8| if is_plain(byte) { vec![byte] } else { format!("%{byte:02x}").into_bytes() };
    text.iter().flat_map(spelled).collect()
}
