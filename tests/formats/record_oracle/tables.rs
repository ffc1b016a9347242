//! The formats whose fields have names: whole inputs, since a header affects the lines after it.

use super::{
    Holds, Known, Slashless, hex_value, method_and_target, request, target, unescape_backslash,
    unescape_hex, unescaped,
};

type Said = Vec<(&'static str, Vec<u8>)>;

/// The content of each record of an input.
pub fn read_all(format: &str, known: &Known, input: &[u8]) -> Vec<Holds> {
    if let Some(column) = format.strip_prefix("csv:") {
        return csv(column, known, input);
    }
    let mut holds = Vec::new();
    let mut legend: Option<(u8, Vec<u8>)> = None;
    let mut header: Option<Vec<Vec<u8>>> = None;
    let mut software = "";
    let mut has_tabs = false;
    for line in lines(input) {
        if format == "text" {
            holds.extend(text(known, &line, is_markup(input)));
            continue;
        }
        if line.len() > known.max_record {
            holds.push(Holds::Reject("too-long", 0));
            continue;
        }
        if line.iter().all(|b| *b == b' ' || *b == b'\t') {
            holds.push(Holds::Blank);
            continue;
        }
        let unmarked = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line).to_vec();
        holds.push(match format {
            "cdx" => match letters(&unmarked) {
                Some(new) => {
                    legend = Some(new);
                    Holds::Skipped
                }
                None if line.starts_with(b"@alias ") => Holds::Skipped,
                None => cdx(known, &line, &legend),
            },
            "w3c" | "cloudfront" if unmarked[..].starts_with(b"#") => {
                if let Some(names) = unmarked.strip_prefix(b"#Fields:") {
                    header = Some(words(names, b" \t\x0c\r\n"));
                    let inner = names.trim_ascii();
                    has_tabs = inner.contains(&b'\t') && !inner.contains(&b' ');
                }
                if let Some(name) = unmarked.strip_prefix(b"#Software:") {
                    let has = |part: &[u8]| name.windows(part.len()).any(|w| w == part);
                    software = match (has(b"Internet Information Services"), has(b"IIS")) {
                        (true, _) => "IIS itself",
                        (_, true) => "a module of IIS",
                        _ => "",
                    };
                }
                Holds::Skipped
            }
            "w3c" | "cloudfront" => match &header {
                None => Holds::Reject("log-syntax", 0),
                Some(names) => extended(format, known, &line, &(names.clone(), has_tabs), software),
            },
            "elb" => elb(known, &line),
            "ltsv" => ltsv(known, &line),
            "cdxj" => {
                let skipped: [&[u8]; 3] = [b"!", b"@", b" CDX"];
                if skipped.iter().any(|start| line.starts_with(start)) {
                    Holds::Skipped
                } else {
                    cdxj(known, &line)
                }
            }
            _ => {
                if let Some(pointer) = format.strip_prefix("json:") {
                    holds.push(json_line(pointer, known, &line));
                    continue;
                }
                let column = format.strip_prefix("tsv:").expect("there are no others");
                let fields = split(&line, b'\t');
                match (column.parse::<usize>(), &header) {
                    (Ok(number), _) => field(known, fields.get(number - 1)),
                    (Err(_), None) => {
                        header = Some(split(&unmarked, b'\t'));
                        Holds::Skipped
                    }
                    (Err(_), Some(names)) => misfit(names, &fields)
                        .unwrap_or_else(|| field(known, by_name(names, column, &fields))),
                }
            }
        });
    }
    holds
}

fn lines(input: &[u8]) -> Vec<Vec<u8>> {
    let mut lines = split(input, b'\n');
    let last = lines.pop().unwrap();
    for line in &mut lines {
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    }
    if !last.is_empty() {
        lines.push(last);
    }
    lines
}

fn split(text: &[u8], at: u8) -> Vec<Vec<u8>> {
    text.split(|b| *b == at).map(<[u8]>::to_vec).collect()
}

fn words(text: &[u8], spaces: &[u8]) -> Vec<Vec<u8>> {
    let words = text.split(|b| spaces.contains(b)).filter(|word| !word.is_empty());
    words.map(<[u8]>::to_vec).collect()
}

