//! Counts the URLs that take the fast paths.
//!
//! If a proof fails that could succeed, no result changes: the exact path returns the same one, only later,
//! and no other test fails. So this test counts. A lower number is lost speed.

use std::fmt::Write as _;

use crate::bytes::Span;
use crate::normalize::exact::ia::clean::KeyCuts;
use crate::normalize::judge::rules::{Aggressive, IaFolded};
use crate::normalize::lines::Scratch;
use crate::normalize::masks::cuts::Write;
use crate::normalize::masks::parameters::are_in_order;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::redirect::Redirects;
use crate::profile::archive::STARTS;
use crate::profile::starts::Starts;
use crate::profile::{Grammar, Profile, Ring, Switch, System};
use crate::simd::{Backend, ByFastPath, FastPath, FastPathResult, MaskedUrl, UrlKind, Vector};

/// Starts of URLs, nearly all of them canonical.
#[rustfmt::skip]
const FRONTS: &[&str] = &[
    "http://h.example/", "https://www.h.example/", "http://www.com/", "http://www2.h.x/a/", "https://www.www.a.b/",
    "http://1/", "http://12a.b/", "http://w/", "http://ww.x/", "https://h.example/a.b/c/", "http://h.example",
    "http://h.example:8080/", "https://www.h.example:8443/", "https://h:443/", "http://H.example/", "http://a..b/",
    "https://.a/", "http://h.example./", "http://1.2.3.4/", "http://012/", "http://h/?", "http://u@h.example/",
    "http://a-host-of-some-length.in-a-domain.of-many-labels.and-more.example.org/", "ftp://h.example/", " http://h/",
];

/// Text that follows; all profiles leave most of it unchanged.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "b", "a/", "bc/", "segment/", "page", ".html", "index.html", "index.php", "default.aspx", "B", "Page/", "//", "/", "/",
    "~u/", "%C3%A9", "%20", "%2F", "%3B", "%7E", "%c3", "%25", "+", "'", "!", "(", "(a)/", "(S(a1))/", ";", ";a=1", ";sid=1",
    ":", ",", "@", "..", "/.", "/../", "./a", "=", "-", "_", "*", "$", "|", "\"", " ", "#f", "^", "1", "1.2.3.4",
];

/// Parameters, mostly sorted.
#[rustfmt::skip]
const PARAMETERS: &[&str] = &[
    "?", "?a=1", "?b", "?id=1", "?sid=1", "?A=1", "?utm_source=x", "?q=a+b", "?category_a=1", "?x=%C3%A9", "?x=%20",
    "&b=2", "&b=2", "&c", "&c=3", "&d=4", "&d=&e", "&e=5", "&f=1&f=2", "&fa=1", "&long_name_a=1&long_name_b=2",
    "&long_name_b=2&long_name_a=1", "&m=a-value-of-more-than-a-block-of-sixty-four-bytes-which-few-parameters-have-in-lists",
    "&PHPSESSID=0123456789abcdef0123456789abcdef", "&sid=0123456789abcdef0123456789abcdef", "&s=1", "&utm_x=1", "&gclid=a",
    "&=1", "&", "&&", "&Z=1", "&z=1", "&z", "&zz=2", "&zz=1", "&a=1", "&%41=1", "&?=1", "&cfid=1", "&cftoken=2", "&C",
];

struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % n
    }

    fn some(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }

    fn url(&mut self) -> String {
        let mut url = self.some(FRONTS).to_owned();
        for _ in 0..self.below(5) {
            // Most words come from the start of the list, which no rule changes.
            let most = if self.below(3) == 0 { WORDS.len() } else { 6 };
            url.push_str(self.some(&WORDS[..most]));
        }
        if self.below(12) == 0 {
            url.push_str(&"/long".repeat(self.below(120)));
        }
        if self.below(2) == 0 {
            url.push_str(self.some(&PARAMETERS[..11]));
            let (most, from) = (1 + self.below(6), self.below(2));
            for n in 0..self.below(most) {
                // The sorted ones, or any.
                let next =
                    if from == 0 { PARAMETERS[11 + 2 * n] } else { self.some(&PARAMETERS[11..]) };
                url.push_str(next);
            }
        }
        if self.below(40) == 0 {
            // More than the fast path sorts.
            for n in 0..33 * self.below(2) {
                write!(url, "&p{n}").unwrap();
            }
        }
        url
    }
}

