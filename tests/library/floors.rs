//! The floor rule: a module of `src/` imports modules of smaller numbers only, by their own paths. And no files
//! import each other in a circle.
//!
//! In: the text of each file below `src/`. Out: a line for each path that breaks the rule, and the files of each
//! circle. Comments and strings do not count; tests inside of modules count for the floors alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the root by number. Modules of one number do not import each other.
const FLOORS: [(&str, u8); 8] = [
    ("bytes", 0),
    ("profile", 1),
    ("simd", 2),
    ("normalize", 3),
    ("uri", 4),
    ("key", 4),
    ("set", 5),
    ("comparison", 6),
];

/// Modules of the root that belong to it: they re-export, implement traits of other crates, or serve tests.
const WITHOUT_FLOOR: [&str; 3] = ["internal", "serialize", "test_util"];

fn floor(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, number)| *number)
}

#[test]
fn modules_import_lower_floors_only() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    assert!(files.len() > 50, "{} files below {}", files.len(), src.display());
    let mut broken = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(&src).unwrap().to_str().unwrap().replace('\\', "/");
        broken.extend(violations(&name, &text));
    }
    assert!(broken.is_empty(), "the floor rule is broken:\n{}", broken.join("\n"));
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let name = |file: &PathBuf| file.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
    let texts: Vec<_> =
        files.iter().map(|file| (name(file), fs::read_to_string(file).unwrap())).collect();
    let imports = imports(&texts);
    let many: usize = imports.values().map(BTreeSet::len).sum();
    assert!(many > 400, "{many} imports");
    assert_eq!(circle(&imports), BTreeSet::new(), "these files import each other in a circle");
}

#[test]
fn planted_circle_is_found_through_a_re_export() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let texts = [
        file("a/mod.rs", "mod b; mod c; pub use b::Bee;"),
        file("a/b.rs", "use super::c::Sea; pub struct Bee;"),
        file("a/c.rs", "use crate::a::{Bee}; pub struct Sea;"),
        file("d.rs", "use crate::a::Bee;\n#[cfg(test)]\nmod tests { use crate::e; }"),
        file("e.rs", "use crate::d;"),
    ];
    let found = circle(&imports(&texts));
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a/b.rs", "a/c.rs"]);
}

#[test]
fn every_root_module_has_a_floor() {
    let root = include_str!("../../src/lib.rs");
    let declared = root
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .filter(|name| !WITHOUT_FLOOR.contains(name));
    assert_eq!(declared.collect::<Vec<_>>(), FLOORS.map(|(name, _)| name));
}

#[test]
fn planted_import_violations_are_found() {
    let upward = "fn a() {}\n\nuse crate::normalize::Normalizer;\n";
    assert_eq!(
        violations("simd/lines.rs", upward),
        ["src/simd/lines.rs:3: `crate::normalize` is floor 3, and `simd` is floor 2"]
    );
    let grouped = "use crate::{\n    bytes::{Span, percent},\n    set::UrlSet,\n    simd,\n};";
    assert_eq!(
        violations("profile/mod.rs", grouped),
        [
            "src/profile/mod.rs:3: `crate::set` is floor 5, and `profile` is floor 1",
            "src/profile/mod.rs:4: `crate::simd` is floor 2, and `profile` is floor 1",
        ]
    );
    let beside = "fn key() -> crate::key::Key { crate :: key::Key::Url }";
    assert_eq!(violations("uri/mod.rs", beside).len(), 2);
    let of_root = "#[cfg(test)]\nmod tests {\n    use crate::{Profile, bytes::Span};\n}";
    assert_eq!(
        violations("set/mod.rs", of_root),
        ["src/set/mod.rs:3: `crate::Profile` is a re-export of the root"]
    );
    assert_eq!(violations("set/mod.rs", "use crate::*;").len(), 1);
}

#[test]
fn comments_strings_and_tests_are_not_imports() {
    for allowed in [
        "use crate::bytes::Span;\nuse crate::{profile::Profile, simd::{Backend, lines}};",
        "pub(crate) fn f<'a>(a: &'a str) -> char { 'c' }",
        "//! [`crate::Normalizer`]\n/// [`crate::set`]\n/* crate::set /* crate::key */ crate::set */",
        r##"const A: &str = "\" crate::set"; const B: &[u8] = br#"" crate::set"#; const C: char = '"';"##,
        "use crate::normalize::{self, Rule}; #[cfg(test)] use crate::test_util::cases;",
    ] {
        assert_eq!(violations("normalize/mod.rs", allowed), [""; 0], "{allowed}");
    }
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

/// One line for each path in a file that breaks the rule. The file's name is relative to `src/`.
fn violations(file: &str, text: &str) -> Vec<String> {
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
fn imports(texts: &[(String, String)]) -> BTreeMap<&str, BTreeSet<&str>> {
    let module = |file: &str| -> Vec<String> {
        let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
        path.split('/').filter(|name| *name != "lib").map(str::to_owned).collect()
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
    paths.iter().filter(|(file, _)| **file != "lib.rs").map(|entry| (*entry.0, of(entry))).collect()
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
fn circle<'f>(imports: &BTreeMap<&'f str, BTreeSet<&'f str>>) -> BTreeSet<&'f str> {
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
