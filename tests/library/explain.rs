//! An explanation is true: its steps start with the URL and end with its canonical form.

use crate::cases::for_each_case;
use crate::generator::{self, Rng, Temper};
use crate::rows;
use crate::subject::{Outcome, outcome};
use crate::tsv::escape;
use uniqurl::{Normalizer, Profile, Reject, RejectReason, Ring, Rule, Step, Switch};

/// Text that the rules of archives and systems look for and the ladder's words lack.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "/", "/", "//", "a", "B", ".", "..", "/./", "/../", "%2e", ";x", "/;/", "..;", "%2f", "%5C", "\\", "%", "%zz", "%%34%31",
    "%4%31", "%25", "%2541", "%25%34%31", "%3b", "%3F", "%23", "%26", "%3d", ":", "@", "%40", "[", "!", "$", "&", "'", "(", "*",
    "+", ",", "=", "%21", "%c3%a9", "%C3", "%e2%82%ac", "\u{e9}", "%20", " ", "|", "?", "?q", "&&", "#f", "&x=%2F", "\t", "\n",
    "%09", "\0", "www.", "WWW1.", "sid=0123456789abcdef0123456789ABCDEF", "&b=2", "&a=1", "&a", "cfid=1", "&CFTOKEN=2",
    "jsessionid=0123456789abcdef0123456789abcdef&", "/(abcdefghijklmnopqrstuvwx)", "/x.aspx", "aspsessionidABCDEFGH=",
    "ABCDEFGHIJKLMNOPQRSTUVWX", "//", "/index.html", "/index.html/", "/Default.ASP", ";jsessionid=1", "/;jsessionid=1/", "/(S(a1))/",
    "www.www.", "?utm_source=a&", "&UTM_x=1", "&fbclid", "&=&", "?=", "&phpsessid=1", "..;jsessionid=2",
];

#[rustfmt::skip]
const FRONTS: &[&str] = &[
    "", "/", "/", "//", "http://h/", "http://h/", "https://WWW.example.com/a", "http://www2.www.Example.com.:0080", "x://h",
    "x://", "file://localhost/", "FILE://LocalHost.", "http://u@h/", "http://127.1/", "http://2130706433/", "http://a..b%2e.c",
    "http://[::FFFF:1.2.3.4]:443/", "http://[0:0::1]/", "http://b\u{fc}cher.example?", "http://b%C3%BCcher.%45X/", "mailto:A@B.C", "filedesc://A:b/",
    "WARCINFO:x y", "dns:Example.COM", "x://u@H:0/", "file://u@localhost/", "file://localhost:1/", "x:A@B.C", "data:a@B,c", "x:/..//", "x:/.//", " http://h/", "http:", "*", "?", "example.com:80/", "a%3A/",
    "http://http://h/", " http://https://http:", "file:/", "FILE:/.", "urn:ISBN:", "URN:%41-B:", "12:30", "%2e%2E/", "[::1]:80/", "x://%2Fa\u{e9}<",
];

fn url(rng: &mut Rng) -> Vec<u8> {
    match rng.below(8) {
        0..=2 => generator::any(rng),
        3 => generator::target(rng, Temper::Wild),
        _ => {
            let mut url: Vec<u8> = rng.pick(FRONTS).into();
            for _ in 0..rng.below(8) {
                url.extend_from_slice(rng.pick(WORDS).as_bytes());
                if rng.one_in(30) {
                    url.push(rng.byte());
                }
            }
            url
        }
    }
}