fn normalizers() -> Vec<(String, Normalizer)> {
    let named = |profile: &Profile| (profile.name().to_owned(), Normalizer::new(*profile));
    let mut all: Vec<(String, Normalizer)> = Profile::ALL.iter().map(named).collect();
    let mut add = |name: &str, normalizer| all.push((name.to_owned(), normalizer));
    let new = Normalizer::new;
    let crawl = || new(Profile::Crawl);
    let aggressive = || new(Profile::Aggressive);
    for switch in Profile::Aggressive.switches().iter() {
        let name = format!("aggressive without {}", switch.name());
        add(&name, aggressive().without_switches([switch]).unwrap());
    }
    for switch in [Switch::LowerPath, Switch::FoldScheme, Switch::DropQuery, Switch::BlankValues] {
        add(
            &format!("aggressive with {}", switch.name()),
            aggressive().with_switches([switch]).unwrap(),
        );
    }
    add("scheme, sorted", new(Profile::Scheme).with_switches([Switch::SortQuery]).unwrap());
    add("crawl, dropped", crawl().with_dropped_parameters(["c*", "a"]).unwrap());
    add("crawl, kept", crawl().with_kept_parameters(["c*", "a", "b"]).unwrap());
    let list = Redirects::parse(b"http://h.example/a\thttp://h.example/b\n").unwrap();
    for profile in [Profile::Crawl, Profile::Servlet, Profile::Mediawiki, Profile::Sanitize] {
        add(&format!("{}, redirects", profile.name()), new(profile).with_redirects(&list).unwrap());
    }
    let slashes = Ring::parse("decode=3B encode=2F,21").unwrap();
    add("ring, slashes", new(Profile::Ring).with_ring(slashes).unwrap());
    add("servlet, base", new(Profile::Servlet).with_base(b"http://h.example/a/").unwrap());
    for profile in [Profile::Crawl, Profile::Servlet, Profile::Mediawiki] {
        let charset = crate::normalize::Charset::LATIN_1;
        add(&format!("{}, latin1", profile.name()), new(profile).with_charset(charset).unwrap());
    }
    let hosts = "name = 'hosts'\nversion = 1\nbase = 'crawl'\n[host.'h.example']\nbase = 'aggressive'\n\
                 [host.'*.h.example'.switches]\nsort-query = true\n";
    add("hosts", Normalizer::from_profile_file(hosts).unwrap());
    let ports = "name = 'ports'\nversion = 1\nbase = 'aggressive'\nports.http = 8080\n";
    add("ports", Normalizer::from_profile_file(ports).unwrap());
    all
}

/// The names of parameters of a query, compared by their first bytes.
struct Order<'a>(&'a Starts);

impl FastPath for Order<'_> {
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        let query = masked.path_end() + 1;
        query < masked.length && are_in_order(masked, query, self.0)
    }
}

/// The number of URLs, and of targets in them, that take each of the fast paths.
#[derive(Default)]
struct Counts {
    /// Proven clean in a batch (and then borrowed from it), and alone.
    batch: usize,
    alone: usize,
    /// Proven clean except for their port.
    port: usize,
    /// Written by the fast path, and by masks.
    fast: usize,
    masks: usize,
    /// With few parameters, sorted by the first bytes of their names, and none needs an exact comparison.
    order: usize,
}

fn counted(normalizer: &Normalizer, urls: &[String]) -> Counts {
    let mut counts = Counts::default();
    let (mut bytes, mut spans) = (Vec::new(), Vec::new());
    for url in urls {
        let start = bytes.len() as u32;
        bytes.extend_from_slice(url.as_bytes());
        spans.push(Span { start, end: bytes.len() as u32 });
        bytes.push(b'\n');
    }
    let buffer = bytes.as_ptr_range();
    normalizer.for_each(&bytes, &spans, &mut Scratch::default(), |_, url| {
        counts.batch += usize::from(url.is_ok_and(|url| buffer.contains(&url.as_bytes().as_ptr())));
    });
    let (kernel, heuristics) = (normalizer.kernel(), &normalizer.rules.heuristics);
    let mut out = Vec::new();
    for span in spans {
        let url = span.range();
        let host =
            memchr::memmem::find(&bytes[url.clone()], b"//").map_or(0, |slashes| slashes + 2);
        let path =
            memchr::memchr(b'/', &bytes[url.start + host..url.end]).unwrap_or(url.len() - host);
        let target = url.start + host + path..url.end;
        counts.port += usize::from(normalizer.rules.is_clean_but_for_port(&bytes, url.clone()));
        for (range, kind) in [(url, UrlKind::Absolute), (target, UrlKind::Target)] {
            out.clear();
            counts.alone += usize::from(normalizer.rules.is_clean(&bytes, range.clone(), kind));
            let profile = normalizer.profile().rules();
            if profile.system.has_masks() && profile.grammar != Grammar::Ignored {
                let range = range.clone();
                let done = normalizer.rules.rewrite_by_masks(kind, &bytes, range, &mut out);
                counts.masks += usize::from(done);
            }
            let (result, starts) = if profile.system == System::Archive {
                let write = Write { cuts: KeyCuts, out: &mut out };
                (kernel.judge(&bytes, range.clone(), ByFastPath(IaFolded, kind, write)), &STARTS)
            } else if heuristics.act() {
                let write = Write { cuts: heuristics.steps(), out: &mut out };
                (
                    kernel.judge(&bytes, range.clone(), ByFastPath(Aggressive, kind, write)),
                    heuristics.starts(),
                )
            } else {
                continue;
            };
            counts.fast += usize::from(result == FastPathResult::Done);
            let order = kernel.judge(&bytes, range, ByFastPath(Aggressive, kind, Order(starts)));
            counts.order += usize::from(order == FastPathResult::Done);
        }
    }
    counts
}

