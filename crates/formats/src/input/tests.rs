//! Sequential and parallel decompression return the original bytes, and no damage goes unnoticed.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::byte_source::{ByteSource, Counted};
use super::compression::Compression;
use super::decoder::Limits;
use super::opened::{OpenFile, check};
use super::parallel_decode::{LARGEST, ParallelDecoder, SEARCHED};
use super::read_ahead::{ReadAhead, StreamShare};
use super::stream_decode::StreamDecoder;

const ALL: [Compression; 4] =
    [Compression::Gzip, Compression::Zstd, Compression::Bzip2, Compression::Xz];

fn pack(compression: Compression, bytes: &[u8]) -> Vec<u8> {
    match compression {
        Compression::Gzip => {
            let mut encoder = flate2::GzBuilder::new()
                .filename("urls.txt")
                .write(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Zstd => {
            let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), Default::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Xz => {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
    }
}

/// Lines that hardly compress; deterministic for a seed.
fn text(length: usize, mut seed: u64) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < length {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        text.extend(format!("http://h{}.example/{:x}\n", seed >> 61, seed >> 20).into_bytes());
    }
    text.truncate(length);
    text
}

/// The bytes read, and the error after them.
fn read_all(source: &mut dyn Read) -> (Vec<u8>, io::Result<()>) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 10_000];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return (bytes, Ok(())),
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
            Err(error) => return (bytes, Err(error)),
        }
    }
}

fn unpacked(compression: Compression, packed: &[u8]) -> (Vec<u8>, io::Result<()>) {
    read_all(&mut StreamDecoder::new(Counted::new(packed), compression, Limits::MOST).unwrap())
}

/// Returns a few bytes per read.
struct Dribble<'a>(&'a [u8], usize);

impl Read for Dribble<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(out.len());
        self.0.read(&mut out[..length])
    }
}

#[test]
fn concatenated_members_are_read_at_any_read_size() {
    let text = text(30_000, 1);
    for compression in ALL {
        let mut packed = Vec::new();
        let mut whole = Vec::new();
        for part in [&text[..], b"", &text[..10], &text[..20_000]] {
            packed.extend(pack(compression, part));
            whole.extend_from_slice(part);
        }
        assert_eq!(Compression::of(&packed), Some(compression));
        let (bytes, result) = unpacked(compression, &packed);
        assert!(bytes == whole && result.is_ok(), "{compression}: {result:?}");
        for step in [1, 7, 1000] {
            let input = Counted::buffered(Dribble(&packed, step));
            let mut unpacker = StreamDecoder::new(input, compression, Limits::MOST).unwrap();
            let (bytes, result) = read_all(&mut unpacker);
            assert!(bytes == whole && result.is_ok(), "{compression} by {step}: {result:?}");
            assert_eq!(unpacker.taken(), packed.len() as u64);
        }
    }
}

#[test]
fn every_truncation_is_an_error() {
    let text = text(14_000, 2);
    for compression in ALL {
        let packed = pack(compression, &text);
        for length in 1..packed.len() {
            let (bytes, result) = unpacked(compression, &packed[..length]);
            let kind = result.expect_err("cut").kind();
            assert_eq!(kind, io::ErrorKind::UnexpectedEof, "{compression} cut to {length}");
            assert!(text.starts_with(&bytes), "{compression} cut to {length}");
        }
    }
}

/// True for bits that do not affect the content, given by byte and bit number. Flipping them changes
/// nothing.
fn is_unchecked(compression: Compression, packed: &[u8], byte: usize, bit: u8) -> bool {
    let last = packed.len() - 1;
    match compression {
        // RFC 1952 2.3: FTEXT, MTIME, XFL, OS, and the name. The bits after the end of the deflate
        // data, up to its last byte, are padding (RFC 1951 3.1.1).
        Compression::Gzip => match byte {
            3 => bit == 0,
            4..=9 => true,
            10..=18 => true,
            _ => byte == last - 8,
        },
        // RFC 8878 3.1.1.1: the unused bit, and a window larger than needed.
        Compression::Zstd => byte == 4 && bit == 4 || byte == 5,
        // The size of blocks, if it is not too small, and the padding of the last byte.
        Compression::Bzip2 => byte == 3 || byte == last,
        Compression::Xz => false,
    }
}

