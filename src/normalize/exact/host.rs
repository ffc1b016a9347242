//! Host and port (RFC 3986 sections 3.2.2 and 3.2.3).

use std::net::Ipv6Addr;

use idna::uts46::AsciiDenyList;

use crate::bytes::{Reject, RejectReason, decoded, set};
use crate::normalize::exact::escape::{self, REG_NAME};
use crate::normalize::exact::ladder::Ladder;
use crate::normalize::exact::ports::number;
use crate::normalize::exact::uts46;
use crate::normalize::explain::Rule;
use crate::normalize::parts::split_host;
use crate::normalize::trace::{NoTrace, Place, Trace};
use crate::profile::ring::Acts;
use crate::profile::scheme::{Kind, Scheme};
use crate::profile::{Access, Grammar, Policy, Schemes, System};

const HOST: (&Acts, Place) = (&REG_NAME, Place::Host);

/// All ASCII that is neither unreserved nor a sub-delim: a decoded host never holds one of these.
pub(in crate::normalize) const DENIED: AsciiDenyList =
    AsciiDenyList::new(true, "\"#%/:<>?@[\\]^`{|}\x7F");

impl<T: Trace> Ladder<'_, T> {
    /// Appends host and port of an authority in the profile's form. `start` is the offset of `host_port`
    /// in the URL.
    #[inline(always)]
    pub(in crate::normalize) fn host(
        &mut self,
        host_port: &[u8],
        scheme: &Scheme,
        start: usize,
    ) -> Result<(), Reject> {
        let host_at = self.out.len();
        let (host, rest) = split_host(host_port);
        let port = rest.strip_prefix(b":");
        if port.is_none() && !rest.is_empty() {
            // An error between the brackets takes precedence.
            let at = if is_literal(host) { host.len() } else { 0 };
            return Err(Reject::new(RejectReason::Host, start + at));
        }
        let profile = self.profile;
        if host.first() == Some(&b'[') {
            self.literal(host, start)?;
        } else if profile.access == Access::Identifier {
            self.reg_name(host, start)?;
        } else {
            check_delimiters(host, start)?;
            match is_looked_up(profile, scheme.kind) {
                true => self.domain(host, scheme.kind, start)?,
                false => self.reg_name(host, start)?,
            }
        }
        let known = profile.schemes == Schemes::Known;
        if known && scheme.kind == Kind::Network && self.out.len() == host_at {
            return Err(Reject::new(RejectReason::EmptyHost, start));
        }
        let Some(port) = port else { return Ok(()) };
        let port_start = start + host.len() + 1;
        if let Some(bad) = port.iter().position(|byte| !byte.is_ascii_digit()) {
            // A backslash is no bad port: programs differ on where the host ends before it.
            let misread = profile.grammar == Grammar::Repaired && port[bad] == b'\\';
            let code = if misread { RejectReason::Host } else { RejectReason::Port };
            return Err(Reject::new(code, port_start + bad));
        }
        if known {
            return self.known_port(port, scheme.port, port_start);
        }
        self.out.push(b':');
        self.out.extend_from_slice(port);
        Ok(())
    }

    fn literal(&mut self, host: &[u8], start: usize) -> Result<(), Reject> {
        if !is_literal(host) {
            return Err(Reject::new(RejectReason::Host, start));
        }
        if T::RECORDS {
            self.trace.component(Rule::HostCase, Place::Host, Some(&host.to_ascii_lowercase()));
        }
        let at = self.out.len();
        match (self.profile.access, ipv6(&host[1..host.len() - 1])) {
            (Access::Retrieval, Some(address)) => {
                // The standard library writes the form of RFC 5952: lower case, no leading zeros, the longest
                // run of two or more zero fields (the first among equals) as `::`, and a dotted tail after
                // `::ffff:0:0/96` alone, of the prefixes that section 5 leaves open.
                self.out.extend_from_slice(format!("[{address}]").as_bytes());
                self.trace.component(Rule::Ipv6, Place::Host, Some(&self.out[at..]));
            }
            _ => escape::push_lower(host, self.out),
        }
        Ok(())
    }

    /// A registered name as an identifier: triplets normalized, then ASCII letters in lower case.
    ///
    /// Section 6.2.2.1 names case first, but a decoded letter has a case too: decoding comes first, or
    /// `%45` would end up as `E`.
    fn reg_name(&mut self, host: &[u8], start: usize) -> Result<(), Reject> {
        let at = self.out.len();
        self.component(host, HOST, start).map_err(|reject| match host.get(reject.at - start) {
            Some(b'[' | b']') => Reject::new(RejectReason::Host, reject.at),
            _ => reject,
        })?;
        escape::lower_outside_triplets(&mut self.out[at..]);
        self.trace.component(Rule::HostCase, Place::Host, Some(&self.out[at..]));
        Ok(())
    }

    /// A registered name as it is looked up: ASCII in lower case, anything else through UTS 46 ToASCII.
    fn domain(&mut self, host: &[u8], kind: Kind, start: usize) -> Result<(), Reject> {
        let at = self.out.len();
        // Nearly all hosts are plain ASCII, and UTS 46 would only put them into lower case.
        let strict =
            Ladder::new(&Policy::SYNTAX, None, self.out, &mut NoTrace).component(host, HOST, start);
        let simple = strict.is_ok() && !self.out[at..].contains(&b'%');
        if !simple || T::RECORDS {
            self.out.truncate(at);
        }
        if simple {
            if T::RECORDS {
                // Only now is it known that the host is read like this.
                self.component(host, HOST, start)?;
            }
            self.out[at..].make_ascii_lowercase();
            self.trace.component(Rule::HostCase, Place::Host, Some(&self.out[at..]));
        } else {
            to_ascii(host, DENIED, start, self.out)?;
            self.trace.component(Rule::Idna, Place::Host, Some(&self.out[at..]));
        }
        drop_trailing_dots(at, kind, self.out);
        self.trace.component(Rule::HostDots, Place::Host, Some(&self.out[at..]));
        Ok(())
    }

    /// A port of a known or unknown scheme (section 6.2.3): no leading zeros, not the default, not empty.
    fn known_port(&mut self, port: &[u8], default: Option<u16>, at: usize) -> Result<(), Reject> {
        if port.is_empty() {
            self.trace.component(Rule::EmptyPort, Place::Port, None);
            return Ok(());
        }
        let zeros = port.iter().take_while(|byte| **byte == b'0').count();
        // One zero stays: `:00` is the port 0.
        let digits = &port[zeros.min(port.len() - 1)..];
        self.trace.component(Rule::PortZeros, Place::Port, Some(digits));
        let value = number(digits);
        // Section 3.2.3 gives no bound, so the strict rungs keep any number.
        if value > 65535 && self.profile.grammar == Grammar::Repaired {
            return Err(Reject::new(RejectReason::PortRange, at));
        }
        if default.is_none_or(|default| u32::from(default) != value) {
            self.out.push(b':');
            self.out.extend_from_slice(digits);
        } else {
            self.trace.component(Rule::DefaultPort, Place::Port, None);
        }
        Ok(())
    }
}

