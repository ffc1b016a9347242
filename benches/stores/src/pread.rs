//! The lower limit of a batch of look-ups: the time to read as many blocks as it touches, in the order of
//! their places, on as many threads.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::thread;

use crate::clock::{Clock, Seconds};
use crate::contenders::{Failure, THREADS};

/// Blocks of the files that hold `keys` keys at random places in the order of the keys, for `asked` of these.
pub struct Blocks {
    /// The file and the offset of each, in order.
    places: Vec<(usize, u64)>,
    files: Vec<File>,
    pub size: usize,
}

impl Blocks {
    /// Draws the blocks: evenly, as the known keys of a batch lie.
    pub fn draw(paths: &[PathBuf], size: usize, asked: u64) -> Result<Self, Failure> {
        let mut files = Vec::new();
        let mut all = Vec::new();
        for path in paths {
            let file = File::open(path)?;
            let blocks = file.metadata()?.len() / size as u64;
            all.extend((0..blocks).map(|block| (files.len(), block * size as u64)));
            files.push(file);
        }
        let mut chosen: Vec<bool> = vec![false; all.len()];
        if !all.is_empty() {
            let mut state = 1_u64;
            for _ in 0..asked {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                chosen[((u128::from(state) * all.len() as u128) >> 64) as usize] = true;
            }
        }
        let places =
            all.into_iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(place, _)| place);
        Ok(Self { places: places.collect(), files, size })
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Reads them all.
    pub fn read(&self) -> Result<Seconds, Failure> {
        let clock = Clock::start();
        let parts = self.places.chunks(self.places.len().div_ceil(THREADS).max(1));
        thread::scope(|scope| {
            let threads: Vec<_> = parts
                .map(|places| {
                    scope.spawn(move || {
                        let mut block = vec![0; self.size];
                        places.iter().try_for_each(|(file, offset)| {
                            self.files[*file].read_exact_at(&mut block, *offset)
                        })
                    })
                })
                .collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("the thread ends"))
        })?;
        Ok(clock.elapsed())
    }
}
