//! Reads the imports of a crate's files from their text.
//!
//! In: the text of each file below `src/`. Out: a line for each path to a floor that is not lower, and the files
//! of each circle. Comments and strings do not count; tests inside of modules count for the floors alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules of a crate's root by number. Modules of one number do not import each other.
pub type Floors = [(&'static str, u8)];

/// The name below `src` and the text of each file.
pub fn texts(src: &Path) -> Vec<(String, String)> {
    let mut entries: Vec<_> = fs::read_dir(src).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    let mut out = Vec::new();
    for path in entries {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            let inner = texts(&path).into_iter();
            out.extend(inner.map(|(file, text)| (format!("{name}/{file}"), text)));
        } else if name.ends_with(".rs") {
            out.push((name.to_owned(), fs::read_to_string(&path).unwrap()));
        }
    }
    out
}

/// The modules that the text of a `lib.rs` declares.
pub fn declared(root: &str) -> impl Iterator<Item = &str> {
    let lines = root.lines();
    lines.filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
}

/// One line for each path in a file that breaks the rule. The file's name is relative to `src/`.
pub fn violations(floors: &Floors, file: &str, text: &str) -> Vec<String> {
    let floor = |module: &str| floors.iter().find(|(name, _)| *name == module).map(|entry| entry.1);
    let module = file.split('/').next().unwrap();
    // The root may re-export anything, and modules it shares with tests have no floor.
    let Some(own) = floor(module) else { return Vec::new() };
    let mut broken = Vec::new();
    for (line, first) in paths_from_root(text) {
        let why = match floor(&first) {
            _ if first == module || first == "test_util" => continue,
            Some(number) if number < own => continue,
            Some(number) => format!("is floor {number}, and `{module}` is floor {own}"),
            None => "is a re-export of the root".to_owned(),
        };
        broken.push(format!("src/{file}:{line}: `crate::{first}` {why}"));
    }
    broken
}

/// The files that each file imports, without those that a `mod.rs` only hands on.
pub fn imports(texts: &[(String, String)]) -> BTreeMap<&str, BTreeSet<&str>> {
    let module = |file: &str| -> Vec<String> {
        let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
        path.split('/').filter(|name| !["lib", "main"].contains(name)).map(str::to_owned).collect()
    };
    let files: BTreeMap<Vec<String>, &str> =
        texts.iter().map(|(file, _)| (module(file), &**file)).collect();
    let paths: BTreeMap<&str, Vec<(bool, Vec<String>)>> = texts
        .iter()
        .map(|(file, text)| {
            let end = ["#[cfg(test)]\nmod tests {", "#[cfg(all(test"].iter();
            let end = end.filter_map(|start| text.find(start)).min().unwrap_or(text.len());
            (&**file, paths(&text[..end], &module(file), &files))
        })
        .collect();
    let target = |path: &[String]| {
        let mut path = path.to_vec();
        // A name that a module hands on stands in another one.
        for _ in 0..8 {
            let length = (0..=path.len()).rev().find(|n| files.contains_key(&path[..*n]))?;
            let file = files[&path[..length]];
            let name = path.get(length);
            let handed_on =
                paths[file].iter().find(|(is_public, to)| *is_public && to.last() == name);
            match handed_on {
                Some((_, to)) if *to != path => path = [&to[..], &path[length + 1..]].concat(),
                _ => return Some(file),
            }
        }
        None
    };
    let of = |(file, paths): (&&'_ str, &Vec<(bool, Vec<String>)>)| {
        let own = paths.iter().filter(|(is_public, _)| !(*is_public && file.ends_with("mod.rs")));
        own.filter_map(|(_, path)| target(path)).filter(|to| to != file).collect()
    };
    let roots = ["lib.rs", "main.rs"];
    paths
        .iter()
        .filter(|(file, _)| !roots.contains(*file))
        .map(|entry| (*entry.0, of(entry)))
        .collect()
}

/// The paths of a file that begin with `crate` or `super`, and those of its own child modules, as segments from
/// the root; and whether each is handed on by `pub use`.
fn paths(
    text: &str,
    module: &[String],
    files: &BTreeMap<Vec<String>, &str>,
) -> Vec<(bool, Vec<String>)> {
    let tokens: Vec<String> = tokens(text).into_iter().map(|(_, token)| token).collect();
    let is_name = |token: &str| token.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let (mut found, mut is_public, mut in_use) = (Vec::new(), false, false);
    // Prefixes of the groups that are open.
    let mut groups: Vec<Vec<String>> = vec![Vec::new()];
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "use" => {
                let before =
                    tokens[..at].iter().rev().take(6).take_while(|t| !";}".contains(&***t));
                is_public = before.clone().any(|token| token == "pub");
                (in_use, groups) = (true, vec![Vec::new()]);
            }
            ";" => in_use = false,
            "}" if in_use => drop(groups.pop()),
            token if is_name(token) && (at == 0 || tokens[at - 1] != "::") => {
                let mut path =
                    if in_use { groups.last().cloned().unwrap_or_default() } else { Vec::new() };
                path.push(token.to_owned());
                while tokens.get(at + 1).is_some_and(|next| next == "::")
                    && tokens.get(at + 2).is_some_and(|next| is_name(next))
                {
                    path.push(tokens[at + 2].clone());
                    at += 2;
                }
                if in_use && tokens.get(at + 1).is_some_and(|next| next == "::") {
                    groups.push(path);
                    at += 2;
                } else if in_use || path.len() > 1 {
                    found.extend(
                        from_root(&path, module, files).map(|path| (in_use && is_public, path)),
                    );
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// A path from the root, if it begins with `crate`, `super`, `self` or a child module.
fn from_root(
    path: &[String],
    module: &[String],
    files: &BTreeMap<Vec<String>, &str>,
) -> Option<Vec<String>> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    match path[0].as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        "super" => Some([module.get(..module.len().checked_sub(ups)?)?, &path[ups..]].concat()),
        child => files
            .contains_key(&[module, &[child.to_owned()]].concat())
            .then(|| [module, path].concat()),
    }
}

/// The files that are on a circle: each reaches itself.
pub fn circle<'f>(imports: &BTreeMap<&'f str, BTreeSet<&'f str>>) -> BTreeSet<&'f str> {
    let reached = |start: &'f str| {
        let (mut open, mut seen) = (vec![start], BTreeSet::new());
        while let Some(file) = open.pop() {
            let next = imports.get(file).into_iter().flatten();
            open.extend(next.filter(|next| seen.insert(**next)));
        }
        seen
    };
    imports.keys().copied().filter(|file| reached(file).contains(file)).collect()
}

/// The line and the first segment of each path that begins with `crate::`, in groups too.
fn paths_from_root(text: &str) -> Vec<(usize, String)> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if tokens[at].1 != "crate" || tokens.get(at + 1).is_none_or(|next| next.1 != "::") {
            continue;
        }
        let Some((line, first)) = tokens.get(at + 2) else { continue };
        if first != "{" {
            found.push((*line, first.clone()));
            continue;
        }
        // The first segment of each item of the group follows its brace or a comma.
        let mut depth = 0;
        for pair in tokens[at + 2..].windows(2) {
            let [(_, before), (line, segment)] = pair else { unreachable!("windows of two") };
            match before.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            if depth == 1 && matches!(before.as_str(), "{" | ",") && segment != "}" {
                found.push((*line, segment.clone()));
            }
        }
    }
    found
}

