//! Reads the data file of ClearURLs: providers, each with a pattern of URLs, rules and exceptions.
//!
//! The names of fields, and what they do, are those of its documentation: a rule is a regular expression for the whole
//! name of a parameter, and all expressions ignore case.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::pattern::{Scope, Token, name_glob, texts};
use super::{EXCEPTION_NOT_TAKEN, Imported, Removal};

#[derive(Deserialize)]
struct Data {
    providers: BTreeMap<String, Provider>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Provider {
    url_pattern: String,
    #[serde(default)]
    complete_provider: bool,
    #[serde(default)]
    force_redirection: bool,
    #[serde(default)]
    rules: Vec<String>,
    #[serde(default)]
    referral_marketing: Vec<String>,
    #[serde(default)]
    raw_rules: Vec<String>,
    #[serde(default)]
    exceptions: Vec<String>,
    #[serde(default)]
    redirections: Vec<String>,
}

pub(super) fn read(text: &str) -> Result<Imported, serde_json::Error> {
    let data: Data = serde_json::from_str(text)?;
    let mut imported = Imported::default();
    for (name, provider) in &data.providers {
        provider.read(name, &mut imported);
    }
    Ok(imported)
}

impl Provider {
    fn read(&self, name: &str, imported: &mut Imported) {
        let listed = |kind: &str, text: &str| format!("{name}: {kind} {text}");
        for rule in &self.raw_rules {
            imported.list("removes other parts than parameters", listed("rawRule", rule));
        }
        for rule in &self.redirections {
            imported.list("leads to another URL", listed("redirection", rule));
        }
        if self.complete_provider {
            imported.list("blocks all URLs", listed("completeProvider", &self.url_pattern));
        }
        if self.force_redirection {
            imported.list("leads to another URL", listed("forceRedirection", &self.url_pattern));
        }
        // Rules must not reach further than the pattern, and exceptions may.
        let scopes =
            scopes(&self.url_pattern).and_then(|(scopes, wider)| wider.map_or(Ok(scopes), Err));
        let mut excepted = Vec::new();
        for exception in &self.exceptions {
            let text = listed("exception", exception);
            match self::scopes(exception) {
                _ if scopes.is_err() => imported.list("is of rules that are not taken", text),
                Ok((more, wider)) => {
                    excepted.extend(more);
                    match wider {
                        None => imported.exceptions += 1,
                        Some(wider) => imported.list(wider, text),
                    }
                }
                Err(_) => imported.list(EXCEPTION_NOT_TAKEN, text),
            }
        }
        for rule in self.rules.iter().chain(&self.referral_marketing) {
            let names = texts(&format!("^(?:{rule})$"));
            let names: Result<Vec<_>, _> = names.iter().map(|text| name_glob(text)).collect();
            match (scopes.as_ref().map_err(|reason| *reason), names) {
                (Err(reason), _) | (_, Err(reason)) => imported.list(reason, listed("rule", rule)),
                (Ok(scopes), Ok(names)) => imported.taken.push(Removal {
                    scopes: scopes.clone(),
                    excepted: excepted.clone(),
                    names: Some(names),
                }),
            }
        }
    }
}

/// The scopes of an expression for URLs, and why they are wider than it, if they are.
fn scopes(expression: &str) -> Result<(Vec<Scope>, Option<&'static str>), &'static str> {
    let (mut scopes, mut wider) = (Vec::new(), None);
    for text in texts(expression) {
        if text == [Token::Many] {
            return Ok((vec![Scope::ALL], None));
        }
        let text = text.strip_prefix(&[Token::Start]).unwrap_or(&text);
        let after = |scheme: &[u8]| {
            let matches = |(token, byte): (&Token, &u8)| *token == Token::Byte(*byte);
            let is_it = text.len() >= scheme.len() && text.iter().zip(scheme).all(matches);
            is_it.then(|| &text[scheme.len()..])
        };
        let of_web = after(b"https://").or_else(|| after(b"http://"));
        let rest = of_web.or_else(|| after(b"wss://")).or_else(|| after(b"ws://"));
        let (scope, of_text) = Scope::of_text(rest.ok_or("names no host")?)?;
        // Sections of hosts hold for all schemes.
        let schemes = of_web.is_none().then_some("is of one scheme");
        wider = wider.or(of_text).or(schemes);
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    Ok((scopes, wider))
}
