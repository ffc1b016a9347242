//! The operations on URIs of RFC 3986, one by one, on bytes.
//!
//! A [`Normalizer`](crate::Normalizer) makes the canonical form of a URI; the functions here are what
//! a program needs beside it: [splitting](Uri::split) and [recomposing](Uri::recompose),
//! [resolving](resolve()), percent-encoding ([`percent_decode`], [`quote`], [`unquote`], and
//! `transcode` with the feature of that name), queries as HTML forms write them ([`compose_query`],
//! [`dissect_query`]), and URIs in free text ([`extract`](extract())).
//!
//! ```
//! use uniqurl::uri::{self, Uri};
//!
//! // A split comes first, decoding after it: what is decoded may hold delimiters (section 2.4).
//! let uri = Uri::split(b"http://%6C%6Fcal%23host/%C3%B6re%26bro%20");
//! let mut host = Vec::new();
//! uri::percent_decode(uri.authority.unwrap().host, &mut host)?;
//! assert_eq!(host, b"local#host");
//! # Ok::<(), uri::Error>(())
//! ```
//!
//! None of them panics on any bytes, each is linear in their number, and none asks for UTF-8. What
//! fills a buffer takes it last, and leaves it as it was where it returns an error. An [`Error`] says
//! where the trouble is and of what kind.

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
pub use characters::{Component, RESERVED, UNRESERVED, allowed_characters};
pub use error::{Error, ErrorKind};
pub use extract::{Extract, FoundUri, extract};
pub use parts::{Authority, Uri};
pub use percent::{percent_decode, quote, unquote};
pub use query::{DissectQuery, compose_query, dissect_query};
pub use resolve::{remove_dot_segments, resolve};
#[cfg(feature = "transcode")]
pub use transcode::transcode;