#[test]
fn every_flipped_bit_is_detected() {
    let text = text(14_000, 3);
    for compression in ALL {
        let packed = pack(compression, &text);
        assert!((2_500..6_000).contains(&packed.len()), "{compression}: {}", packed.len());
        let mut elsewhere = Vec::new();
        for byte in 0..packed.len() {
            for bit in 0..8 {
                let mut flipped = packed.clone();
                flipped[byte] ^= 1 << bit;
                let (bytes, result) = unpacked(compression, &flipped);
                if result.is_ok() {
                    assert!(bytes == text, "{compression}: bit {bit} of byte {byte} is silent");
                    if !is_unchecked(compression, &packed, byte, bit) {
                        elsewhere.push((byte, bit));
                    }
                }
            }
        }
        // The same text can be encoded in several ways: a match may refer to another copy of the same
        // bytes, and a code may be unused. Such a flip changes nothing, and the checksum proves it.
        // After the text come the checksum, and the length where the format has one.
        let (head, tail) = if compression == Compression::Gzip { (19, 8) } else { (6, 4) };
        let inside = head..packed.len() - tail;
        assert!(elsewhere.len() < 60, "{compression}: {elsewhere:?}");
        assert!(
            elsewhere.iter().all(|(byte, _)| inside.contains(byte)),
            "{compression}: {elsewhere:?}"
        );
    }
}

/// A gzip header with these flags (RFC 1952 2.3.1), optionally with one byte changed.
fn header(flags: u8, changed: Option<usize>) -> Vec<u8> {
    const FIELDS: [(u8, &[u8]); 3] = [(4, b"\x05\0a\0b\n\0"), (8, b"name\0"), (16, b"of it\0")];
    let mut header = vec![0x1F, 0x8B, 8, flags, 1, 2, 3, 4, 0, 255];
    let fields = FIELDS.iter().filter(|(flag, _)| flags & flag != 0);
    fields.for_each(|(_, field)| header.extend_from_slice(field));
    let checksum = crc32fast::hash(&header) as u16;
    if flags & 2 != 0 {
        header.extend_from_slice(&checksum.to_le_bytes());
    }
    if let Some(byte) = changed {
        header[byte] ^= 1;
    }
    header
}

#[test]
fn optional_gzip_header_fields_are_skipped_and_their_checksum_verified() {
    let text = b"what is packed\n";
    // Its own header has ten bytes and a name.
    let body = &pack(Compression::Gzip, text)[19..];
    for flags in 0..32 {
        let whole = [&header(flags, None)[..], body].concat();
        let (bytes, result) = unpacked(Compression::Gzip, &whole);
        assert!(bytes == text && result.is_ok(), "{flags}: {result:?}");
        if flags & 2 != 0 {
            for byte in 3..header(flags, None).len() {
                let changed = [&header(flags, Some(byte))[..], body].concat();
                let (_, result) = unpacked(Compression::Gzip, &changed);
                assert!(result.is_err(), "{flags}: byte {byte} is silent");
            }
        }
    }
}

/// Tolerance for an error's offset between different splits of the input.
fn ahead(compression: Compression) -> u64 {
    if compression == Compression::Bzip2 { 7 } else { 0 }
}

#[test]
fn damage_is_reported_alike_at_any_read_size() {
    for compression in ALL {
        let first = pack(compression, &text(6_000, 6));
        let packed = [&first[..], &pack(compression, &text(3_000, 7))].concat();
        let places = (0..packed.len()).step_by(29);
        let places = places.chain(0..30).chain(first.len() - 12..first.len() + 30);
        for byte in places.chain(packed.len() - 20..packed.len()) {
            let mut flipped = packed.clone();
            flipped[byte] ^= 1 << (byte % 8);
            let told = |step| {
                let input = Counted::buffered(Dribble(&flipped, step));
                let mut unpacker = StreamDecoder::new(input, compression, Limits::MOST).unwrap();
                let (bytes, result) = read_all(&mut unpacker);
                (bytes, result.err().map(|error| error.to_string()), unpacker.taken())
            };
            let whole = told(packed.len());
            for step in [1, 2, 10, 100] {
                let (bytes, words, taken) = told(step);
                let is_alike = match compression {
                    // Of a block that is damaged, a part may be decoded and another error come first, at
                    // another place of it.
                    Compression::Zstd => {
                        let prefix = bytes.len().min(whole.0.len());
                        bytes[..prefix] == whole.0[..prefix] && words.is_some() == whole.1.is_some()
                    }
                    _ => {
                        let apart = taken.abs_diff(whole.2);
                        bytes == whole.0 && words == whole.1 && apart <= ahead(compression)
                    }
                };
                assert!(is_alike, "{compression}: byte {byte}, by {step}");
            }
        }
    }
}

