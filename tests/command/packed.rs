//! Compressed inputs and outputs: every compression gives the same URLs, and all damage is detected.

use super::{Place, Run, json_lines};
use std::io::Write;

/// Lines of every kind, all of them hard to compress away.
fn list(lines: u64) -> Vec<u8> {
    let mut state = 7u64;
    let mut text = Vec::new();
    for i in 0..lines {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let n = state >> 45;
        let line = match i % 9 {
            0 => format!("HTTP://Example.COM:80/%7Ea/../{n}#x"),
            1 => format!("http://h:99999/{n}"),
            2 => String::new(),
            3 => format!("http://example.com/{}", n % 50),
            _ => format!("https://www.example.net/a/{n}.html"),
        };
        text.extend(line.into_bytes());
        text.push(b'\n');
    }
    text.extend(b"https://www.example.net/the-last-one-has-no-line-feed");
    text
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("to memory");
    encoder.finish().expect("to memory")
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("made");
    encoder.include_checksum(true).expect("set");
    encoder.write_all(bytes).expect("to memory");
    encoder.finish().expect("to memory")
}

pub fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).expect("to memory");
    encoder.finish().expect("to memory")
}

pub fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
    encoder.write_all(bytes).expect("to memory");
    encoder.finish().expect("to memory")
}

/// Splits the bytes into members of equal size, regardless of line ends.
fn in_members(bytes: &[u8], members: usize, pack: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    bytes.chunks(bytes.len().div_ceil(members)).flat_map(pack).collect()
}

/// The summary without the byte counts.
fn terms(run: &Run) -> String {
    let line = run.err.lines().last().expect("a summary");
    line.split("; inputs").next().expect("one part").to_owned()
}

#[test]
fn oversized_zstd_window_is_a_limit_and_not_damage() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("made");
    encoder.window_log(26).expect("set");
    encoder.include_contentsize(false).expect("set");
    encoder.write_all(&b"http://h/\n".repeat(1 << 17)).expect("to memory");
    let packed = encoder.finish().expect("to memory");
    let place = Place::with([("in", &packed)]);
    let run = place.run(["dedup", "in", "-o", "out", "-j", "1", "--memory", "64M"]).exits(3);
    let told = "in@0: limit: zstd: its window is beyond the limit of 16 MiB, before byte ";
    assert!(run.err.contains(told), "{}", run.err);
    assert!(run.err.contains("\nhint: unpack it with zstd -dc --long=31\n"), "{}", run.err);
    assert!(!place.path("out").exists());
    place.run(["dedup", "in", "-o", "out", "-j", "1", "--memory", "1G"]).exits(0);
    assert_eq!(place.text("out"), "http://h/\n");
    let skipped = ["dedup", "in", "-j", "1", "--memory", "64M", "--keep-going"];
    let run = place.run(skipped).exits(1);
    assert_eq!((run.summary("damaged"), run.summary("unfinished")), (0, 1), "{}", run.err);
}

#[test]
fn every_compression_gives_the_same_set_rejects_and_accounting() {
    let list = list(60_000);
    let place = Place::with([("plain", &list)]);
    let expected = place.run(["dedup", "plain", "--rejects", "rejects"]).exits(0);
    let rejects = place.text("rejects").replace("\"file\":\"plain\"", "\"file\":\"in\"");
    for (name, packed) in [
        ("gzip", gzip(&list)),
        ("gzip of 10,000 members", in_members(&list, 10_000, gzip)),
        ("zstd", zstd(&list)),
        ("zstd of 500 frames", in_members(&list, 500, zstd)),
        ("bzip2 of 3 streams", in_members(&list, 3, bzip2)),
        ("xz of 3 streams", in_members(&list, 3, xz)),
    ] {
        place.write("in", &packed);
        for threads in ["1", "3"] {
            let arguments = ["dedup", "in", "--rejects", "rejects", "-j", threads];
            let run = place.run(arguments).exits(0);
            assert!(run.out == expected.out, "{name}");
            assert_eq!(terms(&run), terms(&expected), "{name}");
            assert_eq!(run.summary("bytes"), packed.len() as u64, "what was read of the file");
            assert!(place.text("rejects") == rejects, "{name}");
        }
        let piped = place.run_on(["dedup", "-"], packed).exits(0);
        assert!(piped.out == expected.out && terms(&piped) == terms(&expected), "{name}");
    }
}

#[test]
fn damage_is_reported_with_both_offsets_and_nothing_is_committed() {
    let list = list(20_000);
    let packed = gzip(&list);
    let place = Place::with([("cut", &packed[..packed.len() / 2]), ("good", b"http://good/\n")]);
    let mut flipped = packed.clone();
    flipped[packed.len() - 6] ^= 1;
    place.write("flipped", &flipped);
    place.write("followed", [&packed[..], b"http://a/\n"].concat());
    for (name, words) in [
        ("cut", "truncated: the gzip data ends early, at byte "),
        ("flipped", "damaged: gzip: the checksum does not match"),
        ("followed", "damaged: gzip: what follows the last gzip member is none"),
    ] {
        let run = place.run(["dedup", "good", name, "-o", "out"]).exits(2);
        assert!(run.err.contains(&format!("uniqurl: {name}@")), "{}", run.err);
        assert!(run.err.contains(words), "{}", run.err);
        assert!(!place.path("out").exists());
        let arguments = ["dedup", name, "good", "-o", "out", "--keep-going", "--stats", "stats"];
        let run = place.run(arguments).exits(1);
        assert!(run.err.contains(words) && run.err.contains(" records, which were taken"));
        let stats = place.json("stats");
        assert_eq!(stats["files"][0]["state"], "damaged");
        let taken = stats["files"][0]["records"].as_u64().expect("a number");
        assert!(
            run.err.contains(&format!(", after {taken} records, which were taken")),
            "{}",
            run.err
        );
        assert!(place.text("out").ends_with("http://good/\n"));
        let out = place.read("out");
        std::fs::remove_file(place.path("out")).expect("there");
        if name != "cut" {
            // All but the last line, which has no ending.
            assert_eq!(taken, 20_000);
            continue;
        }
        // A pipe gives the same.
        let cut = place.read("cut");
        let run = place.run_on(["dedup", "-", "good", "--keep-going"], cut).exits(1);
        assert!(run.out == out, "{}", run.err);
    }
}

