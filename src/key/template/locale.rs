//! Locales: the code of a language, perhaps with a script and a region.

use super::byte_class::{ALPHA, DIGIT, all};

/// The languages of ISO 639-1, in order.
const LANGUAGES: &[u8] = b"aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr \
    cs cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht \
    hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li \
    ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl \
    ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn \
    to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";

/// `en`, `en-US`, `en_us`, `es-419`, `zh-Hans`, `zh-Hans-CN`. The language is in lower case.
pub(super) fn is_locale(text: &[u8]) -> bool {
    let (Some(language), Some(rest)) = (text.get(..2), text.get(2..)) else { return false };
    if !is_language(language) {
        return false;
    }
    match rest.split_first() {
        None => true,
        Some((separator @ (b'-' | b'_'), rest)) => match rest.len() {
            2 | 3 => is_region(rest),
            4 => all(rest, ALPHA),
            7 | 8 => all(&rest[..4], ALPHA) && rest[4] == *separator && is_region(&rest[5..]),
            _ => false,
        },
        Some(_) => false,
    }
}

fn is_language(code: &[u8]) -> bool {
    code[0].is_ascii_lowercase() && LANGUAGES.chunks(3).any(|listed| listed[..2] == *code)
}

/// Two letters or three digits.
fn is_region(code: &[u8]) -> bool {
    match code.len() {
        2 => all(code, ALPHA),
        _ => code.len() == 3 && all(code, DIGIT),
    }
}
