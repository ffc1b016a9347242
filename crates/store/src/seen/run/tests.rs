use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;

use super::super::error::SeenStoreError;
use super::super::keys::SortedKeys as _;
use super::super::time::UnixTime;
use super::footer::{Footer, ZonePlace};
use super::part::{PartKind, PartPacker, stated_checksum};
use super::search::FoundKey;
use super::*;

type Entries = BTreeMap<Vec<u8>, u32>;

const ADDS: [(u64, UnixTime); 3] = [(1, UnixTime(10)), (4, UnixTime(20)), (9, UnixTime(30))];

fn writer(directory: &std::path::Path) -> RunWriter {
    let path = directory.join("run-1");
    let file = RunFile::of(fs::File::create_new(&path), &path).unwrap();
    RunWriter::new(file, "run-1".to_owned(), &ADDS).unwrap()
}

fn write(directory: &std::path::Path, entries: &Entries) -> RunInfo {
    let mut writer = writer(directory);
    for (key, mark) in entries {
        writer.push(key, Mark::of_number(*mark)).unwrap();
    }
    writer.finish().unwrap().info().clone()
}

fn read(run: &Run) -> Result<Entries, SeenStoreError> {
    let (mut reader, mut entries) = (run.entries(), Entries::new());
    while let Some((key, mark)) = reader.next()? {
        entries.insert(key.to_vec(), mark.to_number());
    }
    Ok(entries)
}

fn find(run: &Run, keys: &[Vec<u8>]) -> Result<Vec<FoundKey>, SeenStoreError> {
    let hashes: Vec<u64> = keys.iter().map(|key| hash(key)).collect();
    let wanted: Vec<u32> = (0..keys.len() as u32).collect();
    run.look_up(&WantedKeys { keys, first: 0, hashes: &hashes, wanted: &wanted })
}

/// Many short keys: enough for several zones and blocks.
fn many(count: u32) -> Entries {
    let key = |i: u32| format!("http://{}.example/{i}", i % 977).into_bytes();
    (0..count).map(|i| (key(i), i % 4)).collect()
}

#[test]
fn runs_of_several_zones_round_trip() {
    let directory = tempfile::tempdir().unwrap();
    for count in [0, 1, 2, 3_000, 140_000] {
        let entries = many(count);
        let info = write(directory.path(), &entries);
        assert_eq!(info.bytes, fs::metadata(directory.path().join("run-1")).unwrap().len());
        let run = Run::open(directory.path(), &info).unwrap();
        assert_eq!(run.info().entries, u64::from(count));
        assert_eq!(run.footer.zones.len(), count.div_ceil(1 << 16) as usize);
        assert!(read(&run).unwrap() == entries);
        run.verify().unwrap();
        // All that it holds, and as many others.
        let mut keys: Vec<Vec<u8>> = entries.keys().cloned().collect();
        keys.extend((0..count).map(|i| format!("http://{}.example/{i}/", i % 991).into_bytes()));
        keys.sort();
        for step in [1, 7, 5_000] {
            let some: Vec<Vec<u8>> = keys.iter().step_by(step).cloned().collect();
            let found = find(&run, &some).unwrap();
            let expected = some.iter().enumerate().filter_map(|(number, key)| {
                Some((number as u32, Mark::of_number(*entries.get(key)?)))
            });
            assert!(expected.eq(found), "{count} {step}");
        }
        fs::remove_file(directory.path().join("run-1")).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn keys_of_any_bytes_round_trip(
        entries in proptest::collection::btree_map(
            prop_oneof![
                proptest::collection::vec(0u8..3, 0..6),
                proptest::collection::vec(any::<u8>(), 0..40),
                (30_000usize..300_000).prop_map(|length| vec![7; length]),
            ],
            0u32..4,
            0..50,
        ),
        others in proptest::collection::btree_set(proptest::collection::vec(0u8..3, 0..6), 0..20),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let info = write(directory.path(), &entries);
        let run = Run::open(directory.path(), &info).unwrap();
        run.verify().unwrap();
        prop_assert!(read(&run).unwrap() == entries);
        let mut keys: Vec<Vec<u8>> = entries.keys().step_by(2).cloned().chain(others).collect();
        keys.sort();
        keys.dedup();
        let found = find(&run, &keys).unwrap();
        let expected = keys.iter().enumerate().filter_map(|(number, key)| {
            Some((number as u32, Mark::of_number(*entries.get(key)?)))
        });
        prop_assert!(expected.eq(found));
    }
}

#[test]
fn keys_out_of_order_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = writer(directory.path());
    writer.push(b"", Mark::Removed).unwrap();
    writer.push(b"b", Mark::Added(0)).unwrap();
    for key in [&b"b"[..], b"a", b""] {
        assert!(writer.push(key, Mark::Removed).is_err());
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_found_and_named() {
    let directory = tempfile::tempdir().unwrap();
    let entries = many(80);
    let info = write(directory.path(), &entries);
    let path = directory.path().join("run-1");
    let whole = fs::read(&path).unwrap();
    let keys: Vec<Vec<u8>> = entries.keys().cloned().collect();
    let all = find(&Run::open(directory.path(), &info).unwrap(), &keys).unwrap();
    assert_eq!(all.len(), keys.len());
    let check = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).unwrap();
        let error = Run::open(directory.path(), &info).and_then(|run| run.verify()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("run-1@") && text.contains("damaged"), "{what}: {text}");
        assert!(!text.contains("example"), "{text}");
        // A look-up of all keys reads all bytes.
        let found = Run::open(directory.path(), &info).and_then(|run| find(&run, &keys));
        assert!(found.is_err(), "{what}");
    };
    for bit in (0..whole.len() * 8).step_by(if cfg!(miri) { 997 } else { 1 }) {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        check(&damaged, &format!("bit {bit}"));
    }
    for cut in 0..whole.len() {
        check(&whole[..cut], &format!("cut {cut}"));
    }
    check(&[&whole[..], b"x"].concat(), "a byte more");
}