/// The tests of unpacking try every bit. This one tries the magic numbers, which make an input a compressed one.
#[test]
fn truncations_and_flipped_magic_numbers_are_detected() {
    let list = list(700);
    for (name, packed) in [("gzip", gzip(&list)), ("zstd", zstd(&list))] {
        let place = Place::with([("whole", &packed)]);
        let expected = place.run(["dedup", "whole"]).exits(0);
        for byte in [0, 1, 2, 3, 5, packed.len() / 2, packed.len() - 1] {
            let mut flipped = packed.clone();
            flipped[byte] ^= 1 << (byte % 8);
            for case in [&packed[..byte], &flipped] {
                // An empty file is an empty list, unless its name claims a compression.
                place.write("case.gz", case);
                let run = place.run(["dedup", "case.gz"]);
                let same = run.status == Some(0) && run.out == expected.out;
                let loud = matches!(run.status, Some(2 | 3)) && run.err.contains("uniqurl: ");
                assert!(same || loud, "{name}, byte {byte}: {:?} {}", run.status, run.err);
            }
        }
    }
}

#[test]
fn input_truncated_in_its_first_line_is_damaged() {
    let table = gzip(b"url,ts\nhttp://h/,1\n");
    for length in [10, 14] {
        let place = Place::with([("in", &table[..length])]);
        for arguments in [["--carry", "ts"], ["--status", "200"]] {
            let run = place.run([&["dedup", "in"], &arguments[..]].concat()).exits(2);
            assert!(run.err.contains(": truncated: the gzip data"), "{}", run.err);
            assert!(!run.err.contains("lines"), "{}", run.err);
            assert_eq!(run.summary("damaged"), 1);
        }
    }
}

#[test]
fn zeros_after_the_last_member_are_skipped_with_a_warning() {
    let padded = [gzip(b"http://a/\n"), vec![0; 512]].concat();
    let place = Place::with([("in", &padded)]);
    let run = place.run(["dedup", "in"]).exits(0);
    assert_eq!(run.out(), "http://a/\n");
    assert!(run.err.contains("warning: in: 512 zeros after"), "{}", run.err);
}

#[test]
fn compression_bomb_of_one_line_is_one_rejected_record() {
    let mut line = b"http://h/".to_vec();
    line.resize(40 << 20, b'a');
    line.extend(b"\nhttp://a/\n");
    let place = Place::new();
    for packed in [gzip(&line), zstd(&line)] {
        let run = place.run_on(["normalize", "--json"], packed).exits(0);
        let objects = json_lines(&run.out);
        assert_eq!(
            (&objects[0]["reject"][0], &objects[0]["at"]),
            (&"too-long".into(), &65_536.into())
        );
        assert_eq!(objects[1]["out"], "http://a/");
    }
}

#[test]
fn output_extension_selects_the_compression() {
    let list = list(30_000);
    let place = Place::with([("in", &list)]);
    let expected = place.run(["dedup", "in", "--rejects", "r"]).exits(0);
    let rejects = place.read("r");
    for name in ["out.gz", "out.zst"] {
        let mut files = Vec::new();
        for threads in ["1", "2", "5"] {
            let run = place.run(["dedup", "in", "-o", name, "-j", threads]).exits(0);
            assert!(run.out.is_empty());
            files.push(place.read(name));
        }
        assert!(files.windows(2).all(|pair| pair[0] == pair[1]), "the same for any threads");
        assert!(files[0].len() < expected.out.len() / 2);
        let again = place.run(["dedup", "-p", "string", name]).exits(0);
        assert!(again.out == expected.out, "{name}");
        // An output may be one of the inputs.
        place.run(["dedup", name, "-o", name]).exits(0);
        assert!(place.read(name) == files[0]);
        let side = format!("r.{name}");
        place.run(["dedup", "in", "-q", "--rejects", &side, "--stats", "s.gz"]).exits(0);
        assert!(place.run(["normalize", "-q", "-p", "string", &side]).exits(0).out == rejects);
        assert!(place.read("s.gz").starts_with(&[0x1F, 0x8B]));
        place.run(["dedup", "/dev/null", "-o", name]).exits(0);
        assert_eq!(place.run(["dedup", name]).exits(0).summary("records"), 0);
    }
    assert!(place.run(["dedup", "in", "-o", "none.gz", "missing"]).status == Some(2));
    assert!(!place.path("none.gz").exists());
}
