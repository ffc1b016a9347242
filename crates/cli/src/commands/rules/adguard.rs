//! Reads filters of AdGuard with the modifier `$removeparam`.
//!
//! A filter is a pattern of URLs, which ignores case, and modifiers. `$removeparam=NAME` removes the parameters of this
//! name, with case; without a name, the whole query. `@@` makes it an exception, for the filters of the same name or for
//! all. `domain` names the hosts of a page; without a pattern it is the page that is asked for.

use super::pattern::{Scope, Token, name_glob, texts};
use super::{EXCEPTION_NOT_TAKEN, Imported, Removal};

/// A filter whose modifiers are known.
struct Filter<'a> {
    line: &'a str,
    is_exception: bool,
    scopes: Vec<Scope>,
    excepted: Vec<Scope>,
    /// Why the scopes are wider than the pattern.
    wider: Option<&'static str>,
    value: Option<String>,
}

pub(super) fn read(text: &str) -> Imported {
    let mut imported = Imported::default();
    let is_rule = |line: &&str| !line.is_empty() && !line.starts_with(['!', '[']);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(is_rule).collect();
    let split: Vec<_> = lines.iter().map(|line| Some((*line, modifiers(line)?))).collect();
    imported.others = split.iter().filter(|filter| filter.is_none()).count();
    let split: Vec<_> = split.into_iter().flatten().collect();
    // What a filter would be without `badfilter` is off.
    let off: Vec<_> = split
        .iter()
        .filter_map(|(_, (pattern, modifiers))| {
            let is_bad = |modifier: &String| modifier == "badfilter";
            let rest =
                modifiers.iter().filter(|modifier| !is_bad(modifier)).cloned().collect::<Vec<_>>();
            modifiers.iter().any(is_bad).then_some((*pattern, rest))
        })
        .collect();
    let mut filters = Vec::new();
    for (line, (pattern, modifiers)) in &split {
        let is_off = |(other, rest): &(&str, Vec<String>)| other == pattern && rest == modifiers;
        match Filter::of(line, pattern, modifiers) {
            _ if off.iter().any(is_off) => imported.list("is off by $badfilter", *line),
            Err(_) if line.starts_with("@@") => imported.list(EXCEPTION_NOT_TAKEN, *line),
            Err(reason) => imported.list(reason, *line),
            Ok(filter) => filters.push(filter),
        }
    }
    let exceptions: Vec<_> = filters.iter().filter(|filter| filter.is_exception).collect();
    for exception in &exceptions {
        match exception.wider {
            None => imported.exceptions += 1,
            Some(reason) => imported.list(reason, exception.line),
        }
    }
    for filter in filters.iter().filter(|filter| !filter.is_exception) {
        let names = filter.value.as_deref().map(names).transpose();
        match (filter.wider, names) {
            (Some(reason), _) | (_, Err(reason)) => imported.list(reason, filter.line),
            (None, Ok(names)) => {
                let mut excepted = filter.excepted.clone();
                let of_it =
                    |other: &&&Filter<'_>| other.value.is_none() || other.value == filter.value;
                excepted
                    .extend(exceptions.iter().filter(of_it).flat_map(|other| other.scopes.clone()));
                imported.taken.push(Removal { scopes: filter.scopes.clone(), excepted, names });
            }
        }
    }
    imported
}

/// The pattern and the modifiers of a filter with `removeparam`.
fn modifiers(line: &str) -> Option<(&str, Vec<String>)> {
    let at = line.match_indices('$').map(|(at, _)| at).find(|at| {
        let name = line[at + 1..].split(['=', ',']).next().unwrap_or_default();
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || b"~-_13".contains(&byte))
    })?;
    let mut modifiers = vec![String::new()];
    let mut rest = line[at + 1..].chars();
    while let Some(c) = rest.next() {
        let last = modifiers.last_mut().expect("never empty");
        match (c, rest.as_str().starts_with(',')) {
            ('\\', true) => last.extend(rest.next()),
            (',', _) => modifiers.push(String::new()),
            _ => last.push(c),
        }
    }
    let is_it = |modifier: &String| name_of(modifier) == "removeparam";
    modifiers.iter().any(is_it).then_some((&line[..at], modifiers))
}