#[test]
fn another_run_than_the_manifest_names_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let mut entries = many(10);
    let info = write(directory.path(), &entries);
    fs::remove_file(directory.path().join("run-1")).unwrap();
    entries.insert(b"http://0.example/1".to_vec(), 1);
    entries.remove(&b"http://0.example/0"[..]);
    let other = write(directory.path(), &entries);
    assert_eq!((info.entries, info.name), (other.entries, other.name.clone()));
    let stated = RunInfo { checksum: info.checksum, ..other };
    let error = Run::open(directory.path(), &stated).unwrap_err().to_string();
    assert!(error.contains("another run"), "{error}");
}

/// Puts other bytes, with a checksum, in the place of the index of the only zone.
fn forge_index(directory: &std::path::Path, info: &RunInfo, index: &[u8]) -> RunInfo {
    let path = directory.join(&info.name);
    let footer = Run::open(directory, info).unwrap().footer;
    let zone = footer.zones[0];
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(zone.index_offset() as usize);
    let mut packer = PartPacker::new().unwrap();
    let index = packer.pack(PartKind::Index, index).unwrap();
    bytes.extend(&index);
    let mut forged = Footer { adds: footer.adds.clone(), ..Footer::default() };
    let zone = ZonePlace { index: index.len() as u32, ..zone };
    forged.push(footer.separators.get(0), zone).unwrap();
    let footer = packer.pack(PartKind::Footer, &forged.to_bytes().unwrap()).unwrap();
    let mut trailer = (bytes.len() as u64).to_le_bytes().to_vec();
    trailer.extend((footer.len() as u32).to_le_bytes());
    trailer.extend(crc32fast::hash(&trailer).to_le_bytes());
    bytes.extend(&footer);
    bytes.extend(trailer);
    fs::write(&path, &bytes).unwrap();
    RunInfo { bytes: bytes.len() as u64, checksum: stated_checksum(&footer), ..info.clone() }
}

#[test]
fn an_index_of_no_blocks_is_damage_with_file_and_offset() {
    let directory = tempfile::tempdir().unwrap();
    let entries = many(80);
    let info = write(directory.path(), &entries);
    let keys: Vec<Vec<u8>> = entries.keys().cloned().collect();
    // Marks of each width.
    for index in [&[0, 0, 0, 0, 1, 0, 9, 0, 0, 0][..], &[0, 0, 0, 0, 1, 1], &[0, 0, 0, 0, 4, 4]] {
        let forged = forge_index(directory.path(), &info, index);
        let run = Run::open(directory.path(), &forged).unwrap();
        let at = format!("run-1@{}: damaged: ", run.footer.zones[0].index_offset());
        for error in [find(&run, &keys).unwrap_err(), run.verify().unwrap_err()] {
            assert!(error.to_string().contains(&at), "{error}");
        }
        fs::remove_file(directory.path().join("run-1")).unwrap();
        assert_eq!(write(directory.path(), &entries), info);
    }
}
