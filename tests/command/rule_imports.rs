//! Rules of ClearURLs and AdGuard as profile files: each rule is taken or listed, and those that are taken do what a
//! plain reader of the original does, rule by rule and by regular expressions.

use super::Place;
use super::generator::Rng;
use super::guide::root;
use regex::bytes::{Regex, RegexBuilder};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

const URLS: usize = if cfg!(debug_assertions) { 6_000 } else { 100_000 };

fn sample(name: &str) -> String {
    fs::read_to_string(root().join("corpora/guide").join(name)).expect(name)
}

/// The file that the command makes of rules, with those that it lists.
fn imported(place: &Place, kind: &str, text: &str) -> BTreeSet<String> {
    let run = place.run_on(["rules", "import", kind, "-"], text).exits(0);
    place.write("rules.toml", &run.out);
    let listed = |line: &str| line.strip_prefix("#   ").map(str::to_owned);
    let all: Vec<_> = run.out().lines().filter_map(listed).collect();
    // The counts of the head, of each reason, and of the lines agree.
    let head = format!("uniqurl rules import {kind}: took ");
    let counts = run.out().lines().next().unwrap().strip_prefix("# ").unwrap();
    let counts = counts.strip_prefix(&head).unwrap().strip_suffix(" rules").unwrap();
    let (taken, total) = counts.split_once(" of ").unwrap();
    let number = |text: &str| text.parse::<usize>().unwrap();
    assert_eq!(number(taken) + all.len(), number(total));
    let said = run.err.lines().filter(|line| line.contains(" not taken: "));
    let said = said.map(|line| number(line.split(' ').nth(1).unwrap()));
    assert_eq!(said.sum::<usize>(), all.len(), "{}", run.err);
    assert!(run.err.contains(&format!("took {counts} rules")), "{}", run.err);
    all.into_iter().collect()
}

/// Draws URLs, normalizes them by the rules, and compares each with what becomes of its form under `crawl`.
fn check(place: &Place, clean: impl Fn(&str) -> String) {
    const HOSTS: [&str; 17] = [
        "shop.example",
        "www.shop.example",
        "LOGIN.shop.example",
        "a.login.shop.example",
        "xshop.example",
        "shop.test",
        "shop.example.net",
        "bank.example",
        "my.bank.example",
        "news.example",
        "www.news.example",
        "m.news.example",
        "a.www.news.example",
        "a.example",
        "w.forum.example:8080",
        "ads.example",
        "a.anywhere.example",
    ];
    const PATHS: [&str; 19] = [
        "",
        "/",
        "/cart",
        "/cart/",
        "/Cart/1",
        "/account/x",
        "/search",
        "/SEARCH",
        "/search/",
        "/s%65arch/old/1",
        "/search/./new",
        "/search/newer",
        "/lists/a",
        "/x/../lists/",
        "/live",
        "/livestream",
        "/a",
        "/ab",
        "/t/9",
    ];
    const NAMES: [&str; 47] = [
        "ref",
        "ref_",
        "REF",
        "re%66",
        "%253Fref",
        "%3Fref",
        "refer",
        "clkid",
        "clkId",
        "clksrc",
        "clkid2",
        "trk_",
        "trk_a",
        "TRK_%20",
        "trk",
        "trk_source",
        "x_a",
        "x_",
        "x",
        "s1",
        "src2",
        "s3",
        "src",
        "page_src",
        "pagesrc",
        "PageSrc",
        "srs",
        "sr",
        "sku[]",
        "sku%5B%5d",
        "sku",
        "partner",
        "pos",
        "Pos",
        "qid",
        "view",
        "view0",
        "view10",
        "a_from",
        "_from",
        "from",
        "FROM",
        "to",
        "t",
        "u",
        "pid",
        "aid",
    ];
    let rng = &mut Rng::new(7);
    let mut list = String::new();
    for _ in 0..URLS {
        let scheme = rng.pick(&["http", "https"]);
        list += &format!("{scheme}://{}{}", rng.pick(&HOSTS), rng.pick(&PATHS));
        for i in 0..rng.below(5) {
            list += if i == 0 { "?" } else { "&" };
            list += rng.pick(&NAMES);
            list += rng.pick(&["", "=", "=1", "=ref", "=a=b"]);
        }
        list += "\n";
    }
    place.write("urls", &list);
    let forms = place.run(["normalize", "-q", "urls"]).exits(0);
    let ours = place.run(["normalize", "-q", "--profile-file", "rules.toml", "urls"]).exits(0);
    let (mut changed, mut expected) = (0, BTreeSet::new());
    for ((url, form), ours) in list.lines().zip(forms.out().lines()).zip(ours.out().lines()) {
        let cleaned = clean(form);
        assert_eq!(ours, cleaned, "{url}");
        changed += usize::from(form != cleaned);
        expected.insert(cleaned);
    }
    assert_eq!(ours.out().lines().count(), URLS);
    assert!(changed > URLS / 8 && changed < URLS / 8 * 7, "{changed}");
    // The laws, from outside: a form stays, and the set is that of the forms.
    let again =
        place.run_on(["normalize", "-q", "--profile-file", "rules.toml"], &*ours.out).exits(0);
    assert!(again.out == ours.out);
    let dedup = ["dedup", "-q", "--order", "sorted", "--profile-file", "rules.toml", "urls"];
    let expected: String = expected.into_iter().map(|url| url + "\n").collect();
    assert!(place.run(dedup).exits(0).out() == expected);
}

