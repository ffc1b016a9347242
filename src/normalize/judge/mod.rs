//! The proof by masks that a URL is its own canonical form.

pub(in crate::normalize) mod rules;
pub(in crate::normalize) mod proof;