/// The profile with random options.
fn draw(rng: &mut Rng, profile: Profile) -> Normalizer {
    let mut normalizer = Normalizer::new(profile);
    if rng.one_in(2) {
        normalizer = normalizer.with_allowed(profile.checks().iter()).unwrap();
    }
    if profile.name() == "servlet" && rng.one_in(3) {
        normalizer = normalizer.with_switches([Switch::KeepEmptySegments]).unwrap();
    }
    if profile.name() == "ring" {
        let (mut decode, mut encode) = (Vec::new(), Vec::new());
        for &byte in b":/[]@!$&'()*+,;=" {
            match rng.below(3) {
                0 => decode.push(byte),
                1 => encode.push(byte),
                _ => {}
            }
        }
        normalizer = normalizer.with_ring(Ring::new(&decode, &encode).unwrap()).unwrap();
    }
    #[cfg(feature = "transcode")]
    if rng.one_in(3) {
        let label = rng.pick(&["latin1", "shift_jis", "big5", "gb18030", "euc-kr", "koi8-r"]);
        let charset = uniqurl::uri::Charset::for_label(label.as_bytes()).unwrap();
        normalizer = normalizer.clone().with_charset(charset).unwrap_or(normalizer);
    }
    if profile.switchable().contains(Switch::StripTracking) {
        let choosable: Vec<_> = profile.switchable().iter().collect();
        let on: Vec<_> = choosable.iter().copied().filter(|_| rng.one_in(3)).collect();
        normalizer = normalizer.with_switches(on).unwrap();
        let off: Vec<_> = choosable.iter().copied().filter(|_| rng.one_in(4)).collect();
        normalizer = normalizer.without_switches(off).unwrap();
        if rng.one_in(4) {
            normalizer = normalizer.with_dropped_parameters(["a*", "?"]).unwrap();
        }
        if rng.one_in(6) {
            normalizer = normalizer.with_kept_parameters(["*=*", "[a-c]", "s*"]).unwrap();
        }
    }
    if rng.one_in(3) {
        let bases = ["http://B.example:80/x/y?z", "x://b", "mailto:a@B", "file:///a/b"];
        normalizer =
            normalizer.clone().with_base(rng.pick(&bases).as_bytes()).unwrap_or(normalizer);
    }
    if rng.one_in(4) {
        normalizer = normalizer.with_assumed_scheme(b"HTTPS").unwrap();
    }
    if rng.one_in(3) {
        let list = b"http://h/\thttp://H/x\nhttp://h/x\thttp://www.h.example/index.html\n";
        let redirects = uniqurl::Redirects::parse(list).unwrap();
        normalizer = normalizer.clone().with_redirects(&redirects).unwrap_or(normalizer);
    }
    normalizer
}

/// The URL and the same as a target are explained to their forms.
#[track_caller]
fn assert_explained(normalizer: &Normalizer, url: &[u8]) -> Outcome {
    let name = normalizer.description();
    let canonical = outcome(|out| normalizer.append(url, out));
    assert_true(&name, url, &canonical, &normalizer.explain(url));
    let target = outcome(|out| normalizer.for_targets().append(url, out));
    assert_true(&name, url, &target, &normalizer.for_targets().explain(url));
    canonical
}

#[track_caller]
fn assert_true(name: &str, url: &[u8], canonical: &Outcome, explained: &Result<Vec<Step>, Reject>) {
    let context = || {
        let steps = explained.iter().flatten();
        let steps = steps.map(|step| format!("\n{} {}", step.rule.name(), escape(&step.after)));
        format!("{name}: {}{}", escape(url), steps.collect::<String>())
    };
    let (canonical, steps) = match (canonical, explained) {
        (Ok(canonical), Ok(steps)) => (canonical, steps),
        (Err(a), Err(b)) => return assert_eq!(a, b, "{}", context()),
        _ => panic!("{}", context()),
    };
    let mut at = url;
    for step in steps {
        assert_eq!(escape(&step.before), escape(at), "{}", context());
        assert_ne!(step.before, step.after, "{}", context());
        at = &step.after;
    }
    assert_eq!(escape(at), escape(canonical), "{}", context());
    assert!(steps.iter().all(|step| step.rule != Rule::Rest), "{}", context());
    // Switches may act again, and rules of another host may follow those of the first.
    let is_switch = |rule| (Rule::FoldScheme..=Rule::SortQuery).contains(&rule);
    let in_order = |[one, other]: [Rule; 2]| one < other || is_switch(one) && is_switch(other);
    let in_order = |pair: &&[Step]| in_order([pair[0].rule, pair[1].rule]);
    let starts = steps.windows(2).filter(|pair| !in_order(pair)).count();
    assert!(starts <= if name.contains(" hosts=") { 8 } else { 0 }, "{}", context());
    assert!(canonical != url || steps.is_empty(), "{}", context());
}