fn by_name<'a>(names: &[Vec<u8>], name: &str, fields: &'a [Vec<u8>]) -> Option<&'a Vec<u8>> {
    let name = name.as_bytes();
    let at = names.iter().position(|other| other == name);
    let at = at.or_else(|| names.iter().position(|other| other.eq_ignore_ascii_case(name)));
    let bare = |other: &[u8]| other.trim_ascii().eq_ignore_ascii_case(name);
    let at = at.or_else(|| names.iter().position(|other| bare(other)))?;
    fields.get(at)
}

/// Why a row with this header has no fields that can be trusted.
fn misfit(names: &[Vec<u8>], fields: &[Vec<u8>]) -> Option<Holds> {
    match fields.len() as i64 - names.len() as i64 {
        0 => None,
        ..0 => Some(Holds::Reject("truncated", 0)),
        1.. => Some(Holds::Reject("log-syntax", 0)),
    }
}

fn field(known: &Known, url: Option<&Vec<u8>>) -> Holds {
    match url {
        None => Holds::Reject("no-field", 0),
        Some(url) if url.iter().all(|b| *b == b' ' || *b == b'\t') => Holds::Blank,
        Some(url) if url.len() > known.max_url => Holds::Reject("too-long", known.max_url),
        Some(url) => Holds::Url(url.clone()),
    }
}

fn letters(line: &[u8]) -> Option<(u8, Vec<u8>)> {
    let is_trimmed = line.starts_with(b"CDX ") || line.starts_with(b"CDX\t");
    let delimiter = if is_trimmed { line[3] } else { *line.first()? };
    let words = split(if is_trimmed { line } else { &line[1..] }, delimiter);
    let legend = !delimiter.is_ascii_alphanumeric()
        && words.len() > 1
        && words[0] == b"CDX"
        && words[1..].iter().all(|word| word.len() == 1);
    legend.then(|| (delimiter, words[1..].concat()))
}

fn cdx(known: &Known, line: &[u8], legend: &Option<(u8, Vec<u8>)>) -> Holds {
    let (delimiter, at, counts) = match legend {
        None => (b' ', Some(2), vec![7, 9, 10, 11, 14]),
        Some((delimiter, letters)) => {
            let at = letters.iter().rposition(|letter| *letter == b'a');
            (*delimiter, at, vec![letters.len()])
        }
    };
    let columns = split(line, delimiter);
    if !counts.contains(&columns.len()) {
        return Holds::Reject("log-syntax", 0);
    }
    field(known, at.map(|at| &columns[at]))
}

fn cdxj(known: &Known, line: &[u8]) -> Holds {
    let columns: Vec<&[u8]> = line.splitn(3, |b| *b == b' ').collect();
    match columns[..] {
        [key, time, json]
            if !key.is_empty()
                && !time.is_empty()
                && time.iter().all(u8::is_ascii_digit)
                && json.starts_with(b"{") =>
        {
            json_line("/url", known, json)
        }
        _ => Holds::Reject("log-syntax", 0),
    }
}

fn elb(known: &Known, line: &[u8]) -> Holds {
    let quoted: Vec<Vec<u8>> = split(line, b'"');
    match quoted.len() {
        1 => Holds::Reject("log-syntax", 0),
        2 => Holds::Reject("truncated", 0),
        _ if quoted[1] == b"-" || quoted[1].starts_with(b"- ") => Holds::Reject("log-syntax", 0),
        _ => request(known, &quoted[1], |text| unescape_hex(text, b"\\x"), None),
    }
}

/// Whether a text begins with a tag, a comment or a declaration.
fn is_markup(input: &[u8]) -> bool {
    let input = input.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(input).trim_ascii_start();
    match input {
        [b'<', b'!' | b'?', ..] => true,
        [b'<', rest @ ..] if rest.first().is_some_and(u8::is_ascii_alphabetic) => {
            let name = |b: &&u8| b.is_ascii_alphanumeric() || b"-_.:".contains(b);
            let after: Vec<u8> = rest.iter().skip_while(name).copied().take(2).collect();
            after.is_empty() || after[0].is_ascii_whitespace() || after[0] == b'>' || after == b"/>"
        }
        _ => false,
    }
}

