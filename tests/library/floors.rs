//! The floor rule: a module of `src/` imports modules of smaller numbers only, by their own paths.
//!
//! In: the text of each file below `src/`. Out: a line for each path that breaks the rule. Comments and
//! strings do not count; tests inside of modules do.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the root by number. Modules of one number do not import each other.
const FLOORS: [(&str, u8); 7] = [
    ("bytes", 0),
    ("profile", 1),
    ("simd", 2),
    ("normalize", 3),
    ("uri", 4),
    ("key", 4),
    ("set", 5),
];

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
fn every_root_module_has_a_floor() {
    let root = include_str!("../../src/lib.rs");
    let declared = root.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
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