#[test]
fn explanation_steps_end_at_the_canonical_form() {
    for profile in Profile::ALL {
        for_each_case(4, |rng| {
            let normalizer = draw(rng, *profile);
            let url = url(rng);
            _ = assert_explained(&normalizer, &url);
        });
    }
}

/// Random drawing seldom joins a front and two words that a rule is about.
#[test]
fn explanation_steps_are_exact_for_combined_words() {
    for profile in Profile::ALL {
        let normalizer = Normalizer::new(*profile);
        for (n, front) in FRONTS.iter().enumerate() {
            for (i, word) in WORDS.iter().enumerate().skip(n % 3).step_by(3) {
                let url = [*front, *word, WORDS[(i + n) * 31 % WORDS.len()]].concat();
                _ = assert_explained(&normalizer, url.as_bytes());
            }
        }
    }
}

#[cfg(feature = "profile-file")]
#[test]
fn explanation_steps_are_exact_under_a_profile_file() {
    let hosts = [
        "h",
        "h.example",
        "WWW.h.example",
        "www.www2.www.example.com",
        "x.example.com",
        "localhost",
    ];
    let ports = ["", ":80", ":8080", ":81", ":07", ":9", ":443"];
    // Rules of hosts that lead from one to another, ports, rings, parameters, bases.
    let files = rows::blocks("explanations.txt").into_iter();
    let files: Vec<_> = files.filter(|block| block.head.starts_with("base")).collect();
    let files: Vec<Normalizer> = files.iter().map(rows::Block::normalizer).collect();
    assert_eq!(files.len(), 5);
    for_each_case(4, |rng| {
        let mut normalizer = files[rng.below(files.len())].clone();
        #[cfg(feature = "transcode")]
        if rng.one_in(3) {
            let latin_1 = uniqurl::uri::Charset::LATIN_1;
            normalizer = normalizer.clone().with_charset(latin_1).unwrap_or(normalizer);
        }
        if rng.one_in(3) {
            let bases = ["http://b.example:81/x/y?z", "https://h:443", "x://localhost:80/"];
            let base = rng.pick(&bases).as_bytes();
            normalizer = normalizer.clone().with_base(base).unwrap_or(normalizer);
        }
        if rng.one_in(4) {
            normalizer = normalizer.with_assumed_scheme(b"http").unwrap();
        }
        let mut url = url(rng);
        if rng.one_in(2) {
            let scheme = rng.pick(&["http", "https", "x", "HTTP"]);
            let front = format!("{scheme}://{}{}/", rng.pick(&hosts), rng.pick(&ports));
            let before =
                rng.pick(&["", "", "", "http://", " https://", "http://\t", "http://http:\n//"]);
            let front = format!("{before}{front}");
            url = [front.as_bytes(), &url].concat();
        }
        let name = normalizer.description();
        if let Ok(canonical) = assert_explained(&normalizer, &url) {
            let again = outcome(|out| normalizer.append(&canonical, out));
            assert_eq!(again.as_ref(), Ok(&canonical), "{name}: {}", escape(&url));
            assert_eq!(normalizer.explain(&canonical), Ok(Vec::new()), "{name}: {}", escape(&url));
        }
    });
}

/// URLs on which, under one profile or another, each rule acts.
#[rustfmt::skip]
const EXAMPLES: &[&str] = &[
    " http://h/", "http://h/a\tb", "h.example/a", "../a", "a", "/a", "http://h/#a", "http://u@h/", "http://h/ x", "/'", "/%2f",
    "http://h/%7E", "http://h/%2f", "HTTP://H/", "http://b%C3%BCcher.example/", "http://[0:0::1]/", "http://h./", "x://a..b/",
    "http://www.h.example/", "http://1/", "http://h:/", "http://h:081/", "http://h:80/", "file://localhost/", "http://h", "/a;b",
    "/%41", "http://h/A", "http://h//a", "http://h/a/../b", "x:/..//a", "mailto:a@B", "http://h/(abcdefghijklmnopqrstuvwx)/x.aspx",
    "http://h/?sid=0123456789abcdef0123456789abcdef", "http://h/?", "http://h/?b&a", "http://h/%F6", "http://http://h/",
    "https://h/A//index.html?utm_id=1", "http://h/a/", "%2e%2e/a", "file:/a", "urn:ISBN:1",
];