/// A text without the escapes that JSON may use in a URL.
fn without_json_escapes(line: &[u8]) -> Vec<u8> {
    let has = |part: &[u8]| line.windows(part.len()).any(|window| window == part);
    let slashes = has(br":\/\/");
    unescaped(line, |rest| {
        let byte = rest.strip_prefix(br"\u00").and_then(hex_value);
        let byte = byte.filter(|b| (0x21..0x7F).contains(b));
        match byte.filter(|b| !b"\"<>\\^`{|}".contains(b)) {
            Some(byte) => Some((vec![byte], 6)),
            None if slashes && rest.starts_with(br"\/") => Some((b"/".to_vec(), 2)),
            None if rest.starts_with(br"\\") => Some((br"\\".to_vec(), 2)),
            None => None,
        }
    })
}

/// A reference at the start of a text: its character, and its length.
fn reference(text: &[u8]) -> Option<(char, usize)> {
    let end = text.iter().take(12).position(|b| *b == b';')?;
    let name = std::str::from_utf8(text[..end].strip_prefix(b"&")?).ok()?;
    let digits = |digits: &str, radix| {
        let are_digits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        u32::from_str_radix(digits, radix).ok().filter(|_| are_digits)
    };
    let meant = match name {
        "amp" | "AMP" => '&',
        "lt" | "LT" => '<',
        "gt" | "GT" => '>',
        "quot" | "QUOT" => '"',
        "apos" | "APOS" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let hexadecimal = number.strip_prefix(['x', 'X']);
            let number = hexadecimal.map_or_else(|| digits(number, 10), |n| digits(n, 16))?;
            char::from_u32(number).filter(|c| *c != '\0')?
        }
    };
    Some((meant, end + 1))
}

fn without_references(text: &[u8]) -> Vec<u8> {
    unescaped(text, |text| {
        reference(text).map(|(meant, length)| (meant.to_string().into_bytes(), length))
    })
}

/// The name of the attribute whose value starts after the last quotation mark of a text, and the part of the
/// value that the text has.
fn attribute(before: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let quote = before.iter().rposition(|b| *b == b'"' || *b == b'\'')?;
    let name = before[..quote].trim_ascii_end().strip_suffix(b"=")?.trim_ascii_end();
    let outside = |b: &u8| b.is_ascii_whitespace() || *b == b'<' || *b == b'"' || *b == b'\'';
    let name: Vec<u8> = name.iter().rev().copied().take_while(|b| !outside(b)).collect();
    let name: Vec<u8> = name.into_iter().rev().collect();
    (!name.is_empty()).then(|| (name, before[quote + 1..].trim_ascii().to_vec()))
}

fn text(known: &Known, line: &[u8], is_markup: bool) -> Vec<Holds> {
    if line.len() > known.max_record {
        return vec![Holds::Reject("too-long", 0)];
    }
    let line = without_json_escapes(line);
    let mut found = Vec::new();
    for url in uniqurl::uri::extract(&line) {
        let before = &line[..url.span.start];
        let attribute = attribute(before);
        if let Some((name, value)) = &attribute {
            let local = name.rsplit(|b| *b == b':').next().unwrap();
            let names = (name == b"xmlns" || name.starts_with(b"xmlns:")) && value.is_empty();
            if names || [&b"schemaLocation"[..], b"noNamespaceSchemaLocation"].contains(&local) {
                continue;
            }
        }
        let tag = before.split(|b| *b == b'<').next_back().unwrap();
        let is_in_tag = tag.len() < before.len()
            && tag.first().is_some_and(u8::is_ascii_alphabetic)
            && tag.contains(&b'=')
            && !tag.contains(&b'>');
        let mut uri = url.uri.to_vec();
        if is_markup || is_in_tag {
            if uri.len() == url.span.len() {
                let is_value = attribute.is_some_and(|(_, value)| value.is_empty());
                uri = match is_value {
                    true => {
                        let quote = *before.trim_ascii_end().last().unwrap();
                        uri.split(|b| *b == quote).next().unwrap().to_vec()
                    }
                    false => bare_in_markup(&line[url.span.start..], uri.len()),
                };
            }
            let colon = uri.iter().position(|b| *b == b':');
            if colon.is_none_or(|colon| uri[colon + 1..].iter().all(|b| *b == b'/')) {
                continue;
            }
            uri = without_references(&uri);
        }
        found.push(field(known, Some(&uri)));
    }
    if found.is_empty() { vec![Holds::Skipped] } else { found }
}

