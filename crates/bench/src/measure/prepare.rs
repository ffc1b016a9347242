//! Draws the corpora into files, once for all runs of the process.

use super::order::{CorpusInfo, PreparedCorpus};
use super::passes::{PROFILE, scan};
use super::subject::{Team, TestBytes};
use super::work::{Expected, add_up};
use crate::corpus::{Kind, Truth};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use uniqurl::Normalizer;
use uniqurl::internal::Backend;
use uniqurl_engine::output::Temporary;
use uniqurl_text::Printable;

/// Makes the directory of all files. It is removed when it is dropped, or a signal ends the process.
pub fn directory() -> Result<Temporary, String> {
    let parent = std::env::temp_dir();
    let made = Temporary::make(&parent, |path| fs::create_dir(path));
    made.map(|((), directory)| directory)
        .map_err(|error| format!("no temporary directory in {}: {error}", Printable::path(&parent)))
}

/// Draws the corpora, several at once.
pub fn corpora(kinds: &[Kind], size: u64, directory: &Path) -> Result<Vec<PreparedCorpus>, String> {
    kinds.par_iter().map(|kind| prepare(*kind, size, directory)).collect()
}

fn prepare(kind: Kind, size: u64, directory: &Path) -> Result<PreparedCorpus, String> {
    let (bytes, truth) = TestBytes::draw(kind, size)?;
    let file = directory.join(kind.name());
    fs::write(&file, &bytes.bytes)
        .map_err(|error| format!("{}: {error}", Printable::path(&file)))?;
    let digest = Sha256::digest(&bytes.bytes);
    let info = CorpusInfo {
        name: kind.name().to_owned(),
        bytes: truth.bytes,
        records: truth.lines,
        distinct: truth.distinct,
        sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    Ok(PreparedCorpus { info, file, expected: expected(&bytes, &truth)? })
}

/// The right answers. The generator knows all counts without the normalizer, but for one: which canonical URLs are
/// proven clean is up to the scanners, and the plain one has to agree with the fastest.
fn expected(bytes: &TestBytes, truth: &Truth) -> Result<Expected, String> {
    let plain = Normalizer::new(PROFILE).with_backend(Backend::Scalar);
    let clean = scan(bytes, &plain, &Team::new(1)?);
    // A URL may be canonical and not proven so: then it takes the exact path, which costs time alone.
    let canonical = truth.lines - truth.rejected - truth.blank - truth.dirty;
    if clean > canonical {
        let name = bytes.kind.name();
        return Err(format!("{name}: {clean} URLs are clean, and {canonical} canonical"));
    }
    Ok(Expected {
        sum: bytes.chunks.iter().fold(0, |sum: u64, chunk| sum.wrapping_add(add_up(chunk))),
        clean,
        records: truth.lines,
        rejected: truth.rejected,
        blank: truth.blank,
        distinct: truth.distinct,
        output: truth.distinct_bytes + truth.distinct,
    })
}
