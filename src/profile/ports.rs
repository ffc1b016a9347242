//! The default ports of all schemes that have one, by the RFCs and IANA's registry.
//!
//! Only the sanitizer asks for them: [`scheme`](super::scheme) has the few that normalization drops.

/// The list that ships with the library.
const PORTS: &str = include_str!("../../data/ports.tsv");

/// The default port of the scheme `name`, which is in lower case.
pub(crate) fn registered(name: &[u8]) -> Option<u16> {
    // Only a URL with a low port asks, so a search through the text is fast enough.
    rows().find(|(scheme, _)| scheme.as_bytes() == name).map(|(_, port)| port)
}

fn rows() -> impl Iterator<Item = (&'static str, u16)> {
    let rows = PORTS.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| {
        let (scheme, rest) = line.split_once('\t')?;
        Some((scheme, rest.split_once('\t')?.0.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::scheme::SCHEMES;

    #[test]
    fn every_row_holds_a_scheme_a_port_and_a_source() {
        let lines: Vec<&str> =
            PORTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert_eq!(rows().count(), lines.len());
        assert!(lines.iter().all(|line| line.split('\t').count() == 3));
        assert!(rows().map(|(scheme, _)| scheme).is_sorted());
    }

    #[test]
    fn the_ports_that_are_dropped_are_registered() {
        for scheme in SCHEMES {
            assert_eq!(registered(scheme.name), scheme.port, "{}", scheme.name.escape_ascii());
        }
    }
}