/// A URL of this length at the start of a text, up to a reference that ends it.
fn bare_in_markup(text: &[u8], length: usize) -> Vec<u8> {
    let mut end = length;
    let (mut at, mut kept) = (0, 0);
    while at < length {
        match reference(&text[at..]) {
            Some((meant, _)) if meant.is_whitespace() || "\"<>".contains(meant) => {
                end = at;
                break;
            }
            Some((_, of_reference)) => {
                at += of_reference;
                kept = at;
                end = end.max(at);
            }
            None => at += 1,
        }
    }
    while end > kept && b".,:;!?'([".contains(&text[end - 1]) {
        end -= 1;
    }
    text[..end].to_vec()
}

fn extended(
    format: &str,
    known: &Known,
    line: &[u8],
    (names, has_tabs): &(Vec<Vec<u8>>, bool),
    software: &str,
) -> Holds {
    let fields: Vec<Vec<u8>> = if format == "cloudfront" {
        split(line, b'\t').iter().map(|field| unescape_hex(field, b"%")).collect()
    } else if *has_tabs {
        split(line, b'\t')
    } else if software == "IIS itself" {
        words(line, b" \t")
    } else {
        quoted_words(line)
    };
    if let Some(misfit) = misfit(names, &fields) {
        return misfit;
    }
    let value = |name: &str| {
        let at = names.iter().position(|other| other.eq_ignore_ascii_case(name.as_bytes()))?;
        Some(fields.get(at).cloned().unwrap_or_default())
    };
    let first = |list: &[&str]| list.iter().find_map(|name| value(name)).unwrap_or_default();
    let mut said: Said = Vec::new();
    let mut path = if format == "cloudfront" {
        said.push(("host", first(&["x-host-header", "cs(host)"])));
        said.push(("scheme", first(&["cs-protocol"])));
        first(&["cs-uri-stem"])
    } else {
        said.push(("target", first(&["cs-uri"])));
        said.push(("host", first(&["cs-host", "cs(host)"])));
        said.push(("scheme", first(&["cs-uri-scheme"])));
        said.push(("port", first(&["s-port", "cs-uri-port"])));
        first(&["cs-uri-stem", "cs-uri-path"])
    };
    if software.contains("IIS") {
        let triplet = |b: &u8| match b {
            b'%' => b"%25".to_vec(),
            b'?' => b"%3F".to_vec(),
            b'#' => b"%23".to_vec(),
            other => vec![*other],
        };
        path = path.iter().flat_map(triplet).collect();
    }
    said.push(("path", path));
    let query = first(&["cs-uri-query"]);
    let has_mark = format == "w3c" && !software.contains("IIS");
    let is_data = query.starts_with(b"?") && !has_mark;
    said.push(("query", if is_data { [b"?", &query[..]].concat() } else { query }));
    said.push(("method", first(&["cs-method"])));
    joined(known, &said)
}

/// Words between spaces and tabs; one in quotation marks may hold both.
fn quoted_words(line: &[u8]) -> Vec<Vec<u8>> {
    let is_space = |b: u8| b == b' ' || b == b'\t';
    let mut words = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if is_space(line[at]) {
            at += 1;
            continue;
        }
        let mut word = Vec::new();
        let mut end = at + 1;
        let mut closed = false;
        while line[at] == b'"' && end < line.len() && !closed {
            if line[end] != b'"' {
                word.push(line[end]);
            } else if line.get(end + 1) == Some(&b'"') {
                word.push(b'"');
                end += 1;
            } else {
                closed = true;
            }
            end += 1;
        }
        if closed && line.get(end).is_none_or(|b| is_space(*b)) {
            at = end;
        } else {
            word = line[at..].iter().copied().take_while(|b| !is_space(*b)).collect();
            at += word.len();
        }
        words.push(word);
    }
    words
}

