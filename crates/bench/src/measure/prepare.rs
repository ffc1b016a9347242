//! Draws corpora into files, and finds the right answers: once, for all runs of the process.

use super::check::{Expected, is_seen};
use super::plan::{BenchPlan, PreparedCorpus, PreparedProfile, RunOrder};
use super::result::CorpusInfo;
use super::stage::{Stage, add_up};
use super::subject::TestBytes;
use crate::corpus::{Kind, Truth};
use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use uniqurl::key::Key;
use uniqurl::{Normalizer, Profile};
use uniqurl_engine::output::Temporary;
use uniqurl_store::seen::{
    KeySorter, Novelty, SeenStoreError, SeenWriter, StoreRules, UnixTime, WhenBusy,
};
use uniqurl_text::Printable;

/// Gzip files of the stage `gz`: as many as a day has hours.
const PACKED_FILES: usize = 24;

/// Memory for sorting the keys of a seen store.
const SORT_MEMORY: usize = 256 << 20;

/// Makes the directory of all files. It is removed when it is dropped, or a signal ends the process.
pub fn directory() -> Result<Temporary, String> {
    let parent = std::env::temp_dir();
    let made = Temporary::make(&parent, |path| fs::create_dir(path));
    made.map(|((), directory)| directory)
        .map_err(|error| format!("no temporary directory in {}: {error}", Printable::path(&parent)))
}

/// Prepares all corpora of a plan for a run with this seed of its order.
pub fn order(plan: &BenchPlan, directory: &Path, order_seed: u64) -> Result<RunOrder, String> {
    let corpora = plan.kinds.iter().map(|kind| prepare(plan, *kind, directory));
    Ok(RunOrder {
        order_seed,
        repeats: plan.repeats,
        pin: plan.pin.name().to_owned(),
        directory: directory.to_owned(),
        corpora: corpora.collect::<Result<_, _>>()?,
        limits: plan.limits(),
        rows: plan.rows(),
    })
}

/// Draws a corpus, and writes what the stages of the plan need of it.
fn prepare(plan: &BenchPlan, kind: Kind, directory: &Path) -> Result<PreparedCorpus, String> {
    let (bytes, truth) = TestBytes::draw(kind, plan.seed, plan.size)?;
    let file = directory.join(kind.name());
    fs::write(&file, &bytes.bytes).map_err(|error| unwritten(&file, &error))?;
    let packed = match plan.stages.contains(&Stage::Gz) {
        true => pack(&bytes, directory)?,
        false => Vec::new(),
    };
    let has_seen = plan.stages.contains(&Stage::Seen);
    let profiles = plan.profiles.iter().map(|profile| {
        let (expected, urls) = Expected::new(&bytes, &truth, *profile)?;
        let store = match has_seen {
            true => Some(store(*profile, &urls, kind, directory)?),
            false => None,
        };
        Ok(PreparedProfile { name: profile.to_string(), expected, store })
    });
    let profiles = profiles.collect::<Result<_, String>>()?;
    let sum = bytes.chunks.iter().fold(0u64, |sum, chunk| sum.wrapping_add(add_up(chunk)));
    Ok(PreparedCorpus { info: info(plan, &bytes, &truth), file, packed, sum, profiles })
}

fn info(plan: &BenchPlan, bytes: &TestBytes, truth: &Truth) -> CorpusInfo {
    let digest = Sha256::digest(&bytes.bytes);
    CorpusInfo {
        name: bytes.kind.name().to_owned(),
        seed: plan.seed,
        bytes: truth.bytes,
        records: truth.lines,
        distinct: truth.distinct,
        sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// Writes the records into gzip files, all cores at once.
fn pack(bytes: &TestBytes, directory: &Path) -> Result<Vec<PathBuf>, String> {
    let chunks = bytes.chunks.len().div_ceil(PACKED_FILES).max(1);
    let parts = bytes.chunks.par_chunks(chunks).enumerate();
    parts
        .map(|(n, part)| {
            let path = directory.join(format!("{}-{n:02}.gz", bytes.kind.name()));
            let write = || -> io::Result<()> {
                let mut encoder = GzEncoder::new(fs::File::create(&path)?, Compression::new(6));
                part.iter().try_for_each(|chunk| encoder.write_all(chunk))?;
                encoder.finish().map(drop)
            };
            write().map_err(|error| unwritten(&path, &error))?;
            Ok(path)
        })
        .collect()
}

/// Makes a seen store of half of the URLs.
fn store(
    profile: Profile,
    urls: &HashSet<Vec<u8>>,
    kind: Kind,
    directory: &Path,
) -> Result<PathBuf, String> {
    let path = directory.join(format!("{}-{}.seen", kind.name(), profile.name()));
    let rules = StoreRules::of(&Normalizer::new(profile), Key::Url);
    let write = || -> Result<(), SeenStoreError> {
        let mut sorter = KeySorter::new(SORT_MEMORY, directory);
        urls.iter().filter(|url| is_seen(url)).try_for_each(|url| sorter.push(url))?;
        let mut writer = SeenWriter::create_or_open(&path, &rules, WhenBusy::Fail)?;
        let mut run = writer.begin_add(UnixTime(1), Novelty::AllNew)?;
        sorter.finish(&mut run)?;
        let run = run.finish()?;
        writer.commit(run, SORT_MEMORY).map(drop)
    };
    write().map_err(|error| error.to_string())?;
    Ok(path)
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", Printable::path(path))
}
