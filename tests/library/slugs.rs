//! Segments with many values: what the library names `{slug}`, against the plain trie.

use std::collections::BTreeMap;

use proptest::prelude::*;
use regex::Regex;
use uniqurl::Template;
use uniqurl::internal::Slugs;
use uniqurl::key::Routes;

use crate::template_oracle::EXTENSIONS;

/// Second implementation: a trie of segments, whose nodes are named and joined from the root down.
#[derive(Default)]
struct Node {
    /// Numbers of the templates that end here, each with what follows its path.
    here: Vec<(usize, String)>,
    below: BTreeMap<String, Node>,
}

impl Node {
    fn add(&mut self, mut segments: std::str::Split<'_, char>, number: usize, query: &str) {
        match segments.next() {
            None => self.here.push((number, query.to_owned())),
            Some(segment) => {
                self.below.entry(segment.to_owned()).or_default().add(segments, number, query);
            }
        }
    }

    fn join(&mut self, other: Self) {
        self.here.extend(other.here);
        for (segment, node) in other.below {
            self.below.entry(segment).or_default().join(node);
        }
    }

    fn name(&mut self, most: usize, rule: &Rule) {
        let mut values: Vec<&str> =
            self.below.keys().filter_map(|segment| rule.value(segment)).collect();
        values.sort_unstable();
        values.dedup();
        if values.len() > most {
            for (segment, node) in std::mem::take(&mut self.below) {
                let named = rule
                    .value(&segment)
                    .map(|value| format!("{{slug}}{}", &segment[value.len()..]));
                self.below.entry(named.unwrap_or(segment)).or_default().join(node);
            }
        }
        self.below.values_mut().for_each(|node| node.name(most, rule));
    }

    fn collect(&self, path: &str, out: &mut [String]) {
        for (number, query) in &self.here {
            out[*number] = format!("{path}{query}");
        }
        for (segment, node) in &self.below {
            node.collect(&format!("{path}/{segment}"), out);
        }
    }
}

/// What is a value.
struct Rule {
    segment: Regex,
    variable: Regex,
}

impl Rule {
    fn new() -> Self {
        let extensions = EXTENSIONS.split_whitespace().collect::<Vec<_>>().join("|");
        let segment = format!(r"^([^;]+?)((?:\.(?i:{extensions})){{0,2}})(?:;.*)?$");
        Self {
            segment: Regex::new(&segment).unwrap(),
            variable: Regex::new(r"\{[a-z]+\}").unwrap(),
        }
    }

    fn value<'s>(&self, segment: &'s str) -> Option<&'s str> {
        let value = self.segment.captures(segment)?.get(1)?.as_str();
        let text = self.variable.replace_all(value, "");
        text.contains(|c: char| c.is_ascii_alphanumeric() || c == '%').then_some(value)
    }
}

fn expected(templates: &[String], most: usize) -> Vec<String> {
    let rule = Rule::new();
    let mut hosts: BTreeMap<&str, Node> = BTreeMap::new();
    let mut out = templates.to_vec();
    for (number, template) in templates.iter().enumerate() {
        let (before, query) = match template.split_once('?') {
            Some((before, query)) => (before, format!("?{query}")),
            None => (&**template, String::new()),
        };
        let authority = before.find("://").map_or(0, |at| at + 3);
        let Some(path) = before[authority..].find('/') else { continue };
        let (host, path) = before.split_at(authority + path);
        hosts.entry(host).or_default().add(path[1..].split('/'), number, &query);
    }
    for (host, mut node) in hosts {
        node.name(most, &rule);
        node.collect(host, &mut out);
    }
    out
}

fn named(templates: &[String], most: usize, routes: Option<&Routes>) -> Vec<String> {
    let bytes: Vec<&[u8]> = templates.iter().map(String::as_bytes).collect();
    let slugs = Slugs::of(&bytes, most as u64, routes).unwrap();
    let name = |(number, template): (usize, &&[u8])| {
        let mut out = Vec::new();
        slugs.append(number, template, &mut out);
        String::from_utf8(out).unwrap()
    };
    bytes.iter().enumerate().map(name).collect()
}