/// Whether hosts are names that a resolver looks up. Under other schemes they may name anything, such as
/// the socket of `postgresql://%2Fvar%2Frun/db`. The indexers of web archives do not tell them apart.
fn is_looked_up(profile: &Policy, kind: Kind) -> bool {
    matches!(kind, Kind::Network | Kind::File) || profile.system == System::Archive
}

/// Names that are looked up are absolute anyway.
#[inline]
pub(in crate::normalize) fn drop_trailing_dots(host_at: usize, kind: Kind, out: &mut Vec<u8>) {
    if kind == Kind::Network {
        while out.len() > host_at && out.last() == Some(&b'.') {
            out.pop();
        }
    }
}

/// Whether `host` is `"[" ( IPv6address / IPvFuture ) "]"`.
pub(crate) fn is_literal(host: &[u8]) -> bool {
    let inside = host.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    inside.is_some_and(|inside| is_ip_future(inside) || ipv6(inside).is_some())
}

/// `IPvFuture  = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`
fn is_ip_future(inside: &[u8]) -> bool {
    let Some((b'v' | b'V', rest)) = inside.split_first() else {
        return false;
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let Some((b'.', address)) = rest[digits..].split_first() else {
        return false;
    };
    digits > 0 && !address.is_empty() && address.iter().all(|byte| set::USERINFO.contains(*byte))
}

/// `IPv6address`, which the standard library reads by the same grammar: no zone id, no leading zero
/// in the dotted tail.
pub(in crate::normalize) fn ipv6(inside: &[u8]) -> Option<Ipv6Addr> {
    std::str::from_utf8(inside).ok()?.parse().ok()
}

/// An address as fields alone, whatever its prefix, like the URL Standard's serializer.
pub(in crate::normalize) fn ipv6_fields(address: Ipv6Addr) -> String {
    match (address.to_ipv4_mapped(), address.segments()) {
        (Some(_), [.., high, low]) => format!("::ffff:{high:x}:{low:x}"),
        (None, _) => address.to_string(),
    }
}

/// Rejects what may delimit a host and is never repaired: brackets, and the backslash, at which browsers
/// end a host and other programs do not.
fn check_delimiters(host: &[u8], start: usize) -> Result<(), Reject> {
    match memchr::memchr3(b'[', b']', b'\\', host) {
        Some(at) => Err(Reject::new(RejectReason::Host, start + at)),
        None => Ok(()),
    }
}

/// UTS 46 ToASCII of a host, all its triplets decoded.
#[cold]
pub(in crate::normalize) fn to_ascii(
    host: &[u8],
    denied: AsciiDenyList,
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), Reject> {
    // Nothing is left of a host of ignored characters.
    match uts46::to_ascii(&decoded(host), denied) {
        Some(ascii) if !ascii.is_empty() => {
            out.extend_from_slice(ascii.as_bytes());
            Ok(())
        }
        _ => Err(Reject::new(RejectReason::Idna, start)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_addresses_are_written_as_in_rfc_5952_or_as_fields() {
        for (address, expected) in [
            ("2001:0db8::0001", "2001:db8::1"),
            ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"),
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
            ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("::", "::"),
            ("::1", "::1"),
            ("1::", "1::"),
            ("::ffff:102:304", "::ffff:1.2.3.4"),
            ("::1.2.3.4", "::102:304"),
            ("64:ff9b::1.2.3.4", "64:ff9b::102:304"),
        ] {
            let address = ipv6(address.as_bytes()).unwrap();
            assert_eq!(address.to_string(), expected);
            let fields = expected.replace("1.2.3.4", "102:304");
            assert_eq!(ipv6_fields(address), fields);
        }
    }

    #[test]
    fn zone_ids_and_malformed_ip_literals_are_rejected() {
        for host in [
            "[fe80::1%25eth0]",
            "[fe80::1%eth0]",
            "[1:2]",
            "[]",
            "[v.x]",
            "[v1.]",
            "[1::2::3]",
            "[::1.2.3.04]",
        ] {
            assert!(!is_literal(host.as_bytes()), "{host}");
        }
        assert!(is_literal(b"[vF.a:b]"));
    }
}
