//! The sort key of web-archive indexes: `com,example)/path?query`.
//!
//! The labels of the host are reversed, so that the pages of a domain and of its subdomains are
//! adjacent. The scheme is left out. `)` sorts before `,`, so a host's own pages come before those of
//! its subdomains.

use super::host::Located;

/// Schemes that name records of an archive file, not hosts, though `//` may follow.
const RECORDS: [&[u8]; 2] = [b"filedesc", b"warcinfo"];

pub(super) fn append(url: &[u8], out: &mut Vec<u8>) {
    let located = Located::split(url).filter(|located| !RECORDS.contains(&located.scheme));
    let Some(located) = located else {
        out.extend_from_slice(url);
        return;
    };
    // IP addresses are split at their dots and reversed too, and have no brackets, as in the indexes.
    let host =
        if located.is_name() { located.host } else { &located.host[1..located.host.len() - 1] };
    let mut labels = host.rsplit(|byte| *byte == b'.');
    out.extend_from_slice(labels.next().unwrap_or_default());
    for label in labels {
        out.push(b',');
        out.extend_from_slice(label);
    }
    if let Some(port) = located.port {
        out.push(b':');
        out.extend_from_slice(port);
    }
    out.push(b')');
    out.extend_from_slice(located.rest);
}