/// Templates whose segments are few, so that parents are crowded.
fn templates() -> impl Strategy<Value = Vec<String>> {
    let host = prop::sample::select(vec![
        "http://h.example",
        "http://h.example",
        "https://h.example",
        "http://g:8",
        "",
    ]);
    let segment = prop::sample::select(vec![
        "a",
        "b",
        "c",
        "d-e",
        "a.html",
        "b.html",
        "a.tar.gz",
        "a.GZ",
        "a.b",
        ".htaccess",
        "html",
        "a;p",
        "b.html;p;q",
        ";p",
        "{int}",
        "{int}.html",
        "{int}-{int}",
        "{int}.{date}",
        "x{int}",
        "x-{int}.html",
        "{slug}",
        "{slug}.html",
        "{slug}x",
        "",
        "-",
        "%C3%A9",
        "a%2Fb",
    ]);
    let path = prop::collection::vec(segment, 1..5);
    let query = prop::sample::select(vec!["", "", "?q", "?q&r", "?/a/b"]);
    let template = (host, path, query)
        .prop_map(|(host, path, query)| format!("{host}/{}{query}", path.join("/")));
    let other = prop::sample::select(vec![
        "mailto:{email}",
        "urn:a:b",
        "http://h.example",
        "http://h.example?q",
    ]);
    let any = prop_oneof![40 => template, 1 => other.prop_map(str::to_owned)];
    prop::collection::hash_set(any, 0..60).prop_map(|all| all.into_iter().collect())
}

proptest! {
    #[test]
    fn slugs_are_those_of_the_plain_trie(templates in templates(), most in 1usize..8) {
        let named = named(&templates, most, None);
        prop_assert_eq!(&named, &expected(&templates, most));
        for template in &named {
            let mut again = Vec::new();
            Template::of(template.as_bytes(), &mut again);
            prop_assert_eq!(std::str::from_utf8(&again).unwrap(), template);
        }
    }

    #[test]
    fn slugs_depend_on_the_set_of_templates_alone(templates in templates(), most in 1usize..6, turn in 0usize..60) {
        let mut turned = templates.clone();
        turned.rotate_left(turn.min(templates.len()));
        turned.reverse();
        let by_template = |all: &[String]| -> BTreeMap<String, String> {
            all.iter().cloned().zip(named(all, most, None)).collect()
        };
        let once = by_template(&templates);
        prop_assert_eq!(&once, &by_template(&turned));
        // Whoever names what is named changes nothing.
        let results: Vec<String> = once.into_values().collect();
        prop_assert_eq!(&named(&results, most, None), &results);
    }

    #[test]
    fn declared_paths_neither_change_nor_count(templates in templates(), most in 1usize..4, every in 2usize..5) {
        let mut routes = Routes::default();
        for template in templates.iter().step_by(every) {
            // Some hold what no route may: two variables with nothing between them, or no path.
            let _ = routes.add(template);
        }
        let (declared, others): (Vec<_>, Vec<_>) =
            templates.iter().cloned().partition(|template| routes.find(template.as_bytes()).is_some());
        let all = [declared.clone(), others.clone()].concat();
        let result = named(&all, most, Some(&routes));
        prop_assert_eq!(&result[..declared.len()], &declared[..]);
        prop_assert_eq!(&result[declared.len()..], &named(&others, most, None)[..]);
    }
}

#[test]
fn a_parent_is_crowded_from_the_value_after_the_last_that_may_be() {
    let templates = |count: usize| -> Vec<String> {
        (0..count).map(|number| format!("http://h.example/a/title-{number}.html?page")).collect()
    };
    assert_eq!(named(&templates(50), 50, None), templates(50));
    assert_eq!(named(&templates(51), 50, None), vec!["http://h.example/a/{slug}.html?page"; 51]);
    // One segment with two extensions is one value.
    let twice: Vec<String> =
        (0..50).flat_map(|n| ["js", "min.js"].map(|end| format!("/s/f{n}.{end}"))).collect();
    assert_eq!(named(&twice, 50, None), twice);
}

#[test]
fn values_are_counted_below_parents_that_were_joined() {
    // No user has more than two pages, and all of them together have six.
    let all: Vec<String> = (0..6).map(|n| format!("/u/name{}/page{n}", n / 2)).collect();
    assert_eq!(named(&all, 2, None), vec!["/u/{slug}/{slug}"; 6]);
    assert_eq!(named(&all, 3, None), all);
}

#[test]
fn deep_paths_and_many_templates_take_linear_time() {
    // Each path is the beginning of the next one; a walk by recursion would need as deep a stack.
    let deep: Vec<String> = (1..400).map(|n| "/a".repeat(n * 50)).collect();
    assert_eq!(named(&deep, 1, None), deep);
    let many: Vec<String> = (0..50_000).map(|n| format!("/x/{}/y/{n}z", n % 7)).collect();
    assert_eq!(named(&many, 6, None), vec!["/x/{slug}/y/{slug}"; 50_000]);
}
