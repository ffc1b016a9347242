//! What the JavaScript of the package calls.
//!
//! A call across the boundary costs little with numbers and much with strings and objects. So one URL passes
//! through buffers that are reused ([`Buffers`]), and many URLs as one array ([`Batch`]). The results are numbers
//! and arrays. Only `src/` calls this, and makes objects of them.

mod buffers;
mod options;
mod rules;
mod batch;
mod set;
mod names;
