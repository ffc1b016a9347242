//! Writes a corpus and its truth from a seed. `scripts/corpus` builds and runs this.

#[path = "../crates/bench/src/corpus/mod.rs"]
mod generator;

use std::fs::{self, File};
use std::io::{self, Write};
use std::process::ExitCode;

use generator::{Corpus, Kind, parse_amount};

const USAGE: &str = "usage: corpus KIND SIZE [--seed N] [--output FILE] [--truth FILE]

KIND  clean   canonical URLs, 9 distinct of 13 lines
      mixed   one line in ten needs work
      dirty   every line needs work
      dup     65 lines for each distinct URL, at most 200,000 of those
      access  a log in the combined format with some 200,000 targets
      sample  a list for tests, with rejected and blank lines
SIZE  bytes (K, M, G: powers of 1024; KB, MB, GB: of 1000) or NNNlines

Writes to standard output, or to FILE and the truth beside it as FILE.json. The truth (lines, bytes,
distinct canonical URLs under the profile crawl, ...) is printed on standard error in any case.";

struct Options {
    kind: Kind,
    amount: generator::Amount,
    seed: u64,
    output: Option<String>,
    truth: Option<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|a| a == "--help" || a == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let Some(options) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        // `corpus ... | head` is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("corpus: {error}");
            ExitCode::from(2)
        }
    }
}

fn parse(arguments: &[String]) -> Option<Options> {
    let mut options = Options {
        kind: Kind::named(arguments.first()?)?,
        amount: parse_amount(arguments.get(1)?)?,
        seed: 1,
        output: None,
        truth: None,
    };
    for pair in arguments[2..].chunks(2) {
        let value = pair.get(1)?.clone();
        match pair[0].as_str() {
            "--seed" => options.seed = value.parse().ok()?,
            "--output" => options.output = Some(value),
            "--truth" => options.truth = Some(value),
            _ => return None,
        }
    }
    if let (None, Some(output)) = (&options.truth, &options.output) {
        options.truth = Some(format!("{output}.json"));
    }
    Some(options)
}

fn run(options: &Options) -> io::Result<()> {
    let mut sink: Box<dyn Write> = match &options.output {
        Some(path) => Box::new(File::create(path)?),
        None => Box::new(io::stdout().lock()),
    };
    let mut corpus = Corpus::new(options.kind, options.seed, options.amount);
    const PIECE: usize = 1 << 18;
    let mut piece = Vec::with_capacity(PIECE + (1 << 12));
    let mut more = true;
    while more {
        more = corpus.fill(&mut piece, PIECE);
        sink.write_all(&piece)?;
        piece.clear();
    }
    sink.flush()?;
    let truth = corpus.truth().json(options.kind, options.seed);
    eprintln!("{truth}");
    if let Some(path) = &options.truth {
        fs::write(path, truth + "\n")?;
    }
    Ok(())
}