/// The URL that the parts form.
fn joined(known: &Known, said: &Said) -> Holds {
    let part = |name: &str| part(said, name);
    let method = part("method");
    let scheme = part("scheme");
    if !has_valid_scheme(said) {
        return Holds::Reject("log-syntax", 0);
    }
    let whole = match (part("target"), part("path"), part("query")) {
        (Some(target), _, query) if scheme_is_missing(&target, &method, &part("host")) => {
            let scheme = scheme.clone().or_else(|| match part("port").as_deref() {
                Some(b"443") => Some(b"https".to_vec()),
                Some(b"80") => Some(b"http".to_vec()),
                _ => known.base.map(|(scheme, _)| scheme.as_bytes().to_vec()),
            });
            let mut url = [&scheme.unwrap_or(b"http".to_vec()), &b"://"[..], &target].concat();
            if let Some(query) = query.filter(|_| !target.contains(&b'?')) {
                url.push(b'?');
                url.extend(query.strip_prefix(b"?").unwrap_or(&query));
            }
            url
        }
        (Some(target), ..) => target,
        (None, None, _) => return Holds::Reject("no-field", 0),
        (None, Some(path), None) => path,
        (None, Some(path), Some(query)) => {
            let mark: &[u8] = if query[0] == b'?' { b"" } else { b"?" };
            [&path, mark, &query].concat()
        }
    };
    placed(known, &whole, method, said)
}

/// The value of a part, unless it is empty or a dash.
fn part(said: &Said, name: &str) -> Option<Vec<u8>> {
    let value = said.iter().find(|(other, _)| *other == name).map(|(_, value)| value.clone());
    value.filter(|value| !value.is_empty() && value != b"-")
}

fn has_valid_scheme(said: &Said) -> bool {
    let is_scheme = |s: Vec<u8>| {
        s[0].is_ascii_alphabetic()
            && s.iter().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b))
    };
    part(said, "host").is_none() || part(said, "scheme").is_none_or(is_scheme)
}

/// A line of labels and values, whose loggers escape with backslashes.
fn ltsv(known: &Known, line: &[u8]) -> Holds {
    let fields = split(line, b'\t');
    let first = |labels: &[&str]| {
        let of = |label: &&str| {
            let label = [label.as_bytes(), b":"].concat();
            let mut values = fields.iter().filter_map(|field| field.strip_prefix(&label[..]));
            values.find(|value| !value.is_empty() && *value != b"-").map(unescape_backslash)
        };
        labels.iter().find_map(of)
    };
    let (target, query) =
        (first(&["request_uri", "uri", "path"]), first(&["query", "query_string", "args"]));
    let mut said: Said = Vec::new();
    for (name, labels) in [
        ("method", &["method", "request_method"][..]),
        ("host", &["vhost", "http_host", "server_name"]),
        ("scheme", &["scheme"]),
    ] {
        first(labels).into_iter().for_each(|value| said.push((name, value)));
    }
    if let Some(request) = first(&["req", "request"]) {
        return match method_and_target(&request).filter(|_| has_valid_scheme(&said)) {
            Some((method, target)) => placed(known, &target, Some(method), &said),
            None => Holds::Reject("log-syntax", 0),
        };
    }
    let has_query = target.as_ref().is_some_and(|target| target.contains(&b'?'));
    said.extend(target.map(|target| ("path", target)));
    said.extend(query.filter(|_| !has_query).map(|query| ("query", query)));
    joined(known, &said)
}

