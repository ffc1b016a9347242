//! A URL in parts that can be changed one by one, and put together again at any time.

use crate::bytes::{Triplet, push_triplet};
use crate::normalize::escape::{self, PATH, QUERY, REG_NAME, USERINFO};
use crate::normalize::host;
use crate::normalize::parts::{Authority, Parts};

/// The components of a URL. Absent and empty are different states.
///
/// A host is there where an authority is; a path that starts with `//` where there is none stays a
/// path, which the text alone could not say.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub(super) scheme: Option<Vec<u8>>,
    pub(super) userinfo: Option<Vec<u8>>,
    pub(super) host: Option<Vec<u8>>,
    pub(super) port: Option<Vec<u8>>,
    pub(super) path: Vec<u8>,
    pub(super) query: Option<Vec<u8>>,
    pub(super) fragment: Option<Vec<u8>>,
}

impl Draft {
    pub(super) fn new(parts: &Parts<'_>) -> Self {
        let owned = |bytes: &[u8]| bytes.to_vec();
        let mut draft = Self {
            scheme: parts.scheme.map(owned),
            path: parts.path.to_vec(),
            query: parts.query.map(owned),
            fragment: parts.fragment.map(owned),
            ..Self::default()
        };
        if let Some(authority) = parts.authority {
            draft.set_authority(authority);
        }
        draft
    }

    pub(super) fn set_authority(&mut self, authority: &[u8]) {
        let Authority { userinfo, host_port } = Authority::split(authority);
        // Where host and port cannot be told apart, no profile that looks at them accepts the URL.
        let (host, port) = host::split(host_port, 0).unwrap_or((host_port, None));
        self.userinfo = userinfo.map(<[u8]>::to_vec);
        self.host = Some(host.to_vec());
        self.port = port.map(<[u8]>::to_vec);
    }

    /// The whole as text.
    pub(super) fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        if let Some(scheme) = &self.scheme {
            text.extend_from_slice(scheme);
            text.push(b':');
        }
        if let Some(host) = &self.host {
            text.extend_from_slice(b"//");
            if let Some(userinfo) = &self.userinfo {
                text.extend_from_slice(userinfo);
                text.push(b'@');
            }
            text.extend_from_slice(host);
            if let Some(port) = &self.port {
                text.push(b':');
                text.extend_from_slice(port);
            }
        }
        text.extend_from_slice(&self.path);
        for (delimiter, part) in [(b'?', &self.query), (b'#', &self.fragment)] {
            if let Some(part) = part {
                text.push(delimiter);
                text.extend_from_slice(part);
            }
        }
        text
    }

    /// Visits each component that holds characters and triplets, with the one it is; says whether one
    /// was changed.
    pub(super) fn each(&mut self, mut visit: impl FnMut(Place, &mut Vec<u8>) -> bool) -> bool {
        let mut changed = false;
        let authority = [(Place::Userinfo, &mut self.userinfo), (Place::Host, &mut self.host)];
        for (place, part) in authority {
            changed |= part.as_mut().is_some_and(|part| visit(place, part));
        }
        changed |= visit(Place::Path, &mut self.path);
        for (place, part) in
            [(Place::Query, &mut self.query), (Place::Fragment, &mut self.fragment)]
        {
            changed |= part.as_mut().is_some_and(|part| visit(place, part));
        }
        changed
    }
}

/// A component that holds characters and triplets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Userinfo,
    Host,
    Path,
    Query,
    Fragment,
}

impl Place {
    /// The component as the grammar knows it.
    pub(super) fn component(self) -> escape::Component {
        match self {
            Place::Userinfo => USERINFO,
            Place::Host => REG_NAME,
            Place::Path => PATH,
            Place::Query | Place::Fragment => QUERY,
        }
    }
}

/// A character of a component, spelled either way.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    Byte(u8),
    Triplet(Triplet),
}

/// What a rule makes of it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Spelled {
    AsItIs,
    Byte(u8),
    Triplet(u8),
}

/// Spells each character from `from` on as `spell` says; a byte that was decoded is not looked at
/// again. Says whether something changed.
pub(super) fn respell(text: &mut Vec<u8>, from: usize, spell: impl Fn(Unit) -> Spelled) -> bool {
    let mut out = Vec::new();
    let (mut run, mut i) = (0, from);
    while let Some(&byte) = text.get(i) {
        let triplet = if byte == b'%' { Triplet::read(&text[i..]) } else { None };
        let (unit, length) = match triplet {
            Some(triplet) => (Unit::Triplet(triplet), 3),
            None => (Unit::Byte(byte), 1),
        };
        let spelled = spell(unit);
        if !matches!(spelled, Spelled::AsItIs) {
            out.extend_from_slice(&text[run..i]);
            match spelled {
                Spelled::Byte(byte) => out.push(byte),
                Spelled::Triplet(byte) => push_triplet(byte, &mut out),
                Spelled::AsItIs => {}
            }
            run = i + length;
        }
        i += length;
    }
    if run == 0 {
        return false;
    }
    out.extend_from_slice(&text[run..]);
    *text = out;
    true
}

/// Puts `new` in the place of `old`; says whether that changes it.
pub(super) fn replace(old: &mut Vec<u8>, new: Vec<u8>) -> bool {
    let changed = *old != new;
    *old = new;
    changed
}

/// Takes what is there away; says whether there was something.
pub(super) fn take<T>(part: &mut Option<T>) -> bool {
    part.take().is_some()
}