/// Words, `::` and single signs, each with its line; no comments and no literals with quotes.
fn tokens(text: &str) -> Vec<(usize, String)> {
    let chars: Vec<char> = text.chars().collect();
    let starts = |at: usize, with: &str| {
        with.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c))
    };
    let is_word = |at: usize| chars.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let (mut out, mut at, mut line) = (Vec::new(), 0, 1);
    while at < chars.len() {
        let start = at;
        if starts(at, "//") {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if starts(at, "/*") {
            let mut depth = 0;
            loop {
                if starts(at, "/*") {
                    (depth, at) = (depth + 1, at + 2);
                } else if starts(at, "*/") {
                    (depth, at) = (depth - 1, at + 2);
                } else {
                    at += 1;
                }
                if depth == 0 || at >= chars.len() {
                    break;
                }
            }
        } else if let Some((prefix, hashes)) = raw_string(&chars[at..]) {
            let end = format!("\"{}", "#".repeat(hashes));
            at += prefix + hashes + 1;
            while at < chars.len() && !starts(at, &end) {
                at += 1;
            }
            at += end.len();
        } else if chars[at] == '"' {
            at += 1;
            while at < chars.len() && chars[at] != '"' {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if starts(at, "'\\") {
            at += 3;
            while at < chars.len() && chars[at] != '\'' {
                at += 1;
            }
            at += 1;
        } else if chars[at] == '\'' && chars.get(at + 2) == Some(&'\'') {
            at += 3;
        } else if is_word(at) {
            while is_word(at) {
                at += 1;
            }
            out.push((line, chars[start..at].iter().collect()));
        } else if starts(at, "::") {
            at += 2;
            out.push((line, "::".to_owned()));
        } else {
            at += 1;
            if !chars[start].is_whitespace() {
                out.push((line, chars[start].to_string()));
            }
        }
        let end = at.min(chars.len());
        line += chars[start..end].iter().filter(|c| **c == '\n').count();
    }
    out
}

/// The length of a raw string's prefix that begins here, and its number of `#`.
fn raw_string(chars: &[char]) -> Option<(usize, usize)> {
    let prefix = if chars.starts_with(&['b', 'r']) { 2 } else { 1 };
    let rest = chars[prefix - 1..].strip_prefix(&['r'])?;
    let hashes = rest.iter().take_while(|c| **c == '#').count();
    (rest.get(hashes) == Some(&'"')).then_some((prefix, hashes))
}
