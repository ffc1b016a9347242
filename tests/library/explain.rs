//! An explanation is true: its steps start with the URL and end with its canonical form.

use crate::cases::for_each_case;
use crate::generator::{self, Rng, Temper};
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

#[test]
fn single_change_is_explained_by_one_rule() {
    for (profile, url, expected) in [
        (Profile::Servlet, "/a//b", Rule::EmptySegments),
        (Profile::Servlet, "/a/./b", Rule::DotSegments),
        (Profile::Servlet, "/a/../b", Rule::DotSegments),
        (Profile::Servlet, "/a;x/b", Rule::PathParameters),
        (Profile::Servlet, "/a%3Ab", Rule::DecodeSegments),
        (Profile::Whatwg, " http://h/", Rule::Trim),
        (Profile::Whatwg, "http://h/ ", Rule::Trim),
        (Profile::Crawl, "http://h/ ", Rule::Trim),
        (Profile::Crawl, "http://b%c3%bccher.example/", Rule::Idna),
        (Profile::Crawl, "http://B\u{fc}cher.example/", Rule::Idna),
        (Profile::Crawl, "http://[0:0::1]/", Rule::Ipv6),
        (Profile::Scheme, "file:/a", Rule::FileAuthority),
        (Profile::Scheme, "urn:ISBN:A", Rule::UrnNamespace),
        (Profile::Crawl, "x://a<b/", Rule::Encode),
        (Profile::Crawl, "x://%c3%a9/", Rule::TripletCase),
        (Profile::Ia, "http://b\u{fc}cher.com/", Rule::Idna),
        (Profile::Ia, "http://h.com/?a=%7E", Rule::DecodeAll),
        (Profile::Ia, "http://h.com/%7E?a", Rule::DecodeAll),
    ] {
        let steps = Normalizer::new(profile).explain(url.as_bytes()).unwrap();
        let rules: Vec<Rule> = steps.iter().map(|step| step.rule).collect();
        assert_eq!(rules, [expected], "{} {url}", profile.name());
    }
}

#[test]
fn switches_are_explained_in_execution_order() {
    let all = [Switch::FoldScheme, Switch::LowerPath];
    let all = Normalizer::new(Profile::Aggressive).with_switches(all).unwrap();
    let listed = all.clone().with_dropped_parameters(["q"]).unwrap();
    let blanking = all.clone().with_switches([Switch::BlankValues]).unwrap();
    let dropping = all.with_switches([Switch::DropQuery]).unwrap();
    for (normalizer, url, rules) in [
        (
            &listed,
            "https://www.h.x/A//b;jsessionid=1/index.html?utm_x&q&&b&a",
            "fold-scheme strip-www lower-path squeeze-slashes strip-session strip-index \
             strip-trailing-slash listed-parameters strip-tracking squeeze-query sort-query",
        ),
        (
            &blanking,
            "http://h/?b=2&a=1&=3&utm_x",
            "strip-tracking blank-values squeeze-query sort-query",
        ),
        (&dropping, "http://h/a/?b&a&utm_x", "strip-trailing-slash drop-query"),
    ] {
        assert_eq!(rules_of(normalizer, url), rules, "{url}");
    }
}

