//! The table.

use std::fmt::Write;

use crate::clock::Seconds;
use crate::keys::{BATCH, Keys};
use crate::measure::{LookUps, Measured};

/// The figures as a table in Markdown, and how each was measured.
pub fn table(keys: Keys, measured: &[Measured]) -> String {
    let mut out = format!("| {} keys |", thousands(keys.built));
    for store in measured {
        write!(out, " {} |", store.entry.name).expect("a string");
    }
    out.push_str("\n|---|");
    out.push_str(&"---|".repeat(measured.len()));
    out.push('\n');
    let mut row = |name: &str, cell: &dyn Fn(&Measured) -> String| {
        let cells: Vec<String> = measured.iter().map(cell).collect();
        writeln!(out, "| {name} | {} |", cells.join(" | ")).expect("a string");
    };
    row("making and sorting the keys, s", &|store| seconds(store.sort));
    row("build from sorted keys, s", &|store| seconds(store.build));
    row("bytes a key on disk", &|store| format!("{:.1}", store.bytes as f64 / keys.built as f64));
    row("look-ups a second, half of the keys new", &|store| rate(&store.half_new));
    row("look-ups a second, no key new", &|store| rate(&store.none_new));
    row("a batch of these, half new, s", &|store| seconds(batch(&store.half_new)));
    row("`pread` of the blocks that it touches, s", &|store| {
        store.pread.as_ref().map_or_else(String::new, |(time, _)| seconds(*time))
    });
    row("look up and add 1e6 new keys, mean, s", &|store| seconds(mean(store)));
    row("the worst of the adds, s", &|store| {
        let worst = store.adds.iter().copied().max_by(|a, b| a.wall.total_cmp(&b.wall));
        worst.map_or_else(String::new, seconds)
    });
    row("adds", &|store| store.adds.len().to_string());
    out.push_str("\nTimes by the clock, with seconds of CPU time in parentheses.\n");
    for store in measured {
        writeln!(out, "{}: {}.", store.entry.name, store.entry.setup).expect("a string");
    }
    for (_, blocks) in measured.iter().filter_map(|store| store.pread.as_ref()) {
        writeln!(
            out,
            "`pread`: {} blocks of {} bytes, drawn evenly from the files for the known keys of a batch, in the \
             order of their places, by two threads, from the page cache as far as it holds them.",
            blocks.len(),
            blocks.size
        )
        .expect("a string");
    }
    out
}

fn mean(store: &Measured) -> Seconds {
    let sum = store.adds.iter().copied().sum::<Seconds>() + store.settle;
    divided(sum, store.adds.len() as f64)
}

fn batch(look_ups: &LookUps) -> Seconds {
    divided(look_ups.time, look_ups.keys as f64 / BATCH as f64)
}

fn divided(seconds: Seconds, by: f64) -> Seconds {
    Seconds { wall: seconds.wall / by, cpu: seconds.cpu / by }
}

fn seconds(seconds: Seconds) -> String {
    format!("{:.2} ({:.2})", seconds.wall, seconds.cpu)
}

fn rate(look_ups: &LookUps) -> String {
    thousands((look_ups.keys as f64 / look_ups.time.wall) as u64)
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