fn name_of(modifier: &str) -> &str {
    modifier.split('=').next().unwrap_or_default()
}

impl<'a> Filter<'a> {
    fn of(line: &'a str, pattern: &str, modifiers: &[String]) -> Result<Self, &'static str> {
        let (is_exception, pattern) = match pattern.strip_prefix("@@") {
            Some(pattern) => (true, pattern),
            None => (false, pattern),
        };
        let (mut value, mut domains) = (None, "");
        for modifier in modifiers {
            let (name, text) = modifier.split_once('=').unwrap_or((modifier, ""));
            match name {
                "removeparam" => value = (!text.is_empty()).then(|| text.to_owned()),
                "domain" | "from" => domains = text,
                "document" | "doc" | "all" => {}
                "badfilter" => return Err("is off by $badfilter"),
                "match-case" => return Err("compares URLs with case"),
                _ => return Err("is for some requests alone"),
            }
        }
        let (scope, wider) = scope(pattern)?;
        let (mut scopes, mut excepted) = (vec![scope], Vec::new());
        if !domains.is_empty() {
            if scopes[0] != Scope::ALL {
                return Err("names the pages that link to it");
            }
            let named: Vec<_> = domains.split('|').filter(|name| !name.starts_with('~')).collect();
            if !named.is_empty() {
                scopes = named.into_iter().map(Scope::host).collect::<Result<_, _>>()?;
            }
            let others = domains.split('|').filter_map(|name| name.strip_prefix('~'));
            excepted = others.map(Scope::host).collect::<Result<_, _>>()?;
            if is_exception && !excepted.is_empty() {
                return Err("is an exception with an exception");
            }
        }
        Ok(Self { line, is_exception, scopes, excepted, wider, value })
    }
}

/// The scope of a pattern, and why it is wider than that, if it is.
fn scope(pattern: &str) -> Result<(Scope, Option<&'static str>), &'static str> {
    if matches!(pattern, "" | "*") {
        return Ok((Scope::ALL, None));
    }
    if pattern.starts_with('/') && pattern.ends_with('/') && pattern.len() > 1 {
        return Err("is a regular expression for URLs");
    }
    let Some(rest) = pattern.strip_prefix("||") else {
        return Err("is for one scheme or for a part of URLs of any host");
    };
    let (host, tail) = rest.split_at(rest.find(['/', '^', '*', '?', '|']).unwrap_or(rest.len()));
    // A separator ends a host.
    let tail = if matches!(tail, "^" | "^*") { "" } else { tail };
    let tokens = tail.bytes().map(|byte| match byte {
        b'*' => Token::Many,
        b'^' => Token::Opaque("has a separator in its path"),
        b'|' => Token::End,
        byte => Token::Byte(byte),
    });
    let host = std::iter::once(Token::Labels).chain(host.bytes().map(Token::Byte));
    Scope::of_text(&host.chain(tokens).collect::<Vec<_>>())
}

/// The patterns of the names that a value of `removeparam` stands for.
fn names(value: &str) -> Result<Vec<String>, &'static str> {
    if value.starts_with('~') {
        return Err("keeps the parameters that it names");
    }
    if let Some((expression, flags)) =
        value.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'))
    {
        if !flags.is_empty() {
            return Err("has flags");
        }
        return texts(expression).into_iter().map(of_pair).collect();
    }
    let is_of_name = |byte: u8| byte.is_ascii_graphic() && !b"%*?=&+".contains(&byte);
    if !value.bytes().all(is_of_name) {
        return Err("has a character that a name does not have as it stands");
    }
    Ok(vec![value.to_owned()])
}

/// The pattern of the names of parameters that begin with a text, value included. A parameter without `=` does not
/// match an expression that has one, and no pattern tells them apart.
fn of_pair(mut text: Vec<Token>) -> Result<String, &'static str> {
    let is_in_value = |token: &Token| matches!(token, Token::Byte(b'=' | b'&') | Token::Many);
    if text.first() != Some(&Token::Start) || text.iter().any(is_in_value) {
        return Err("depends on values");
    }
    text.extend([Token::Many, Token::End]);
    name_glob(&text)
}