/// A regular expression as in JavaScript, without case.
fn expression(text: &str) -> Regex {
    RegexBuilder::new(text).case_insensitive(true).unicode(false).build().expect(text)
}

/// The URL without the parameters that are removed, given by their decoded name, and as they stand.
fn without(url: &str, is_removed: impl Fn(&[u8], &[u8]) -> bool) -> String {
    let Some((start, query)) = url.split_once('?') else { return url.to_owned() };
    let parameters = query.split('&').filter(|pair| {
        let name = pair.split('=').next().unwrap();
        let mut decoded = Vec::new();
        let mut rest = name.bytes();
        while let Some(byte) = rest.next() {
            let digits: String = rest.clone().take(2).map(char::from).collect();
            match u8::from_str_radix(&digits, 16) {
                Ok(value) if byte == b'%' && digits.len() == 2 => {
                    decoded.push(value);
                    rest.nth(1);
                }
                _ => decoded.push(byte),
            }
        }
        !is_removed(&decoded, pair.as_bytes())
    });
    let left: Vec<_> = parameters.collect();
    if left.is_empty() { start.to_owned() } else { format!("{start}?{}", left.join("&")) }
}

/// The strings of a member of a provider.
fn strings<'v>(provider: &'v Value, member: &str) -> Vec<&'v str> {
    let list = provider[member].as_array().into_iter().flatten();
    list.map(|text| text.as_str().unwrap()).collect()
}

/// "A pattern that ends after a host stands for that host."
fn of_urls(pattern: &str) -> Regex {
    let is_host = !pattern.trim_start_matches(r"^https?:\/\/").contains('/') && pattern != ".*";
    expression(&format!("{pattern}{}", if is_host { "(?:[:/?]|$)" } else { "" }))
}

#[test]
fn imported_rules_of_clearurls_agree_with_a_plain_reader() {
    let (place, text) = (Place::new(), sample("clearurls.json"));
    let listed = imported(&place, "clearurls", &text);
    let data: Value = serde_json::from_str(&text).unwrap();
    let providers = data["providers"].as_object().unwrap();
    let total = providers.values().map(|provider| {
        let lists = ["rules", "referralMarketing", "rawRules", "exceptions", "redirections"];
        let lists = lists.map(|member| strings(provider, member).len()).iter().sum::<usize>();
        let flags = ["completeProvider", "forceRedirection"];
        lists + flags.iter().filter(|flag| provider[**flag] == true).count()
    });
    let head = format!("took 19 of {} rules", total.sum::<usize>());
    assert!(place.text("rules.toml").contains(&head), "{}", place.text("rules.toml"));
    let rules = providers.iter().map(|(name, provider)| {
        let is_taken = |kind: &str, text: &str| !listed.contains(&format!("{name}: {kind} {text}"));
        let rules = [strings(provider, "rules"), strings(provider, "referralMarketing")].concat();
        let rules = rules.into_iter().filter(|rule| is_taken("rule", rule));
        let rules: Vec<_> = rules.map(|rule| expression(&format!("^(?:{rule})$"))).collect();
        let exceptions =
            strings(provider, "exceptions").into_iter().filter(|text| is_taken("exception", text));
        let exceptions: Vec<_> = exceptions.map(of_urls).collect();
        (of_urls(provider["urlPattern"].as_str().unwrap()), exceptions, rules)
    });
    let rules: Vec<_> = rules.collect();
    check(&place, |form| {
        let of_url = rules.iter().filter(|(pattern, exceptions, _)| {
            let fits = |pattern: &Regex| pattern.is_match(form.as_bytes());
            // An exception of some of the URLs is taken for all that begin like them.
            let is_wider = pattern.as_str() == ".*" && form.contains("forum.example:8080/t/");
            fits(pattern) && !is_wider && !exceptions.iter().any(fits)
        });
        let of_url: Vec<_> = of_url.flat_map(|(.., rules)| rules).collect();
        without(form, |name, _| of_url.iter().any(|rule| rule.is_match(name)))
    });
}

/// A filter in its parts: its pattern as an expression, the hosts that it is for and not for, and the value.
struct Filter {
    is_exception: bool,
    pattern: Regex,
    domains: Vec<String>,
    value: Option<String>,
}