#[test]
fn every_rule_changes_some_url() {
    let mut seen = std::collections::BTreeSet::new();
    for profile in Profile::ALL {
        let plain = Normalizer::new(*profile).with_allowed(profile.checks().iter()).unwrap();
        let mut normalizers = vec![
            plain.clone().with_base(b"http://b/c").unwrap(),
            plain.clone().with_assumed_scheme(b"http").unwrap(),
            plain,
        ];
        #[cfg(feature = "transcode")]
        {
            let latin_1 = uniqurl::uri::Charset::LATIN_1;
            normalizers.extend(normalizers[2].clone().with_charset(latin_1).ok());
        }
        let made = || Normalizer::new(*profile);
        let alone = |switch: &Switch| made().with_switches([*switch]).ok();
        normalizers.extend(Switch::ALL.iter().filter_map(alone));
        normalizers.extend(made().with_dropped_parameters(["b"]).ok());
        let redirects = uniqurl::Redirects::parse(b"http://h/\thttp://i/").unwrap();
        normalizers.extend(made().with_redirects(&redirects).ok());
        for normalizer in &normalizers {
            for url in EXAMPLES {
                let steps = normalizer.explain(url.as_bytes()).into_iter().flatten();
                seen.extend(steps.map(|step| step.rule));
                let steps = normalizer.for_targets().explain(url.as_bytes()).into_iter().flatten();
                seen.extend(steps.map(|step| step.rule));
            }
        }
    }
    let silent: Vec<_> = Rule::ALL.iter().filter(|rule| !seen.contains(rule)).collect();
    let without_charsets = [Rule::Transcode, Rule::Rest];
    assert_eq!(
        silent,
        without_charsets.iter().skip(usize::from(cfg!(feature = "transcode"))).collect::<Vec<_>>()
    );
}

/// Each step as its rule and its result.
fn steps_of(normalizer: &Normalizer, url: &str) -> Vec<String> {
    let steps = normalizer.explain(url.as_bytes()).unwrap();
    steps.iter().map(|step| format!("{} {}", step.rule.name(), escape(&step.after))).collect()
}

#[test]
fn repeated_rules_are_listed_up_to_a_limit_and_then_merged() {
    let page = "/index.html";
    for (pages, steps) in [(16, 32), (17, 33), (1000, 33)] {
        let url = format!("http://h/a{}", page.repeat(pages));
        let told = steps_of(&Normalizer::new(Profile::Aggressive), &url);
        assert_eq!(told.len(), steps, "{pages} pages");
        let left = page.repeat(pages - 16);
        assert_eq!(told[31], format!("strip-trailing-slash http://h/a{left}"));
    }
}

#[test]
fn explanations_match_the_rows() {
    for block in rows::blocks("explanations.txt") {
        let normalizer = block.normalizer();
        for row in &block.rows {
            let steps = normalizer.explain(&row.bytes(0)).unwrap();
            // A row may leave results out.
            let shown = steps.iter().zip(row.fields[1..].iter()).map(|(step, shown)| {
                let with_result = format!("{} {}", step.rule.name(), escape(&step.after));
                if shown.contains(' ') { with_result } else { step.rule.name().to_owned() }
            });
            assert_eq!(shown.collect::<Vec<_>>(), row.fields[1..], "{}: {steps:?}", row.place);
            assert_eq!(steps.len(), row.fields.len() - 1, "{}: {steps:?}", row.place);
        }
    }
    let servlet = Normalizer::new(Profile::Servlet);
    let servlet = servlet.with_allowed([RejectReason::NoLeadingSlash]).unwrap();
    let steps = servlet.for_targets().explain(b"a").unwrap();
    let steps: Vec<_> = steps.iter().map(|step| (step.rule, &step.after[..])).collect();
    assert_eq!(steps, [(Rule::LeadingSlash, &b"/a"[..])]);
}

#[test]
fn rejected_url_has_no_explanation() {
    let reject = Normalizer::new(Profile::Scheme).explain(b"http:/h").unwrap_err();
    assert_eq!((reject.code, reject.at), (RejectReason::NoAuthority, 5));
}
