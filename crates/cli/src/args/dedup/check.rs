//! Rejects contradictory options of `dedup`.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

use super::{DedupArgs, OrderArg};
use crate::args::run_args::idle;
use crate::args::suggestions::suggest;
use crate::args::{NUL_ENDS_NO_ROW, RecordForm, check_output_name, share_a_place, usage};
use crate::inputs::names::is_standard_input;
use crate::tables::kind_of_shards;
use uniqurl_engine::output::{Field, TableKind, place};
use uniqurl_engine::{Keep, SplitBy};
use uniqurl_formats::record::Separator;
use uniqurl_text::Printable;

impl DedupArgs {
    /// Rejects options that contradict each other.
    pub(in crate::args) fn check(&self) -> Result<(), clap::Error> {
        let wrong = |message| Err(usage("dedup", ErrorKind::ArgumentConflict, message));
        let common = &self.common;
        let standard = Path::new("-");
        let of_standard = self.seen.iter().filter(|file| is_standard_input(file)).count();
        let is_taken =
            || common.reads_standard_input() || common.policy.of_standard_input().is_some();
        if of_standard > 1 || (of_standard == 1 && is_taken()) {
            return wrong("standard input cannot be both --seen and another input");
        }
        if let Some((by, _)) = self.split_by {
            if common.output == standard {
                return wrong("--split-by writes a directory, which -o has to name");
            }
            let key = common.key();
            if !by.is_told_by(key) {
                let lost = if by == SplitBy::Host { "host" } else { "domain" };
                let message =
                    format!("--split-by {lost}:N needs a {lost}, which --key {key} does not tell");
                return Err(usage("dedup", ErrorKind::ArgumentConflict, message));
            }
        }
        if self.top.is_some() && self.order != OrderArg::Count {
            return wrong(
                "--top writes the most frequent URLs first, and --order names another order",
            );
        }
        if let Some(format) = common.known_format()
            && self.tally_columns().is_lacked_by(format)
        {
            return Err(idle("dedup", "--tally", format));
        }
        if self.keep != Keep::First && self.carry.is_empty() && self.fields.is_empty() {
            return wrong(
                "--keep chooses what --carry and --fields tell of a URL, and neither is given",
            );
        }
        self.check_limit_by()?;
        self.check_names()?;
        let named = |message| usage("dedup", ErrorKind::ArgumentConflict, message);
        if let Some(suffix) = &self.split_suffix {
            let shard = PathBuf::from(format!("shard{suffix}"));
            check_output_name("--split-suffix", &shard, self.no_table()).map_err(named)?;
        }
        if let Some(saved) = &self.save_seen {
            if is_standard_input(saved) {
                return wrong("--save-seen names a directory, and - is none");
            }
            let directory = place(saved);
            let is_there = |other: &&Path| {
                share_a_place(&[other, saved]) || place(other).starts_with(&directory)
            };
            if common.outputs().iter().any(is_there) {
                return wrong("--save-seen and another output would write to the same place");
            }
        }
        if self.max_age.is_some() && self.seen.is_empty() && self.save_seen.is_none() {
            return wrong(
                "--max-age is about the keys of a store, and neither --seen nor --save-seen is given",
            );
        }
        if let Some(output) = self.seen.iter().find_map(|list| common.replacing(list)) {
            let mut error = named(format!("{output} would replace the file of --seen"));
            suggest(&mut error, "append new URLs with `>>`, or keep both with --save-seen".into());
            return Err(error);
        }
        if self.split_by.is_some() {
            let others = [
                ("--rejects", &common.rejects),
                ("--stats", &common.stats),
                ("--report", &common.report),
                ("--save-seen", &self.save_seen),
            ];
            let directory = place(&common.output);
            let is_there = |path: &PathBuf| path != standard && place(path).starts_with(&directory);
            let there = others.iter().find(|(_, path)| path.as_ref().is_some_and(is_there));
            if let Some((option, _)) = there {
                let why = "is in the directory that --split-by writes anew";
                return Err(named(format!("{option} {why}")));
            }
        }
        Ok(())
    }

    /// Says why the URLs cannot be written as a table, if they cannot.
    pub(in crate::args) fn no_table(&self) -> Option<&'static str> {
        match (self.form, self.common.separator) {
            (_, Separator::Nul) => Some(NUL_ENDS_NO_ROW),
            (RecordForm::Json, _) => Some("--json writes JSON, and no table"),
            _ => None,
        }
    }

    /// Finds two columns of one name, where names tell columns apart.
    fn check_names(&self) -> Result<(), clap::Error> {
        let fields = match &self.fields[..] {
            [] => Field::of_key(self.common.key(), self.writes_counts()),
            fields => fields,
        };
        let is_json = self.form == RecordForm::Json;
        let shards = self.split_suffix.as_deref().and_then(kind_of_shards);
        let has_names = is_json || shards.or(TableKind::of(&self.common.output)).is_some();
        let fields = if has_names { fields } else { &[] };
        let fields = fields.iter().map(|field| ("--fields", field.name()));
        let carried = self.carry.iter().map(|name| ("--carry", name.as_str()));
        let mut names: Vec<&str> = Vec::new();
        for (option, name) in fields.chain(carried) {
            // JSON adds this ending to the name of text that is not UTF-8.
            let is_spelling = |one: &str, other: &str| {
                is_json && one.strip_suffix("_base64").is_some_and(|name| name == other)
            };
            let why = if names.contains(&name) {
                "there is a column of that name already".to_owned()
            } else if let Some(other) =
                names.iter().find(|other| is_spelling(other, name) || is_spelling(name, other))
            {
                let other = Printable::path(Path::new(other));
                format!(
                    "under --json it could have the name of the column {other}, or that its name"
                )
            } else {
                names.push(name);
                continue;
            };
            let message = format!("{option} {}: {why}", Printable::path(Path::new(name)));
            return Err(usage("dedup", ErrorKind::ArgumentConflict, message));
        }
        Ok(())
    }
}
