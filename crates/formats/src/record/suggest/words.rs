//! A format string for lines of words in which a method stands before the target.
//!
//! Only what one column cannot say is worth a format string: a host in another word, or a query after
//! the path, as IIS writes them.

use super::super::hosts::{is_ipv4, is_ipv6, is_site};

/// Methods of requests that logs hold.
const METHODS: [&[u8]; 10] = [
    b"GET",
    b"POST",
    b"HEAD",
    b"PUT",
    b"DELETE",
    b"OPTIONS",
    b"PATCH",
    b"PROPFIND",
    b"REPORT",
    b"CONNECT",
];

/// Words after the target that may name the host.
const AFTER: usize = 16;

/// Words of a line that are looked at. Each is looked for in all lines.
const WORDS: usize = 64;

/// True if the last word of a text is a method, perhaps after a quotation mark.
pub(super) fn ends_with_method(before: &[u8]) -> bool {
    let word = before.trim_ascii_end().rsplit(|byte| byte.is_ascii_whitespace()).next();
    word.is_some_and(|word| METHODS.contains(&word.strip_prefix(b"\"").unwrap_or(word)))
}

/// The first words of a line.
fn words(line: &[u8]) -> Vec<&[u8]> {
    #[cfg(test)]
    super::looks_at(line);
    line.split(|byte| *byte == b' ').take(WORDS).collect()
}

/// The layout of lines with a host or a query beside the target. None if they have neither.
pub(super) fn layout(lines: &[&[u8]]) -> Option<String> {
    let rows: Vec<Vec<&[u8]>> = lines.iter().map(|line| words(line)).collect();
    let method = rows.iter().find_map(|row| row.iter().position(|word| METHODS.contains(word)))?;
    let target = method + 1;
    let are = |column: usize, is_one: &dyn Fn(&[u8]) -> bool| {
        let has = |row: &&Vec<&[u8]>| row.get(column).is_some_and(|word| is_one(word));
        rows.iter().filter(has).count() * 2 > rows.len()
    };
    if !are(method, &|word| METHODS.contains(&word)) || !are(target, &|word| word.starts_with(b"/"))
    {
        return None;
    }
    let has_query = are(target + 1, &|word| word == b"-" || word.contains(&b'='))
        && are(target + 2, &|word| !word.is_empty() && word.iter().all(u8::is_ascii_digit));
    // Beside the address of the client, the name of a machine is the site.
    let columns = || (0..=target + AFTER).filter(|column| !(method..=target).contains(column));
    let has_client = columns().any(|column| are(column, &|word| is_ipv4(word) || is_ipv6(word)));
    // A class of Java's is dotted, too, and has capitals.
    let is_host = |word: &[u8]| is_site(word) && !word.iter().any(u8::is_ascii_uppercase);
    let host = columns().find(|column| has_client && are(*column, &is_host));
    if host.is_none() && !has_query {
        return None;
    }
    let last = host.unwrap_or(0).max(if has_query { target + 2 } else { target });
    let parts = (0..=last).map(|column| match column {
        _ if column == method => "$request_method",
        _ if column == target => {
            if has_query {
                "$uri"
            } else {
                "$request_uri"
            }
        }
        _ if Some(column) == host => "$host",
        _ if has_query && column == target + 1 => "$args",
        _ if has_query && column == target + 2 => "$server_port",
        _ => "$x",
    });
    Some(format!("log:{} $rest", parts.collect::<Vec<_>>().join(" ")))
}
