//! Follows pointers through a JSON value, and skips the rest of it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    self, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected,
    Visitor,
};

use super::super::part::{RecordPart, Said, Value};
use super::pointer::Node;
use super::{JsonError, slow_path};

/// Parts, the ranks of the pointers that led to them, and their values, which borrow from the text
/// if possible.
pub(super) type Taken<'a> = Vec<(RecordPart, usize, Cow<'a, [u8]>)>;

/// Reads the JSON value in `text` by the pointers under `root`. `in_text` makes values of slices of the text.
pub(super) fn walk<'a>(
    root: &Node,
    text: &'a [u8],
    in_text: impl Fn(&'a [u8]) -> Value<'a>,
) -> Result<Said<'a>, JsonError> {
    let taken = usual(root, text).map_or_else(|| slow_path::walk(root, text), Ok)?;
    let mut said = Said::default();
    let mut ranks: [Option<usize>; RecordPart::COUNT] = [None; RecordPart::COUNT];
    for (part, rank, value) in taken {
        let best = &mut ranks[part as usize];
        // Of several pointers to a part, the first with a value counts.
        let is_nothing = part != RecordPart::Url && matches!(&value[..], b"" | b"-");
        if is_nothing || best.is_some_and(|best| best < rank) {
            continue;
        }
        *best = Some(rank);
        said.set(
            part,
            match value {
                Cow::Borrowed(bytes) => in_text(bytes),
                owned => Value::Elsewhere(owned),
            },
        );
    }
    Ok(said)
}

/// Fast path: the values, if the text is JSON and all of them have the right type.
pub(super) fn usual<'a>(root: &Node, text: &'a [u8]) -> Option<Taken<'a>> {
    let mut taken = Taken::new();
    let mut json = serde_json::Deserializer::from_slice(text);
    Visit { node: root, taken: &mut taken }.deserialize(&mut json).ok()?;
    json.end().ok()?;
    Some(taken)
}

/// A value on the path of a pointer.
struct Visit<'n, 't, 'a> {
    node: &'n Node,
    taken: &'t mut Taken<'a>,
}

impl<'a> DeserializeSeed<'a> for Visit<'_, '_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_option(self)
    }
}

impl<'a> Visitor<'a> for Visit<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the pointers lead to")
    }

    /// `null` counts as missing, and as an empty URL, as in tables.
    fn visit_none<E>(self) -> Result<(), E> {
        if self.node.is_url() {
            self.take(Cow::Borrowed(b""));
        }
        Ok(())
    }

    fn visit_some<D: Deserializer<'a>>(self, json: D) -> Result<(), D::Error> {
        if self.node.is_aside() {
            json.deserialize_any(Loose(self))
        } else if self.node.parts.is_empty() {
            // An object or an array: serde_json accepts both for a struct.
            json.deserialize_struct("", &[], self)
        } else {
            // Bytes accept a string that is not UTF-8.
            json.deserialize_bytes(self)
        }
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(child) = map.next_key_seed(MemberName(self.node))? {
            match child {
                Some(node) => {
                    // The name may have occurred before: the last one counts.
                    self.taken.retain(|(part, rank, _)| !node.holds(*part, *rank));
                    map.next_value_seed(Visit { node, taken: self.taken })?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'a>>(self, seq: S) -> Result<(), S::Error> {
        if self.node.parts.is_empty() {
            return self.elements(seq);
        }
        // An array where a string should be.
        Err(S::Error::invalid_type(Unexpected::Seq, &self))
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'a [u8]) -> Result<(), E> {
        self.take(Cow::Borrowed(bytes));
        Ok(())
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<(), E> {
        self.take(Cow::Owned(bytes.to_vec()));
        Ok(())
    }
}

impl<'a> Visit<'_, '_, 'a> {
    fn elements<S: SeqAccess<'a>>(self, mut seq: S) -> Result<(), S::Error> {
        for index in 0.. {
            let more = match self.node.element(index) {
                Some(node) => {
                    let step = Visit { node, taken: self.taken };
                    seq.next_element_seed(step)?.is_some()
                }
                None => seq.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                break;
            }
        }
        Ok(())
    }

    fn take(self, bytes: Cow<'a, [u8]>) {
        for (part, rank) in &self.node.parts {
            self.taken.push((*part, *rank, bytes.clone()));
        }
    }
}

/// A value beside the URL, of any type. A status is a number or a string. An object in the place of
/// the scheme describes the TLS connection of the request. A useless value counts as missing.
struct Loose<'n, 't, 'a>(Visit<'n, 't, 'a>);

impl<'a> Visitor<'a> for Loose<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'a str) -> Result<(), E> {
        self.0.visit_borrowed_bytes(text.as_bytes())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.0.visit_bytes(text.as_bytes())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<(), E> {
        self.0.visit_bytes(number.to_string().as_bytes())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<M: MapAccess<'a>>(self, map: M) -> Result<(), M::Error> {
        let Visit { node, taken } = self.0;
        Visit { node, taken }.visit_map(map)?;
        if node.says_scheme() {
            Visit { node, taken }.take(Cow::Owned(b"https".to_vec()));
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'a>>(self, seq: S) -> Result<(), S::Error> {
        self.0.elements(seq)
    }
}

/// A member's name. It yields the node for this name, if a pointer leads there.
struct MemberName<'n>(&'n Node);

impl<'a, 'n> DeserializeSeed<'a> for MemberName<'n> {
    type Value = Option<&'n Node>;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_bytes(self)
    }
}

impl<'a, 'n> Visitor<'a> for MemberName<'n> {
    type Value = Option<&'n Node>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.child(name))
    }
}
