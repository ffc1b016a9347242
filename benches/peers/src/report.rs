//! The table, for people and as JSON.

use std::fmt::Write;

use crate::contenders::{Contender, OURS};

/// One contender on one corpus.
pub struct Measured {
    pub contender: &'static Contender,
    /// Seconds, the median of the rounds.
    pub median: f64,
    /// Seconds, the fastest round.
    pub best: f64,
    pub accepted: u64,
}

/// All contenders on one corpus.
pub struct Table {
    pub corpus: String,
    pub urls: u64,
    pub bytes: u64,
    pub rounds: usize,
    pub rows: Vec<Measured>,
}

impl Table {
    /// The table for people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let ours = self.ours();
        let length = self.bytes as f64 / self.urls as f64;
        let _ = writeln!(
            out,
            "\n{}: {} URLs of {length:.1} bytes, medians of {} rounds, one thread",
            self.corpus, self.urls, self.rounds
        );
        let _ = writeln!(
            out,
            "  {:<24} {:>8} {:>8} {:>10} {:>9} {:>9}",
            "", "ns/URL", "best", "GB/s", "x uniqurl", "accepted"
        );
        for row in &self.rows {
            let name = match version(row.contender) {
                Some(version) => format!("{} ({version})", row.contender.name),
                None => row.contender.name.to_owned(),
            };
            let _ = writeln!(
                out,
                "  {name:<24} {:>8.1} {:>8.1} {:>10.2} {:>9.2} {:>8.1}%",
                self.nanoseconds(row.median),
                self.nanoseconds(row.best),
                self.bytes as f64 / row.median / 1e9,
                row.median / ours,
                if is_normalizer(row) {
                    100.0 * row.accepted as f64 / self.urls as f64
                } else {
                    100.0
                },
            );
        }
        out
    }

    fn ours(&self) -> f64 {
        self.rows.iter().find(|row| row.contender.name == OURS).map_or(f64::NAN, |row| row.median)
    }

    fn nanoseconds(&self, seconds: f64) -> f64 {
        seconds * 1e9 / self.urls as f64
    }
}

/// All tables as one JSON array.
pub fn json(tables: &[Table]) -> String {
    let tables: Vec<String> = tables
        .iter()
        .map(|table| {
            let rows: Vec<String> = table
                .rows
                .iter()
                .map(|row| {
                    format!(
                        "{{\"name\":\"{}\",\"version\":\"{}\",\"ns_per_url\":{:.2},\"best_ns_per_url\":{:.2},\
                         \"ratio\":{:.3},\"accepted\":{}}}",
                        row.contender.name,
                        version(row.contender).unwrap_or_default(),
                        table.nanoseconds(row.median),
                        table.nanoseconds(row.best),
                        row.median / table.ours(),
                        row.accepted
                    )
                })
                .collect();
            format!(
                "{{\"corpus\":\"{}\",\"urls\":{},\"bytes\":{},\"rounds\":{},\"rows\":[{}]}}",
                table.corpus,
                table.urls,
                table.bytes,
                table.rounds,
                rows.join(",")
            )
        })
        .collect();
    format!("[{}]\n", tables.join(",\n"))
}

fn is_normalizer(row: &Measured) -> bool {
    !matches!(row.contender.name, "copy" | "newlines counted" | "lines split")
}

/// The version of a package, from the lock file.
fn version(contender: &Contender) -> Option<&'static str> {
    let lock = include_str!("../Cargo.lock");
    let entry = lock.split("[[package]]").find(|entry| {
        contender
            .package
            .is_some_and(|package| entry.contains(&format!("\nname = \"{package}\"\n")))
    })?;
    entry.split("\nversion = \"").nth(1)?.split('"').next()
}
