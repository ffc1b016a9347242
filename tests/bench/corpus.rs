//! The corpus generator writes a truth file with each corpus. These tests check that the truth
//! holds.

use std::collections::{HashMap, HashSet};

use uniqurl::{Normalizer, Profile};
use uniqurl_bench::corpus::{Amount, Corpus, Kind, Truth, in_memory};

fn lines(corpus: &[u8]) -> impl Iterator<Item = &[u8]> {
    corpus.split_inclusive(|&b| b == b'\n').map(|line| &line[..line.len() - 1])
}

/// The last run of letters and digits that holds a digit, triplets aside.
fn token(url: &[u8]) -> String {
    let mut plain = String::new();
    let mut bytes = url.iter();
    while let Some(&b) = bytes.next() {
        if b == b'%' {
            bytes.nth(1);
        }
        plain.push(if b.is_ascii_alphanumeric() { b as char } else { ' ' });
    }
    let has_digit = |run: &&str| run.bytes().any(|b| b.is_ascii_digit());
    plain.split(' ').rfind(has_digit).expect("every URL holds its index").to_owned()
}

fn index(token: &str) -> u64 {
    if token.bytes().all(|b| b.is_ascii_digit()) {
        token.parse().expect("decimal")
    } else {
        u64::from_str_radix(&token[2..], 36).expect("base 36")
    }
}

#[test]
fn every_generated_url_encodes_its_index() {
    for kind in [Kind::Clean, Kind::Dup] {
        let (corpus, truth) = in_memory(kind, 3, Amount::Lines(50_000));
        let mut of_index: HashMap<u64, &[u8]> = HashMap::new();
        for line in lines(&corpus) {
            assert!(!line.contains(&b'%'));
            assert_eq!(*of_index.entry(index(&token(line))).or_insert(line), line);
        }
        assert_eq!(of_index.len() as u64, truth.distinct, "{kind:?}");
        assert_eq!(
            of_index.values().map(|url| url.len() as u64).sum::<u64>(),
            truth.distinct_bytes,
            "{kind:?}"
        );
    }
}

#[test]
fn distinct_lines_of_a_clean_corpus_match_its_distinct_count() {
    let (corpus, truth) = in_memory(Kind::Clean, 1, Amount::Bytes(4 << 20));
    let distinct: HashSet<&[u8]> = lines(&corpus).collect();
    assert_eq!(distinct.len() as u64, truth.distinct);
    assert_eq!(lines(&corpus).count() as u64, truth.lines);
    assert_eq!(corpus.len() as u64, truth.bytes);
    let mean = corpus.len() as f64 / truth.lines as f64;
    assert!((72.0..80.0).contains(&mean), "mean length {mean}");
}

#[test]
fn corpus_does_not_depend_on_read_sizes() {
    for kind in Kind::ALL {
        let (whole, truth) = in_memory(kind, 9, Amount::Lines(3_000));
        let mut corpus = Corpus::new(kind, 9, Amount::Lines(3_000));
        let (mut piece, mut pieces) = (Vec::new(), Vec::new());
        while corpus.fill(&mut piece, 700) {
            pieces.append(&mut piece);
        }
        pieces.append(&mut piece);
        assert!(whole == pieces, "{kind:?}");
        assert_eq!(&truth, corpus.truth());
    }
}

#[test]
fn access_log_corpus_has_the_documented_proportions() {
    let (corpus, truth) = in_memory(Kind::Access, 1, Amount::Lines(50_000));
    let rejected: u64 = truth.codes.values().sum();
    assert_eq!(rejected, truth.rejected);
    assert!(truth.distinct_with_base < truth.distinct);
    let mean = corpus.len() as f64 / truth.lines as f64;
    assert!((220.0..245.0).contains(&mean), "mean length {mean}");
    assert!((0.005..0.02).contains(&(rejected as f64 / truth.lines as f64)));
    assert!(truth.json(Kind::Access, 1).contains(Truth::BASE));
}

#[test]
fn committed_samples_equal_generator_output() {
    let sample = include_bytes!("../../corpora/sample.txt");
    assert!(in_memory(Kind::Sample, 1, Amount::Lines(2_000)).0 == sample);
    let log = include_bytes!("../../corpora/sample.log");
    assert!(in_memory(Kind::Access, 1, Amount::Lines(1_000)).0 == log);
}

/// The library's result for a list: canonical URLs, rejected lines, blank lines.
fn normalized(corpus: &[u8]) -> (HashSet<Vec<u8>>, u64, u64) {
    let crawl = Normalizer::new(Profile::Crawl);
    let (mut set, mut rejected, mut blank) = (HashSet::new(), 0, 0);
    let mut scratch = Vec::new();
    for line in lines(corpus) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().all(|b| matches!(b, b' ' | b'\t')) {
            blank += 1;
            continue;
        }
        match crawl.canonical(line, &mut scratch) {
            Ok(canonical) => {
                if !set.contains(canonical.as_bytes()) {
                    set.insert(canonical.as_bytes().to_vec());
                }
            }
            Err(_) => rejected += 1,
        }
    }
    (set, rejected, blank)
}

#[test]
fn normalizing_each_list_gives_the_counts_of_the_corpus() {
    for kind in [Kind::Clean, Kind::Mixed, Kind::Dirty, Kind::Dup, Kind::Sample] {
        for seed in 1..=3 {
            let (corpus, truth) = in_memory(kind, seed, Amount::Lines(40_000));
            let (set, rejected, blank) = normalized(&corpus);
            let bytes: u64 = set.iter().map(|url| url.len() as u64).sum();
            assert_eq!(
                (set.len() as u64, bytes, rejected, blank),
                (truth.distinct, truth.distinct_bytes, truth.rejected, truth.blank),
                "{kind:?}, seed {seed}"
            );
        }
    }
}

#[test]
fn clean_corpus_is_canonical_and_dirty_corpus_is_not() {
    let crawl = Normalizer::new(Profile::Crawl);
    let mut out = Vec::new();
    for (kind, canonical) in [(Kind::Clean, true), (Kind::Dup, true), (Kind::Dirty, false)] {
        for line in lines(&in_memory(kind, 5, Amount::Lines(20_000)).0) {
            out.clear();
            assert_eq!(crawl.append(line, &mut out), Ok(()));
            assert_eq!(out == line, canonical, "{kind:?}: {}", String::from_utf8_lossy(line));
        }
    }
}
