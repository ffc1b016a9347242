//! The operations of RFC 3986 on URIs, as functions on bytes.
//!
//! A [`Normalizer`](crate::Normalizer) makes the canonical form of a URI. These functions do the rest:
//! [splitting](Uri::split) and [recomposing](Uri::recompose), [resolving](resolve()), percent-encoding
//! ([`percent_decode`], [`quote`], [`unquote`], and `transcode` with the feature of that name), queries
//! of HTML forms ([`compose_query`], [`dissect_query`]), and finding URIs in free text
//! ([`extract`](extract())).
//!
//! ```
//! use uniqurl::uri::{self, Uri};
//!
//! // A split comes first, decoding after it: decoded bytes may be delimiters (section 2.4).
//! let uri = Uri::split(b"http://%6C%6Fcal%23host/%C3%B6re%26bro%20");
//! let mut host = Vec::new();
//! uri::percent_decode(uri.authority.unwrap().host, &mut host)?;
//! assert_eq!(host, b"local#host");
//! # Ok::<(), uri::Error>(())
//! ```
//!
//! No function panics on any bytes or requires UTF-8, and each takes linear time. A function that fills
//! a buffer takes it last, and leaves it unchanged if it returns an error. An [`Error`] gives the
//! position and the kind of the fault.

mod characters;
mod error;
mod parts;
mod resolve;
mod percent;
#[cfg(feature = "transcode")]
mod transcode;
mod query;
mod extract;

#[cfg(feature = "transcode")]
pub use crate::normalize::Charset;
pub use characters::{Component, RESERVED, allowed_characters};
pub use error::{Error, ErrorKind};
pub use extract::{FoundUri, extract};
pub use parts::{Authority, Uri};
pub use percent::{percent_decode, quote, unquote};
pub use query::{compose_query, dissect_query};
pub use resolve::{remove_dot_segments, resolve};
#[cfg(feature = "transcode")]
pub use transcode::transcode;
