//! `uniqurl formats`: lists the formats with a name.

use std::io::{self, Write};

use uniqurl_formats::record::{FormatTable, NamedFormat};

/// Writes the list of formats, or the entry of one as `--format-file` takes it.
pub fn write(format: Option<&NamedFormat>, out: &mut impl Write) -> io::Result<()> {
    if let Some(format) = format {
        return out.write_all(format.source.as_bytes());
    }
    let entries = || FormatTable::shipped().entries();
    let width = entries().map(|entry| entry.name.len()).max().unwrap_or_default();
    for entry in entries() {
        let auto = if entry.is_detected() { "auto" } else { "    " };
        write!(out, "{:width$}  {auto}  {}", entry.name, entry.description)?;
        if !entry.aliases.is_empty() {
            write!(out, " (also {})", entry.aliases.join(", "))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "\nauto: --format auto finds it")
}
