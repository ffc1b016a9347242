//! Reads filters of AdGuard with the modifier `$removeparam`.
//!
//! A filter is a pattern of URLs, which ignores case, and modifiers. `$removeparam=NAME` removes the parameters of this
//! name, with case; without a name, all of them. `@@` makes it an exception, from the filters of the same name or from
//! all. `domain` names the hosts of a page; without a pattern it is the page that is asked for.

use super::imported::{EXCEPTION_NOT_MADE, Imported, Removal};
use super::pattern::{END, LABELS, MANY, START, Scope, name_glob, texts};

/// A filter whose modifiers are known.
struct Filter<'a> {
    line: &'a str,
    scopes: Vec<Scope>,
    excepted: Vec<Scope>,
    /// Why the scopes are wider than the pattern.
    wider: Option<&'static str>,
    value: Option<String>,
}

pub(super) fn read(text: &str) -> Imported {
    let mut imported = Imported::default();
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['!', '[']));
    // Each of them turns the filter off that is equal to it otherwise.
    let bad = text.lines().map(str::trim).filter(|line| line.contains("badfilter"));
    let off: Vec<_> =
        bad.map(|line| line.replace(",badfilter", "").replace("badfilter,", "")).collect();
    let (mut filters, mut exceptions) = (Vec::new(), Vec::new());
    for line in lines {
        let Some((pattern, modifiers)) = modifiers(line) else {
            imported.others += 1;
            continue;
        };
        let (of_its_kind, pattern) = match pattern.strip_prefix("@@") {
            Some(pattern) => (&mut exceptions, pattern),
            None => (&mut filters, pattern),
        };
        match Filter::of(line, pattern, &modifiers) {
            _ if off.iter().any(|off| off == line) => imported.list("is off by $badfilter", line),
            Err(_) if line.starts_with("@@") => imported.list(EXCEPTION_NOT_MADE, line),
            Err(reason) => imported.list(reason, line),
            Ok(filter) => of_its_kind.push(filter),
        }
    }
    for Filter { line, mut excepted, scopes, wider, value } in filters {
        let names = value.as_deref().map_or(Ok(vec!["*".to_owned()]), names);
        match wider.map_or(names, Err) {
            Err(reason) => imported.list(reason, line),
            Ok(names) => {
                let of_it =
                    exceptions.iter().filter(|other| other.value.is_none() || other.value == value);
                excepted.extend(of_it.flat_map(|other| other.scopes.clone()));
                imported.taken.push(Removal { scopes, excepted, names });
            }
        }
    }
    exceptions.iter().for_each(|exception| imported.except(exception.wider, exception.line));
    imported
}

/// The pattern and the modifiers of a filter with `removeparam`.
fn modifiers(line: &str) -> Option<(&str, Vec<String>)> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || "~-_".contains(c);
    let mut dollars = line.match_indices('$').map(|(at, _)| at);
    let at = dollars.find(|at| {
        let rest = line[at + 1..].trim_start_matches(is_of_name);
        rest.len() < line.len() - at - 1 && (rest.is_empty() || rest.starts_with(['=', ',']))
    })?;
    // A comma with a backslash before it is one of a value.
    let modifiers = line[at + 1..].replace("\\,", "\0");
    let modifiers: Vec<_> = modifiers.split(',').map(|text| text.replace('\0', ",")).collect();
    let is_it = |text: &String| text.split('=').next() == Some("removeparam");
    modifiers.iter().any(is_it).then_some((&line[..at], modifiers))
}

impl<'a> Filter<'a> {
    fn of(line: &'a str, pattern: &str, modifiers: &[String]) -> Result<Self, &'static str> {
        let (mut value, mut domains) = (None, "");
        for modifier in modifiers {
            match modifier.split_once('=').unwrap_or((modifier, "")) {
                ("removeparam", text) => value = (!text.is_empty()).then(|| text.to_owned()),
                ("domain" | "from", text) => domains = text,
                ("document" | "doc" | "all", _) => {}
                ("badfilter", _) => return Err("is off by $badfilter"),
                _ => return Err("is for some requests alone"),
            }
        }
        let (scope, wider) = scope(pattern)?;
        let (mut scopes, mut excepted) = (Vec::new(), Vec::new());
        for domain in domains.split('|').filter(|domain| !domain.is_empty()) {
            if !pattern.is_empty() {
                return Err("names the pages that link to it");
            }
            let (list, domain) = match domain.strip_prefix('~') {
                Some(_) if line.starts_with("@@") => return Err(EXCEPTION_NOT_MADE),
                Some(domain) => (&mut excepted, domain),
                None => (&mut scopes, domain),
            };
            match Scope::of_text(&format!("{LABELS}{domain}"))? {
                (scope, None) if scope.path == "*" => list.push(scope),
                _ => return Err("names no host"),
            }
        }
        if scopes.is_empty() {
            scopes.push(scope);
        }
        Ok(Self { line, scopes, excepted, wider, value })
    }
}

/// The scope of a pattern, and why it is wider than that, if it is.
fn scope(pattern: &str) -> Result<(Scope, Option<&'static str>), &'static str> {
    if matches!(pattern, "" | "*") {
        return Ok((Scope::all(), None));
    }
    let rest =
        pattern.strip_prefix("||").ok_or("is for one scheme or for a part of URLs of any host")?;
    // A separator ends a host.
    let host =
        rest.strip_suffix("^*").or(rest.strip_suffix('^')).filter(|host| !host.contains('/'));
    let text = host.unwrap_or(rest).replace('*', MANY).replace('|', END);
    Scope::of_text(&format!("{LABELS}{text}"))
}

/// The patterns of the names that a value of `removeparam` stands for.
fn names(value: &str) -> Result<Vec<String>, &'static str> {
    if value.starts_with('~') {
        return Err("keeps the parameters that it names");
    }
    let Some(expression) = value.strip_prefix('/') else {
        // Names in URLs are compared as they stand, and here without triplets.
        let is_plain = !value.contains(['%', '=', '&', '+']);
        let name = is_plain.then(|| name_glob(&format!("{START}{value}{END}")));
        return name.unwrap_or(Err("has a character that no name has")).map(|name| vec![name]);
    };
    // It matches anywhere in `name=value`. A parameter without `=` is no such text, and no pattern of names tells
    // the two apart.
    let expression = expression.strip_suffix('/').ok_or("has flags")?;
    texts(expression)
        .iter()
        .map(|text| {
            let is_in_value =
                !text.starts_with(START) || text.contains(['=', '&']) || text.contains(MANY);
            if is_in_value && !text.chars().any(|c| ('\x11'..' ').contains(&c)) {
                return Err("depends on values");
            }
            name_glob(&[text, MANY, END].concat())
        })
        .collect()
}
