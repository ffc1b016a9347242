//! The inputs of a run: their names, whether they exist, and which of them are outputs, too.

pub mod names;
mod walk;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::args::output_paths::share_a_place;
use crate::args::run_args::RunArgs;
use crate::hints;
use crate::status::eprint_hinted;
use names::is_standard_input;
use uniqurl_engine::output::JobKind;
use uniqurl_formats::input::{self, Input, InputError, Source};
use uniqurl_text::Printable;

/// The names of the inputs: arguments first, then the list; standard input if there are neither. Fails if the
/// list names standard input while something else reads it, such as the list itself or `seen`.
pub(crate) fn paths(common: &RunArgs, seen: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut paths = common.files.clone();
    match &common.files_from {
        Some(list) => {
            let listed = names::from_list(list).map_err(|error| {
                let text = format!("{error}, for --files-from");
                io::Error::new(error.kind(), text)
            })?;
            let has_it = |names: &[PathBuf]| names.iter().any(|name| is_standard_input(name));
            let others = [("the list of inputs", std::slice::from_ref(list)), ("--seen", seen)];
            // Whoever reads it first leaves nothing to the other.
            let others = others.into_iter().find(|(_, names)| has_it(names));
            let other = others.map(|(other, _)| other).or(common.rules.of_standard_input());
            if let Some(other) = other
                && has_it(&listed)
            {
                let list = Printable::path(list);
                let text = format!("{list}: standard input cannot be both an input and {other}");
                return Err(io::Error::other(text));
            }
            paths.extend(listed);
        }
        None if paths.is_empty() => paths.push(PathBuf::from("-")),
        None => {}
    }
    Ok(paths)
}

/// The inputs that exist, and errors for those that are missing.
pub(crate) struct RunInputs {
    pub inputs: Vec<Input>,
    pub missing: Vec<InputError>,
    pub seen: Vec<Input>,
    pub unseen: Vec<InputError>,
}

impl RunInputs {
    /// Looks for the inputs, and prints an error for each that is missing.
    pub fn resolve(common: &RunArgs, paths: Vec<PathBuf>, seen: &[PathBuf], job: JobKind) -> Self {
        let (mut paths, mut missing) = (paths, Vec::new());
        if common.recursive {
            let is_asked = !paths.is_empty();
            (paths, missing) = walk::files_below(paths);
            if is_asked && paths.is_empty() && missing.is_empty() {
                eprint_hinted(
                    "warning: -r found no file to read",
                    Some("name files that begin with a dot, and links, one by one"),
                );
            }
        }
        let (inputs, unreadable) = input::check(&paths);
        missing.extend(unreadable);
        // A list of URLs taken for a list of names causes thousands of errors, so only the first is shown.
        let mut urls = missing.iter().filter(|error| hints::is_url(error));
        if let Some(error) = urls.next() {
            let more = match urls.count() {
                0 => String::new(),
                more => format!(", and {more} more of this kind"),
            };
            let hint = hints::of_input(error, job);
            eprint_hinted(format_args!("{error}{more}"), hint.as_deref());
        }
        for error in missing.iter().filter(|error| !hints::is_url(error)) {
            eprint_hinted(error, hints::of_input(error, job).as_deref());
        }
        let (seen, unseen) = input::check(seen);
        for error in &unseen {
            eprint_hinted(error, hints::of_seen(error));
        }
        Self { inputs, missing, seen, unseen }
    }

    /// Whether all inputs can be read, or the rest may be skipped.
    pub fn is_readable(&self, common: &RunArgs) -> bool {
        self.missing.is_empty() || common.keep_going
    }

    /// Warns of inputs that are also outputs, in cases where that is hardly intended.
    pub fn warn_of_outputs(&self, common: &RunArgs) {
        warn_of_emptied(&common.files, &common.output);
        if common.recursive {
            warn_of_replaced(common, &self.inputs);
        }
    }
}

/// Warns of an input that the shell has emptied, since standard output goes there too: its content is lost.
/// `named` are the inputs given as arguments, not those found in directories.
pub(crate) fn warn_of_emptied(named: &[PathBuf], output: &Path) {
    let standard = Path::new("-");
    let is_empty = |path: &Path| {
        path != standard && fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0)
    };
    let is_emptied = |path: &&PathBuf| is_empty(path) && share_a_place(&[standard, path]);
    if output == standard
        && let Some(path) = named.iter().find(is_emptied)
    {
        eprint_hinted(
            format_args!(
                "warning: {}: the shell emptied this input, because standard output goes there",
                Printable::path(path)
            ),
            Some("replace an input with -o FILE"),
        );
    }
}

/// Warns of inputs that -r found and the run replaces. Mostly they are outputs of an earlier run, and nobody
/// meant them to be read.
fn warn_of_replaced(common: &RunArgs, inputs: &[Input]) {
    // By its identity, since a file may be found under another name.
    let identity = |path: &Path| {
        let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some((file.dev(), file.ino()))
    };
    for (option, output) in common.named_outputs() {
        let Some(replaced) = identity(output) else { continue };
        let is_found = |input: &&Input| {
            let is_it = |identity| identity == replaced;
            matches!(input.source, Source::File { identity, .. } if is_it(identity))
                // An input that was named is replaced on purpose.
                && !common.files.contains(&input.path)
        };
        if let Some(input) = inputs.iter().find(is_found) {
            eprint_hinted(
                format_args!(
                    "warning: {}: -r found this file as an input, and {option} replaces it",
                    Printable::path(&input.path)
                ),
                Some("write outputs to another directory"),
            );
        }
    }
}
