//! How this crate compares with other crates that parse URLs.
//!
//! All of them parse one URL. None has a set, profiles, or the reason and place of each change.
//!
//! # `url`
//!
//! [`url`](https://docs.rs/url) parses by the WHATWG URL Standard, as browsers do. So does
//! [`Profile::Whatwg`](crate::Profile::Whatwg):
//!
//! ```
//! use uniqurl::{Normalizer, Profile};
//!
//! let theirs = url::Url::parse("HTTP://Example.com:80/a/../%7Eb")?;
//! assert_eq!(theirs.as_str(), "http://example.com/%7Eb");
//!
//! let whatwg = Normalizer::new(Profile::Whatwg);
//! assert_eq!(whatwg.normalize_str("HTTP://Example.com:80/a/../%7Eb")?, "http://example.com/%7Eb");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! By RFC 3986 section 6.2.2.2 `%7E` is another spelling of `~`, and a set of `Url` holds such a page twice:
//!
//! ```
//! use std::collections::HashSet;
//! use uniqurl::{Normalizer, Profile, UrlSet};
//!
//! let pages = ["http://example.com/~b", "http://example.com/%7Eb", "http://example.com/%7eb#top"];
//! let theirs: HashSet<url::Url> = pages.iter().map(|page| page.parse()).collect::<Result<_, _>>()?;
//! assert_eq!(theirs.len(), 3);
//!
//! let crawl = Normalizer::new(Profile::Crawl);
//! let (mut ours, mut scratch) = (UrlSet::new(), Vec::new());
//! for page in pages {
//!     ours.insert(crawl.canonical(page.as_bytes(), &mut scratch)?)?;
//! }
//! assert_eq!(ours.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Use `url` to take URLs apart and to change them, in a program that talks to browsers or servers.
//!
//! # `ada-url`
//!
//! [`ada-url`](https://docs.rs/ada-url) parses by the URL Standard too, in C++ with vector code, and is faster
//! than `url`. Its `Url::parse(text, None)?.href()` is `normalize_str(text)?` under `whatwg`; `benches/peers`
//! in the repository runs both over the same lists, and the guide has the figures. Use it where you need the
//! setters of the URL Standard at speed, and have a C++ compiler.
//!
//! # `fluent-uri`
//!
//! [`fluent-uri`](https://docs.rs/fluent-uri) parses by the grammar of RFC 3986, checks it strictly, and
//! normalizes by section 6.2.2. So does [`Profile::Syntax`](crate::Profile::Syntax). What `Uri::parse(text)?`
//! and its `normalize()` give, `syntax` gives in one step; [`uri::Uri`](crate::uri::Uri) splits any bytes
//! without a check:
//!
//! ```
//! use uniqurl::uri::Uri;
//! use uniqurl::{Normalizer, Profile};
//!
//! let syntax = Normalizer::new(Profile::Syntax);
//! assert_eq!(syntax.normalize_str("eXAMPLE://a/./b/../b/%63/%7bfoo%7d")?, "example://a/b/c/%7Bfoo%7D");
//! let reject = syntax.normalize_str("http://example.com/a b").unwrap_err();
//! assert_eq!(reject.at, 20);
//!
//! let parts = Uri::split(b"foo://me@example.com:8042/over?there");
//! assert_eq!(parts.authority.unwrap().port, Some(&b"8042"[..]));
//! # Ok::<(), uniqurl::Reject>(())
//! ```
//!
//! Use it to build URIs of checked parts.
