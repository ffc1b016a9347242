//! Scripts of the labels of a host, by regular expressions over Unicode's properties.

use std::sync::LazyLock;

use regex::Regex;

/// Scripts that the generated hosts may hold, and the sets that are written together (UTS 39 section 5.2).
#[rustfmt::skip]
const SETS: &[&str] = &[
    "Latn", "Grek", "Copt", "Cyrl", "Armn", "Hebr", "Arab", "Syrc", "Thaa", "Nkoo", "Samr", "Mand",
    "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu", "Knda", "Mlym", "Sinh", "Thai", "Laoo",
    "Tibt", "Mymr", "Geor", "Ethi", "Cher", "Cans", "Ogam", "Runr", "Khmr", "Mong", "Glag", "Tfng",
    "Yiii", "Lisu", "Bali", "Zzzz", "Latn Hani Hira Kana", "Latn Hani Bopo", "Latn Hani Hang",
];

static FITTING: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let class = |set: &&str| {
        let scripts = set.split(' ').map(|script| match script {
            "Zzzz" => r"\p{Cn}\p{Co}".to_owned(),
            script => format!(r"\p{{scx={script}}}"),
        });
        Regex::new(&format!(r"^[\p{{scx=Zyyy}}\p{{scx=Zinh}}{}]*$", scripts.collect::<String>()))
            .unwrap()
    };
    SETS.iter().map(class).collect()
});

/// Whether a label of the decoded host holds scripts that are not written together.
pub fn mixes_scripts(host: &[u8]) -> bool {
    let Ok(host) = std::str::from_utf8(host) else { return false };
    host.replace(['\u{3002}', '\u{FF0E}', '\u{FF61}'], ".").split('.').any(|label| {
        let shown = match label.get(..4) {
            Some(prefix) if prefix.eq_ignore_ascii_case("xn--") => decoded(&label[4..]),
            _ => Some(label.to_owned()),
        };
        shown.is_some_and(|label| {
            !label.is_ascii() && !FITTING.iter().any(|set| set.is_match(&label))
        })
    })
}

/// Punycode by the text of RFC 3492 section 6.2.
fn decoded(code: &str) -> Option<String> {
    let (basic, rest) = code.rsplit_once('-').unwrap_or(("", code));
    if !basic.is_ascii() {
        return None;
    }
    let mut out: Vec<char> = basic.chars().collect();
    let (mut n, mut i, mut bias) = (128u32, 0u32, 72u32);
    let mut digits = rest.bytes().peekable();
    let mut first = true;
    while digits.peek().is_some() {
        let (old, mut weight, mut k) = (i, 1u32, 36);
        loop {
            let digit = match digits.next()? {
                byte @ b'a'..=b'z' => byte - b'a',
                byte @ b'A'..=b'Z' => byte - b'A',
                byte @ b'0'..=b'9' => byte - b'0' + 26,
                _ => return None,
            };
            let digit = u32::from(digit);
            i = i.checked_add(digit.checked_mul(weight)?)?;
            let threshold = if k <= bias { 1 } else { (k - bias).min(26) };
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(36 - threshold)?;
            k += 36;
        }
        let length = out.len() as u32 + 1;
        let mut delta = (i - old) / if first { 700 } else { 2 };
        delta += delta / length;
        let mut rounds = 0;
        while delta > 455 {
            delta /= 35;
            rounds += 36;
        }
        bias = rounds + 36 * delta / (delta + 38);
        first = false;
        n = n.checked_add(i / length)?;
        i %= length;
        out.insert(i as usize, char::from_u32(n)?);
        i += 1;
    }
    Some(out.into_iter().collect())
}
