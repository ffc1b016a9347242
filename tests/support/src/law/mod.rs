//! The laws of every profile of the ladder, for any implementation.
//!
//! Each law takes the URL that tries it and panics, with a message that names the law, where it is
//! broken.

use crate::generator::Rng;
use crate::oracle::grammar::is_triplet;
use crate::oracle::parts::{Parts, Piece, split};
use crate::oracle::percent::value_at;
use crate::oracle::{Answer, Oracle};
use crate::tsv::{escape, show};
use crate::variant;

/// Something that normalizes under one profile: the library on some backend, or the oracle.
pub trait Subject {
    fn profile(&self) -> &'static str;
    fn normalize(&self, url: &[u8]) -> Answer;
    fn normalize_target(&self, target: &[u8]) -> Answer;
}

impl Subject for Oracle {
    fn profile(&self) -> &'static str {
        self.profile
    }

    fn normalize(&self, url: &[u8]) -> Answer {
        Oracle::normalize(self, url)
    }

    fn normalize_target(&self, target: &[u8]) -> Answer {
        Oracle::normalize_target(self, target)
    }
}

#[track_caller]
fn assert_same(law: &str, subject: &dyn Subject, url: &[u8], got: &Answer, expected: &Answer) {
    assert!(
        got == expected,
        "{law}, broken under {}\n   url {}\n   got {}\nwanted {}",
        subject.profile(),
        escape(url),
        show(got),
        show(expected)
    );
}

/// Checks every law on one URL of a list.
pub fn all_for_url(rng: &mut Rng, subject: &dyn Subject, url: &[u8]) {
    let answer = subject.normalize(url);
    let Ok(canonical) = &answer else {
        assert!(answer.unwrap_err().1 <= url.len(), "an offset lies in the URL: {}", escape(url));
        return;
    };
    assert_same("idempotence", subject, url, &subject.normalize(canonical), &answer);
    if subject.profile() == "string" {
        assert_same("string changes nothing", subject, url, &answer, &Ok(url.to_vec()));
        return;
    }
    output_is_a_uri(subject, url, canonical);
    structure_is_kept(subject, url, canonical);
    reserved_bytes_keep_their_spelling(rng, subject, canonical);
    if let Some((rule, spelling)) = variant::respell(rng, url, subject.profile()) {
        assert_same(rule, subject, &spelling, &subject.normalize(&spelling), &answer);
    }
}

/// Checks every law on one request target without a host.
pub fn all_for_target(subject: &dyn Subject, target: &[u8]) {
    let answer = subject.normalize_target(target);
    let Ok(canonical) = &answer else {
        assert!(
            answer.unwrap_err().1 <= target.len(),
            "an offset lies in the target: {}",
            escape(target)
        );
        return;
    };
    // The result of absolute-form is a URL and no longer a target: `a:1#` gives `a:1`, which as a
    // target would be authority-form.
    let again = if canonical.starts_with(b"/") {
        subject.normalize_target(canonical)
    } else {
        subject.normalize(canonical)
    };
    assert_same("idempotence of targets", subject, target, &again, &answer);
    if subject.profile() == "string" {
        return;
    }
    assert!(canonical.iter().all(|byte| (0x21..=0x7E).contains(byte)), "{}", escape(canonical));
    let given = if subject.profile() == "crawl" { variant::trim(target) } else { target };
    assert_eq!(
        given.starts_with(b"/"),
        canonical.starts_with(b"/"),
        "a host comes neither out of a target nor into it: {} -> {}",
        escape(target),
        escape(canonical)
    );
}

/// "A coarser rung never splits": n_fine(x) is equal to x under the fine rung, so it must be under
/// the coarse one.
pub fn coarser_never_splits(fine: &dyn Subject, coarse: &dyn Subject, url: &[u8]) {
    let Ok(canonical) = fine.normalize(url) else { return };
    let (direct, by_steps) = (coarse.normalize(url), coarse.normalize(&canonical));
    // A shorter spelling has other offsets, but the same code.
    let without_offset = |answer: &Answer| answer.clone().map_err(|(code, _)| code);
    assert!(
        without_offset(&direct) == without_offset(&by_steps),
        "{} splits what {} joins\n   url {}\n       {}\n   but {}\n       {}",
        coarse.profile(),
        fine.profile(),
        escape(url),
        show(&direct),
        escape(&canonical),
        show(&by_steps)
    );
}

