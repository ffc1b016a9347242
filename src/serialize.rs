//! Values for serde: names as text, canonical URLs as text.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::simd::Backend;
use crate::{Canonical, Key, Profile, Reject, RejectReason, Rule, Switch};

/// A type with a name, which `Display` writes and `FromStr` reads.
macro_rules! by_name {
    ($($Type:ty)*) => {$(
        impl Serialize for $Type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $Type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )*};
}

by_name!(Backend Key Profile RejectReason Rule Switch);

/// As a structure of `code`, `at` and `codes`.
impl Serialize for Reject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Reject", 3)?;
        fields.serialize_field("code", &self.code)?;
        fields.serialize_field("at", &self.at)?;
        fields.serialize_field("codes", &self.in_order().collect::<Vec<_>>())?;
        fields.end()
    }
}

/// As text. It cannot be read back: only a normalizer makes one.
impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Normalizer;

    #[test]
    fn names_round_trip_and_urls_are_text() {
        let options = (Profile::Crawl, Key::Surt, Switch::SortQuery);
        let text = serde_json::to_string(&options).unwrap();
        assert_eq!(text, r#"["crawl@1","surt","sort-query"]"#);
        assert_eq!(serde_json::from_str::<(Profile, Key, Switch)>(&text).unwrap(), options);
        let unknown = serde_json::from_str::<Profile>(r#""crawl@7""#).unwrap_err().to_string();
        assert!(unknown.contains("crawl@7"), "{unknown}");

        let crawl = Normalizer::new(Profile::Crawl);
        let mut scratch = Vec::new();
        let url = crawl.canonical(b"HTTP://h", &mut scratch).unwrap();
        assert_eq!(serde_json::to_string(&url).unwrap(), r#""http://h/""#);
        let reject = crawl.normalize_str("http://h:x").unwrap_err();
        let text = serde_json::to_string(&reject).unwrap();
        assert_eq!(text, r#"{"code":"port","at":9,"codes":["port"]}"#);
    }
}
