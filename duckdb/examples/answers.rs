//! What the library says of URLs, for tests to compare the extension and the package of npm with.
//!
//!     answers PROFILE < hexadecimal URLs, a line each > answers.tsv
//!
//! Columns: the URL, whether it is UTF-8, its canonical form, its codes, whether it is canonical, the name of one of
//! the keys in turn, that key, and the place of the first fault. Bytes are hexadecimal, and `-` stands for NULL.

use std::error::Error;
use std::io::{self, BufWriter, Write};

use library::{Key, Normalizer, Profile};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let profile: Profile = std::env::args().nth(1).ok_or("which profile?")?.parse()?;
    let normalizer = Normalizer::new(profile);
    let mut out = BufWriter::new(io::stdout().lock());
    for (line, key) in io::stdin().lines().zip(Key::ALL.iter().cycle()) {
        let text = line?;
        let url = (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16));
        let url = url.collect::<Result<Vec<u8>, _>>()?;
        let [mut canonical, mut codes, mut form, mut at] = [(); 4].map(|()| "-".to_owned());
        match normalizer.canonical(&url, &mut Vec::new()) {
            Ok(found) => {
                canonical = hex(&found);
                form = key.of(found, &mut Vec::new()).map_or(form, |key| hex(key.as_bytes()));
            }
            Err(reject) => {
                let names: Vec<_> = reject.in_order().map(|code| code.name()).collect();
                codes = names.join(",");
                at = reject.at.to_string();
            }
        }
        let (is_text, is_canonical) =
            (std::str::from_utf8(&url).is_ok(), normalizer.is_canonical(&url));
        writeln!(
            out,
            "{text}\t{is_text}\t{canonical}\t{codes}\t{is_canonical}\t{key}\t{form}\t{at}"
        )?;
    }
    Ok(out.flush()?)
}
