//! Blocks of IP addresses, as in 10.0.0.0/8, and whether a host is an address in one of them.
//!
//! Addresses are compared by their value. A block of IPv4 holds IPv4 addresses alone, and one of IPv6 holds
//! IPv6 addresses alone, also those that map IPv4 (`::ffff:0:0/96`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// A set of blocks of addresses, sorted, none within another. Two blocks never overlap in part.
#[derive(Debug, Clone, Default)]
pub(crate) struct AddressBlocks(Vec<IpNet>);

impl AddressBlocks {
    /// Adds the block that `text` names. The bits of the address after the prefix do not matter.
    ///
    /// `None` if the text is not a block: an address of IPv4 in four decimal numbers, or of IPv6 with or
    /// without brackets, then a slash and the length of the prefix.
    pub(crate) fn add(&mut self, text: &str) -> Option<()> {
        let (address, length) = text.rsplit_once('/')?;
        // A number is parsed with a sign and with zeros before it, too, and some readers take `010` as octal.
        let length = length.parse().ok().filter(|number: &u8| number.to_string() == length)?;
        let address = in_brackets(address).or_else(|| address.parse().ok())?;
        let block = IpNet::new(address, length).ok()?.trunc();
        // The blocks stay sorted, and none stays within another, so one search finds the only block
        // that can hold an address.
        if !self.hold(block) {
            self.0.retain(|other| !block.contains(other));
            let at = self.0.partition_point(|other| *other < block);
            self.0.insert(at, block);
        }
        Some(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the host of a canonical URL is an address in one of the blocks.
    pub(crate) fn contain(&self, host: &[u8]) -> bool {
        if self.is_empty() {
            return false;
        }
        let Ok(host) = std::str::from_utf8(host) else { return false };
        let v4 = || host.parse::<Ipv4Addr>().ok().map(IpAddr::V4);
        in_brackets(host).or_else(v4).is_some_and(|address| self.hold(address.into()))
    }

    /// Whether all of a block is in one of these.
    fn hold(&self, block: IpNet) -> bool {
        // Two blocks overlap in whole or not at all, so only the last one that begins at or
        // before this one can hold it.
        let after = self.0.partition_point(|other| other.addr() <= block.addr());
        after.checked_sub(1).is_some_and(|i| self.0[i].contains(&block))
    }
}

/// An address of IPv6 between brackets.
fn in_brackets(text: &str) -> Option<IpAddr> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    inside.parse().ok().map(|address: Ipv6Addr| address.into())
}

#[cfg(test)]
mod tests {
    use super::AddressBlocks;

    fn blocks(texts: &[&str]) -> AddressBlocks {
        let mut blocks = AddressBlocks::default();
        texts.iter().for_each(|text| blocks.add(text).unwrap_or_else(|| panic!("{text}")));
        blocks
    }

    #[test]
    fn an_address_is_in_a_block_by_its_value() {
        for (block, inside, outside) in [
            ("10.0.0.0/8", &["10.0.0.0", "10.255.255.255"][..], &["9.255.255.255", "11.0.0.0"][..]),
            ("10.1.2.3/8", &["10.0.0.0", "10.200.0.1"], &["11.1.2.3"]),
            ("192.168.1.128/25", &["192.168.1.128", "192.168.1.255"], &["192.168.1.127"]),
            ("1.2.3.4/32", &["1.2.3.4"], &["1.2.3.5", "01.2.3.4", "1.2.3.4.", "16909060", "[::1]"]),
            ("0.0.0.0/0", &["0.0.0.0", "255.255.255.255"], &["[::]", "h", "", "1.2.3"]),
            ("128.0.0.0/1", &["128.0.0.0", "255.0.0.0"], &["127.255.255.255"]),
            (
                "2001:db8::/32",
                &["[2001:db8::]", "[2001:DB8:ffff::1]"],
                &["[2001:db9::]", "2001:db8::"],
            ),
            ("[2001:db8::]/32", &["[2001:db8::1]", "[2001:0db8:0:0:0:0:0:1]"], &["[2001:db7::]"]),
            ("::1/128", &["[::1]", "[0:0::1]"], &["[::2]", "[::]"]),
            ("::/0", &["[::1]", "[ffff::]", "[::ffff:1.2.3.4]"], &["1.2.3.4", "[v1.a]", "[]", "["]),
            ("::ffff:10.0.0.0/104", &["[::ffff:10.9.9.9]", "[::ffff:a01:203]"], &["10.9.9.9"]),
            ("10.0.0.0/8", &[], &["[::ffff:10.9.9.9]", "[::10.9.9.9]"]),
        ] {
            let blocks = blocks(&[block]);
            let is_in = |host: &&&str| blocks.contain(host.as_bytes());
            assert_eq!(inside.iter().find(|host| !is_in(host)), None, "{block}");
            assert_eq!(outside.iter().find(is_in), None, "{block}");
        }
    }

    #[test]
    fn every_prefix_takes_the_addresses_that_agree_in_its_bits() {
        let address = 0xC0A8_5A3C_u32;
        for length in 0..=32 {
            let text = |value: u32| std::net::Ipv4Addr::from_bits(value).to_string();
            let blocks = blocks(&[&format!("{}/{length}", text(address))]);
            for bit in 0..32 {
                let other = text(address ^ 1 << (31 - bit));
                assert_eq!(blocks.contain(other.as_bytes()), bit >= length, "{other}/{length}");
            }
        }
    }

    #[test]
    fn blocks_within_others_and_beside_them_are_all_looked_at() {
        let order = ["10.1.0.0/16", "10.0.0.0/8", "10.2.0.0/16", "9.9.9.9/32", "11.0.0.0/24"];
        for turn in 0..order.len() {
            let mut order = order;
            order.rotate_left(turn);
            let blocks = blocks(&order);
            for (host, is_in) in [
                ("10.1.2.3", true),
                ("10.200.0.1", true),
                ("9.9.9.9", true),
                ("11.0.0.255", true),
                ("11.0.1.0", false),
                ("9.9.9.8", false),
            ] {
                assert_eq!(blocks.contain(host.as_bytes()), is_in, "{host} in {order:?}");
            }
        }
    }

    #[test]
    fn what_is_no_block_is_not_added() {
        for text in [
            "",
            "/",
            "/8",
            "10.0.0.0",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "10.0.0.0/+8",
            "10.0.0.0/08",
            "10.0.0.0/8 ",
            "10.0.0.0/8/8",
            "10.0.0/8",
            "10/8",
            "010.0.0.0/8",
            "256.0.0.0/8",
            "0x0a.0.0.0/8",
            "10.0.0.0/255.0.0.0",
            "[10.0.0.0]/8",
            "2001:db8::/129",
            "::/ 1",
            "[::1/128",
            "::1]/128",
            "[::1/128]",
            "fe80::1%25eth0/64",
            "10.0.0.0/4294967295",
            "10.0.0.0/99999999999999999999",
            "h/8",
        ] {
            let mut blocks = AddressBlocks::default();
            assert!(blocks.add(text).is_none() && blocks.is_empty(), "{text}");
        }
    }
}