#[test]
fn bytes_before_a_damaged_zstd_block_are_returned() {
    let text = text(400_000, 8);
    let mut packed = pack(Compression::Zstd, &text);
    // RFC 8878 3.1.1.2: the last-block bit, two bits for the type (the fourth value is reserved), and
    // the size.
    let mut blocks = vec![6];
    while let [.., at] = blocks[..]
        && let [a, b, c, ..] = packed[at..]
        && a & 1 == 0
    {
        blocks.push(at + 3 + (u32::from_le_bytes([a, b, c, 0]) >> 3) as usize);
    }
    assert_eq!(blocks.len(), 4);
    packed[blocks[2]] |= 6;
    let (bytes, result) = unpacked(Compression::Zstd, &packed);
    // All but about a block.
    assert!(result.is_err() && bytes.len() >= 128 << 10 && text.starts_with(&bytes));
}

#[test]
fn zeros_after_the_last_member_are_padding_and_other_bytes_are_an_error() {
    for compression in ALL {
        let packed = pack(compression, b"http://h/\n");
        for zeros in [1, 4, 511, 100_000] {
            let padded = [packed.clone(), vec![0; zeros]].concat();
            let mut unpacker =
                StreamDecoder::new(Counted::new(&padded[..]), compression, Limits::MOST).unwrap();
            let (bytes, result) = read_all(&mut unpacker);
            assert!(bytes == b"http://h/\n" && result.is_ok());
            // In xz, four zeros at a time are part of the format.
            let expected = if compression == Compression::Xz && zeros % 4 == 0 { 0 } else { zeros };
            assert_eq!(unpacker.padding(), expected as u64);
        }
        for garbage in [&b"x"[..], b"\0x", b"\0\0\0\x1F\x8B", b"http://h/\n"] {
            let followed = [&packed, garbage].concat();
            let (bytes, result) = unpacked(compression, &followed);
            let error = result.expect_err("garbage").to_string();
            assert!(bytes == b"http://h/\n" && error.contains("follows the last"), "{error}");
        }
    }
    let two = pack(Compression::Xz, b"a\n");
    let padded = [&two[..], &[0; 8], &two].concat();
    assert_eq!(unpacked(Compression::Xz, &padded).0, b"a\na\n");
}

/// RFC 8878 3.1.1: a header with Single_Segment_Flag and a Frame_Content_Size of one byte, a raw block,
/// and optionally an empty last block.
#[test]
fn zstd_frame_must_hold_its_declared_content_size() {
    let frame = |said: u8, text: &[u8], ends_empty: bool| {
        let block = |length: usize, is_last: bool| {
            let [a, b, c, _] = ((length as u32) << 3 | u32::from(is_last)).to_le_bytes();
            [a, b, c]
        };
        let head = [0x28, 0xB5, 0x2F, 0xFD, 0x20, said];
        let mut frame = [&head[..], &block(text.len(), !ends_empty), text].concat();
        if ends_empty {
            frame.extend(block(0, true));
        }
        frame
    };
    let text = b"http://a/\n";
    for ends_empty in [false, true] {
        let right = frame(10, text, ends_empty);
        let two = [&right[..], &right].concat();
        assert_eq!(unpacked(Compression::Zstd, &two).0, text.repeat(2));
        assert!(unpacked(Compression::Zstd, &two).1.is_ok());
        for said in [0, 9, 11, 100] {
            let wrong = [&right[..], &frame(said, text, ends_empty)].concat();
            assert!(unpacked(Compression::Zstd, &wrong).1.is_err(), "{said} {ends_empty}");
            assert!(on_threads(Compression::Zstd, &wrong).1.is_err(), "{said} {ends_empty}");
        }
    }
    let error =
        unpacked(Compression::Zstd, &frame(100, text, true)).1.expect_err("90 bytes too few");
    assert!(error.to_string().contains("says that it has 100 bytes, and has 10"), "{error}");
}

