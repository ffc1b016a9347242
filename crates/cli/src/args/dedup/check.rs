//! Rejects contradictory options of `dedup`.

use std::path::{Path, PathBuf};

use super::{DedupArgs, OrderArg};
use crate::args::default_command::Stdin;
use crate::args::filters::idle_message;
use crate::args::output_paths::{
    NUL_ENDS_NO_ROW, binary_table, check_output_name, kind_of_shards, share_a_place,
};
use crate::args::usage::{suggest, wrong};
use crate::inputs::names::is_standard_input;
use uniqurl::Key;
use uniqurl_engine::output::{Field, TableKind, place};
use uniqurl_engine::{Keep, LimitBy, SplitBy};
use uniqurl_text::Printable;

impl DedupArgs {
    /// Rejects options that contradict each other.
    pub(in crate::args) fn check(&self, stdin: Stdin) -> Result<(), clap::Error> {
        self.check_columns().map_err(wrong)?;
        self.check_limit_by()?;
        self.check_names().map_err(wrong)?;
        self.check_seen()?;
        self.check_dropped().map_err(wrong)?;
        self.check_slugs()?;
        self.check_split().map_err(wrong)?;
        let no_table = match self.split_by {
            Some(_) => self.no_table().or(Some("--split-by writes a directory")),
            None => self.no_table(),
        };
        check_output_name("--output", &self.common.output, no_table).map_err(wrong)?;
        self.common.check(stdin).map_err(wrong)
    }

    fn check_columns(&self) -> Result<(), String> {
        if self.top.is_some() && self.order != OrderArg::Count {
            let message =
                "--top writes the most frequent URLs first, and --order names another order";
            return Err(message.into());
        }
        if let Some(format) = self.common.known_format()
            && self.tally_columns().is_lacked_by(format)
        {
            return Err(idle_message("--tally", &format.name()));
        }
        let tells = !self.carry.is_empty() || !self.fields.is_empty() || self.whole;
        if self.keep != Keep::First && !tells {
            let message = "--keep chooses the record that --whole, --carry and --fields are about, and none of them is given";
            return Err(message.into());
        }
        if self.whole && self.order != OrderArg::First {
            return Err("--whole keeps the order of the records, and --order names another".into());
        }
        Ok(())
    }

    /// Rejects a group that the key does not tell.
    fn check_limit_by(&self) -> Result<(), clap::Error> {
        let key = self.common.key;
        match self.limit_by {
            Some(LimitBy { group, .. }) if !group.is_told_by(key) => {
                let name = group.name();
                let message =
                    format!("--limit-by {name}:N needs a {name}, which --key {key} does not tell");
                Err(suggest(wrong(message), "leave --key out, or use --key url"))
            }
            _ => Ok(()),
        }
    }

    fn check_seen(&self) -> Result<(), clap::Error> {
        let common = &self.common;
        let of_standard = self.seen.iter().filter(|file| is_standard_input(file)).count();
        let is_taken =
            || common.reads_standard_input() || common.rules.of_standard_input().is_some();
        if of_standard > 1 || (of_standard == 1 && is_taken()) {
            return Err(wrong("standard input cannot be both --seen and another input"));
        }
        if let Some(saved) = &self.save_seen {
            if is_standard_input(saved) {
                return Err(wrong("--save-seen names a directory, and - is none"));
            }
            // A store is a directory of its own files, and no other file may be among them.
            let directory = place(saved);
            let is_there = |other: &&Path| {
                share_a_place(&[other, saved]) || place(other).starts_with(&directory)
            };
            if common.outputs().iter().any(is_there) {
                let message = "--save-seen and another output would write to the same place";
                return Err(wrong(message));
            }
        }
        if self.max_age.is_some() && self.seen.is_empty() && self.save_seen.is_none() {
            return Err(wrong(
                "--max-age is about the keys of a store, and neither --seen nor --save-seen is given",
            ));
        }
        if let Some(output) = self.seen.iter().find_map(|list| common.replacing(list)) {
            return Err(suggest(
                wrong(format_args!("{output} would replace the file of --seen")),
                "append new URLs with `>>`, or keep both with --save-seen",
            ));
        }
        Ok(())
    }

