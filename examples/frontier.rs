//! The frontier of a crawler: links go in as pages have them, and each URL comes out once.
//!
//! ```console
//! $ cargo run --example frontier
//! ```

use std::collections::VecDeque;
use std::error::Error;

use uniqurl::{Normalizer, Profile, SetFull, UrlSet};

fn main() -> Result<(), Box<dyn Error>> {
    let mut frontier = Frontier::new();
    frontier.add("https://example.com/", &["https://example.com/docs/"])?;
    while let Some(url) = frontier.next() {
        println!("fetch {url}");
        // A crawler would fetch the page here, and find its links.
        let links = ["/", "../about", "HTTPS://Example.com:443/docs/#top", "mailto:a@example.com"];
        frontier.add(&url, &links)?;
    }
    Ok(())
}

/// URLs to fetch, and the set of all that were ever in the queue.
pub struct Frontier {
    crawl: Normalizer,
    seen: UrlSet,
    queue: VecDeque<String>,
}

impl Frontier {
    /// An empty frontier.
    pub fn new() -> Self {
        let crawl = Normalizer::new(Profile::Crawl);
        Self { crawl, seen: UrlSet::new(), queue: VecDeque::new() }
    }

    /// Adds the links of a page that are new. A link that is no URL, or of another scheme, is left out.
    pub fn add(&mut self, page: &str, links: &[&str]) -> Result<(), SetFull> {
        // A copy with another base is cheap: it shares the rules.
        let Ok(on_page) = self.crawl.clone().with_base(page.as_bytes()) else { return Ok(()) };
        let mut scratch = Vec::new();
        for link in links {
            let Ok(url) = on_page.canonical(link.as_bytes(), &mut scratch) else { continue };
            // Under `crawl` canonical URLs are ASCII.
            let Ok(text) = url.to_str() else { continue };
            if text.starts_with("http") && self.seen.insert(url)? {
                self.queue.push_back(text.to_owned());
            }
        }
        Ok(())
    }
}

impl Iterator for Frontier {
    type Item = String;

    /// The next URL to fetch.
    fn next(&mut self) -> Option<String> {
        self.queue.pop_front()
    }
}

impl Default for Frontier {
    fn default() -> Self {
        Self::new()
    }
}