/// Profile files: rules of hosts that lead from one to another, ports, rings, parameters, bases.
#[cfg(feature = "profile-file")]
const FILES: &[&str] = &[
    r#"
base = "crawl"
[switches]
strip-www = true
[ports]
http = 8080
x = 80
https = false
[host."h.example"]
base = "mediawiki"
ring = { decode = ":/", encode = "'" }
[host."*.example.com"]
base = "aggressive"
parameters = { drop = ["a*"], tracking = ["b"] }
[host."www2.www.example.com"]
base = "ia"
[host."*.h.example".switches]
sort-query = true
"#,
    r#"
base = "scheme"
ports = { http = 81, file-x = 1 }
[host."localhost"]
base = "servlet"
allow = ["encoded-slash", "backslash"]
switches = { keep-empty-segments = true }
[host."127.0.0.1"]
base = "whatwg"
[host."a..b.c"]
base = "string"
[host."b.example".ports]
http = 80
[host."B\u00FCcher.example"]
base = "sanitize"
allow = ["userinfo"]
"#,
    "base = 'mediawiki'\n[ports]\nhttp = 8080\n[host.h]\nbase = 'crawl'\nports.http = 7\n",
    "base = 'servlet'\n[host.'*.example'.ports]\nhttp = 9\n[host.h]\nbase = 'whatwg'\n",
    "base = 'ia'\n[host.'*.example']\nbase = 'servlet'\n[host.h]\nbase = 'syntax'\n[host.http]\nbase = 'crawl'\n",
];

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
    for_each_case(4, |rng| {
        let text = format!("name = 'mine'\nversion = 1\n{}", rng.pick(FILES));
        let mut normalizer = Normalizer::from_profile_file(&text).unwrap();
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

#[cfg(feature = "profile-file")]
#[test]
fn host_rules_and_custom_ports_are_explained() {
    let files = [0, 1, 4].map(|file| {
        let text = format!("name = 'mine'\nversion = 1\n{}", FILES[file]);
        Normalizer::from_profile_file(&text).unwrap()
    });
    are_steps(&[
        // Without `www` it is another host, whose rules come next.
        (
            &files[0],
            "http://www.h.example:8080/%3a'",
            &[
                "triplet-case http://www.h.example:8080/%3A'",
                "default-port http://www.h.example/%3A'",
                "strip-www http://h.example/%3A'",
                "ring-encode http://h.example/%3A%27",
                "ring-decode http://h.example/:%27",
            ],
        ),
        (
            &files[0],
            "http://www.a.h.example:8080?b&a",
            &[
                "default-port http://www.a.h.example?b&a",
                "empty-path http://www.a.h.example/?b&a",
                "strip-www http://a.h.example/?b&a",
                "sort-query http://a.h.example/?a&b",
            ],
        ),
        (&files[1], "http://h:81/#a", &["default-port http://h/#a"]),
        (&files[1], "http://h:80/", &[]),
        // A host with its own base uses the ports of that base.
        (&files[1], "http://localhost:81/a;b%2fc", &["path-parameters http://localhost:81/a"]),
        // The host is looked for after the last scheme, and steps before it are still reported.
        (
            &files[2],
            " http://http://h/%7ea",
            &[
                "trim http://http://h/%7ea",
                "repeated-scheme http://h/%7ea",
                "decode-unreserved http://h/~a",
            ],
        ),
    ]);
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

fn rules_of(normalizer: &Normalizer, url: &str) -> String {
    let steps = normalizer.explain(url.as_bytes()).unwrap();
    steps.iter().map(|step| step.rule.name()).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn are_steps(rows: &[(&Normalizer, &str, &[&str])]) {
    for (normalizer, url, steps) in rows {
        assert_eq!(steps_of(normalizer, url), *steps, "{} {url}", normalizer.description());
    }
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
fn dependent_rules_are_explained_in_order() {
    let [syntax, scheme] = [Profile::Syntax, Profile::Scheme].map(Normalizer::new);
    let aggressive = || Normalizer::new(Profile::Aggressive);
    let kept = aggressive().with_kept_parameters(["b"]).unwrap();
    let dropped = aggressive().with_dropped_parameters(["a"]).unwrap();
    let servlet = Normalizer::new(Profile::Servlet);
    let servlet = servlet.with_allowed([RejectReason::NoLeadingSlash]).unwrap();
    let listed = ["strip-www http://h.x/?a=1&b", "listed-parameters http://h.x/?b"];
    are_steps(&[
        (
            &syntax,
            "http://%45X.com/a/%2E%2e/b",
            &[
                "decode-unreserved http://EX.com/a/../b",
                "host-case http://ex.com/a/../b",
                "dot-segments http://ex.com/b",
            ],
        ),
        (&syntax, "x:/..//a", &["dot-segments x://a", "path-guard x:/.//a"]),
        (&syntax, "X:/.//a", &["scheme-case x:/.//a"]),
        // With a host it is no address, and keeps the case of its path.
        (&scheme, "MAILTO://h/A@B", &["scheme-case mailto://h/A@B"]),
        (&kept, "http://www.h.x/?a=1&b", &listed),
        (&dropped, "http://www.h.x/?a=1&b", &listed),
    ]);
    let steps = servlet.for_targets().explain(b"a").unwrap();
    let steps: Vec<_> = steps.iter().map(|step| (step.rule, &step.after[..])).collect();
    assert_eq!(steps, [(Rule::LeadingSlash, &b"/a"[..])]);
}

#[test]
fn each_ia_rule_is_explained() {
    let session = "(S(0123456789abcdefghijklmn))";
    for (url, rules) in [
        (
            format!("HTTP://u@WWW.h..x:080/A b//./{session}/%2541/x.aspx?B&a=%C3%89"),
            "drop-userinfo encode decode-all scheme-case host-case empty-labels www port-zeros \
             default-port fold-case empty-segments dot-segments session-segments sort-query",
        ),
        ("http://https://h/".into(), "repeated-scheme"),
        ("https://\r\nhttp://h/".into(), "repeated-scheme"),
        ("http://\tht\ntp:/\r/h/".into(), "repeated-scheme"),
        ("http://http:\n//htt\tps://h/a\tb".into(), "repeated-scheme decode-all"),
        ("http://h".into(), "empty-path"),
        ("http://h/A".into(), "fold-case"),
        ("http://h/a%20b?c%20d".into(), ""),
        ("http://h/?a b".into(), "encode"),
        ("http://h/%3Fa".into(), "decode-all"),
        ("http://h%2Ex/".into(), "decode-all"),
        ("http://h/a//b".into(), "empty-segments"),
        ("http://h/a/../b".into(), "dot-segments"),
        ("http://h/?b&a".into(), "sort-query"),
        ("http://h/?a&b".into(), ""),
        ("http://h/?".into(), "empty-query"),
        ("http://h/?a&sid=0123456789abcdef0123456789abcdef&b".into(), "session-params"),
        ("http://[::1]/".into(), ""),
        ("http://2130706433/".into(), "ipv4-number"),
        // URLs without a host, and records of archives, are only printed.
        ("dns:Example COM".into(), "encode"),
        ("filedesc://A/B//c".into(), ""),
        ("FILEDESC://A b:c d/e f?g h".into(), "encode scheme-case"),
    ] {
        assert_eq!(rules_of(&Normalizer::new(Profile::Ia), &url), rules, "{url}");
    }
}

#[test]
fn rejected_url_has_no_explanation() {
    let reject = Normalizer::new(Profile::Scheme).explain(b"http:/h").unwrap_err();
    assert_eq!((reject.code, reject.at), (RejectReason::NoAuthority, 5));
}
