//! Measures uniqurl beside other normalizers: every line of a corpus in memory, on one thread, all in one
//! process and each round in random order, so that other load on the machine affects all of them alike.

#[path = "../../../crates/bench/src/corpus/mod.rs"]
mod generator;

mod contenders;
mod estimate;
mod report;

use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;
use std::time::Instant;

use contenders::{CONTENDERS, Contender, Fold};
use estimate::Estimate;
use generator::{Amount, Kind, in_memory, parse_amount};
use report::{Measured, Table};

const USAGE: &str =
    "usage: uniqurl-peers [--real FILE] [--size SIZE] [--rounds N] [--seed N] [--json FILE]

  --real FILE   a list of real URLs, measured first
  --size SIZE   size of the generated corpora (64MB)
  --rounds N    rounds over all contenders; the medians are printed (7)
  --seed N      seed of the generated corpora (1)
  --json FILE   write the numbers there too";

struct Options {
    real: Option<String>,
    size: Amount,
    rounds: usize,
    seed: u64,
    json: Option<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("uniqurl-peers: {message}");
            ExitCode::from(2)
        }
    }
}

fn parse(arguments: &[String]) -> Option<Options> {
    let mut options =
        Options { real: None, size: Amount::Bytes(64_000_000), rounds: 7, seed: 1, json: None };
    for pair in arguments.chunks(2) {
        let value = pair.get(1)?.clone();
        match pair[0].as_str() {
            "--real" => options.real = Some(value),
            "--size" => options.size = parse_amount(&value)?,
            "--rounds" => options.rounds = value.parse().ok().filter(|n| *n > 0)?,
            "--seed" => options.seed = value.parse().ok()?,
            "--json" => options.json = Some(value),
            _ => return None,
        }
    }
    Some(options)
}

fn run(options: &Options) -> Result<(), String> {
    let mut tables = Vec::new();
    if let Some(path) = &options.real {
        let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        tables.push(measure("real", bytes, None, options.rounds)?);
    }
    for kind in [Kind::Clean, Kind::Mixed, Kind::Dirty] {
        let (bytes, truth) = in_memory(kind, options.seed, options.size);
        let accepted = truth.lines - truth.rejected - truth.blank;
        tables.push(measure(kind.name(), bytes, Some(accepted), options.rounds)?);
    }
    if let Some(path) = &options.json {
        std::fs::write(path, report::json(&tables)).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

fn measure(
    name: &str,
    bytes: Vec<u8>,
    accepted: Option<u64>,
    rounds: usize,
) -> Result<Table, String> {
    // Most peers take text. The UTF-8 check runs once and is not timed, to the advantage of the
    // peers.
    let corpus =
        String::from_utf8(bytes).map_err(|_| format!("{name}: not UTF-8, which the peers need"))?;
    let mut seconds = vec![Vec::with_capacity(rounds); CONTENDERS.len()];
    let mut folds = vec![Fold::default(); CONTENDERS.len()];
    let mut copy = vec![0u8; corpus.len()];
    let random = RandomState::new();
    let mut order: Vec<usize> = (0..CONTENDERS.len()).collect();
    // The first round only warms up and checks.
    for round in 0..=rounds {
        order.sort_by_key(|i| random.hash_one((round, i)));
        for &i in &order {
            let contender = &CONTENDERS[i];
            let start = Instant::now();
            let fold = (contender.run)(&corpus, &mut copy);
            let took = start.elapsed().as_secs_f64();
            if round == 0 {
                check(name, contender, fold, accepted)?;
                folds[i] = fold;
            } else {
                seconds[i].push(took);
            }
            // Also keeps the work from being optimized away.
            if fold != folds[i] {
                return Err(format!(
                    "{name}: {} gives another result in round {round}",
                    contender.name
                ));
            }
        }
    }
    let ours = CONTENDERS.iter().position(|contender| contender.name == contenders::OURS);
    let ours = &seconds[ours.expect("uniqurl is a contender")];
    let beside = |times: &[f64]| times.iter().zip(ours).map(|(a, b)| a / b).collect::<Vec<_>>();
    let rows = CONTENDERS
        .iter()
        .zip(&seconds)
        .zip(&folds)
        .map(|((contender, seconds), fold)| Measured {
            contender,
            seconds: Estimate::of(seconds),
            ratio: Estimate::of(&beside(seconds)),
            accepted: fold.accepted,
        })
        .collect();
    let urls = corpus.lines().count() as u64;
    let table = Table { corpus: name.to_owned(), urls, bytes: corpus.len() as u64, rounds, rows };
    print!("{}", table.text());
    Ok(table)
}

/// uniqurl has to accept the URLs that the corpus calls acceptable; a peer may differ.
fn check(
    corpus: &str,
    contender: &Contender,
    fold: Fold,
    accepted: Option<u64>,
) -> Result<(), String> {
    match accepted {
        Some(accepted) if contender.name == contenders::OURS && fold.accepted != accepted => {
            Err(format!(
                "{corpus}: {} accepts {} URLs where {accepted} are acceptable",
                contender.name, fold.accepted
            ))
        }
        _ => Ok(()),
    }
}
