//! Writes rules as the sections of a profile file.
//!
//! Of the sections of a file one host acts, and one of its paths. So each section holds all that acts there: the rules
//! for all hosts, for the domains around the host, and for the shorter paths. Paths are texts that a path begins with,
//! or whole ones, so that of two that match one covers the other.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::imported::Removal;
use super::pattern::Scope;

/// Appends the sections.
pub(super) fn write(rules: &[Removal], text: &mut String) {
    let all: Vec<&Removal> = rules.iter().collect();
    let general = names(&all, "", "*");
    write_list(&BTreeSet::new(), &general, "", "", text);
    let hosts: BTreeSet<&str> =
        rules.iter().flat_map(|rule| rule.all_scopes().map(|scope| &*scope.host)).collect();
    for host in hosts.into_iter().filter(|host| !host.is_empty()) {
        let is_near = |rule: &&Removal| rule.all_scopes().any(|scope| scope.covers_host(host));
        let near: Vec<&Removal> = rules.iter().filter(is_near).collect();
        let of_host = names(&near, host, "*");
        let _ = writeln!(text, "\n[host.\"{host}\"]");
        write_list(&general, &of_host, "parameters.inherit = true\n", "", text);
        let scopes = near.iter().flat_map(|rule| rule.all_scopes());
        let paths = scopes.filter(|scope| scope.path != "*" && scope.covers_host(host));
        for path in paths.map(|scope| &*scope.path).collect::<BTreeSet<_>>() {
            let _ =
                writeln!(text, "[[host.\"{host}\".path]]\nglob = \"{path}\"\nignore-case = true");
            let of_path = names(&near, host, path);
            write_list(&of_host, &of_path, "", "parameters.inherit = false\n", text);
        }
    }
}

/// The names of parameters that go from all URLs of a host and path.
fn names<'r>(rules: &[&'r Removal], host: &str, path: &str) -> BTreeSet<&'r str> {
    let any = |scopes: &[Scope]| scopes.iter().any(|scope| scope.covers(host, path));
    let acting = rules.iter().filter(|rule| any(&rule.scopes) && !any(&rule.excepted));
    acting.flat_map(|rule| &rule.names).map(String::as_str).collect()
}

/// Appends the names that a section has beside those above it, after one key, or all of them after another key where
/// it lacks one.
fn write_list(
    above: &BTreeSet<&str>,
    own: &BTreeSet<&str>,
    adds: &str,
    replaces: &str,
    text: &mut String,
) {
    let (key, listed) = match above.is_subset(own) {
        true if above.len() == own.len() => return,
        true => (adds, own - above),
        false => (replaces, own.clone()),
    };
    let quoted = listed
        .iter()
        .map(|name| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")));
    let list = quoted.collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "{key}parameters.drop = [{list}]");
}
