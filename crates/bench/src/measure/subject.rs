//! The bytes of a corpus in memory, and the threads that work on them.

use crate::corpus::{Amount, Corpus, Kind, Truth};
use bytes::Bytes;
use rayon::prelude::*;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use uniqurl_engine::{CHUNK_SIZE, StageBuffers};
use uniqurl_formats::record::Format;
use uniqurl_text::Printable;

/// The seed of the corpora: two machines work on the same bytes.
const SEED: u64 = 1;

/// A corpus in memory.
#[derive(Debug)]
pub struct TestBytes {
    /// The kind of its URLs.
    pub kind: Kind,
    /// Where the URL is in a record.
    pub format: Format,
    /// All of it.
    pub bytes: Bytes,
    /// The same in pieces of whole records, as large as those of the pipeline.
    pub chunks: Vec<Bytes>,
}

impl TestBytes {
    /// Draws at least `size` bytes.
    pub fn draw(kind: Kind, size: u64) -> Result<(Self, Truth), String> {
        let mut corpus = Corpus::new(kind, SEED, Amount::Bytes(size));
        let mut bytes = Vec::new();
        // The last line may be longer by as much.
        const LINE: usize = 64 << 10;
        let room = usize::try_from(size).ok().and_then(|size| size.checked_add(LINE));
        room.and_then(|room| bytes.try_reserve_exact(room).ok())
            .ok_or_else(|| format!("no memory for a corpus of {size} bytes"))?;
        while corpus.fill(&mut bytes, usize::MAX) {}
        Ok((Self::new(kind, bytes), corpus.truth().clone()))
    }

    /// Reads a file of so many bytes. The threads of the team touch the memory first, each the part that it reads.
    pub fn read(kind: Kind, path: &Path, size: u64, team: &Team) -> Result<Self, String> {
        let failed = |error| format!("{}: {error}", Printable::path(path));
        let file = File::open(path).map_err(failed)?;
        let mut bytes = untouched(size)?;
        let pieces = bytes.par_chunks_mut(CHUNK_SIZE).enumerate();
        let read =
            |(n, piece): (usize, &mut [u8])| file.read_exact_at(piece, (n * CHUNK_SIZE) as u64);
        team.pool.install(|| pieces.try_for_each(read)).map_err(failed)?;
        Ok(Self::new(kind, bytes))
    }

    fn new(kind: Kind, bytes: Vec<u8>) -> Self {
        let format = if kind == Kind::Access { Format::Combined } else { Format::Lines };
        let bytes = Bytes::from(bytes);
        Self { kind, format, chunks: chunks(&bytes), bytes }
    }
}

/// Zeros in pages that the system gives on the first touch.
pub fn untouched(size: u64) -> Result<Vec<u8>, String> {
    let none = || format!("no memory for {size} bytes");
    let size = usize::try_from(size).map_err(|_| none())?;
    // `vec!` ends the process if there is no memory, so this tries first.
    Vec::<u8>::new().try_reserve_exact(size).map_err(|_| none())?;
    Ok(vec![0; size])
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
        Ok(Self { pool, buffers: (0..threads).map(|_| Mutex::default()).collect() })
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
                self.buffers[thread.index()].lock().unwrap_or_else(PoisonError::into_inner);
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

    fn team(threads: usize) -> Team {
        Team::new(threads).expect("started")
    }

    #[test]
    fn chunks_end_at_line_feeds_and_cover_the_corpus() {
        let (sample, _) = TestBytes::draw(Kind::Access, 1 << 20).expect("made");
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
        let (sample, _) = TestBytes::draw(Kind::Clean, 1 << 20).expect("made");
        let team = team(3);
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

    #[test]
    fn corpus_is_read_back_from_its_file() {
        let (sample, _) = TestBytes::draw(Kind::Dirty, 1 << 20).expect("made");
        let file = tempfile::NamedTempFile::new().expect("made");
        std::fs::write(file.path(), &sample.bytes).expect("written");
        let size = sample.bytes.len() as u64;
        let read = TestBytes::read(Kind::Dirty, file.path(), size, &team(2)).expect("read");
        assert!(read.bytes == sample.bytes && read.chunks == sample.chunks);
        assert!(TestBytes::read(Kind::Dirty, file.path(), size + 1, &team(2)).is_err());
    }
}
