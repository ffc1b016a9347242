//! Deduplicates a list of URLs: one URL a line in, the first of each canonical URL out.
//!
//! ```console
//! $ cargo run --release --example dedup_list <corpora/sample.txt >unique.txt
//! ```
//!
//! The command `uniqurl dedup` does the same on all cores, and beyond memory.

use std::error::Error;
use std::io::{self, Read, Write};

use uniqurl::{Normalizer, Profile, UrlSet};

fn main() -> Result<(), Box<dyn Error>> {
    let mut list = Vec::new();
    io::stdin().lock().read_to_end(&mut list)?;
    let rejected = dedup(&list, &mut io::stdout().lock())?;
    eprintln!("{rejected} lines are not URLs");
    Ok(())
}

/// Writes each canonical URL of the list once, and returns how many lines have none.
pub fn dedup(list: &[u8], out: &mut impl Write) -> Result<usize, Box<dyn Error>> {
    let crawl = Normalizer::new(Profile::Crawl);
    let (mut set, mut rejected) = (UrlSet::new(), 0);
    // Goes through the lines in batches, which is faster than one call for each URL.
    let mut lines = crawl.lines(list);
    while let Some(url) = lines.next() {
        match url {
            // `insert` is true for a URL that is new to the set.
            Ok(url) if set.insert(url)? => {
                out.write_all(url.as_bytes())?;
                out.write_all(b"\n")?;
            }
            Ok(_) => {}
            Err(_) => rejected += 1,
        }
    }
    Ok(rejected)
}
