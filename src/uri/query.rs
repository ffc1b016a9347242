//! Queries of HTML forms: `application/x-www-form-urlencoded`, by the URL Standard.

use std::borrow::Cow;

use crate::bytes::{Octet, octets, push_encoded};

/// Appends the form encoding of pairs of names and values.
///
/// ```
/// use uniqurl::uri::compose_query;
///
/// let mut query = Vec::new();
/// compose_query([("foo bar", Some("1")), ("city", Some("örebro")), ("all", None)], &mut query);
/// assert_eq!(query, b"foo+bar=1&city=%C3%B6rebro&all");
/// ```
///
/// ASCII letters and digits and `*-._` stay, a space becomes `+`, and every other byte becomes a
/// triplet (URL Standard section 5.2; it also encodes the unreserved `~`). A value of `None` has no
/// `=`. A pair with neither name nor value is written `=`, since the empty text is no pair.
///
/// [`dissect_query`] reverses it. RFC 3986 section 3.4 allows all of the output in a query. For a query
/// that is not a form, use [`quote`](super::quote()): there a space is `%20`.
pub fn compose_query<N, V>(pairs: impl IntoIterator<Item = (N, Option<V>)>, out: &mut Vec<u8>)
where
    N: AsRef<[u8]>,
    V: AsRef<[u8]>,
{
    for (i, (name, value)) in pairs.into_iter().enumerate() {
        if i > 0 {
            out.push(b'&');
        }
        let name = name.as_ref();
        encode(name, out);
        if value.is_some() || name.is_empty() {
            out.push(b'=');
        }
        if let Some(value) = value {
            encode(value.as_ref(), out);
        }
    }
}

fn encode(text: &[u8], out: &mut Vec<u8>) {
    let mut words = text.split(|byte| *byte == b' ');
    let is_literal = |byte: u8| byte.is_ascii_alphanumeric() || b"*-._".contains(&byte);
    push_encoded(words.next().unwrap_or_default(), is_literal, out);
    for word in words {
        out.push(b'+');
        push_encoded(word, is_literal, out);
    }
}

/// The names and values of a form-encoded query, which has no `?` in front.
///
/// ```
/// use uniqurl::uri::dissect_query;
///
/// let mut pairs = dissect_query(b"foo+bar=1&&city=%C3%B6rebro&all");
/// let (name, value) = pairs.next().unwrap();
/// assert_eq!((&*name, value.as_deref()), (&b"foo bar"[..], Some(&b"1"[..])));
/// let (name, value) = pairs.next().unwrap();
/// assert_eq!((&*name, value.as_deref()), (&b"city"[..], Some("örebro".as_bytes())));
/// // Without `=` there is no value; the URL Standard has no such state and calls it empty.
/// let (name, value) = pairs.next().unwrap();
/// assert_eq!((&*name, value), (&b"all"[..], None));
/// assert!(pairs.next().is_none());
/// ```
///
/// Pairs are split only at `&` and at the first `=`. Empty pairs are skipped. `+` is a space, and
/// triplets are decoded; a `%` that starts none stays (URL Standard section 5.1). Every query has a
/// result, and its names and values need not be UTF-8.
///
/// Names and values borrow from the query if nothing in them was encoded.
pub fn dissect_query(
    query: &[u8],
) -> impl Iterator<Item = (Cow<'_, [u8]>, Option<Cow<'_, [u8]>>)> + Clone {
    let pairs = query.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| {
        let (name, value) = cut(pair);
        (decode(name), value.map(decode))
    })
}

/// Splits at the first `=`.
fn cut(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(b'=', bytes) {
        Some(at) => (&bytes[..at], Some(&bytes[at + 1..])),
        None => (bytes, None),
    }
}

fn decode(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'+', b'%', text).is_none() {
        return Cow::Borrowed(text);
    }
    let byte = |octet: Octet| if octet.is_literal(b'+') { b' ' } else { octet.value };
    Cow::Owned(octets(text).map(byte).collect())
}
