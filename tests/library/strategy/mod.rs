//! URLs for properties that shrink.

use proptest::prelude::*;

use crate::generator::words;

/// URLs from words, so that a failing one shrinks to the few words that matter.
pub fn url_of_words() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        12 => proptest::sample::select(words::MIXED).prop_map(|word| word.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    let front = proptest::sample::select(vec!["", "http://", "http://h/", "x:", "x://h/", "//"]);
    (front, proptest::collection::vec(word, 0..24))
        .prop_map(|(front, words)| [front.as_bytes().to_vec(), words.concat()].concat())
}
