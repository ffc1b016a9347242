//! Names, with a sentence for each, as the library has them.

use library::{Key, Profile, RejectReason, Switch};
use wasm_bindgen::prelude::*;

/// The names of a kind and their sentences, in turn.
#[wasm_bindgen]
pub fn names(kind: &str) -> Vec<String> {
    let names: Vec<_> = match kind {
        "profile" => Profile::ALL.iter().map(|one| (one.name(), one.summary())).collect(),
        "key" => Key::ALL.iter().map(|one| (one.name(), one.summary())).collect(),
        "code" => RejectReason::ALL.iter().map(|one| (one.name(), one.sentence())).collect(),
        "switch" => Switch::ALL.iter().map(|one| (one.name(), one.sentence())).collect(),
        _ => Vec::new(),
    };
    names.into_iter().flat_map(|(name, sentence)| [name.to_owned(), sentence.to_owned()]).collect()
}
