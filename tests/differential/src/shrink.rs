//! Shrinks a failing block to the shortest URL that fails, and prints it as a test to paste.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

use crate::case::{Block, Way};
use crate::check::{check, coarser_never_splits};
use crate::setting::Setting;
use crate::tally::Tally;

thread_local! {
    /// The message of this thread's last panic, and its place.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Hides panics from the terminal: a failed check panics.
pub fn keep_panics() {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
        SAID.set(format!("{text}\n(at {})", place.unwrap_or_default()));
    }));
}

/// The message of a panic in `work`, if it panics.
pub fn trouble(work: impl FnOnce()) -> Option<String> {
    panic::catch_unwind(AssertUnwindSafe(work)).err()?;
    Some(SAID.take())
}

/// One question about a block.
#[derive(Clone, Copy)]
pub enum Question<'a> {
    /// A setting by itself.
    One(&'a Setting),
    /// Two rungs, the finer one first.
    Two(&'a Setting, &'a Setting),
}

impl Question<'_> {
    pub fn ask(self, block: &Block, tally: &mut Tally) {
        match self {
            Question::One(setting) => check(setting, block, tally),
            Question::Two(fine, coarse) => coarser_never_splits(fine, coarse, block, tally),
        }
    }

    fn fails(self, block: &Block) -> Option<String> {
        trouble(|| self.ask(block, &mut Tally::default()))
    }
}

/// One URL, the bytes around it, and its failure.
#[derive(Default)]
struct Found {
    before: Vec<u8>,
    url: Vec<u8>,
    after: Vec<u8>,
    seed: u64,
    trouble: String,
}

impl Found {
    /// Tries this candidate instead. The random choices of the laws are drawn anew a few times,
    /// since they depend on the URL.
    fn takes(&mut self, way: Way, question: Question, [before, url, after]: [&[u8]; 3]) -> bool {
        for seed in std::iter::once(self.seed).chain(0..8) {
            let block = Block::single(way, before, url, after, seed);
            if let Some(trouble) = question.fails(&block) {
                let [before, url, after] = [before, url, after].map(<[u8]>::to_vec);
                *self = Found { before, url, after, seed, trouble };
                return true;
            }
        }
        false
    }
}

/// The report to print about this block.
pub fn report(question: Question, block: &Block) -> String {
    let first = block.spans.iter().find_map(|span| {
        let (start, end) = (span.start as usize, span.end as usize);
        let [before, url, after] =
            [&block.bytes[..start], &block.bytes[start..end], &block.bytes[end..]];
        let mut found = Found { seed: block.seed, ..Found::default() };
        found.takes(block.way, question, [before, url, after]).then_some(found)
    });
    match first {
        Some(mut found) => {
            shrink(&mut found, block.way, question);
            as_test(&found, block.way, question)
        }
        None => {
            let trouble = question.fails(block).unwrap_or_default();
            format!("{trouble}\nNo URL of the block shows it alone; the block is\n{}", {
                let urls = block.urls().map(|url| format!("  b\"{}\"", url.escape_ascii()));
                urls.collect::<Vec<_>>().join("\n")
            })
        }
    }
}

/// Drops every byte the failure does not need, then replaces odd bytes by plain letters.
fn shrink(found: &mut Found, way: Way, question: Question) {
    let (before, url, after) = (found.before.clone(), found.url.clone(), found.after.clone());
    if !found.takes(way, question, [b"", &url, b""])
        && !found.takes(way, question, [b"", &url, &after])
    {
        found.takes(way, question, [&before, &url, b""]);
    }
    loop {
        let length = found.url.len();
        let mut size = length.next_power_of_two();
        while size > 0 {
            let mut at = 0;
            while at + size <= found.url.len() {
                let (before, after) = (found.before.clone(), found.after.clone());
                let shorter = [&found.url[..at], &found.url[at + size..]].concat();
                if !found.takes(way, question, [&before, &shorter, &after]) {
                    at += size;
                }
            }
            size /= 2;
        }
        if found.url.len() == length {
            break;
        }
    }
    for at in 0..found.url.len() {
        if found.url[at] != b'a' {
            let (before, after) = (found.before.clone(), found.after.clone());
            let mut plainer = found.url.clone();
            plainer[at] = b'a';
            found.takes(way, question, [&before, &plainer, &after]);
        }
    }
}

fn as_test(found: &Found, way: Way, question: Question) -> String {
    let call = match way {
        Way::Url => "append",
        Way::Target => "for_targets().append",
    };
    let settings = match question {
        Question::One(setting) => vec![setting],
        Question::Two(fine, coarse) => vec![fine, coarse],
    };
    let mut asked = String::new();
    for setting in settings {
        asked += &format!(
            "    let normalizer = Normalizer::new({:?}.parse::<Profile>().unwrap())\n{}    ;\n",
            setting.profile, setting.code
        );
        asked += "    for backend in Backend::available() {\n        let mut out = Vec::new();\n";
        asked += "        let normalizer = normalizer.clone().with_backend(backend);\n";
        asked += &format!("        let outcome = normalizer.{call}(url, &mut out);\n");
        asked +=
            "        println!(\"{} {outcome:?} {}\", backend.name(), out.escape_ascii());\n    }\n";
    }
    let around = if found.before.is_empty() && found.after.is_empty() {
        String::new()
    } else {
        format!(
            "    // In a buffer between b\"{}\" and b\"{}\".\n",
            found.before.escape_ascii(),
            found.after.escape_ascii()
        )
    };
    let trouble: String = found.trouble.lines().map(|line| format!("    // {line}\n")).collect();
    format!(
        "#[test]\nfn found_by_prove() {{\n    use uniqurl::*;\n    use uniqurl::internal::Backend;\n    let url = b\"{}\";\n{around}{trouble}{asked}    panic!(\"what is right?\");\n}}\n",
        found.url.escape_ascii()
    )
}
