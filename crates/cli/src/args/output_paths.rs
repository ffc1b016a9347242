//! Where a run writes: names that make no sense, places that two outputs share, and files that an output
//! would replace.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::RunArgs;
use uniqurl_engine::output::{TableKind, place};
use uniqurl_formats::input::ending;

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

impl RunArgs {
    /// The outputs of the run, without those that only `dedup` has.
    pub(crate) fn outputs(&self) -> Vec<&Path> {
        self.named_outputs().map(|(_, path)| path).collect()
    }

    /// The same, each with its option.
    pub(crate) fn named_outputs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let texts = [
            ("--rejects", &self.rejects),
            ("--stats", &self.stats),
            ("--report", &self.report),
            ("--trace", &self.trace),
        ];
        let texts = texts.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
        [("--output", self.output.as_path())].into_iter().chain(texts)
    }

    /// The option of an output that would replace `list`, which other runs need. Streams append, and so does
    /// a shell's `>>`.
    pub(crate) fn replacing(&self, list: &Path) -> Option<&'static str> {
        let is_stream = |path: &Path| path == Path::new("-") || path.starts_with("/dev");
        let is_replaced = |(_, output): &(_, &Path)| {
            !is_stream(list) && !is_stream(output) && share_a_place(&[output, list])
        };
        self.named_outputs().find(is_replaced).map(|(option, _)| option)
    }
}
