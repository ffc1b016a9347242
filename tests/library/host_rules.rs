//! Rules of single hosts, by docs/profiles.md: the library agrees with an oracle that looks up the host
//! of each form anew.

use crate::cases::for_each_case;
use crate::generator::{Rng, habits};
use crate::oracle::parts::{Piece, split};
use crate::oracle::policy::{Policy, SWITCHES};
use crate::oracle::{Answer, Oracle};
use crate::subject::Library;
use crate::tsv::{escape, show};
use crate::variant::split_authority;
use uniqurl::Normalizer;
use uniqurl::internal::Backend;

#[rustfmt::skip]
pub const PATTERNS: [&str; 11] = [
    "h", "H.x", "*.h.x", "www.h.x", "*.x", "example.com", "*.example.com", "*.com", "[::1]", "a.b", "www.a.b",
];

/// The rules for any host, without a pattern, and those of single hosts.
pub type Sites = Vec<(&'static str, Policy)>;

/// "the host itself goes first, then the longest domain"
pub fn rules<'s>(sites: &'s Sites, url: &[u8]) -> &'s Policy {
    &sites[index(sites, url)].1
}

/// The number of the rules.
pub fn index(sites: &Sites, url: &[u8]) -> usize {
    let host = host(url).unwrap_or_default();
    let fits = |pattern: &str| match pattern.strip_prefix('*') {
        Some(domain) => host.ends_with(domain) && host.len() > domain.len(),
        None => pattern.is_empty() || host == pattern.to_lowercase(),
    };
    let fitting = (0..sites.len()).filter(|i| fits(sites[*i].0));
    let order = |pattern: &str| (!pattern.starts_with('*') && !pattern.is_empty(), pattern.len());
    fitting.max_by_key(|i| order(sites[*i].0)).unwrap()
}

/// The host as `crawl` writes it, whatever the rules are.
fn host(url: &[u8]) -> Option<String> {
    let parts = split(&Piece::whole(url.trim_ascii()));
    parts.scheme?;
    let (_, host, _) = split_authority(&parts.authority?.bytes);
    // What follows an address is an error, and no part of the host.
    let address = host.split_inclusive(|&byte| byte == b']').next()?;
    let url = [b"http://", address, b"/"].concat();
    let form = String::from_utf8(Oracle::new("crawl").normalize(&url).ok()?).unwrap();
    Some(form[7..form.len() - 1].to_owned())
}

/// The last rules are those of the host of their result: without `www` it is another host. The number
/// of rules that acted comes with the answer.
fn normalize(sites: &Sites, url: &[u8]) -> (Answer, usize) {
    let (mut before, mut answer, mut count) =
        (rules(sites, url), rules(sites, url).normalize(url), 1);
    while let Ok(form) = &answer {
        let next = rules(sites, form);
        if std::ptr::eq(before, next) {
            break;
        }
        (before, answer, count) = (next, next.normalize(form), count + 1);
    }
    (answer, count)
}

/// "What a host does not say itself is as above it, unless it has a base of its own." Writes the section.
pub fn draw(rng: &mut Rng, above: Option<&Policy>, section: &str, text: &mut String) -> Policy {
    let base = rng.pick(&["scheme", "crawl", "aggressive"]);
    let mut rules = above.filter(|_| rng.one_in(2)).cloned().unwrap_or_else(|| {
        *text += &format!("{section}base = '{base}'\n");
        Policy::new(base)
    });
    for switch in SWITCHES.into_iter().filter(|_| rng.one_in(4)).collect::<Vec<_>>() {
        let on = rng.one_in(2);
        *text += &format!("{section}switches.{switch} = {on}\n");
        rules.switches.remove(switch);
        rules.switches.extend(on.then_some(switch));
    }
    rules.drop = if rng.one_in(2) { vec![rng.pick(habits::GLOBS).to_owned()] } else { Vec::new() };
    *text += &format!("{section}parameters.drop = {:?}\n", rules.drop);
    rules
}

#[test]
fn library_agrees_with_the_oracle_of_host_rules() {
    for_each_case(1, |rng| {
        let mut text = "name = 's'\nversion = 1\n".to_owned();
        let mut sites = vec![("", draw(rng, None, "", &mut text))];
        for pattern in PATTERNS.into_iter().filter(|_| rng.one_in(3)).collect::<Vec<_>>() {
            let rules = draw(rng, Some(&sites[0].1), &format!("host.'{pattern}'."), &mut text);
            sites.push((pattern, rules));
        }
        let backend = if rng.one_in(2) { Backend::Scalar } else { Backend::best() };
        let library = Library(Normalizer::from_profile_file(&text).unwrap().with_backend(backend));
        let url = habits::url(rng);
        let ((expected, count), got) = (normalize(&sites, &url), library.normalize(&url));
        // No text says where in the URL an error under second rules is.
        let same = match (&got, &expected) {
            (Err((code, _)), Err((other, _))) if count > 1 => code == other,
            _ => got == expected,
        };
        let context =
            || format!("{text}\n{} gives {}, not {}", escape(&url), show(&got), show(&expected));
        assert!(same, "{}", context());
        assert!(!library.0.is_clean(&url) || got.as_ref() == Ok(&url), "{}", context());
    });
}
