//! Detects containers of tables by their first bytes, even in builds that do not read them: they
//! must not be read as lists.

/// A container format for tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// Apache Parquet.
    Parquet,
    /// The IPC format of Apache Arrow, as a file or as a stream.
    Arrow,
}

impl Container {
    /// The container of a file that begins with these bytes, if it is one.
    ///
    /// Parquet: "4-byte magic number "PAR1"". Arrow: "magic number "ARROW1"", or a stream's first
    /// message: "A 32-bit continuation indicator", 0xFFFFFFFF, and "a 32-bit little-endian length
    /// prefix", a multiple of 8. A list may begin with these letters, so the bytes after them count
    /// too. After Arrow's come "empty padding bytes [to 8 byte boundary]". After Parquet's comes a
    /// page or encrypted data, with a control character among its first bytes: a field's type, or
    /// the upper byte of a length.
    pub fn of(head: &[u8]) -> Option<Self> {
        if let Some(rest) = head.strip_prefix(b"PAR1") {
            let is_text = |byte: &u8| *byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r');
            let is_list = !rest.is_empty() && rest.iter().take(4).all(is_text);
            return (!is_list).then_some(Container::Parquet);
        }
        if head.starts_with(b"ARROW1\0\0") {
            return Some(Container::Arrow);
        }
        let length = head.strip_prefix(b"\xFF\xFF\xFF\xFF")?.first_chunk()?;
        let length = u32::from_le_bytes(*length);
        // Four letters of text after four bytes 0xFF would be a length beyond this bound.
        (length > 0 && length.is_multiple_of(8) && length < 1 << 24).then_some(Container::Arrow)
    }

    /// The name that `--format` takes.
    pub fn name(self) -> &'static str {
        match self {
            Container::Parquet => "parquet",
            Container::Arrow => "arrow",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Container;

    #[test]
    fn container_is_detected_by_its_magic_number() {
        for (head, found) in [
            (&b"PAR1\x15\x04"[..], Some(Container::Parquet)),
            (b"ARROW1\0\0", Some(Container::Arrow)),
            (b"\xFF\xFF\xFF\xFF\x78\0\0\0\x10", Some(Container::Arrow)),
            (b"\xFF\xFF\xFF\xFF\x79\0\0\0\x10", None),
            (b"\xFF\xFF\xFF\xFF", None),
            (b"PAR1\x2C\0\0\0", Some(Container::Parquet)),
            (b"PAR1", Some(Container::Parquet)),
            (b"PAR", None),
            (b"PAR1-WEB.example.com", None),
            (b"PAR1\nx\n", None),
            (b"ARROW1.example.com", None),
            (b"http://h/", None),
        ] {
            assert_eq!(Container::of(head), found, "{}", head.escape_ascii());
        }
    }
}
