//! The choices of `uniqurl bench`, parsed.

use super::*;
use clap::{CommandFactory, Parser};

#[derive(Debug, Parser)]
struct Only {
    #[command(flatten)]
    bench: BenchArgs,
}

fn parse(line: &str) -> Result<BenchArgs, clap::Error> {
    let arguments = std::iter::once("bench").chain(line.split_whitespace());
    Only::try_parse_from(arguments).map(|only| only.bench)
}

#[test]
fn default_measures_every_corpus_on_one_thread_and_on_all_cores() {
    let bench = parse("").expect("valid");
    assert_eq!(bench.corpora(), KINDS);
    let threads = bench.threads();
    assert_eq!(threads[0], 1);
    assert_eq!(threads.last(), Some(&cores().min(MOST_THREADS.into())));
    assert_eq!((bench.size, bench.runs), (None, 5));
}

#[test]
fn repeated_choices_are_merged_and_sorted() {
    let bench = parse("--corpus dup,clean,dup -j 3,1 --threads 3 --size 2K").expect("valid");
    assert_eq!(bench.corpora(), [Kind::Clean, Kind::Dup]);
    assert_eq!((bench.threads(), bench.size), (vec![1, 3], Some(2048)));
}

#[test]
fn compare_excludes_the_options_of_a_measurement() {
    for line in ["--compare a b", "-q --compare a b"] {
        assert_eq!(parse(line).expect("valid").compare.len(), 2);
    }
    for line in ["--compare a", "--compare a b c"] {
        assert!(parse(line).is_err(), "{line}");
    }
    let mut command = Only::command();
    command.build();
    let compare = command.get_arguments().find(|argument| argument.get_id() == "compare");
    let compare = compare.expect("it is there");
    let refused = command.get_arg_conflicts_with(compare);
    let stay = ["compare", "quiet", "help"];
    for other in command.get_arguments().filter(|other| !stay.contains(&other.get_id().as_str())) {
        assert!(refused.contains(&other), "{other}");
    }
}
