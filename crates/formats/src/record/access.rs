//! Tells the access logs `clf`, `combined` and `vhost` from each other.

use std::ops::Range;

use super::clf;
use super::escape::closing_quote;
use super::hosts::{is_address, is_dotted, is_ipv4, names_port, split_port};
use super::request;

/// The kind of a line of an access log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access<'a> {
    /// No quoted field follows the request.
    Clf,
    /// One does.
    Combined,
    /// The first field names the site.
    Vhost,
    /// The first field is an address with a port, of a site or of the client of a proxy.
    AddressPort(&'a [u8], &'a [u8]),
}

impl<'a> Access<'a> {
    /// The kind of a line; none if it is not of an access log.
    pub fn of(line: &'a [u8]) -> Option<Self> {
        let (time, request) = time_and_request(line)?;
        // Some loggers put the whole line into quotation marks.
        let before = line[..time.start].strip_prefix(b"\"").unwrap_or(&line[..time.start]);
        let words: Vec<&[u8]> = before.split(|&byte| byte == b' ').collect();
        // The bracket comes after `%h %l %u `, with the host in front after one field more.
        if let [first, client, _, _, ..] = words[..] {
            let (host, port) = split_port(first);
            match port {
                Some(port) if words.len() > 4 && is_address_of_one(host) => {
                    return Some(Access::AddressPort(host, port));
                }
                Some(_) if words.len() > 4 && names_port(first) => return Some(Access::Vhost),
                // A name that is alone in front may be a client's, where the server looks names up.
                // A site is believed only where the client follows it.
                None if words.len() > 4 && is_dotted(first) && is_client(client) => {
                    return Some(Access::Vhost);
                }
                _ => {}
            }
        }
        Some(match closing_quote(line, request.end + 1) {
            Some(_) => Access::Combined,
            None => Access::Clf,
        })
    }
}

fn is_address_of_one(host: &[u8]) -> bool {
    is_ipv4(host) || host.starts_with(b"[")
}

fn is_client(word: &[u8]) -> bool {
    is_address(word) || word == b"-"
}

/// True if a line is of an access log: a time in brackets, and a request in quotation marks after it.
pub(super) fn is_access(line: &[u8]) -> bool {
    time_and_request(line).is_some()
}

/// The bracketed time of a line, and the range of the request.
pub(super) fn time_and_request(line: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let time = clf::bracketed_time(line)?;
    if !clf::begins_as_time(&line[time.start + 1..]) {
        return None;
    }
    let field = clf::quoted_request(line).ok()?;
    let request = &line[field.clone()];
    // Where no request came Apache writes a dash, HAProxy a word, and nginx nothing. TLS on a plain
    // port is logged by its bytes, which begin with an escape.
    let is_request = request::split(request).is_some()
        || matches!(request, b"" | b"-" | b"<BADREQ>")
        || request.starts_with(b"\\");
    is_request.then_some((time, field))
}

/// The addresses that begin lines, with their ports.
#[derive(Debug, Default)]
pub(super) struct AddressPorts(Vec<(Vec<u8>, Vec<u8>)>);

/// Systems choose the ports of clients from here on up.
const EPHEMERAL: u32 = 32_768;

impl AddressPorts {
    pub fn add(&mut self, address: &[u8], port: &[u8]) {
        self.0.push((address.to_vec(), port.to_vec()));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many lines name a site, and how many a client. A site keeps its port, and a client has another
    /// one for each connection.
    pub fn sites_and_clients(&self) -> (usize, usize) {
        let Some((_, first)) = self.0.first() else { return (0, 0) };
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort();
        let changes =
            sorted.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1);
        let number = |port: &[u8]| {
            port.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
        };
        let are_ephemeral = || self.0.iter().all(|(_, port)| number(port) >= EPHEMERAL);
        // Several lines with one and the same port are of a site, whatever that port is.
        let are_few = self.0.len() == 1 || self.0.iter().any(|(_, port)| port != first);
        match changes || (are_few && are_ephemeral()) {
            true => (0, self.0.len()),
            false => (self.0.len(), 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, detect};

    const REST: &str = r#"- - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5 "-" "UA""#;

    fn named(before: &[&str]) -> String {
        let lines: Vec<String> = before.iter().map(|before| format!("{before} {REST}\n")).collect();
        detect("x", lines.concat().as_bytes(), true).name().into_owned()
    }

    #[test]
    fn a_dotted_host_before_a_client_is_the_site() {
        assert_eq!(named(&["shop.test 10.1.1.1"]), "vhost");
        assert_eq!(named(&["shop.test 10.1.1.1", "blog.test 2001:db8::7"]), "vhost");
        assert_eq!(named(&["shop.test dialup.isp.test", "blog.test -"]), "vhost");
        // Proxies in front log two addresses, and some log a name.
        for before in
            ["10.1.1.1 10.2.2.2", "dialup.isp.test", "2001:db8::1 10.0.0.1", "web1 10.1.1.1"]
        {
            assert_eq!(named(&[before]), "combined", "{before}");
        }
        assert_eq!(named(&["2024-05-17T10:05:03.5+02:00 web1 apache2:"]), "combined");
    }

    #[test]
    fn an_address_whose_port_changes_is_a_client() {
        assert_eq!(named(&["10.1.1.1:8080 10.2.2.2", "10.1.1.1:8080 10.2.2.3"]), "vhost");
        assert_eq!(named(&["10.1.1.1:80 10.2.2.2"]), "vhost");
        assert_eq!(named(&["10.1.1.1:8080 10.2.2.2", "10.1.1.1:8081 10.2.2.2"]), "combined");
        assert_eq!(named(&["10.1.1.1:50001 10.2.2.2", "10.1.1.2:50077 10.2.2.2"]), "combined");
        assert_eq!(named(&["10.1.1.1:50001 10.2.2.2"]), "combined");
        assert_eq!(named(&["[2001:db8::1]:443 10.2.2.2"]), "vhost");
    }

    #[test]
    fn sites_of_a_vhost_log_stay_apart() {
        let log = format!("shop.test 10.1.1.1 {REST}\n");
        let format = detect("x", log.as_bytes(), true);
        assert_eq!(format, Format::Vhost);
    }
}
