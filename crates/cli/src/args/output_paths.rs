//! Where a run writes: names that make no sense, places that two outputs share, and files that an output
//! would replace.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use uniqurl_engine::output::{TableKind, place};
use uniqurl_formats::input::ending;

/// Why -0 writes no table.
pub(crate) const NUL_ENDS_NO_ROW: &str =
    "-0 ends records with NUL, and those of a table have no end";

/// The kind of table that each file of --split-by is, by the end of its name.
pub(crate) fn kind_of_shards(suffix: &str) -> Option<TableKind> {
    TableKind::of(Path::new(&format!("shard{suffix}")))
}

/// Rejects an output name of `option` that asks for a table where `as_table` says why none can be written,
/// among other faults.
pub(crate) fn check_output_name(
    option: &str,
    output: &Path,
    as_table: Option<&str>,
) -> Result<(), String> {
    if let (Some(why), Some(_)) = (as_table, TableKind::of(output)) {
        return Err(format!("{why}, but the name of {option} is that of a table"));
    }
    let ending = ending(output);
    let ending = ending.as_deref().unwrap_or_default();
    let packers = "only .gz and .zst are";
    let is = match ending {
        "bz2" | "xz" => Some(("read and not written", packers)),
        "7z" | "br" | "gzip" | "lz4" | "lzma" | "zip" | "zstd" => Some(("not written", packers)),
        // No program that takes such a name would take lines.
        "avro" | "feather" | "ipc" | "ods" | "orc" | "sqlite" | "xls" | "xlsx" => {
            Some(("not written", "tables are .csv, .parquet or .arrow"))
        }
        _ => None,
    };
    if let Some((is, instead)) = is {
        return Err(format!("{option}: .{ending} is {is}, {instead}"));
    }
    let packed = output.file_stem().filter(|_| matches!(ending, "gz" | "zst"));
    let packed = packed.and_then(|stem| TableKind::of(Path::new(stem)));
    if packed.is_some_and(|kind| !kind.is_text()) {
        return Err(
            "the name of a table has no ending for compression, since a table is compressed inside"
                .into(),
        );
    }
    Ok(())
}

/// The kind of table that a name asks for, if it is one of binary columns.
pub(crate) fn binary_table(name: &Path) -> Option<TableKind> {
    TableKind::of(name).filter(|kind| !kind.is_text())
}

/// Whether two outputs lead to one place, where one of them would be lost.
pub(crate) fn share_a_place(outputs: &[&Path]) -> bool {
    let standard = Path::new("-");
    // Devices such as /dev/null take any number.
    let is_device =
        |path: &Path| fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device());
    let mut places = HashSet::new();
    let files = outputs.iter().filter(|path| **path == standard || !is_device(path));
    // `-` may be the same file as another output: `-o urls.txt --rejects - > urls.txt`.
    files
        .map(|path| if *path == standard { Path::new("/dev/stdout") } else { path })
        .any(|path| !places.insert(place(path)))
}
