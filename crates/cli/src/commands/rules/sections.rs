//! Writes rules as the sections of a profile file.
//!
//! Of the sections of a file one host acts, and one of its paths. So each section holds all that acts there: the rules
//! for all hosts, for the domains around the host, and for the shorter paths. Paths are texts that a path begins with,
//! or whole ones, so that of two that match one covers the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Removal;
use super::pattern::{Path, Scope};

/// A host, or all hosts below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Host<'a> {
    name: &'a str,
    is_domain: bool,
}

/// The numbers of the rules that act in a section.
type Acting = BTreeSet<usize>;

/// What a host has: its rules, and those of its paths.
#[derive(PartialEq)]
struct Site<'a> {
    acting: Acting,
    paths: BTreeMap<&'a Path, Acting>,
}

/// Appends the sections.
pub(super) fn write(rules: &[Removal], ignores_case: bool, text: &mut String) {
    let general: Acting = acting(rules, 0..rules.len(), None, None);
    if ignores_case {
        text.push_str("parameters.ignore-case = true\n");
    }
    write_difference(rules, &Acting::new(), &general, Inherited::Never, text);
    let mut by_host: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut hosts = BTreeSet::new();
    let mut everywhere = Vec::new();
    for (i, rule) in rules.iter().enumerate() {
        for scope in rule.scopes.iter().chain(&rule.excepted) {
            let Some(name) = scope.host.as_deref() else {
                everywhere.push(i);
                continue;
            };
            by_host.entry(name).or_default().push(i);
            hosts.insert(Host { name, is_domain: false });
            if scope.below {
                hosts.insert(Host { name, is_domain: true });
            }
        }
    }
    let sites: BTreeMap<Host<'_>, Site<'_>> = hosts
        .into_iter()
        .map(|host| {
            let dots = host.name.match_indices('.').map(|(dot, _)| &host.name[dot + 1..]);
            let around = [host.name].into_iter().chain(dots).filter_map(|name| by_host.get(name));
            let mut near: Vec<usize> = around.flatten().chain(&everywhere).copied().collect();
            near.sort_unstable();
            near.dedup();
            let scopes =
                near.iter().flat_map(|i| rules[*i].scopes.iter().chain(&rules[*i].excepted));
            let paths = scopes.filter(|scope| covers(scope, Some(host), scope.path.as_ref()));
            let paths = paths.filter_map(|scope| scope.path.as_ref());
            let at = |path| acting(rules, near.iter().copied(), Some(host), path);
            (
                host,
                Site {
                    acting: at(None),
                    paths: paths.map(|path| (path, at(Some(path)))).collect(),
                },
            )
        })
        .collect();
    for (host, site) in &sites {
        let other = sites.get(&Host { is_domain: !host.is_domain, ..*host });
        let pattern = match (other == Some(site), host.is_domain) {
            // One section for both.
            (true, true) => continue,
            (true, false) => format!(".{}", host.name),
            (false, true) => format!("*.{}", host.name),
            (false, false) => host.name.to_owned(),
        };
        let _ = writeln!(text, "\n[host.\"{pattern}\"]");
        write_difference(rules, &general, &site.acting, Inherited::IfAsked, text);
        for (path, acting) in &site.paths {
            let star = if path.open { "*" } else { "" };
            let _ = writeln!(
                text,
                "[[host.\"{pattern}\".path]]\nglob = \"{}{star}\"\nignore-case = true",
                path.text
            );
            write_difference(rules, &site.acting, acting, Inherited::Always, text);
        }
    }
}

/// The rules of those that act on a path of a host; on any path and any host, if they are not named.
fn acting(
    rules: &[Removal],
    of: impl IntoIterator<Item = usize>,
    host: Option<Host<'_>>,
    path: Option<&Path>,
) -> Acting {
    let any = |scopes: &[Scope]| scopes.iter().any(|scope| covers(scope, host, path));
    of.into_iter().filter(|i| any(&rules[*i].scopes) && !any(&rules[*i].excepted)).collect()
}

/// Whether a scope holds all URLs of a host and path.
fn covers(scope: &Scope, host: Option<Host<'_>>, path: Option<&Path>) -> bool {
    let of_host = match (&scope.host, host) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(name), Some(host)) => {
            let is_below =
                || host.name.strip_suffix(&**name).is_some_and(|rest| rest.ends_with('.'));
            if scope.below {
                host.name == name || is_below()
            } else {
                !host.is_domain && host.name == name
            }
        }
    };
    let of_path = scope.path.as_ref().is_none_or(|own| path.is_some_and(|path| own.covers(path)));
    of_host && of_path
}

/// Whether a section has the lists above it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inherited {
    Never,
    IfAsked,
    Always,
}

/// Appends the keys by which a section differs from the one above it.
fn write_difference(
    rules: &[Removal],
    above: &Acting,
    own: &Acting,
    inherited: Inherited,
    text: &mut String,
) {
    let drops_query = |acting: &Acting| acting.iter().any(|i| rules[*i].names.is_none());
    if drops_query(above) != drops_query(own) {
        let _ = writeln!(text, "switches.drop-query = {}", drops_query(own));
    }
    let names = |acting: &Acting| -> BTreeSet<String> {
        acting.iter().filter_map(|i| rules[*i].names.as_ref()).flatten().cloned().collect()
    };
    let (above, own) = (names(above), names(own));
    let adds = above.is_subset(&own);
    let listed: Vec<_> = own.iter().filter(|name| !adds || !above.contains(*name)).collect();
    if adds && listed.is_empty() {
        return;
    }
    match (inherited, adds) {
        (Inherited::IfAsked, true) => text.push_str("parameters.inherit = true\n"),
        (Inherited::Always, false) => text.push_str("parameters.inherit = false\n"),
        _ => {}
    }
    let quoted = |name: &String| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let list: Vec<_> = listed.into_iter().map(quoted).collect();
    let _ = writeln!(text, "parameters.drop = [{}]", list.join(", "));
}
