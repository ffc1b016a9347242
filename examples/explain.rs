//! Explains a URL: each rule that changes it with the sentence of its standard, or why it is rejected.
//!
//! ```console
//! $ cargo run --example explain 'HTTP://Example.COM:80/%7Ea/../b'
//! ```

use uniqurl::{Normalizer, Profile};

fn main() {
    let urls: Vec<String> = std::env::args().skip(1).collect();
    for url in if urls.is_empty() { vec!["HTTP://Example.COM:80/%7Ea/../b".into()] } else { urls } {
        print!("{}", explain(&url));
    }
}

/// A line for the URL, and one for each rule that changes it.
pub fn explain(url: &str) -> String {
    let crawl = Normalizer::new(Profile::Crawl);
    let mut text = format!("{url}\n");
    match crawl.explain(url.as_bytes()) {
        Ok(steps) => {
            for step in steps {
                let after = String::from_utf8_lossy(&step.after);
                text.push_str(&format!(
                    "  {after}  by {}: {}\n",
                    step.rule.name(),
                    step.rule.sentence()
                ));
            }
        }
        // The first fault, and its place in the URL.
        Err(reject) => text.push_str(&format!("  rejected: {reject}\n")),
    }
    text
}
