//! Splits a URI into components (RFC 3986 section 3) and recomposes it (section 5.3).

use std::fmt;

use super::characters::Component;
use super::error::{Error, ErrorKind};
use super::percent::encode_component;
use crate::bytes::DebugBytes;
use crate::normalize::{AuthorityParts, Parts, find_outside_scheme, is_literal, split_host};

/// The components of a URI or a relative reference, unchanged; nothing is decoded.
///
/// Absent and empty are different (section 5.3): `None` has no delimiter, an empty component has one.
///
/// ```
/// use uniqurl::uri::Uri;
///
/// let uri = Uri::split(b"foo://me@example.com:8042/over/there?name=ferret#nose");
/// assert_eq!(uri.scheme, Some(&b"foo"[..]));
/// let authority = uri.authority.unwrap();
/// assert_eq!(authority.userinfo, Some(&b"me"[..]));
/// assert_eq!(authority.host, b"example.com");
/// assert_eq!(authority.port, Some(&b"8042"[..]));
/// assert_eq!(uri.path, b"/over/there");
/// assert_eq!(uri.query, Some(&b"name=ferret"[..]));
/// assert_eq!(uri.fragment, Some(&b"nose"[..]));
/// ```
///
/// You can also build one and recompose it:
///
/// ```
/// # use uniqurl::uri::Uri;
/// let uri = Uri { scheme: Some(b"urn"), path: b"isbn:0451450523", ..Uri::default() };
/// let mut out = Vec::new();
/// uri.recompose(&mut out)?;
/// assert_eq!(out, b"urn:isbn:0451450523");
/// # Ok::<(), uniqurl::uri::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Uri<'a> {
    /// The scheme: the text before the first `:` (section 3.1). A reference without a scheme is
    /// relative.
    pub scheme: Option<&'a [u8]>,
    /// The authority, after `//` (section 3.2).
    pub authority: Option<Authority<'a>>,
    /// The path, which is never absent (section 3.3).
    pub path: &'a [u8],
    /// The query, after the first `?` (section 3.4).
    pub query: Option<&'a [u8]>,
    /// The fragment, after the first `#` (section 3.5).
    pub fragment: Option<&'a [u8]>,
}

/// The parts of an authority, unchanged (section 3.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Authority<'a> {
    /// The userinfo: the text before the last `@` (section 3.2.1).
    pub userinfo: Option<&'a [u8]>,
    /// The host; a literal has its brackets (section 3.2.2).
    pub host: &'a [u8],
    /// The port, after the `:` that ends the host (section 3.2.3).
    pub port: Option<&'a [u8]>,
}

impl<'a> Uri<'a> {
    /// Splits a URI or a relative reference by the expression of Appendix B.
    ///
    /// ```
    /// use uniqurl::uri::Uri;
    ///
    /// let reference = Uri::split(b"//example.com?");
    /// assert_eq!(reference.scheme, None);
    /// assert_eq!(reference.authority.unwrap().host, b"example.com");
    /// assert_eq!((reference.path, reference.query), (&b""[..], Some(&b""[..])));
    /// ```
    ///
    /// Every input has a result, since nothing is checked: `1:x` has the scheme `1`. A
    /// [`Normalizer`](crate::Normalizer) of the profile `syntax` checks the grammar. [`Uri::recompose_raw`]
    /// returns the same bytes.
    pub fn split(uri: &'a [u8]) -> Self {
        let Parts { scheme, authority, path, query, fragment, .. } = Parts::split(uri);
        Self { scheme, authority: authority.map(Authority::split), path, query, fragment }
    }

