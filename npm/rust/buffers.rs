//! The place of the one URL that a call is about.

use library::{Canonical, Reject, RejectReason};
use wasm_bindgen::prelude::*;

/// Where JavaScript writes a URL, and reads what became of it. It looks the addresses up after each call,
/// since a buffer moves when it grows.
#[wasm_bindgen]
#[derive(Default)]
pub struct Buffers {
    input: Vec<u8>,
    pub(crate) output: Vec<u8>,
    reject: Option<Reject>,
}

#[wasm_bindgen]
impl Buffers {
    /// Two empty buffers.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for a URL of `bytes` bytes, and returns its address.
    pub fn reserve(&mut self, bytes: usize) -> usize {
        if self.input.len() < bytes {
            self.input.resize(bytes.next_power_of_two(), 0);
        }
        self.input.as_ptr() as usize
    }

    /// The address of the output.
    pub fn output(&self) -> usize {
        self.output.as_ptr() as usize
    }

    /// Codes of the last rejection, by their place in the list of all, that of the first fault first.
    pub fn codes(&self) -> Vec<u8> {
        self.reject.iter().flat_map(Reject::in_order).map(|code| code as u8).collect()
    }

    /// The place of the first fault, in units of JavaScript's strings.
    pub fn at(&self) -> usize {
        self.reject.map_or(0, |reject| units(&self.input, reject.at))
    }
}

/// What became of a URL, as one number.
pub enum Outcome {
    /// It is its own canonical form.
    Same,
    /// The output holds so many bytes.
    Output,
    Rejected(Reject),
}

impl Outcome {
    pub(crate) fn of(canonical: Result<Canonical<'_>, Reject>, url: &[u8]) -> Self {
        match canonical {
            // A URL that is canonical already comes back borrowed, so JavaScript keeps its own string.
            Ok(canonical) if std::ptr::eq(canonical.as_bytes(), url) => Self::Same,
            Ok(_) => Self::Output,
            Err(reject) => Self::Rejected(reject),
        }
    }
}

impl Buffers {
    /// The first `bytes` of the input, and the output, emptied.
    pub(crate) fn of(&mut self, bytes: usize) -> (&[u8], &mut Vec<u8>) {
        self.output.clear();
        (&self.input[..bytes], &mut self.output)
    }

    /// The number for an outcome: the length of the output, -1 after a rejection, -2 for the URL itself.
    pub(crate) fn number(&mut self, outcome: Outcome) -> i32 {
        match outcome {
            Outcome::Same => -2,
            Outcome::Output => self.output.len() as i32,
            Outcome::Rejected(reject) => {
                self.reject = Some(reject);
                -1
            }
        }
    }

    /// A rejection that is about no place.
    pub(crate) fn without(&mut self, code: RejectReason) -> i32 {
        self.number(Outcome::Rejected(Reject::new(code, 0)))
    }
}

/// The units of UTF-16 in the first `bytes` of a text.
pub(crate) fn units(text: &[u8], bytes: usize) -> usize {
    let of_byte = |byte: &u8| match byte {
        0x80..0xC0 => 0,
        0xF0.. => 2,
        _ => 1,
    };
    let inside = &text[..bytes.min(text.len())];
    inside.iter().map(of_byte).sum::<usize>() + (bytes - inside.len())
}