#[test]
fn skippable_zstd_frames_and_a_leading_dictionary_are_read() {
    let skippable = |kind: u8, bytes: &[u8]| {
        let length = (bytes.len() as u32).to_le_bytes();
        [&[0x50 | kind, 0x2A, 0x4D, 0x18], &length[..], bytes].concat()
    };
    let plain = pack(Compression::Zstd, b"http://h/\n");
    let packed =
        [&skippable(0, b"note"), &plain, &skippable(5, b""), &plain].map(|p| &p[..]).concat();
    assert_eq!(unpacked(Compression::Zstd, &packed).0, b"http://h/\nhttp://h/\n");

    let samples: Vec<_> = (0..200).map(|seed| text(400, seed)).collect();
    let dictionary = zstd::dict::from_samples(&samples, 4096).unwrap();
    let alone =
        zstd::bulk::Compressor::with_dictionary(3, &dictionary).unwrap().compress(&samples[0]);
    let error = unpacked(Compression::Zstd, &alone.unwrap()).1.expect_err("a dictionary");
    assert!(error.to_string().contains("its dictionary is not at the start"), "{error}");
    // The magic number of a frame, and nothing else.
    let broken = [skippable(13, b"\x37\xA4\x30\xECabcdef"), plain].concat();
    let error = unpacked(Compression::Zstd, &broken).1.expect_err("no dictionary");
    assert!(error.to_string().contains("its dictionary is damaged"), "{error}");
    // An archive without records has nothing else.
    for alone in [skippable(13, &dictionary), skippable(13, b"abc"), skippable(13, &[7; 300_000])] {
        let (bytes, result) = unpacked(Compression::Zstd, &alone);
        assert!(bytes.is_empty() && result.is_ok(), "{result:?}");
        let (bytes, result, _) = on_threads(Compression::Zstd, &alone);
        assert!(bytes.is_empty() && result.is_ok(), "{result:?}");
        let cut = &alone[..alone.len() - 1];
        assert!(unpacked(Compression::Zstd, cut).1.is_err());
        assert!(on_threads(Compression::Zstd, cut).1.is_err());
    }
    let mut packed = skippable(13, &dictionary);
    let mut also = skippable(13, &zstd::bulk::compress(&dictionary, 3).unwrap());
    let mut whole = Vec::new();
    for seed in 0..300 {
        let part = text(5_000, seed);
        let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 3, &dictionary).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(&part).unwrap();
        let frame = encoder.finish().unwrap();
        packed.extend_from_slice(&frame);
        also.extend_from_slice(&frame);
        whole.extend(part);
    }
    for packed in [packed, also] {
        assert!(unpacked(Compression::Zstd, &packed).0 == whole);
        assert!(on_threads(Compression::Zstd, &packed).0 == whole);
    }
}

#[test]
fn window_and_memory_limits_are_errors_with_a_text() {
    let window = |log| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.window_log(log).unwrap();
        encoder.include_contentsize(false).unwrap();
        encoder.write_all(&vec![b'x'; 1 << 20]).unwrap();
        encoder.finish().unwrap()
    };
    assert!(unpacked(Compression::Zstd, &window(27)).1.is_ok());
    let error = unpacked(Compression::Zstd, &window(28)).1.expect_err("a window");
    assert!(error.to_string().ends_with("beyond the limit of 128 MiB"), "{error}");
    // A thread's share is half of a quarter of the memory, and at least 8 MiB.
    for (memory, limit) in [(256 << 20, 25), (255 << 20, 24), (1 << 20, 23)] {
        let limits = Limits::within(memory, 2);
        let read = |packed: Vec<u8>| {
            let packed = Counted::new(packed.as_slice());
            read_all(&mut StreamDecoder::new(packed, Compression::Zstd, limits).unwrap()).1
        };
        assert!(read(window(limit)).is_ok(), "{limit}");
        let error = read(window(limit + 1)).expect_err("a window");
        let told = format!("beyond the limit of {} MiB", 1 << (limit - 20));
        assert!(error.to_string().ends_with(&told), "{error}");
    }

    let mut options = liblzma::stream::LzmaOptions::new_preset(1).unwrap();
    options.dict_size(512 << 20);
    let mut packed = pack(Compression::Xz, b"http://h/\n");
    // The dictionary size is the byte after the filter's id and length; 0x23 is half a gigabyte. The
    // header has a checksum of its own.
    packed[16] = 0x23;
    let crc = {
        let mut crc = flate2::Crc::new();
        crc.update(&packed[12..20]);
        crc.sum()
    };
    packed[20..24].copy_from_slice(&crc.to_le_bytes());
    let error = unpacked(Compression::Xz, &packed).1.expect_err("a dictionary");
    assert!(error.to_string().contains("256 MiB"), "{error}");
}