/// A target joined to the host of the record.
fn placed(known: &Known, whole: &[u8], method: Option<Vec<u8>>, said: &Said) -> Holds {
    let part = |name: &str| part(said, name);
    let scheme = part("scheme");
    // The verdict on a target does not depend on the host; only one in origin-form is joined to it.
    let alone = Known { base: None, ..*known };
    let holds = target(&alone, whole, method.as_deref(), None);
    let Holds::Target(whole) = holds else { return holds };
    let lacks_slash = whole.iter().find(|b| !known.trims || **b > 0x20) != Some(&b'/');
    if lacks_slash && known.slashless == Slashless::Judged {
        return Holds::Target(whole);
    }
    let host = part("host").and_then(|host| super::host_and_port(&host));
    let has_origin = host.is_some() || known.base.is_some();
    if lacks_slash && known.slashless == Slashless::Rejected && has_origin {
        return Holds::Reject("relative", 0);
    }
    let prefix = match host {
        None => match known.base {
            None => return Holds::Target(whole),
            Some((scheme, authority)) => [scheme.as_bytes(), b"://", authority.as_bytes()].concat(),
        },
        Some((host, own)) => {
            // A colon with nothing after it stays, unless the port stands in its own field.
            let port = match (own, part("port")) {
                (None, apart) => apart,
                (Some(own), Some(apart)) if own.is_empty() => Some(apart),
                (own, _) => own,
            };
            let scheme = scheme.unwrap_or_else(|| match (port.as_deref(), known.base) {
                (Some(b"443"), _) => b"https".to_vec(),
                (Some(b"80"), _) | (_, None) => b"http".to_vec(),
                (_, Some((scheme, _))) => scheme.as_bytes().to_vec(),
            });
            let port = port.map_or(Vec::new(), |port| [b":", &port[..]].concat());
            let authority = [host, port].concat();
            if authority.iter().any(|b| b"/?#@\\".contains(b)) {
                return Holds::Reject("log-syntax", 0);
            }
            [&scheme, &b"://"[..], &authority].concat()
        }
    };
    let spaces = whole.iter().take_while(|b| known.trims && **b <= 0x20).count();
    let prefix = if lacks_slash { [&prefix[..], b"/"].concat() } else { prefix };
    let length = prefix.len();
    Holds::Joined([&whole[..spaces], &prefix, &whole[spaces..]].concat(), length)
}

/// Whether a field `cs-uri` is `host/path`.
fn scheme_is_missing(uri: &[u8], method: &Option<Vec<u8>>, host: &Option<Vec<u8>>) -> bool {
    let text = String::from_utf8_lossy(uri);
    let Some((first, _)) = text.split_once('/') else { return false };
    let (name, port) = first.split_once(':').unwrap_or((first, ""));
    host.is_none()
        && method.as_deref() != Some(b"CONNECT")
        && name.contains('.')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c))
        && port.chars().all(|c| c.is_ascii_digit())
}

/// A whole input of CSV, one byte at a time.
fn csv(column: &str, known: &Known, input: &[u8]) -> Vec<Holds> {
    let mut holds = Vec::new();
    let mut header: Option<Vec<Vec<u8>>> = None;
    let mut at = 0;
    let mut single_until = 0;
    while at < input.len() {
        let line_end = input[at..].iter().position(|b| *b == b'\n').map_or(input.len(), |n| at + n);
        let without_return = |end: usize| {
            let end = if end < input.len() && end > at && input[end - 1] == b'\r' {
                end - 1
            } else {
                end
            };
            &input[at..end]
        };
        let mut parsed = csv_record(&input[at..]);
        if at < single_until || parsed.as_ref().is_none_or(|(_, length)| *length > known.max_record)
        {
            if at >= single_until {
                single_until = at + known.max_record + 1;
            }
            let line = without_return(line_end);
            parsed = csv_record(line).map(|(fields, _)| (fields, line_end - at));
            if line.len() > known.max_record {
                holds.push(Holds::Reject("too-long", 0));
                at = line_end + 1;
                continue;
            }
            if parsed.is_none() {
                holds.push(Holds::Reject("truncated", 0));
                at = line_end + 1;
                continue;
            }
        }
        let (mut fields, length) = parsed.unwrap();
        let record = without_return(at + length);
        if record.len() < length {
            fields = csv_record(record).unwrap().0;
        }
        at += length + 1;
        if record.iter().all(|b| *b == b' ' || *b == b'\t') {
            holds.push(Holds::Blank);
            continue;
        }
        holds.push(match (column.parse::<usize>(), &header) {
            (Ok(number), _) => field(known, fields.get(number - 1)),
            (Err(_), None) => {
                let unmarked = record.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(record);
                header = csv_record(unmarked).map(|(fields, _)| fields).or(Some(fields));
                Holds::Skipped
            }
            (Err(_), Some(names)) => misfit(names, &fields)
                .unwrap_or_else(|| field(known, by_name(names, column, &fields))),
        });
    }
    holds
}

