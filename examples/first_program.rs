//! The first program over the library: text in and out, errors by `?`, hosts, a set, JSON, threads.
//!
//! `cargo run --example first_program -- http://Example.com/%7Ea HTTP://example.com:80/~a`

use std::collections::HashSet;
use std::error::Error;
use std::sync::Arc;
use std::thread;

use uniqurl::{Normalizer, Profile};

/// The canonical form of a URL.
pub fn canonical(crawl: &Normalizer, url: &str) -> Result<String, uniqurl::Reject> {
    Ok(crawl.normalize_str(url)?.into_owned())
}

/// A line for each distinct URL: its host, and the URL as JSON.
pub fn distinct(urls: &[String]) -> Result<Vec<String>, Box<dyn Error>> {
    let crawl = Normalizer::builder(Profile::Crawl).assume_scheme(b"http").build()?;
    let (mut seen, mut lines, mut scratch) = (HashSet::new(), Vec::new(), Vec::new());
    for url in urls {
        let url = crawl.canonical(url.as_bytes(), &mut scratch)?;
        if seen.insert(url.to_string()) {
            let host = String::from_utf8_lossy(url.host().unwrap_or_default());
            lines.push(format!("{host} {}", serde_json::to_string(&url)?));
        }
    }
    Ok(lines)
}

fn main() -> Result<(), Box<dyn Error>> {
    let urls: Vec<String> = std::env::args().skip(1).collect();
    for line in distinct(&urls)? {
        println!("{line}");
    }
    // A normalizer is shared by all threads.
    let crawl = Arc::new(Normalizer::new(Profile::Crawl));
    let workers = urls.into_iter().map(|url| {
        let crawl = Arc::clone(&crawl);
        thread::spawn(move || canonical(&crawl, &url))
    });
    for worker in workers.collect::<Vec<_>>() {
        match worker.join().expect("no panic") {
            Ok(url) => println!("{url}"),
            Err(reject) => eprintln!("{reject}"),
        }
    }
    Ok(())
}
