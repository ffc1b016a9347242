//! Reads the data file of ClearURLs: providers, each with a pattern of URLs, rules and exceptions.
//!
//! The fields have the names and the meaning that its documentation gives them: a rule is a regular expression for the
//! whole name of a parameter, and all expressions ignore case.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::imported::{EXCEPTION_NOT_MADE, Imported, Removal};
use super::pattern::{MANY, START, Scope, name_glob, texts};

#[derive(Deserialize)]
struct Data {
    providers: BTreeMap<String, Provider>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Provider {
    url_pattern: String,
    complete_provider: bool,
    force_redirection: bool,
    rules: Vec<String>,
    referral_marketing: Vec<String>,
    raw_rules: Vec<String>,
    exceptions: Vec<String>,
    redirections: Vec<String>,
}

pub(super) fn read(text: &str) -> Result<Imported, String> {
    let data: Data = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut imported = Imported::default();
    for (name, provider) in &data.providers {
        provider.read(name, &mut imported);
    }
    Ok(imported)
}

impl Provider {
    fn read(&self, name: &str, imported: &mut Imported) {
        let flag = |is_on: bool| if is_on { std::slice::from_ref(&self.url_pattern) } else { &[] };
        for (kind, rules, reason) in [
            ("rawRule", &*self.raw_rules, "removes other parts than parameters"),
            ("redirection", &self.redirections, "leads to another URL"),
            ("forceRedirection", flag(self.force_redirection), "leads to another URL"),
            ("completeProvider", flag(self.complete_provider), "blocks all URLs"),
        ] {
            rules.iter().for_each(|rule| imported.list(reason, format!("{name}: {kind} {rule}")));
        }
        // Rules must not reach further than the pattern, and exceptions may.
        let of_rules = scopes(&self.url_pattern);
        let of_rules = of_rules.and_then(|(scopes, wider)| wider.map_or(Ok(scopes), Err));
        let mut excepted = Vec::new();
        for exception in &self.exceptions {
            let text = format!("{name}: exception {exception}");
            match scopes(exception) {
                _ if of_rules.is_err() => imported.list("is of rules that are not taken", text),
                Err(_) => imported.list(EXCEPTION_NOT_MADE, text),
                Ok((more, wider)) => {
                    excepted.extend(more);
                    imported.except(wider, text);
                }
            }
        }
        for rule in self.rules.iter().chain(&self.referral_marketing) {
            let names = texts(&format!("^(?:{rule})$"));
            let names = names.iter().map(|text| name_glob(text)).collect::<Result<_, _>>();
            match of_rules.clone().and_then(|scopes| Ok((scopes, names?))) {
                Err(reason) => imported.list(reason, format!("{name}: rule {rule}")),
                Ok((scopes, names)) => {
                    imported.taken.push(Removal { scopes, excepted: excepted.clone(), names });
                }
            }
        }
    }
}

/// The scopes of an expression for URLs, and why they are wider than it, if they are.
fn scopes(expression: &str) -> Result<(Vec<Scope>, Option<&'static str>), &'static str> {
    let (mut scopes, mut all_wider) = (Vec::new(), None);
    for text in texts(expression) {
        if text == MANY {
            return Ok((vec![Scope::all()], None));
        }
        let (scheme, rest) =
            text.trim_start_matches(START).split_once("://").ok_or("names no host")?;
        let (scope, wider) = Scope::of_text(rest)?;
        // Sections of hosts hold for all schemes.
        let scheme = (!scheme.starts_with("http")).then_some("is of one scheme");
        all_wider = all_wider.or(wider).or(scheme);
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    Ok((scopes, all_wider))
}
