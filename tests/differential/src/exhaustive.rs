//! Tries everything of a kind: every window that vector code can see, and every small URL.

use std::time::Instant;

use uniqurl::internal::Span;

use crate::case::{Block, Way};
use crate::check;
use crate::setting::Setting;
use crate::shrink::{self, Question};
use crate::tally::Tally;
use crate::threads;
use crate::windows::{self, Windows};

/// URLs of a block: more than one word of a mask, and no multiple of it.
const URLS: u64 = 150;

/// Whether a text is split into lines, every backend is compared with the exact path, or everything is checked.
#[derive(Clone, Copy, PartialEq)]
enum Depth {
    Lines,
    Backends,
    Laws,
}

/// Tries all windows, and all URLs of up to so many symbols. Returns the failure, if any.
pub fn run(plain: &[Setting], threads: usize, symbols: usize) -> Option<String> {
    let crawl: Vec<&Setting> = plain.iter().filter(|setting| setting.profile == "crawl").collect();
    let all: Vec<&Setting> = plain.iter().collect();
    println!("{} classes of bytes", windows::classes().len());
    let mut parts: Vec<(Windows, Way, Depth, &[&Setting])> = Vec::new();
    parts.push((windows::texts(), Way::Url, Depth::Lines, &crawl));
    for windows in windows::windows() {
        parts.push((windows, Way::Url, Depth::Backends, &all));
    }
    parts.push((windows::triples(), Way::Url, Depth::Backends, &crawl));
    for length in 0..=symbols {
        parts.push((windows::small_urls(length), Way::Url, Depth::Laws, &all));
        parts.push((windows::small_targets(length), Way::Target, Depth::Laws, &all));
    }
    let (started, mut tally) = (Instant::now(), Tally::default());
    for (windows, way, depth, settings) in &parts {
        let part = Instant::now();
        if let Some(found) = all_of(windows, *way, *depth, settings, threads, &mut tally) {
            return Some(found);
        }
        println!(
            "{}: {} under {} profiles in {:.0} s",
            windows.name,
            windows.count,
            settings.len(),
            part.elapsed().as_secs_f64()
        );
    }
    for (kind, name, count) in tally.lines().filter(|(.., count)| *count > 0) {
        println!("{kind}\t{name}\t{count}");
    }
    println!("no difference, in {:.0} s", started.elapsed().as_secs_f64());
    None
}

fn all_of(
    windows: &Windows,
    way: Way,
    depth: Depth,
    settings: &[&Setting],
    threads: usize,
    tally: &mut Tally,
) -> Option<String> {
    threads::ask(threads, 0..windows.count, URLS, tally, |first, tally| {
        let block = block(windows, way, first);
        settings.iter().find_map(|setting| {
            let trouble = shrink::trouble(|| match depth {
                Depth::Lines => lines_agree(setting, &block),
                Depth::Backends => check::backends(setting, &block, tally),
                Depth::Laws => check::check(setting, &block, tally),
            })?;
            let report = match depth {
                Depth::Lines => trouble,
                _ => shrink::report(Question::One(setting), &block),
            };
            Some(format!("{}: from number {first} on\n\n{report}", windows.name))
        })
    })
}

fn lines_agree(setting: &Setting, block: &Block) {
    for library in &setting.libraries {
        for text in block.urls() {
            let name = library.backend().name();
            assert!(
                windows::are_lines_of(library.backend(), text),
                "{name}: {}",
                text.escape_ascii()
            );
        }
    }
}

/// The URLs from number `first` on, as the lines of a file.
fn block(windows: &Windows, way: Way, first: u64) -> Block {
    let (mut bytes, mut spans) = (Vec::new(), Vec::new());
    for number in first..windows.count.min(first + URLS) {
        let start = bytes.len() as u32;
        bytes.extend(windows.url(number));
        spans.push(Span { start, end: bytes.len() as u32 });
        bytes.push(b'\n');
    }
    Block { way, bytes, spans, seed: first }
}
