//! The table, for people and as JSON.

use std::fmt::Write;

use crate::contenders::Contender;
use crate::estimate::Estimate;

/// One contender on one corpus.
pub struct Measured {
    pub contender: &'static Contender,
    /// Seconds of a round.
    pub seconds: Estimate,
    /// The same divided by the seconds of uniqurl in that round.
    pub ratio: Estimate,
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
        let length = self.bytes as f64 / self.urls as f64;
        let _ = writeln!(
            out,
            "\n{}: {} URLs of {length:.1} bytes, medians of {} rounds with 95 % intervals, one thread",
            self.corpus, self.urls, self.rounds
        );
        let _ = writeln!(
            out,
            "  {:<24} {:<24} {:<20} {:>6} {:>9}",
            "", "ns/URL", "x uniqurl", "GB/s", "accepted"
        );
        for row in &self.rows {
            let name = match version(row.contender) {
                Some(version) => format!("{} ({version})", row.contender.name),
                None => row.contender.name.to_owned(),
            };
            let _ = writeln!(
                out,
                "  {name:<24} {:<24} {:<20} {:>6.2} {:>8.1}%",
                row.seconds.times(self.nanoseconds()).text(1),
                row.ratio.text(2),
                self.bytes as f64 / row.seconds.median / 1e9,
                if is_normalizer(row) {
                    100.0 * row.accepted as f64 / self.urls as f64
                } else {
                    100.0
                },
            );
        }
        out
    }

    /// Nanoseconds of a URL, for each second of a round.
    fn nanoseconds(&self) -> f64 {
        1e9 / self.urls as f64
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
                    let time = row.seconds.times(table.nanoseconds());
                    format!(
                        "{{\"name\":\"{}\",\"version\":\"{}\",\"ns_per_url\":{:.2},\"ns_per_url_interval\":{},\
                         \"ratio\":{:.3},\"ratio_interval\":{},\"accepted\":{}}}",
                        row.contender.name,
                        version(row.contender).unwrap_or_default(),
                        time.median,
                        time.interval_json(),
                        row.ratio.median,
                        row.ratio.interval_json(),
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
