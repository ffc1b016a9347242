//! Checks of the crate that measures, as a whole.

mod corpus;