/// The path of a URL that is not proven clean.
fn way(normalizer: &Normalizer) -> &'static str {
    match (normalizer.rules_alone_act(), normalizer.has_fast_path()) {
        (true, _) => "masks",
        (_, true) => "fast",
        _ => "steps",
    }
}

/// For each normalizer, the path of a dirty URL, and the least counts: batch, alone, port, fast, masks, order.
#[rustfmt::skip]
const EXPECTED: &str = "\
string                                  steps   1926  3888   172      0     0     0
syntax                                  masks    966  2635   144      0  3467     0
scheme                                  masks    966  2635   144      0  3467     0
crawl                                   masks    966  2635   144      0  3810     0
aggressive                              fast     315  1049    33   2102  3810   522
ia                                      fast     182   779    30   1861     0   648
whatwg                                  steps    802  2583   162      0     0     0
sanitize                                steps    654  2274   142      0     0     0
servlet                                 steps    818  2214   123      0     0     0
mediawiki                               steps    879  2385   125      0     0     0
restbase                                steps    893  2424   126      0     0     0
upload                                  steps    803  2177   118      0     0     0
ring                                    steps    966  2635   144      0     0     0
aggressive without strip-www            fast     418  1152    60   2168  3810   522
aggressive without squeeze-slashes      fast     318  1057    33   2102  3810   522
aggressive without strip-session        fast     315  1049    33   2102  3810   522
aggressive without strip-index          fast     321  1067    34   2102  3810   522
aggressive without strip-trailing-slash fast     483  1579    47   2102  3810   522
aggressive without strip-tracking       fast     325  1083    35   2102  3810   522
aggressive without squeeze-query        fast     316  1052    33   2102  3810   522
aggressive without sort-query           fast     384  1261    37   2102  3810   522
aggressive with lower-path              fast     297   982    32   1957  3810   522
aggressive with fold-scheme             fast     298  1032    33   2004  3810   522
aggressive with drop-query              fast     199   672    19   2273  3810   522
aggressive with blank-values            fast     231   748    20   2102  3810   522
scheme, sorted                          fast     697  1928   100   2315  3467   522
crawl, dropped                          fast     709  1953   106   2315  3810     0
crawl, kept                             fast     501  1414    71   2330  3810     0
crawl, redirects                        steps    966  2635   144      0  3810     0
servlet, redirects                      steps    818  2214   123      0     0     0
mediawiki, redirects                    steps    879  2385   125      0     0     0
sanitize, redirects                     steps    654  2274   142      0     0     0
ring, slashes                           steps    405   405     0      0     0     0
servlet, base                           steps    818  2214   123      0     0     0
crawl, latin1                           steps    966  2635   144      0  3810     0
servlet, latin1                         steps    818  2214   123      0     0     0
mediawiki, latin1                       steps    879  2385   125      0     0     0
hosts                                   steps    865  2635   144      0  3810     0
ports                                   fast     315  1049     0   2102  3810   522
";

#[test]
fn fast_paths_are_taken_at_least_as_often_as_recorded() {
    let mut draw = Draw(1);
    let urls: Vec<String> = (0..2000).map(|_| draw.url()).collect();
    for backend in Backend::available() {
        // AVX-512 rewrites a clean URL with triplets, which takes no longer than a proof that it is clean.
        let expected = match backend {
            Backend::Avx512 => EXPECTED.replace("masks    966", "masks    824"),
            _ => EXPECTED.to_owned(),
        };
        let (mut table, mut is_lower) = (String::new(), false);
        let normalizers = normalizers();
        assert_eq!(normalizers.len(), expected.lines().count());
        for ((name, normalizer), row) in normalizers.into_iter().zip(expected.lines()) {
            let normalizer = normalizer.with_backend(backend);
            let way = way(&normalizer);
            let Counts { batch, alone, port, fast, masks, order } = counted(&normalizer, &urls);
            writeln!(
                table,
                "{name:<39} {way:<6} {batch:>5} {alone:>5} {port:>5} {fast:>6} {masks:>5} {order:>5}"
            )
            .unwrap();
            let (front, least) = row.split_at(46);
            assert_eq!(front.trim_end(), format!("{name:<39} {way}"), "{backend:?}");
            let least: Vec<usize> =
                least.split_whitespace().map(|count| count.parse().unwrap()).collect();
            let counts = [batch, alone, port, fast, masks, order];
            assert_eq!(least.len(), counts.len());
            is_lower |= counts.iter().zip(&least).any(|(count, least)| count < least);
        }
        assert!(!is_lower, "{backend:?}: a count is lower than recorded\n{table}");
    }
}
