//! What the JavaScript of the package calls.
//!
//! A call across the boundary costs little with numbers and much with strings and objects. So one URL passes
//! through buffers that stay in place ([`Buffers`]), and many URLs as one array ([`Batch`]). What comes out
//! are numbers and arrays; `src/` makes objects of them, and is the only caller.

mod buffers;
mod options;
mod rules;
mod batch;
mod set;
mod names;