/// "Output bytes are 0x21-0x7E, and match Appendix A [...]. Length at most |x|+2 for `syntax` and
/// `scheme`, 3|x|+2 where bytes are encoded, 5|x|+2 where IDNA acts."
fn output_is_a_uri(subject: &dyn Subject, url: &[u8], canonical: &[u8]) {
    assert!(
        canonical.iter().all(|byte| (0x21..=0x7E).contains(byte)),
        "output bytes: {}",
        escape(canonical)
    );
    let grammar = Oracle::new("syntax").normalize(canonical);
    assert!(grammar.is_ok(), "appendix A: {} {}", escape(canonical), show(&grammar));
    let factor = match subject.profile() {
        "crawl" if contains(canonical, b"xn--") => 5,
        "crawl" => 3,
        _ => 1,
    };
    let bound = factor * url.len() + 2;
    assert!(canonical.len() <= bound, "length {} above {bound}: {}", canonical.len(), escape(url));
}

/// "A component that was absent stays absent (the two licensed exceptions: path `` -> `/`; what a
/// profile says it drops)."
fn structure_is_kept(subject: &dyn Subject, url: &[u8], canonical: &[u8]) {
    let crawl = subject.profile() == "crawl";
    let syntax = subject.profile() == "syntax";
    let (given, made) = (read(if crawl { variant::trim(url) } else { url }), read(canonical));
    let state = |piece: &Option<Piece>| piece.as_ref().map(|piece| piece.bytes.is_empty());
    let context = || format!("structure: {} -> {}", escape(url), escape(canonical));

    assert!(given.scheme.is_some() && made.scheme.is_some(), "{}", context());
    // The licensed exception: "`file:/a` gets its empty authority".
    let may_gain_authority = !syntax
        && given.scheme.as_ref().is_some_and(|name| name.bytes.eq_ignore_ascii_case(b"file"))
        && given.path.bytes.starts_with(b"/");
    let gained = given.authority.is_none() && state(&made.authority) == Some(true);
    assert!(
        given.authority.is_some() == made.authority.is_some() || may_gain_authority && gained,
        "{}",
        context()
    );
    assert_eq!(state(&given.query), state(&made.query), "{}", context());
    let fragment = if crawl { None } else { state(&given.fragment) };
    assert_eq!(fragment, state(&made.fragment), "{}", context());

    let (was_empty, is_empty) = (given.path.bytes.is_empty(), made.path.bytes.is_empty());
    let may_gain_slash = !syntax && made.path.bytes == b"/";
    assert!(was_empty == is_empty || was_empty && may_gain_slash, "{}", context());

    if let (Some(given), Some(made)) = (given.authority, made.authority) {
        let given = variant::split_authority(&given.bytes);
        let made = variant::split_authority(&made.bytes);
        assert!(given.0.is_some() || made.0.is_none(), "{}", context());
        assert!(given.2.is_some() || made.2.is_none(), "{}", context());
        assert!(crawl || given.0.is_some() == made.0.is_some(), "{}", context());
        assert!(!syntax || given.2.is_some() == made.2.is_some(), "{}", context());
    }
}

fn read(url: &[u8]) -> Parts {
    split(&Piece::whole(url))
}

/// "Must stay apart: `/`-`%2F`, `?`-`%3F`, `#`-`%23`, `%`-`%25`, `&`-`%26`, `=`-`%3D`, `+`-`%2B`",
/// and every other reserved byte, in path and query. One of them is changed in a canonical URL.
fn reserved_bytes_keep_their_spelling(rng: &mut Rng, subject: &dyn Subject, canonical: &[u8]) {
    let parts = read(canonical);
    let start = parts.path.at;
    let end = parts.fragment.map_or(canonical.len(), |fragment| fragment.at - 1);
    if start == end {
        return;
    }
    let index = start + rng.below(end - start);
    let mut other = canonical.to_vec();
    if let Some(value) = value_at(canonical, index) {
        if !b"%:/?#[]@!$&'()*+,;=".contains(&value) {
            return;
        }
        other.splice(index..index + 3, [value]);
        // `crawl` repairs bytes that the grammar forbids: there the raw byte is the same URL on
        // purpose.
        if subject.profile() == "crawl"
            && (b"[]".contains(&value) || value == b'%' && !is_triplet(&other, index))
        {
            return;
        }
    } else if b":/?@!$&'()*+,;=".contains(&canonical[index]) {
        let encoded = format!("%{:02X}", canonical[index]);
        other.splice(index..=index, encoded.bytes());
    } else {
        return;
    }
    let answer = subject.normalize(&other);
    assert!(
        answer.as_deref() != Ok(canonical),
        "no widening, broken under {}: {} and {} are one",
        subject.profile(),
        escape(&other),
        escape(canonical)
    );
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}
