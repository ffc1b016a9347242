//! Templates: each rule and each type.

use crate::rows::{Row, blocks};
use crate::tsv::{escape, unescape};
use uniqurl::internal::TemplateRule;
use uniqurl::{Normalizer, PartType, Profile, Template};

pub fn of(url: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Template::of(url, &mut out);
    out
}

/// The URLs of a row, and their templates. A segment of a type is tried as a whole segment, as a query name, and
/// before extensions.
fn facts(kind: &str, row: &Row) -> Vec<[String; 2]> {
    if kind == "url" {
        return vec![[row.fields[0].clone(), row.fields[1].clone()]];
    }
    let stays = ["http://h/a/_/b"];
    let typed =
        ["http://h/a/_/b", "http://h/_.html", "http://h/_.tar.GZ", "http://h/_;v=1", "/?_=1"];
    let around = if kind == "stays" { &stays[..] } else { &typed };
    let around = around.iter().flat_map(|url| row.fields[0].split(' ').map(move |one| (*url, one)));
    let around = around.filter(|(url, segment)| !(url.contains('?') && segment.contains('=')));
    let part =
        |segment: &str| if kind == "stays" { segment.to_owned() } else { format!("{{{kind}}}") };
    let fact = |(url, segment): (&str, &str)| {
        // A template has no values.
        [url.replace('_', segment), url.replace("=1", "").replace('_', &part(segment))]
    };
    around.map(fact).collect()
}

#[test]
fn templates_match_the_rows() {
    let mut wrong = Vec::new();
    for block in blocks("templates.txt") {
        let kind = block.head.trim_end();
        assert!(["url", "stays"].contains(&kind) || PartType::ALL.iter().any(|t| t.name() == kind));
        for row in &block.rows {
            for [url, template] in facts(kind, row) {
                let got = escape(&of(&unescape(&url, &row.place)));
                if got != template {
                    wrong.push(format!("{}: {url} gave {got}, not {template}", row.place));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn name_of_a_query_stands_once_however_often_it_comes() {
    let many: Vec<String> = (0..40).map(|n| format!("n{}=1", n % 20)).collect();
    let once: Vec<String> = (0..20).map(|n| format!("n{n}")).collect();
    let url = format!("/?{}", many.join("&"));
    assert_eq!(of(url.as_bytes()), format!("/?{}", once.join("&")).as_bytes());
}

#[test]
fn trace_names_the_rule_of_each_part() {
    let url = b"http://h/2024/02/29/17.html/item12345-20240229;v=17/{int}/%7Bhex%7D?a=1&123=4#18";
    let parts = Template::trace(url);
    let told: Vec<_> = parts
        .iter()
        .map(|part| (str::from_utf8(&url[part.range.clone()]).unwrap(), part.part_type, part.rule))
        .collect();
    assert_eq!(
        told,
        [
            ("2024/02/29", PartType::Date, TemplateRule::DateSegments),
            ("17", PartType::Int, TemplateRule::WholeSegment),
            ("12345", PartType::Int, TemplateRule::Inside),
            ("20240229", PartType::Date, TemplateRule::Inside),
            ("{int}", PartType::Int, TemplateRule::Braced),
            ("%7Bhex%7D", PartType::Hex, TemplateRule::Braced),
            ("123", PartType::Int, TemplateRule::QueryName),
        ]
    );
    assert_eq!(Template::trace(b"http://h/a/v1?b=17"), []);
}

#[test]
fn template_is_appended() {
    let crawl = Normalizer::new(Profile::Crawl);
    let (mut scratch, mut out) = (Vec::new(), b"x ".to_vec());
    let url = crawl.canonical(b"HTTP://h:80/1?b&a&b", &mut scratch).unwrap();
    Template::of(&url, &mut out);
    assert_eq!(out, b"x http://h/{int}?b&a");
    Template::of(&url, &mut out);
    assert_eq!(out, b"x http://h/{int}?b&ahttp://h/{int}?b&a");
}
