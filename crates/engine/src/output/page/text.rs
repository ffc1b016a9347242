//! Text and numbers of a page.

use std::fmt::{self, Display, Write};

use uniqurl_text::Printable;

/// Text of a run inside HTML.
pub struct HtmlText<T>(pub T);

/// A number of bytes in the unit that suits it, powers of 1000.
pub(super) struct ByteSize(pub u64);

/// A part of a hundred.
pub(super) struct Share(pub u64, pub u64);

impl Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Share(0, _) | Share(_, 0) => f.write_str("0 %"),
            Share(part, whole) => write!(f, "{:.2} %", *part as f64 * 100.0 / *whole as f64),
        }
    }
}

impl<T: Display> Display for HtmlText<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.to_string().chars() {
            match char {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                ' '..='~' => f.write_char(char)?,
                char => {
                    let mut bytes = [0; 4];
                    write!(f, "{}", Printable(char.encode_utf8(&mut bytes).as_bytes()))?;
                }
            }
        }
        Ok(())
    }
}

impl Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.0 as f64;
        for unit in ["B", "KB", "MB", "GB"] {
            // More would be shown as 1000 of this unit.
            if bytes < 999.5 {
                // At most three digits.
                let places = if unit == "B" || bytes >= 99.95 { 0 } else { 1 };
                return write!(f, "{bytes:.places$} {unit}");
            }
            bytes /= 1000.0;
        }
        write!(f, "{bytes:.1} TB")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_special_characters_are_escaped() {
        let hostile = "<script>alert('1')</script>&\"";
        let shown = HtmlText(hostile).to_string();
        assert_eq!(shown, "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;");
        assert_eq!(HtmlText("a\u{9B}\u{202E}\n\\").to_string(), r"a\xC2\x9B\xE2\x80\xAE\x0A\");
    }

    #[test]
    fn sizes_and_shares_have_units() {
        let bytes = |n| ByteSize(n).to_string();
        assert_eq!([bytes(7), bytes(1500), bytes(234_000_000)], ["7 B", "1.5 KB", "234 MB"]);
        assert_eq!(bytes(5_000_000_000_000_000), "5000.0 TB");
        assert_eq!(Share(1, 3).to_string(), "33.33 %");
        assert_eq!(Share(0, 0).to_string(), "0 %");
    }
}
