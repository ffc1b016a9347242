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
fn default_measures_everything_under_crawl_with_the_fastest_scanner() {
    let bench = parse("").expect("valid");
    assert_eq!(bench.corpora(), KINDS);
    assert_eq!(bench.profiles(), [Profile::Crawl]);
    assert_eq!(bench.stages(), Stage::ALL);
    assert_eq!(bench.backends().first(), Backend::available().last());
    assert_eq!(bench.backends().len(), 1);
    let threads = bench.threads();
    assert_eq!(
        (threads.first(), threads.last()),
        (Some(&1), Some(&cores().min(MOST_THREADS.into())))
    );
    assert!(threads.is_sorted_by(|a, b| a < b && *b <= a * 2), "{threads:?}");
    assert_eq!((bench.size, bench.seed, bench.runs), (None, 1, 5));
    assert_eq!((bench.pin, bench.repeats(32 << 20), bench.repeats(1 << 30)), (Pin::None, 3, 1));
}

#[test]
fn repeated_choices_are_merged_and_sorted() {
    let bench = parse(
        "--corpus dup,clean,dup --profile ia,syntax --profile ia --stage end-to-end,scan \
         --backend scalar,scalar -j 3,1 --threads 3 --size 2K --seed 7 --repeats 1 --pin cores",
    )
    .expect("valid");
    assert_eq!(bench.corpora(), [Kind::Dup, Kind::Clean]);
    assert_eq!(bench.profiles(), [Profile::Ia, Profile::Syntax]);
    assert_eq!(bench.stages(), [Stage::Scan, Stage::EndToEnd]);
    assert_eq!((bench.backends(), bench.threads()), (vec![Backend::Scalar], vec![1, 3]));
    assert_eq!((bench.size, bench.seed, bench.repeats(2048)), (Some(2048), 7, 1));
    assert_eq!(bench.pin, Pin::Cores);
    assert_eq!(parse("-p all").expect("valid").profiles(), Profile::ALL);
    assert_eq!(parse("-p crawl,all").expect("valid").profiles(), Profile::ALL);
}

#[test]
fn compare_excludes_the_options_of_a_measurement() {
    for line in ["--compare a b", "-q --compare a b", "--compare a b --progress never"] {
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
    let stay = ["compare", "messages", "progress", "help"];
    for other in command.get_arguments().filter(|other| !stay.contains(&other.get_id().as_str())) {
        assert!(refused.contains(&other), "{other}");
    }
}