/// The fields of the first record and its length without its line feed. None if a quotation in it
/// does not close.
fn csv_record(input: &[u8]) -> Option<(Vec<Vec<u8>>, usize)> {
    let mut fields = vec![Vec::new()];
    let (mut at, mut starts, mut quoted) = (0, true, false);
    while at < input.len() {
        let byte = input[at];
        at += 1;
        let field = fields.last_mut().unwrap();
        if quoted {
            if byte != b'"' {
                field.push(byte);
            } else if input.get(at) == Some(&b'"') {
                field.push(b'"');
                at += 1;
            } else {
                quoted = false;
            }
            continue;
        }
        match byte {
            b'"' if starts => quoted = true,
            b',' => fields.push(Vec::new()),
            b'\n' => return Some((fields, at - 1)),
            other => field.push(other),
        }
        starts = byte == b',';
    }
    (!quoted).then_some((fields, at))
}

/// A JSON value, as far as these tests need one.
enum Json {
    Text(Vec<u8>),
    Object(Vec<(Vec<u8>, Json)>),
    Null,
    Other,
}

fn json_line(pointer: &str, known: &Known, line: &[u8]) -> Holds {
    let mut at = 0;
    let value = json_value(line, &mut at);
    skip_space(line, &mut at);
    let (Some(mut value), true) = (value, at == line.len()) else {
        return Holds::Reject("log-syntax", 0);
    };
    for token in pointer.split('/').skip(1) {
        let Json::Object(members) = value else { return Holds::Reject("no-field", 0) };
        let last = members.into_iter().rfind(|(name, _)| name == token.as_bytes());
        let Some((_, member)) = last else { return Holds::Reject("no-field", 0) };
        value = member;
    }
    match value {
        Json::Text(url) => field(known, Some(&url)),
        Json::Null => Holds::Blank,
        _ => Holds::Reject("no-field", 0),
    }
}

fn skip_space(text: &[u8], at: &mut usize) {
    while text.get(*at).is_some_and(|b| b" \t\r\n".contains(b)) {
        *at += 1;
    }
}

fn json_value(text: &[u8], at: &mut usize) -> Option<Json> {
    skip_space(text, at);
    match *text.get(*at)? {
        b'"' => json_text(text, at).map(Json::Text),
        b'{' => {
            *at += 1;
            let mut members = Vec::new();
            loop {
                skip_space(text, at);
                if members.is_empty() && text.get(*at) == Some(&b'}') {
                    *at += 1;
                    return Some(Json::Object(members));
                }
                let name = json_text(text, at)?;
                skip_space(text, at);
                if text.get(*at) != Some(&b':') {
                    return None;
                }
                *at += 1;
                let value = json_value(text, at)?;
                members.push((name, value));
                skip_space(text, at);
                *at += 1;
                match text.get(*at - 1) {
                    Some(b',') => {}
                    Some(b'}') => return Some(Json::Object(members)),
                    _ => return None,
                }
            }
        }
        _ => {
            for (word, value) in
                [(&b"null"[..], Json::Null), (b"true", Json::Other), (b"12", Json::Other)]
            {
                if text[*at..].starts_with(word) {
                    *at += word.len();
                    return Some(value);
                }
            }
            None
        }
    }
}

fn json_text(text: &[u8], at: &mut usize) -> Option<Vec<u8>> {
    if text.get(*at) != Some(&b'"') {
        return None;
    }
    *at += 1;
    let mut out = Vec::new();
    loop {
        let byte = *text.get(*at)?;
        *at += 1;
        match byte {
            b'"' => return Some(out),
            b'\\' => {
                let escape = *text.get(*at)?;
                *at += 1;
                match escape {
                    b'"' | b'\\' | b'/' => out.push(escape),
                    b'n' => out.push(b'\n'),
                    b't' => out.push(b'\t'),
                    b'x' => {
                        out.push(hex_value(text.get(*at..)?)?);
                        *at += 2;
                    }
                    b'u' => {
                        let (high, low) =
                            (hex_value(text.get(*at..)?)?, hex_value(text.get(*at + 2..)?)?);
                        let letter = char::from_u32(u32::from(high) << 8 | u32::from(low))?;
                        out.extend(letter.to_string().bytes());
                        *at += 4;
                    }
                    _ => return None,
                }
            }
            other => out.push(other),
        }
    }
}
