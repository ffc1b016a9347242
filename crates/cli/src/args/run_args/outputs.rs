//! The outputs that these options name.

use std::path::Path;

use super::RunArgs;
use crate::args::output_paths::share_a_place;

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
