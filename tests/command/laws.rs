//! The laws of a set, with the options that read rules from files and with whole records: its output is a set, parts
//! merge, no thread count, memory or container shows, and every record is counted once.

use super::generator::Rng;
use super::packed::gzip;
use super::{Place, cases};
use std::collections::HashSet;

/// Files that options name.
const FILES: [(&str, &[u8]); 4] = [
    ("sites", b"a.example\n*.b.example\n192.0.2.1\nxn--bcher-kva.example\n"),
    ("blocked", b"||www.a.example^\nb\xC3\xBCcher.example\n"),
    ("routes", b"/item/{product}\n/{shop}/item\nwww.a.example/{page}\n/item/new\n"),
    ("rules.toml", b"name = 'a'\nversion = 1\nbase = 'crawl'\n[host.'a.example'.switches]\nsort-query = true\n[[host.'a.example'.path]]\nglob = '/item/*'\nparameters.drop = ['b']\n"),
];

/// The options, each with what it needs.
const OPTIONS: [&[&str]; 9] = [
    &["--hosts", "sites"],
    &["--not-hosts", "blocked", "--hosts", "sites"],
    &["--key", "template", "--routes", "routes"],
    &["--key", "template", "--routes", "routes", "--order", "sorted"],
    &["--key", "template", "--slugs", "2"],
    &["--key", "domain-icann", "-p", "string", "--not-hosts", "blocked"],
    &["--profile-file", "rules.toml"],
    &["--whole"],
    &["--whole", "--not-hosts", "blocked"],
];

const HOSTS: [&str; 8] = [
    "a.example",
    "WWW.a.example:80",
    "x.b.example",
    "b.example",
    "192.0.2.1",
    "b\u{FC}cher.example",
    "a.example.",
    "other.co.uk",
];

const PATHS: [&str; 8] =
    ["", "/", "/item/pen", "/item/new", "/item/%7Ea", "/shop/item", "/item/7", "/a//b"];

/// A list of so many URLs at most, some of them bad and some lines blank.
fn list(rng: &mut Rng) -> String {
    let mut list = String::new();
    for _ in 0..rng.below(60) {
        let (host, path) = (HOSTS[rng.below(8)], PATHS[rng.below(8)]);
        let rest = ["", "?b=1&a=2", "?a=2&b=1", "#f", " x", "?%zz"][rng.below(6)];
        match rng.below(10) {
            0 => list += "\n",
            1 => list += &format!("{host}{path}\n"),
            2 | 3 => list += &format!("HTTPS://{host}{path}{rest}\n"),
            _ => list += &format!("http://{host}{path}{rest}\n"),
        }
    }
    list
}

/// The set of some files, which are all read as lists.
fn set(place: &Place, options: &[&str], more: &[&str], inputs: &[&str]) -> Vec<u8> {
    let always = ["dedup", "-q", "-f", "lines", "--max-rejected", "100%"];
    place.run(always.iter().chain(options).chain(more).chain(inputs)).exits(0).out
}

fn check(options: &[&str], first: &str, second: &str) {
    let place = Place::with(FILES);
    place.write("first", first);
    place.write("second", second);
    place.write("second.gz", gzip(second.as_bytes()));
    let both = set(&place, options, &["-j", "2"], &["first", "second"]);
    let text = String::from_utf8_lossy(&both);
    for more in [&["-j", "1"][..], &["-j", "7", "--memory", "1M"], &["--backend", "scalar"]] {
        assert_eq!(
            &String::from_utf8_lossy(&set(&place, options, more, &["first", "second.gz"])),
            &text
        );
    }
    // The output is a set: read again, it is itself, but for domains and templates, which are no URLs. Which segments are
    // slugs is known of all templates together.
    let (of_first, of_second) =
        (set(&place, options, &[], &["first"]), set(&place, options, &[], &["second"]));
    if !options.contains(&"--key") {
        place.write("both", &both);
        assert_eq!(&String::from_utf8_lossy(&set(&place, options, &[], &["both"])), &text);
        place.write("of-first", &of_first);
        place.write("of-second", &of_second);
        assert_eq!(
            &String::from_utf8_lossy(&set(&place, options, &[], &["of-first", "of-second"])),
            &text
        );
    } else if !options.contains(&"sorted") && !options.contains(&"--slugs") {
        let mut seen = HashSet::new();
        let parts = [of_first, of_second].concat();
        let merged =
            parts.split_inclusive(|byte| *byte == b'\n').filter(|line| seen.insert(line.to_vec()));
        assert_eq!(merged.collect::<Vec<_>>().concat(), both);
    }
    let is_whole = options.contains(&"--whole");
    let dropped = if is_whole { &["--dropped", "dropped"][..] } else { &[] };
    let counted =
        ["dedup", "--max-rejected", "100%", "-f", "lines", "--stats", "stats", "first", "second"];
    let run = place.run(counted.iter().chain(options).chain(dropped)).exits(0);
    let stats = place.json("stats");
    // Terms that are not in play are left out.
    let terms = ["unique", "duplicates", "filtered", "rejected", "blank"];
    let [unique, duplicates, filtered, rejected, blank] =
        terms.map(|term| stats[term].as_u64().unwrap_or(0));
    assert_eq!(stats["records"], unique + duplicates + filtered + rejected + blank);
    assert_eq!(run.out.iter().filter(|byte| **byte == b'\n').count() as u64, unique);
    if is_whole {
        let dropped = place.read("dropped");
        let lines = dropped.iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!(lines, duplicates + filtered);
    }
}

#[test]
fn laws_hold_with_each_option() {
    cases::for_each_case(400, |rng| {
        let (first, second) = (list(rng), list(rng));
        OPTIONS.iter().for_each(|options| check(options, &first, &second));
    });
}
