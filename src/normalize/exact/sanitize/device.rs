//! Detects segments that Windows does not read as the name of a file.

/// Names of devices, whatever extension follows.
const DEVICES: [&[u8]; 6] = [b"con", b"prn", b"aux", b"nul", b"conin$", b"conout$"];

/// Devices whose names end in a digit from 1 to 9; superscript digits count.
const NUMBERED: [&[u8]; 2] = [b"com", b"lpt"];

/// Whether Windows takes a decoded segment for a device, or for a directory above if it is made of three
/// dots or more. It ignores case, blanks and dots at the end, an extension and the name of a stream.
pub(super) fn is_device_name(segment: &[u8]) -> bool {
    let end = segment.iter().position(|byte| matches!(byte, b'.' | b':')).unwrap_or(segment.len());
    let name = segment[..end].trim_ascii_end().to_ascii_lowercase();
    if name.is_empty() {
        return segment.starts_with(b"...")
            && segment.iter().all(|byte| matches!(byte, b'.' | b' '));
    }
    let is_digit = |text: &[u8]| matches!(text, [b'1'..=b'9'] | [0xC2, 0xB9 | 0xB2 | 0xB3]);
    let is_numbered = |device: &&[u8]| name.strip_prefix(*device).is_some_and(is_digit);
    DEVICES.contains(&&name[..]) || NUMBERED.iter().any(is_numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_found_whatever_stands_after_their_names() {
        for name in [
            "aux",
            "CON",
            "Nul.txt",
            "prn.tar.gz",
            "com1",
            "LPT9.",
            "COM\u{b9}",
            "lpt\u{b3}.x",
            "conin$",
            "CONOUT$ ",
            "aux .h",
            "nul:",
            "con. . ",
            "com2:x",
            "...",
            "... ",
            "....",
        ] {
            assert!(is_device_name(name.as_bytes()), "{name:?}");
        }
        for name in [
            "",
            " ",
            ".",
            "..",
            "auxiliary",
            "com",
            "com0",
            "com10",
            "lpt\u{2074}",
            "a.con",
            "xaux",
            "con$",
            "...a",
            "nullify",
            ".aux",
            "com1a",
            "aux-1",
        ] {
            assert!(!is_device_name(name.as_bytes()), "{name:?}");
        }
    }
}
