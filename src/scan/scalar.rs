//! The masks in plain Rust: the definition that the vector code is held against.

use super::rules::{Asked, Rules};
use super::vector::{Block, Masks, Survey, Vector, Work};
use crate::profile::set::{QUERY, REG_NAME};

#[derive(Clone, Copy)]
pub(super) struct Scalar;

/// For each byte, its bits in the four masks.
const fn bits<R: Rules>() -> [u8; 256] {
    let mut bits = [0; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        bits[i] = !R::HOST.contains(byte) as u8
            | (!R::TAIL.contains(byte) as u8) << 1
            | ((byte == b'/') as u8) << 2
            | ((byte == b'.') as u8) << 3;
        i += 1;
    }
    bits
}

impl Vector for Scalar {
    fn masks<R: Rules>(self, block: &Block) -> Masks {
        let table = const { &bits::<R>() };
        let mut masks = Masks::default();
        for (i, byte) in block.iter().enumerate() {
            let bits = u64::from(table[*byte as usize]);
            masks.host_bad |= (bits & 1) << i;
            masks.bad |= (bits >> 1 & 1) << i;
            masks.slash |= (bits >> 2 & 1) << i;
            masks.dot |= (bits >> 3) << i;
        }
        masks
    }

    fn survey(self, block: &Block) -> Survey {
        let mut survey = Survey::default();
        for (i, byte) in block.iter().enumerate() {
            let bit = 1 << i;
            match byte {
                b'/' => survey.slash |= bit,
                b'?' | b'#' => survey.ends |= bit,
                b'.' => survey.dot |= bit,
                _ => {}
            }
            survey.not_query |= u64::from(!QUERY.contains(*byte)) << i;
            survey.not_reg_name |= u64::from(!REG_NAME.contains(*byte)) << i;
        }
        survey
    }

    fn find(self, block: &Block, byte: u8) -> u64 {
        fold(block, |other| other == byte)
    }

    fn find_asked(self, block: &Block, asked: &Asked) -> u64 {
        fold(block, |byte| asked.contains(byte))
    }
}

/// The bits of the bytes for which `is_it` holds.
fn fold(block: &Block, is_it: impl Fn(u8) -> bool) -> u64 {
    block.iter().enumerate().fold(0, |bits, (i, byte)| bits | u64::from(is_it(*byte)) << i)
}

/// Does `work` in plain Rust.
// A function of its own, like those of the others, so that `Kernel::run` is but a jump.
#[inline(never)]
pub(super) fn run<W: Work>(work: W) -> W::Output {
    work.run(Scalar)
}