    /// Appends the URI, with every byte that its component does not allow as a triplet (section 2.4).
    ///
    /// ```
    /// use uniqurl::uri::{Authority, Uri};
    ///
    /// let uri = Uri {
    ///     scheme: Some(b"http"),
    ///     authority: Some(Authority { host: b"cities", ..Authority::default() }),
    ///     path: "/örebro".as_bytes(),
    ///     query: Some(b"foo bar"),
    ///     ..Uri::default()
    /// };
    /// let mut out = Vec::new();
    /// uri.recompose(&mut out)?;
    /// assert_eq!(out, b"http://cities/%C3%B6rebro?foo%20bar");
    ///
    /// // A delimiter that ends the component is data in it.
    /// let authority = Some(Authority { host: b"local#host", ..Authority::default() });
    /// out.clear();
    /// Uri { scheme: Some(b"https"), authority, ..Uri::default() }.recompose(&mut out)?;
    /// assert_eq!(out, b"https://local%23host");
    /// # Ok::<(), uniqurl::uri::Error>(())
    /// ```
    ///
    /// The result conforms to the grammar of Appendix A. Triplets stay, and a `%` that starts none
    /// becomes `%25`; pass data that may hold triplets by chance to [`quote`] first. Delimiters inside
    /// a component (`/` in a path, `&` in a query) are allowed there and stay. A host in brackets that
    /// is not an IP literal is encoded like a name. The guards of [`Uri::recompose_raw`] apply,
    /// which encodes nothing.
    ///
    /// [`quote`]: super::quote()
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Byte`] in a scheme or a port, which allow no triplets; [`ErrorKind::EmptyScheme`];
    /// [`ErrorKind::RootlessPath`].
    pub fn recompose(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.check_unencodable()?;
        let write = |component: Component, bytes: &[u8], out: &mut Vec<u8>| match component {
            Component::Scheme | Component::Port => out.extend_from_slice(bytes),
            Component::Host if is_literal(bytes) => out.extend_from_slice(bytes),
            Component::Host => encode_component(bytes, Component::RegName.set(), out),
            _ => encode_component(bytes, component.set(), out),
        };
        // `path-noscheme` allows no colon in its first segment, not even as its first byte.
        self.write(0, write, out);
        Ok(())
    }

    /// Appends the components with their delimiters (section 5.3), unchanged: nothing is encoded, as it is
    /// by [`Uri::recompose`].
    ///
    /// ```
    /// use uniqurl::uri::Uri;
    ///
    /// let mut uri = Uri::split(b"http://example.com/a b?q#f");
    /// uri.fragment = None;
    /// let mut out = Vec::new();
    /// uri.recompose_raw(&mut out)?;
    /// assert_eq!(out, b"http://example.com/a b?q");
    /// # Ok::<(), uniqurl::uri::Error>(())
    /// ```
    ///
    /// The result of [`Uri::split`] gives the original bytes. Two kinds of path would read as something
    /// else, and get a dot segment in front that has no meaning (sections 3.3 and 4.2): `/.` if there
    /// is no authority and the path begins with `//`, which would be a host; `./` if there is neither
    /// scheme nor authority and a `:` in the first segment would end a scheme.
    ///
    /// ```
    /// # use uniqurl::uri::Uri;
    /// let mut out = Vec::new();
    /// Uri { path: b"c:d", ..Uri::default() }.recompose_raw(&mut out)?;
    /// assert_eq!(out, b"./c:d");
    /// # Ok::<(), uniqurl::uri::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a component would not be read back unchanged, which is possible only if it was not made by a
    /// split: [`ErrorKind::Delimiter`], [`ErrorKind::EmptyScheme`], [`ErrorKind::RootlessPath`].
    pub fn recompose_raw(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.check_delimiters()?;
        // By Appendix B a scheme has at least one byte, so a colon in front of all other bytes ends
        // none.
        self.write(1, |_, bytes, out| out.extend_from_slice(bytes), out);
        Ok(())
    }

    /// The components that are present, from left to right.
    fn components(&self) -> impl Iterator<Item = (Component, &'a [u8])> {
        let authority = self.authority;
        let components = [
            (Component::Scheme, self.scheme),
            (Component::Userinfo, authority.and_then(|authority| authority.userinfo)),
            (Component::Host, authority.map(|authority| authority.host)),
            (Component::Port, authority.and_then(|authority| authority.port)),
            (Component::Path, Some(self.path)),
            (Component::Query, self.query),
            (Component::Fragment, self.fragment),
        ];
        components.into_iter().filter_map(|(component, bytes)| Some((component, bytes?)))
    }

    /// Appends the components with `write`, the delimiters between them, and the dot segments that
    /// guard the path. The guard covers a colon at offset `colon` or later in the first segment.
    fn write(
        &self,
        colon: usize,
        write: impl Fn(Component, &[u8], &mut Vec<u8>),
        out: &mut Vec<u8>,
    ) {
        let has_userinfo = self.authority.is_some_and(|authority| authority.userinfo.is_some());
        for (component, bytes) in self.components() {
            let (before, after): (&str, &str) = match component {
                Component::Scheme => ("", ":"),
                Component::Userinfo => ("//", "@"),
                Component::Host if !has_userinfo => ("//", ""),
                Component::Port => (":", ""),
                Component::Path if self.reads_as_authority() => ("/.", ""),
                Component::Path if self.reads_as_scheme(colon) => ("./", ""),
                Component::Query => ("?", ""),
                Component::Fragment => ("#", ""),
                _ => ("", ""),
            };
            out.extend_from_slice(before.as_bytes());
            write(component, bytes, out);
            out.extend_from_slice(after.as_bytes());
        }
    }

