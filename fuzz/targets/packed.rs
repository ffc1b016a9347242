//! Unpacking agrees with a plain decoder. An even first byte: the bytes after it are packed, in one
//! member or several, and come out again. An odd one: they are the compressed file, whatever it
//! holds; data that a decoder accepts is accepted, and data that one refuses is an error.
#![no_main]

use std::io::Read;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use uniqurl::{Normalizer, Profile};
use uniqurl_engine::{InputFormat, Job, JobPlan, Sinks, Watch, run};
use uniqurl_formats::input;
use uniqurl_formats::record;

/// Longer files are skipped: some bytes unpack to gigabytes.
const MOST: u64 = 1 << 20;

#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

const PACKINGS: [Compression; 4] =
    [Compression::Gzip, Compression::Zstd, Compression::Bzip2, Compression::Xz];

impl Compression {
    /// Packs one member with a fast encoder.
    fn pack(self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let read = match self {
            Compression::Gzip => flate2::read::GzEncoder::new(bytes, flate2::Compression::fast())
                .read_to_end(&mut out),
            Compression::Zstd => zstd::stream::read::Encoder::new(bytes, 1)
                .and_then(|mut pack| pack.read_to_end(&mut out)),
            Compression::Bzip2 => {
                bzip2::read::BzEncoder::new(bytes, bzip2::Compression::fast()).read_to_end(&mut out)
            }
            Compression::Xz => liblzma::read::XzEncoder::new(bytes, 0).read_to_end(&mut out),
        };
        read.expect("memory can be written to");
        out
    }

    /// The compression that the first bytes of a file name.
    fn of(file: &[u8]) -> Option<Self> {
        match file {
            [0x1F, 0x8B, ..] => Some(Compression::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => {
                Some(Compression::Zstd)
            }
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => {
                Some(Compression::Bzip2)
            }
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            _ => None,
        }
    }

    /// Unpacks all members with the decoder's own loop.
    fn unpack(self, file: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
        match self {
            Compression::Gzip => gunzip(file, &mut out),
            Compression::Zstd => zstd::stream::read::Decoder::new(file)
                .and_then(|unpack| unpack.take(MOST + 1).read_to_end(&mut out)),
            Compression::Bzip2 => {
                bzip2::read::MultiBzDecoder::new(file).take(MOST + 1).read_to_end(&mut out)
            }
            Compression::Xz => liblzma::read::XzDecoder::new_multi_decoder(file)
                .take(MOST + 1)
                .read_to_end(&mut out),
        }
        .map(|_| out)
    }
}

/// Member after member; zeros after the last one are padding, as gzip takes them.
fn gunzip(file: &[u8], out: &mut Vec<u8>) -> std::io::Result<usize> {
    let mut rest = file;
    loop {
        let mut member = flate2::bufread::GzDecoder::new(rest);
        member.by_ref().take(MOST + 1).read_to_end(out)?;
        rest = member.into_inner();
        if out.len() as u64 > MOST || rest.iter().all(|byte| *byte == 0) {
            return Ok(out.len());
        }
    }
}

/// The lines of a file under simple string comparison, or the error of the run.
fn lines(file: &[u8], threads: usize) -> Result<Vec<u8>, String> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("input");
    std::fs::write(&path, file).expect("written");
    let (inputs, errors) = input::check(std::slice::from_ref(&path));
    let without_path = |error: &dyn ToString| error.to_string().replace(path.to_str().unwrap(), "");
    if let Some(error) = errors.first() {
        return Err(without_path(error));
    }
    let watch = Watch::default();
    let mut plan = JobPlan::new(Normalizer::new(Profile::String), Job::Normalize { json: false });
    plan.input.format = InputFormat::Fixed(Arc::new(record::Format::Lines));
    plan.limits.threads = threads;
    let mut out = Vec::new();
    let (_, result) = run(&plan, &inputs, Sinks::to(&mut out), &watch);
    result.map(|()| out).map_err(|error| without_path(&error))
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, data)) = data.split_first() else { return };
    if choice % 2 == 0 {
        let packing = PACKINGS[usize::from(choice >> 1) % PACKINGS.len()];
        // A prefix, so that the data is not itself a packed file.
        let text = [b"-", data].concat();
        let members = usize::from(choice >> 3) % 4 + 1;
        let cut = |n: usize| text.len() * n / members;
        let file: Vec<u8> =
            (0..members).flat_map(|n| packing.pack(&text[cut(n)..cut(n + 1)])).collect();
        let expected = lines(&text, 1);
        for threads in [1, 2] {
            assert_eq!(lines(&file, threads), expected, "{threads} threads");
        }
        return;
    }
    let Some(packing) = Compression::of(data) else { return };
    let unpacked = packing.unpack(data);
    if unpacked.as_ref().is_ok_and(|bytes| bytes.len() as u64 > MOST) {
        return;
    }
    let found = lines(data, 1);
    assert_eq!(lines(data, 2), found);
    match unpacked {
        Err(error) => assert!(found.is_err(), "{found:?}, but {error}"),
        // Data packed twice is unpacked once; read as an input, it would be unpacked again.
        Ok(bytes) if matches!(bytes[..], [0x1F | 0x28 | 0x50..=0x5F | b'B' | 0xFD, ..]) => {}
        Ok(bytes) => assert_eq!(found.as_ref().ok(), lines(&bytes, 1).as_ref().ok(), "{found:?}"),
    }
});
