//! The answer of a second implementation for a URL, and its comparison with the library's.

use std::collections::BTreeSet;

use unicode_bidi::BidiClass as Class;
use unicode_bidi::BidiClass::{AL, AN, BN, CS, EN, ES, ET, L, NSM, ON, R};
use unicode_bidi::bidi_class;
use uniqurl::Reject;

use crate::browser;
use crate::case::Way;
use crate::oracle;
use crate::setting::Second;

/// The canonical form, or the codes and the offset of the rejection.
#[derive(Debug, PartialEq)]
pub enum Opinion {
    Canonical(Vec<u8>),
    /// One code and its offset.
    At(&'static str, usize),
    /// All codes that apply, and the offset of the first.
    All(BTreeSet<&'static str>, usize),
    /// One code; the second implementation gives no offset.
    Somewhere(&'static str),
}

impl Opinion {
    /// Whether the library gave this answer.
    pub fn is(&self, outcome: &Result<(), Reject>, out: &[u8]) -> bool {
        match (self, outcome) {
            (Opinion::Canonical(url), Ok(())) => url == out,
            (Opinion::At(code, at), Err(reject)) => {
                (reject.code.name(), reject.at) == (*code, *at) && reject.codes.iter().count() == 1
            }
            (Opinion::All(codes, at), Err(reject)) => {
                reject.at == *at && names(reject).eq(codes.iter().copied())
            }
            (Opinion::Somewhere(code), Err(reject)) => reject.code.name() == *code,
            _ => false,
        }
    }
}

/// The codes of a rejection in alphabetical order.
fn names(reject: &Reject) -> impl Iterator<Item = &'static str> + use<> {
    let mut names: Vec<&'static str> = reject.codes.iter().map(|code| code.name()).collect();
    names.sort_unstable();
    names.into_iter()
}

impl Second {
    /// The answer for this URL or target, where this implementation has an opinion.
    pub fn opinion(&self, way: Way, url: &[u8]) -> Option<Opinion> {
        match (self, way) {
            (Second::Ladder(oracle), Way::Url) => Some(of_ladder(oracle.normalize(url))),
            (Second::Ladder(oracle), Way::Target) => Some(of_ladder(oracle.normalize_target(url))),
            (Second::Habits(policy), Way::Url) => Some(of_ladder(policy.normalize(url))),
            (Second::Habits(policy), Way::Target) => Some(of_ladder(policy.normalize_target(url))),
            (Second::System(system), Way::Url) => Some(of_system(system.normalize(url))),
            (Second::System(system), Way::Target) => Some(of_system(system.normalize_target(url))),
            (Second::Browser(base), Way::Url) => {
                let base = base.as_ref().map(|(steps, _)| steps);
                Some(match browser::Url::parse(url, base) {
                    Ok(url) => Opinion::Canonical(url.serialize().into_bytes()),
                    Err(code) => Opinion::Somewhere(code),
                })
            }
            // "A request target is the path, query and fragment that it would be behind the host."
            (Second::Browser(_), Way::Target) if url.starts_with(b"/") => {
                let behind = browser::Url::parse(&[b"http://h", url].concat(), None).ok()?;
                Some(Opinion::Canonical(behind.serialize().into_bytes().split_off(8)))
            }
            (Second::Browser(_), Way::Target) => None,
        }
    }

    /// The ada parser's answer for this URL, if ada can be asked about it.
    pub fn ada(&self, way: Way, url: &[u8]) -> Option<Option<Vec<u8>>> {
        let Second::Browser(base) = self else { return None };
        let text = std::str::from_utf8(url).ok()?;
        if way == Way::Target {
            return None;
        }
        let base = base.as_ref().map(|(_, text)| text.as_str());
        let parsed = ada_url::Url::parse(text, base);
        Some(parsed.ok().map(|url| url.href().as_bytes().to_vec()))
    }

    /// Whether this URL, or the host of its canonical form, holds a code point that ada does not
    /// know. Ada may use an older Unicode than the `idna` crate: then it also rejects code points
    /// assigned since, and does not lower their case.
    pub fn ada_is_older(url: &[u8], canonical: &[u8]) -> bool {
        let canonical = String::from_utf8_lossy(canonical);
        let host = canonical.split('/').nth(2).unwrap_or_default();
        host.split(['.', ':', '@'])
            .filter_map(|label| idna::punycode::decode_to_string(label.strip_prefix("xn--")?))
            .chain([String::from_utf8_lossy(&decoded(url)).into_owned()])
            .any(|text| text.chars().any(|c| !c.is_ascii() && ada_refuses(c)))
    }
}

/// The bytes of a URL without tabs and newlines, and with triplets decoded.
fn decoded(url: &[u8]) -> Vec<u8> {
    let text: Vec<u8> = url.iter().filter(|byte| !b"\t\n\r".contains(byte)).copied().collect();
    let mut out = Vec::new();
    let mut rest = &text[..];
    while let [first, behind @ ..] = rest {
        let triplet = behind.get(..2).filter(|_| *first == b'%');
        let value = triplet.and_then(|hex| {
            hex.iter().try_fold(0, |value, digit| Some(value << 4 | (*digit as char).to_digit(16)?))
        });
        out.push(value.map_or(*first, |value| value as u8));
        rest = if value.is_some() { &behind[2..] } else { behind };
    }
    out
}

fn ada_refuses(c: char) -> bool {
    ada_url::Url::parse(&format!("http://{c}/"), None).is_err()
}

/// Whether the host of this URL, which ada accepts, breaks the Bidi rule. Ada checks each label by
/// itself; UTS 46 checks all labels if one of them reads from right to left (section 4.1, validity
/// criteria: "If CheckBidi, and if the domain name is a Bidi domain name, then the label must
/// satisfy all six of the numbered criteria in IDNA2008 RFC 5893, Section 2").
pub fn breaks_bidi_rule(url: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(url) else { return false };
    let host = text.split('/').nth(2).unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let labels: Vec<Vec<Class>> = host
        .split('.')
        .filter(|label| !label.is_empty())
        .map(|label| {
            let unicode = label.strip_prefix("xn--").and_then(idna::punycode::decode_to_string);
            unicode.as_deref().unwrap_or(label).chars().map(bidi_class).collect()
        })
        .collect();
    let reads_in_two_directions = labels.iter().flatten().any(|c| [R, AL, AN].contains(c));
    reads_in_two_directions && !labels.iter().all(|label| satisfies_bidi_rule(label))
}

/// RFC 5893 section 2.
fn satisfies_bidi_rule(label: &[Class]) -> bool {
    let all = |allowed: &[Class]| label.iter().all(|c| allowed.contains(c));
    let last = label.iter().rev().find(|c| **c != NSM);
    let ends_with = |allowed: &[Class]| last.is_some_and(|c| allowed.contains(c));
    match label.first() {
        Some(L) => all(&[L, EN, ES, CS, ET, ON, BN, NSM]) && ends_with(&[L, EN]),
        Some(R | AL) => {
            all(&[R, AL, AN, EN, ES, CS, ET, ON, BN, NSM])
                && ends_with(&[R, AL, EN, AN])
                && !(label.contains(&EN) && label.contains(&AN))
        }
        _ => false,
    }
}

fn of_ladder(answer: oracle::Answer) -> Opinion {
    match answer {
        Ok(url) => Opinion::Canonical(url),
        Err((code, at)) => Opinion::At(code, at),
    }
}

fn of_system(answer: oracle::system::Answer) -> Opinion {
    match answer {
        Ok(url) => Opinion::Canonical(url),
        Err((codes, at)) => Opinion::All(codes, at),
    }
}