    /// True if the path would be read as an authority and a path (section 3.3: "if a URI does not
    /// contain an authority component, then the path cannot begin with two slash characters").
    fn reads_as_authority(&self) -> bool {
        self.authority.is_none() && self.path.starts_with(b"//")
    }

    /// True if the path's first segment has a colon at offset `from` or later, which would be read as
    /// the end of a scheme (section 4.2).
    fn reads_as_scheme(&self, from: usize) -> bool {
        let delimiter = self.path.iter().position(|byte| matches!(byte, b':' | b'/'));
        self.scheme.is_none()
            && self.authority.is_none()
            && delimiter.is_some_and(|at| self.path[at] == b':' && at >= from)
    }

    /// Fails if a component holds a delimiter that ends it.
    fn check_delimiters(&self) -> Result<(), Error> {
        for (component, bytes) in self.components() {
            let delimiters: &[u8] = match component {
                Component::Scheme => b":/?#",
                Component::Userinfo => b"/?#",
                // An `@` would make userinfo of what stands before it.
                Component::Host | Component::Port => b"/?#@",
                Component::Path => b"?#",
                Component::Query => b"#",
                _ => b"",
            };
            let delimiter = bytes.iter().position(|byte| delimiters.contains(byte));
            let end = || if component == Component::Host { self.host_ends_early() } else { None };
            if let Some(at) = delimiter.or_else(end) {
                return Err(Error::new(at, ErrorKind::Delimiter(component)));
            }
        }
        self.check_structure()
    }

    /// Where the host would end or could not end, if it is not read back as a whole.
    fn host_ends_early(&self) -> Option<usize> {
        let Authority { host, port, .. } = self.authority?;
        let end = host_end(host);
        // A bracket that never closes would hold the port too.
        let is_open = host.first() == Some(&b'[') && !host.contains(&b']') && port.is_some();
        if end < host.len() { Some(end) } else { is_open.then_some(0) }
    }

    fn check_unencodable(&self) -> Result<(), Error> {
        if let Some(at) = self.scheme.and_then(find_outside_scheme) {
            return Err(Error::new(at, ErrorKind::Byte(Component::Scheme)));
        }
        if let Some(port) = self.authority.and_then(|authority| authority.port)
            && let Some(at) = port.iter().position(|byte| !byte.is_ascii_digit())
        {
            return Err(Error::new(at, ErrorKind::Byte(Component::Port)));
        }
        self.check_structure()
    }

    fn check_structure(&self) -> Result<(), Error> {
        if self.scheme.is_some_and(<[u8]>::is_empty) {
            return Err(Error::new(0, ErrorKind::EmptyScheme));
        }
        if self.authority.is_some() && !matches!(self.path.first(), None | Some(b'/')) {
            return Err(Error::new(0, ErrorKind::RootlessPath));
        }
        Ok(())
    }
}

impl<'a> Authority<'a> {
    /// Splits an authority, without the `//` in front.
    ///
    /// ```
    /// use uniqurl::uri::Authority;
    ///
    /// let authority = Authority::split(b"user:pass@[2001:db8::7]:80");
    /// assert_eq!(authority.userinfo, Some(&b"user:pass"[..]));
    /// assert_eq!(authority.host, b"[2001:db8::7]");
    /// assert_eq!(authority.port, Some(&b"80"[..]));
    /// ```
    ///
    /// Nothing is checked. If the grammar of section 3.2 does not decide, no part of the userinfo is
    /// read as host: the last `@` ends the userinfo. The first `:` ends the host, in a literal the
    /// first one after its bracket. If the bracket never closes, all of it is the host.
    pub fn split(authority: &'a [u8]) -> Self {
        let AuthorityParts { userinfo, host_port } = AuthorityParts::split(authority);
        let end = host_end(host_port);
        let port = (end < host_port.len()).then(|| &host_port[end + 1..]);
        Self { userinfo, host: &host_port[..end], port }
    }
}

impl fmt::Debug for Uri<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uri")
            .field("scheme", &self.scheme.map(DebugBytes))
            .field("authority", &self.authority)
            .field("path", &DebugBytes(self.path))
            .field("query", &self.query.map(DebugBytes))
            .field("fragment", &self.fragment.map(DebugBytes))
            .finish()
    }
}

impl fmt::Debug for Authority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority")
            .field("userinfo", &self.userinfo.map(DebugBytes))
            .field("host", &DebugBytes(self.host))
            .field("port", &self.port.map(DebugBytes))
            .finish()
    }
}

/// Where the host of `host_port` ends: at the `:` before the port, or at the end.
fn host_end(host_port: &[u8]) -> usize {
    let (host, rest) = split_host(host_port);
    // In an invalid one, text may stand between the bracket and the colon.
    host.len() + memchr::memchr(b':', rest).unwrap_or(rest.len())
}