/// The share of a stream alone in its turn.
fn threads(count: usize) -> Arc<StreamShare> {
    let share = ReadAhead::new(0, count).share(0);
    share.begin_turn();
    share
}

/// Decodes the same input with [`ParallelDecoder`] on three threads.
fn on_threads(compression: Compression, packed: &[u8]) -> (Vec<u8>, io::Result<()>, u64) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(packed).unwrap();
    let (inputs, _) = check(&[file.path().to_owned()]);
    let opened = Arc::new(OpenFile::open(&inputs[0]).unwrap().unwrap());
    let mut source = ParallelDecoder::open(opened, compression, &threads(3), Limits::MOST).unwrap();
    let (bytes, result) = read_all(&mut *source);
    (bytes, result, source.taken())
}

#[test]
fn decoder_that_gets_and_loses_threads_returns_the_same_bytes() {
    for compression in [Compression::Gzip, Compression::Zstd] {
        let (packed, whole) = members(compression);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&packed).unwrap();
        let (inputs, _) = check(&[file.path().to_owned()]);
        let opened = Arc::new(OpenFile::open(&inputs[0]).unwrap().unwrap());
        let ahead = ReadAhead::new(0, 3);
        let share = ahead.share(0);
        let mut source = ParallelDecoder::open(opened, compression, &share, Limits::MOST).unwrap();
        let (mut bytes, mut out) = (Vec::new(), vec![0; 50_000]);
        let mut others = Vec::new();
        loop {
            let read = source.read(&mut out).unwrap();
            bytes.extend_from_slice(&out[..read]);
            if read == 0 {
                break;
            }
            match bytes.len() / 400_000 % 3 {
                0 => others.drain(..).for_each(|other: Arc<StreamShare>| other.end()),
                1 => share.begin_turn(),
                _ if others.is_empty() => others.extend([ahead.share(0), ahead.share(0)]),
                _ => {}
            }
        }
        assert!(bytes == whole && source.taken() == packed.len() as u64, "{compression}");
    }
}

/// Members of all lengths, and some that contain bytes resembling members.
fn members(compression: Compression) -> (Vec<u8>, Vec<u8>) {
    let mut packed = Vec::new();
    let mut whole = Vec::new();
    for seed in 0..400 {
        let length = [10, 3_000, 80_000, 0, 500, 20_000][seed as usize % 6];
        let mut part = text(length, seed);
        if seed % 50 == 9 {
            // Incompressible, so it is stored.
            let inner: Vec<u8> = (0..60).flat_map(|i| pack(compression, &text(4_000, i))).collect();
            part.extend(inner);
        }
        let stored = match compression {
            Compression::Gzip if seed % 50 == 9 => {
                let level = flate2::Compression::none();
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(&part).unwrap();
                encoder.finish().unwrap()
            }
            _ => pack(compression, &part),
        };
        packed.extend(stored);
        whole.extend(part);
    }
    (packed, whole)
}

#[test]
fn parallel_decoding_keeps_the_order_of_members_after_false_starts() {
    for compression in [Compression::Gzip, Compression::Zstd] {
        let (packed, whole) = members(compression);
        assert!(packed.len() > 1 << 20);
        let (bytes, result, taken) = on_threads(compression, &packed);
        assert!(bytes == whole && result.is_ok(), "{compression}: {result:?}");
        assert_eq!(taken, packed.len() as u64);
        // One long member between many short ones.
        let long = text(12 << 20, 5);
        let mixed = [&packed[..], &pack(compression, &long), &packed].concat();
        let (bytes, result, _) = on_threads(compression, &mixed);
        assert!(bytes == [&whole[..], &long, &whole].concat() && result.is_ok());
        let padded = [&packed[..], &[0; 1000]].concat();
        assert!(on_threads(compression, &padded).0 == whole);
    }
}

