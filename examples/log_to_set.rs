//! The distinct pages of an access log, sorted.
//!
//! ```console
//! $ cargo run --release --example log_to_set <corpora/sample.log
//! ```
//!
//! The crate `uniqurl-formats` reads logs of all kinds; this example takes the request line from between the
//! first two quotation marks, as in the combined format of Apache and nginx.

use std::error::Error;
use std::io::{self, BufRead};

use uniqurl::{Normalizer, Profile, UrlSet};

fn main() -> Result<(), Box<dyn Error>> {
    let set = pages(io::stdin().lock())?;
    // A set has no order.
    let mut pages: Vec<_> = set.iter().collect();
    pages.sort_unstable();
    for page in pages {
        println!("{}", String::from_utf8_lossy(page));
    }
    Ok(())
}

/// The set of the request targets of a log.
pub fn pages(log: impl BufRead) -> Result<UrlSet, Box<dyn Error>> {
    let crawl = Normalizer::new(Profile::Crawl);
    let (mut set, mut scratch) = (UrlSet::new(), Vec::new());
    for line in log.split(b'\n') {
        let line = line?;
        let Some(target) = target(&line) else { continue };
        // As a target `//a/b` is a path, and no host. Lines of bots and attacks may have none.
        if let Ok(page) = crawl.for_targets().canonical(target, &mut scratch) {
            set.insert(page)?;
        }
    }
    Ok(set)
}

/// The request target of a line: the second word of `"GET /a HTTP/1.1"`.
fn target(line: &[u8]) -> Option<&[u8]> {
    let request = line.split(|byte| *byte == b'"').nth(1)?;
    request.split(|byte| *byte == b' ').nth(1)
}
