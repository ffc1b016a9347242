//! The options that change a profile, from methods and from profile files.

pub(in crate::normalize) mod unsupported;
pub(in crate::normalize) mod hosts;
pub(in crate::normalize) mod choices;
pub(in crate::normalize) mod builder;
pub(in crate::normalize) mod fingerprint;
#[cfg(feature = "profile-file")]
pub(in crate::normalize) mod profile_file;