/// "No input makes it quadratic": earlier, the next megabytes were searched again from each member.
#[test]
fn members_with_unrecognized_headers_take_linear_time() {
    // No compressor writes this operating system code.
    let unknown = flate2::GzBuilder::new().operating_system(100).filename("unknown.txt");
    let unknown = unknown.write(Vec::new(), Default::default()).finish().unwrap();
    assert_eq!(unknown.len(), 32);
    let skippable = [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0];
    for (compression, member) in
        [(Compression::Gzip, &unknown[..]), (Compression::Zstd, &skippable)]
    {
        let packed = member.repeat((4 << 20) / member.len());
        SEARCHED.set(0);
        let (bytes, result, taken) = on_threads(compression, &packed);
        let searched = SEARCHED.get();
        assert!((1..=2 * packed.len()).contains(&searched), "{compression}: {searched}");
        assert!(bytes.is_empty() && result.is_ok(), "{compression}: {result:?}");
        assert_eq!(taken, packed.len() as u64);
    }
}

#[test]
fn parallel_and_sequential_decoding_report_the_same_damage() {
    for compression in [Compression::Gzip, Compression::Zstd] {
        let (packed, _) = members(compression);
        for i in 0..12 {
            let mut damaged = packed.clone();
            let at = packed.len() / 13 * (i + 1) + i * 17;
            if i % 3 == 0 {
                damaged.truncate(at);
            } else {
                damaged[at] ^= 1 << (i % 8);
            }
            let input = Counted::new(&damaged[..]);
            let mut unpacker = StreamDecoder::new(input, compression, Limits::MOST).unwrap();
            let (expected, result) = read_all(&mut unpacker);
            let (bytes, on_threads, taken) = on_threads(compression, &damaged);
            assert!(bytes == expected, "{compression} at {at}");
            assert!(
                taken.abs_diff(unpacker.taken()) <= ahead(compression),
                "{compression} at {at}"
            );
            let words = |result: io::Result<()>| result.err().map(|error| error.to_string());
            assert_eq!(words(on_threads), words(result), "{compression} at {at}");
        }
    }
}

#[test]
fn compression_bomb_is_decoded_in_small_steps() {
    let member = pack(Compression::Gzip, &vec![b'x'; 30 << 20]);
    let bomb = member.repeat(20);
    assert!(bomb.len() > 2 * (128 << 10));
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&bomb).unwrap();
    let (inputs, _) = check(&[file.path().to_owned()]);
    let opened = Arc::new(OpenFile::open(&inputs[0]).unwrap().unwrap());
    let mut source =
        ParallelDecoder::open(opened, Compression::Gzip, &threads(2), Limits::MOST).unwrap();
    LARGEST.set(0);
    assert_eq!(source.skip(u64::MAX).unwrap(), 600 << 20);
    let (largest, most) = (LARGEST.get(), Limits::MOST.segment() + (128 << 10));
    assert!((1..=most).contains(&largest), "{largest} of {most}");
}

#[test]
fn members_that_unpack_to_more_than_their_share_come_out_whole() {
    let small = Limits::within(1 << 20, 2);
    for compression in [Compression::Gzip, Compression::Zstd] {
        // More than a segment of a hundred members may hold, and one member alone.
        let parts: Vec<Vec<u8>> = (0..300_usize)
            .map(|n| vec![b'a' + (n % 26) as u8; if n == 150 { 3 << 20 } else { 90_000 }])
            .collect();
        let packed: Vec<u8> = parts
            .iter()
            .flat_map(|part| [pack(compression, part), pack(compression, &noise(1_000))].concat())
            .collect();
        let whole: Vec<u8> =
            parts.iter().flat_map(|part| [&part[..], &noise(1_000)].concat()).collect();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&packed).unwrap();
        let (inputs, _) = check(&[file.path().to_owned()]);
        let opened = Arc::new(OpenFile::open(&inputs[0]).unwrap().unwrap());
        let mut source = ParallelDecoder::open(opened, compression, &threads(3), small).unwrap();
        let (bytes, result) = read_all(&mut *source);
        assert!(bytes == whole && result.is_ok(), "{compression}: {result:?}");
    }
}

/// Bytes that hardly pack.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..length).map(next).collect()
}
