//! Measures stores of keys: builds them from generated URLs, asks them, and adds to them. Prints one table.

#[path = "../../../crates/bench/src/corpus/mod.rs"]
mod corpus;

mod clock;
mod contenders;
mod feed;
mod keys;
mod measure;
mod pread;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use contenders::Failure;
use keys::Keys;

const USAGE: &str = "usage: uniqurl-stores [--keys N] [--adds N] [--dir DIR] [--only NAME]

  --keys N     keys that each store is built with (1e7)
  --adds N     times that 1e6 keys are added (30)
  --dir DIR    where the stores go while they are measured (the directory for temporary files)
  --only NAME  measure one store: uniqurl, rocksdb, lmdb or sqlite";

struct Options {
    keys: Keys,
    directory: PathBuf,
    only: Option<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("uniqurl-stores: {error}");
            ExitCode::from(2)
        }
    }
}

fn parse(arguments: &[String]) -> Option<Options> {
    let mut options = Options {
        keys: Keys { built: 10_000_000, adds: 30 },
        directory: std::env::temp_dir(),
        only: None,
    };
    for pair in arguments.chunks(2) {
        let value = pair.get(1)?;
        // `1e7` is how people write such numbers.
        let number =
            || value.parse::<f64>().ok().filter(|n| (1.0..1e12).contains(n)).map(|n| n as u64);
        match pair[0].as_str() {
            "--keys" => options.keys.built = number()?,
            "--adds" => options.keys.adds = number()?,
            "--dir" => options.directory = value.into(),
            "--only" => options.only = Some(value.clone()),
            _ => return None,
        }
    }
    Some(options)
}

fn run(options: &Options) -> Result<(), Failure> {
    let mut measured = Vec::new();
    for entry in contenders::all() {
        let wanted = options.only.as_ref().is_none_or(|only| entry.name.eq_ignore_ascii_case(only));
        if wanted {
            eprintln!("uniqurl-stores: {}", entry.name);
            let store = measure::measure(entry, options.keys, &options.directory)?;
            // A run of hours that ends early has told this much.
            eprint!("{}", report::table(options.keys, std::slice::from_ref(&store)));
            measured.push(store);
        }
    }
    print!("{}", report::table(options.keys, &measured));
    Ok(())
}
