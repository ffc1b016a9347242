//! A corpus that is ready to be worked on, and the threads that work.

use crate::corpus::{Amount, Corpus, Kind, Truth};
use bytes::Bytes;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use uniqurl::bytes::Printable;
use uniqurl_engine::output::Temporary;
use uniqurl_engine::{CHUNK_SIZE, StageBuffers};
use uniqurl_formats::input::{self, Input};
use uniqurl_formats::record::Format;

/// A corpus in memory and in a file, and the truth about it.
#[derive(Debug)]
pub struct LoadedCorpus {
    /// The kind of its URLs.
    pub kind: Kind,
    /// Where the URL is in a record.
    pub format: Format,
    /// All of it.
    pub bytes: Bytes,
    /// The same in pieces of whole records, as large as those of the pipeline.
    pub chunks: Vec<Bytes>,
    /// The file.
    pub inputs: Vec<Input>,
    /// The counts that the generator knows.
    pub truth: Truth,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    /// Removes the file when this is dropped, or a signal ends the process.
    _file: Temporary,
}

impl LoadedCorpus {
    /// Draws at least `size` bytes.
    pub fn new(kind: Kind, seed: u64, size: u64) -> Result<Self, String> {
        let mut corpus = Corpus::new(kind, seed, Amount::Bytes(size));
        let mut bytes = Vec::new();
        // The last line may be longer by as much.
        const LINE: usize = 64 << 10;
        let room = usize::try_from(size).ok().and_then(|size| size.checked_add(LINE));
        room.and_then(|room| bytes.try_reserve_exact(room).ok())
            .ok_or_else(|| format!("no memory for a corpus of {size} bytes"))?;
        while corpus.fill(&mut bytes, usize::MAX) {}
        let bytes = Bytes::from(bytes);
        let digest = Sha256::digest(&bytes);
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let directory = std::env::temp_dir();
        let create =
            |path: &Path| OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let made = Temporary::make(&directory, create).and_then(|(mut file, name)| {
            file.write_all(&bytes)?;
            Ok(name)
        });
        let file = made.map_err(|error| {
            format!("no temporary file in {}: {error}", Printable::path(&directory))
        })?;
        let (inputs, errors) = input::check(&[file.path().to_owned()]);
        if let Some(error) = errors.first() {
            return Err(error.to_string());
        }
        Ok(Self {
            kind,
            format: if kind == Kind::Access { Format::Combined } else { Format::Lines },
            chunks: chunks(&bytes),
            bytes,
            inputs,
            truth: corpus.truth().clone(),
            sha256,
            _file: file,
        })
    }
}

/// Cuts after the last line feed of each piece.
fn chunks(bytes: &Bytes) -> Vec<Bytes> {
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let most = (start + CHUNK_SIZE).min(bytes.len());
        let end = memchr::memrchr(b'\n', &bytes[start..most]).map_or(most, |at| start + at + 1);
        chunks.push(bytes.slice(start..end));
        start = end;
    }
    chunks
}

/// A pool of threads, each with its buffers.
#[derive(Debug)]
pub struct Team {
    pool: rayon::ThreadPool,
    buffers: Vec<Mutex<StageBuffers>>,
}

impl Team {
    /// Starts the threads.
    pub fn new(threads: usize) -> Result<Self, String> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| format!("cannot start {threads} threads: {error}"))?;
        let buffers = (0..threads).map(|_| Mutex::default()).collect();
        Ok(Self { pool, buffers })
    }

    /// How many there are.
    pub fn threads(&self) -> usize {
        self.buffers.len()
    }

    /// Does `work` on each chunk; the next free thread takes the next chunk. `work` gets the chunk, the
    /// number of the thread, and its buffers.
    pub fn each(&self, chunks: &[Bytes], work: impl Fn(&Bytes, usize, &mut StageBuffers) + Sync) {
        let next = AtomicUsize::new(0);
        self.pool.broadcast(|thread| {
            let mut buffers =
                self.buffers[thread.index()].lock().unwrap_or_else(|e| e.into_inner());
            while let Some(chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                work(chunk, thread.index(), &mut buffers);
            }
        });
    }

    /// Copies bytes in parallel. `to` has to be as long as `from`.
    pub fn copy(&self, from: &[u8], to: &mut [u8]) {
        self.pool.install(|| {
            let to = to.par_chunks_mut(CHUNK_SIZE);
            to.zip(from.par_chunks(CHUNK_SIZE)).for_each(|(to, from)| to.copy_from_slice(from));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_end_at_line_feeds_and_cover_the_corpus() {
        let sample = LoadedCorpus::new(Kind::Access, 3, 1 << 20).expect("made");
        assert!(sample.chunks.len() >= 4);
        assert!(
            sample.chunks.iter().all(|chunk| chunk.len() <= CHUNK_SIZE && chunk.ends_with(b"\n"))
        );
        assert!(sample.chunks.concat() == sample.bytes);
        let line = vec![b'a'; CHUNK_SIZE + 5];
        assert_eq!(chunks(&Bytes::from(line.clone())).concat(), line);
    }

    #[test]
    fn each_chunk_is_processed_once_by_a_team() {
        let sample = LoadedCorpus::new(Kind::Clean, 1, 1 << 20).expect("made");
        let team = Team::new(3).expect("started");
        let done = Mutex::new(Vec::new());
        team.each(&sample.chunks, |chunk, _, _| done.lock().unwrap().push(chunk.as_ptr() as usize));
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert!(done.iter().eq(
            sample.chunks.iter().map(|chunk| chunk.as_ptr() as usize).collect::<Vec<_>>().iter()
        ));
        let mut copy = vec![0; sample.bytes.len()];
        team.copy(&sample.bytes, &mut copy);
        assert!(copy == sample.bytes);
    }
}