impl Filter {
    fn read(line: &str) -> Self {
        let (pattern, modifiers) = line.split_once('$').unwrap();
        let mut domains = Vec::new();
        let mut value = None;
        for modifier in modifiers.split(',') {
            match modifier.split_once('=') {
                Some(("removeparam", text)) => value = Some(text.to_owned()),
                Some(("domain", list)) => domains = list.split('|').map(str::to_owned).collect(),
                _ => assert!(matches!(modifier, "removeparam" | "document"), "{line}"),
            }
        }
        let (is_exception, pattern) = match pattern.strip_prefix("@@") {
            Some(pattern) => (true, pattern),
            None => (false, pattern),
        };
        let mut text = regex::escape(pattern);
        for (sign, meaning) in [
            (r"\|\|", r"^[a-z]+://(?:[^/?]*\.)?"),
            (r"\|", "^"),
            (r"\^", r"(?:[^\w.%-]|$)"),
            (r"\*", ".*"),
        ] {
            text = text.replace(sign, meaning);
        }
        Self { is_exception, pattern: expression(&text), domains, value }
    }

    fn fits(&self, url: &str) -> bool {
        let host = url.split("//").nth(1).unwrap().split([':', '/', '?']).next().unwrap();
        let is_of = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
        let (not, only): (Vec<_>, Vec<_>) = self.domains.iter().partition(|d| d.starts_with('~'));
        self.pattern.is_match(url.as_bytes())
            && !not.iter().any(|domain| is_of(&domain[1..]))
            && (only.is_empty() || only.iter().any(|domain| is_of(domain)))
    }

    fn removes(&self, name: &[u8], pair: &[u8]) -> bool {
        match self.value.as_deref() {
            None => true,
            Some(value) => match value.strip_prefix('/').and_then(|text| text.strip_suffix('/')) {
                Some(text) => Regex::new(text).unwrap().is_match(pair),
                None => name == value.as_bytes(),
            },
        }
    }
}

#[test]
fn imported_filters_of_adguard_agree_with_a_plain_reader() {
    let (place, text) = (Place::new(), sample("adguard.txt"));
    let listed = imported(&place, "adguard", &text);
    let all: Vec<_> = text
        .lines()
        .filter(|line| line.contains("removeparam") && !line.starts_with('!'))
        .collect();
    assert!(
        place.text("rules.toml").contains(&format!("took 16 of {} rules", all.len())),
        "{}",
        place.text("rules.toml")
    );
    let taken = all.into_iter().filter(|line| !listed.contains(*line));
    let (exceptions, filters): (Vec<_>, Vec<_>) =
        taken.map(Filter::read).partition(|filter| filter.is_exception);
    check(&place, |form| {
        // An exception of some of the URLs is taken for all that begin like them.
        let is_wider = |filter: &Filter| {
            filter.value.as_deref() == Some("pid") && form.contains("forum.example:8080/t/")
        };
        let of_url = filters.iter().filter(|filter| filter.fits(form) && !is_wider(filter)).filter(
            |filter| {
                let same = |other: &&Filter| other.value.is_none() || other.value == filter.value;
                !exceptions.iter().filter(same).any(|other| other.fits(form))
            },
        );
        let of_url: Vec<_> = of_url.collect();
        without(form, |name, pair| of_url.iter().any(|filter| filter.removes(name, pair)))
    });
}

#[test]
fn rules_of_a_file_that_is_no_data_file_are_refused() {
    let place = Place::with([("list", b"{\n\"providers\": 1}"), ("latin", b"\xFF")]);
    let run = place.run(["rules", "import", "clearurls", "list"]).exits(2);
    assert!(run.out.is_empty() && run.err.starts_with("uniqurl: list: "), "{}", run.err);
    assert!(run.err.contains("line 2"), "{}", run.err);
    place.run(["rules", "import", "adguard", "latin"]).exits(2);
    place.run(["rules", "import", "adguard", "missing"]).exits(2);
    place.run(["rules", "import", "other", "list"]).exits(2);
    let none = place.run_on(["rules", "import", "adguard", "-"], "! nothing\n").exits(0);
    assert!(none.out().starts_with("# uniqurl rules import adguard: took 0 of 0 rules\n"));
}

/// The hash tells two files with one name and version apart.
#[test]
fn stats_hold_a_hash_of_the_rules_of_a_file() {
    let file = |glob: &str| {
        format!("name = 'a'\nversion = 1\nbase = 'crawl'\n[[host.h.path]]\nglob = '{glob}'\n")
    };
    let place = Place::with([("in", b"http://h/\n")]);
    let profile = |glob: &str| {
        place.write("rules.toml", file(glob));
        place.run(["dedup", "in", "--profile-file", "rules.toml", "--stats", "stats"]).exits(0);
        place.json("stats")["profile"].as_str().unwrap().to_owned()
    };
    let (one, other) = (profile("/a"), profile("/b"));
    assert!(one.starts_with("a@1 base=crawl@1 hosts=1 paths=1 rules="), "{one}");
    assert!(one != other && one == profile("/a"), "{one} {other}");
}