    fn check_dropped(&self) -> Result<(), String> {
        let others = self.common.outputs();
        let outputs: Vec<&Path> = others.into_iter().chain(self.dropped.as_deref()).collect();
        if let Some(dropped) = &self.dropped
            && binary_table(dropped) != binary_table(&self.common.output)
        {
            return Err("--output and --dropped are tables of one kind, or no tables".into());
        }
        let shards = self.split_suffix.as_deref().and_then(kind_of_shards);
        if self.whole && shards.is_some_and(|kind| !kind.is_text()) {
            return Err("--split-by divides no rows of tables that --whole copies".into());
        }
        // Those of all runs are compared elsewhere.
        match self.dropped.is_some() && share_a_place(&outputs) {
            true => Err("--dropped and another output would write to the same place".into()),
            false => Ok(()),
        }
    }

    /// Rejects what would need the templates before they are all known.
    fn check_slugs(&self) -> Result<(), clap::Error> {
        if self.slugs.is_none() {
            return Ok(());
        }
        let (message, action) = if self.common.key != Key::Template {
            ("--slugs names segments of templates, and --key makes none", "add --key template")
        } else if self.limit_by.is_some() {
            (
                "--limit-by counts templates as they come, and --slugs names them when all are read",
                "write the templates first, and limit those in a second run",
            )
        } else if !self.seen.is_empty() || self.save_seen.is_some() {
            (
                "--slugs names templates by those of this run alone, so another run cannot compare them",
                "give the templates of one run to others as their --routes",
            )
        } else {
            return Ok(());
        };
        Err(suggest(wrong(message), action))
    }

    fn check_split(&self) -> Result<(), String> {
        let (common, standard) = (&self.common, Path::new("-"));
        if let Some(suffix) = &self.split_suffix {
            // The suffix alone has no stem, and so no ending, so it is checked behind the name of a shard.
            let shard = PathBuf::from(format!("shard{suffix}"));
            check_output_name("--split-suffix", &shard, self.no_table())?;
        }
        let Some((by, _)) = self.split_by else { return Ok(()) };
        if common.output == standard {
            return Err("--split-by writes a directory, which -o has to name".into());
        }
        let key = common.key;
        if !by.is_told_by(key) {
            let lost = if by == SplitBy::Host { "host" } else { "domain" };
            let message =
                format!("--split-by {lost}:N needs a {lost}, which --key {key} does not tell");
            return Err(message);
        }
        let others = [
            ("--dropped", &self.dropped),
            ("--rejects", &common.rejects),
            ("--stats", &common.stats),
            ("--report", &common.report),
            ("--save-seen", &self.save_seen),
        ];
        // The directory gets its name when it is complete, in the place of an empty one, so
        // nothing else can be in it.
        let directory = place(&common.output);
        let is_there = |path: &PathBuf| path != standard && place(path).starts_with(&directory);
        match others.iter().find(|(_, path)| path.as_ref().is_some_and(is_there)) {
            Some((option, _)) => {
                Err(format!("{option} is in the directory that --split-by writes anew"))
            }
            None => Ok(()),
        }
    }

    /// Says why the URLs cannot be written as a table, if they cannot.
    fn no_table(&self) -> Option<&'static str> {
        match (self.json, self.common.null) {
            (_, true) => Some(NUL_ENDS_NO_ROW),
            (true, _) => Some("--json writes JSON, and no table"),
            _ => None,
        }
    }

    /// Finds two columns of one name, where names tell columns apart.
    fn check_names(&self) -> Result<(), String> {
        let fields = match &self.fields[..] {
            [] => Field::of_key(self.common.key, self.writes_counts()),
            fields => fields,
        };
        let is_json = self.json;
        let shards = self.split_suffix.as_deref().and_then(kind_of_shards);
        // Lines have no names, and their columns are told apart by place.
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
            return Err(format!("{option} {}: {why}", Printable::path(Path::new(name))));
        }
        Ok(())
    }
}
