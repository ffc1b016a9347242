//! The reasons for values that are null.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// For each field of an object that is null, the reason. The keys are paths such as `cpu.governor`.
///
/// The reasons stand beside the values and not around them, so that `jq .machine.cpu.governor` gives the value.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WhyNull(pub BTreeMap<String, String>);

impl WhyNull {
    /// The value if there is one. Otherwise the reason is noted for `field`.
    pub fn known<T>(&mut self, field: &str, value: Result<T, String>) -> Option<T> {
        match value {
            Ok(value) => Some(value),
            Err(reason) => {
                self.0.insert(field.to_owned(), reason);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_value_leaves_its_reason() {
        let mut why = WhyNull::default();
        assert_eq!(why.known("a", Ok(1)), Some(1));
        assert_eq!(why.known::<u8>("b.c", Err("not here".into())), None);
        assert_eq!(serde_json::to_string(&why).expect("a map"), r#"{"b.c":"not here"}"#);
    }
}
