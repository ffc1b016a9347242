//! Rules of single paths, by docs/profiles.md: the library agrees with an oracle that looks up host and path of each
//! form anew, and keeps its laws.

use crate::cases::for_each_case;
use crate::generator::{Rng, habits};
use crate::host_rules::{self, Sites};
use crate::oracle::Answer;
use crate::oracle::parts::{Piece, split};
use crate::oracle::policy::{Policy, SWITCHES, fits};
use crate::subject::{Library, in_bulk, outcome};
use crate::tsv::{escape, show};
use uniqurl::Normalizer;
use uniqurl::internal::Backend;

/// They match paths of [`habits::url`], and more than one may match.
#[rustfmt::skip]
const GLOBS: [&str; 16] = [
    "/*", "/a*", "*a", "*/", "/*a*", "/", "/?", "/??*", "*b*", "/A/*", "*/index.html", "*//*", "*.*", "/a/b", "*;*", "",
];

/// A pattern of paths, whether it ignores case, and the rules of its host with those of its section.
type Paths = Vec<(&'static str, bool, Policy)>;

/// "The path with the most bytes that stand for themselves acts, and of two such the first": the path is the one that
/// the rules of the host alone write.
fn rules<'s>(sites: &'s Sites, paths: &'s [Paths], url: &[u8]) -> &'s Policy {
    let at = host_rules::index(sites, url);
    let of_host = &sites[at].1;
    let Ok(form) = of_host.normalize(url) else { return of_host };
    let path = split(&Piece::whole(&form)).path.bytes;
    let matches = |glob: &str, ignored: bool| match ignored {
        true => fits(glob.to_lowercase().as_bytes(), &path.to_ascii_lowercase()),
        false => fits(glob.as_bytes(), &path),
    };
    let fitting = paths[at].iter().filter(|(glob, ignored, _)| matches(glob, *ignored));
    let literals = |glob: &str| glob.chars().filter(|c| !"*?".contains(*c)).count();
    // Of equal ones `max_by_key` takes the last.
    let best = fitting.rev().max_by_key(|(glob, ..)| literals(glob));
    best.map_or(of_host, |(.., rules)| rules)
}

/// The last rules are those of the result. The number of rules that acted comes with the answer.
fn normalize(sites: &Sites, paths: &[Paths], url: &[u8]) -> (Answer, usize) {
    let mut before = rules(sites, paths, url);
    let (mut answer, mut count) = (before.normalize(url), 1);
    while let Ok(form) = &answer {
        let next = rules(sites, paths, form);
        if std::ptr::eq(before, next) {
            break;
        }
        (before, answer, count) = (next, next.normalize(form), count + 1);
    }
    (answer, count)
}

/// "What it does not say is as its host has it, and its lists are added." Writes the section.
fn draw(
    rng: &mut Rng,
    above: &Policy,
    pattern: &str,
    text: &mut String,
) -> (&'static str, bool, Policy) {
    let (glob, ignored, mut rules) = (rng.pick(&GLOBS), rng.one_in(3), above.clone());
    *text += &format!("[[host.'{pattern}'.path]]\nglob = '{glob}'\nignore-case = {ignored}\n");
    // Switches that act on paths may ask for the section of another path.
    for switch in SWITCHES.into_iter().filter(|_| rng.one_in(8)).collect::<Vec<_>>() {
        let on = rng.one_in(2);
        *text += &format!("switches.{switch} = {on}\n");
        rules.switches.remove(switch);
        rules.switches.extend(on.then_some(switch));
    }
    let inherits = rng.one_in(2);
    if !inherits {
        *text += "parameters.inherit = false\n";
    }
    for (key, list, share) in [("drop", &mut rules.drop, 2), ("keep", &mut rules.keep, 6)] {
        if rng.one_in(share) {
            let own = vec![rng.pick(habits::GLOBS).to_owned()];
            *text += &format!("parameters.{key} = {own:?}\n");
            *list = if inherits { [list.clone(), own].concat() } else { own };
        }
    }
    (glob, ignored, rules)
}

#[test]
fn library_agrees_with_the_oracle_of_path_rules() {
    let mut acted = [0; 2];
    for_each_case(4, |rng| {
        let mut text = "name = 's'\nversion = 1\n".to_owned();
        let mut sites = vec![("", host_rules::draw(rng, None, "", &mut text))];
        for pattern in
            host_rules::PATTERNS.into_iter().filter(|_| rng.one_in(2)).collect::<Vec<_>>()
        {
            text += &format!("[host.'{pattern}']\n");
            let rules = host_rules::draw(rng, Some(&sites[0].1), "", &mut text);
            sites.push((pattern, rules));
        }
        let mut paths = vec![Paths::new()];
        for (pattern, of_host) in &sites[1..] {
            let count = rng.below(5);
            paths.push((0..count).map(|_| draw(rng, of_host, pattern, &mut text)).collect());
        }
        let made = Normalizer::from_profile_file(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let backends = [Backend::Scalar, Backend::best()];
        let libraries = backends.map(|backend| Library(made.clone().with_backend(backend)));
        for _ in 0..4 {
            let url = habits::url(rng);
            let (expected, count) = normalize(&sites, &paths, &url);
            acted[count.min(acted.len()) - 1] += 1;
            for library in &libraries {
                let got = library.normalize(&url);
                // No text says where in the URL an error under second rules is.
                let same = match (&got, &expected) {
                    (Err((code, _)), Err((other, _))) if count > 1 => code == other,
                    _ => got == expected,
                };
                let context = || {
                    format!(
                        "{text}\n{} gives {}, not {}",
                        escape(&url),
                        show(&got),
                        show(&expected)
                    )
                };
                assert!(same, "{}", context());
                assert!(!library.0.is_clean(&url) || got.as_ref() == Ok(&url), "{}", context());
                let alone = outcome(|out| library.0.append(&url, out));
                assert_eq!(
                    in_bulk(&library.0, std::slice::from_ref(&url)),
                    [alone],
                    "{}",
                    context()
                );
                // The laws: a form is its own form, and it is what an explanation ends with.
                let Ok(form) = &got else { continue };
                assert_eq!(library.normalize(form), got, "{}", context());
                assert!(library.0.is_canonical(form), "{}", context());
                let steps = library.0.explain(&url).unwrap();
                assert_eq!(steps.last().map_or(&url, |step| &step.after), form, "{}", context());
            }
        }
    });
    assert!(acted.iter().all(|count| *count > 0), "{acted:?}");
}

/// Nothing is timed: a round for each segment would take minutes here.
#[test]
fn two_paths_that_take_turns_take_linear_time() {
    let text = "name = 's'\nversion = 1\nbase = 'crawl'\n\
        [[host.h.path]]\nglob = '*/'\nswitches.strip-trailing-slash = true\n\
        [[host.h.path]]\nglob = '*/index.html'\nswitches.strip-index = true\nparameters.drop = ['a']\n\
        [[host.h.path]]\nglob = '/x'\nparameters.drop = ['b']\n";
    let taking_turns = Library(Normalizer::from_profile_file(text).unwrap());
    for (count, expected) in [(0, "/x?a"), (1, "/x"), (3, "/x"), (50_000, "/x")] {
        let url = format!("http://h/x{}?a&b", "/index.html/".repeat(count).replace("//", "/"));
        let form = taking_turns.normalize(url.as_bytes());
        assert_eq!(form, Ok(format!("http://h{expected}").into_bytes()), "{count}");
    }
}
